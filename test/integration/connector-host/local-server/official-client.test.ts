import { Client, ResourceNotFoundError, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished } from "vitest";
import type { BoundAgent } from "../../../../src/connector-host/local-server/index.js";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { answerOf, type FixedDirectory, hangs, HELLO, says } from "./fixed-directory.js";
import { FixedPrompts, FixedResources } from "./fixed-offers.js";
import { start } from "./start.js";

const ERAS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];

async function connect(agent: BoundAgent, revision: string): Promise<Client> {
  const options =
    revision === "2026-07-28"
      ? { versionNegotiation: { mode: { pin: revision } } }
      : { supportedProtocolVersions: [revision] };
  const client = new Client({ name: "test-agent", version: "1" }, options);
  await client.connect(
    new StreamableHTTPClientTransport(new URL(agent.url), { requestInit: { headers: agent.headers } }),
  );
  onTestFinished(() => client.close());
  return client;
}

function tools(directory: FixedDirectory): void {
  const inputSchema = { properties: { region: { type: "string", "x-mcp-header": "Region" } } };
  directory
    .add("github_hello", says(HELLO))
    .add(
      "github_region",
      async ({ argumentsText = "" }) =>
        answerOf(JSON.stringify({ resultType: "complete", content: [{ type: "text", text: argumentsText }] })),
      { inputSchema },
    )
    .add("old_hello", says('{"content":[{"type":"text","text":"from before"}]}', "legacy"))
    .add("github_list", says('{"resultType":"complete","content":[],"structuredContent":[1,2]}'), {
      definition:
        '{"name":"github_list","inputSchema":{"type":"object"},"outputSchema":{"type":"array","items":{"type":"integer"}}}',
    })
    .add("github_progress", async ({ onProgress }) => {
      for (const progress of [1, 2, 3]) onProgress?.({ progress, total: 3 });
      return answerOf(HELLO);
    })
    .add("github_locked", async () => {
      throw new RemoteConnectorError("peer_error", {
        message: "m",
        delivery: "answered",
        details: { rpcCode: -33001, rpcMessage: "authorization required", rpcData: undefined },
      });
    });
}

describe.each(ERAS)("H-21, H-22: the official client at %s", (revision) => {
  it("agrees on the revision and learns who answers", async () => {
    const { agent } = await start(tools);
    const client = await connect(agent, revision);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(client.getProtocolEra()).toBe(revision === "2026-07-28" ? "modern" : "legacy");
    expect(client.getServerVersion()).toMatchObject({ name: "connector", version: "1" });
    expect(client.getInstructions()).toBe("Fixed tools for tests.");
  });

  it("lists every tool, whatever one of them holds", async () => {
    const { agent, directory } = await start(tools);
    directory.omitted = [{ connectorKey: "broken", reason: "offline" }];
    const listed = await (await connect(agent, revision)).listTools();
    expect(listed.tools.map(({ name }) => name)).toEqual([
      "github_hello",
      "github_region",
      "old_hello",
      "github_list",
      "github_progress",
      "github_locked",
    ]);
    expect(listed._meta?.["sh.tutti/omitted"]).toEqual([{ connectorKey: "broken", reason: "offline" }]);
  });

  it("calls tools of connectors of either era, headers and all", async () => {
    const { agent, directory } = await start(tools);
    const client = await connect(agent, revision);
    await client.listTools();
    expect(await client.callTool({ name: "github_hello" })).toMatchObject({ content: [{ text: "hello" }] });
    expect(await client.callTool({ name: "old_hello", arguments: {} })).toMatchObject({
      content: [{ text: "from before" }],
    });
    const args = { region: "Zürich", n: 3 };
    expect(await client.callTool({ name: "github_region", arguments: args })).toMatchObject({
      content: [{ text: JSON.stringify(args) }],
    });
    const { structuredContent } = await client.callTool({ name: "github_list", arguments: {} });
    expect(structuredContent).toEqual(revision === "2026-07-28" ? [1, 2] : { result: [1, 2] });
    expect(directory.calls.map(({ name }) => name)).toEqual([
      "github_hello",
      "old_hello",
      "github_region",
      "github_list",
    ]);
  });

  it("gets progress", async () => {
    const { agent } = await start(tools);
    const client = await connect(agent, revision);
    const seen: number[] = [];
    await client.callTool({ name: "github_progress" }, { onprogress: ({ progress }) => seen.push(progress) });
    expect(seen).toEqual([1, 2, 3]);
  });

  it("gets a peer's error with its code and the verdict", async () => {
    const { agent } = await start(tools);
    const client = await connect(agent, revision);
    await expect(client.callTool({ name: "github_locked" })).rejects.toMatchObject({
      code: -33001,
      message: expect.stringContaining("authorization required") as unknown,
      data: { "sh.tutti/delivery": { delivery: "answered" } },
    });
  });

  it("can stop a call", async () => {
    const { agent, directory } = await start((fixed) => fixed.add("a_hang", hangs()));
    const client = await connect(agent, revision);
    const stopping = new AbortController();
    const calling = client.callTool({ name: "a_hang" }, { signal: stopping.signal });
    await expect.poll(() => directory.calls.length).toBe(1);
    stopping.abort();
    await expect(calling).rejects.toThrow();
    await expect.poll(() => directory.calls[0]?.call.signal.aborted).toBe(true);
  });

  it("is shut out when its bearer ends", async () => {
    const { agent } = await start(tools);
    const client = await connect(agent, revision);
    await client.listTools();
    agent.revoke();
    await expect(client.callTool({ name: "github_hello" })).rejects.toThrow();
  });
});

const HI = '{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}';

/** Prompts and resources of servers of either era. */
function offers(directory: FixedDirectory): void {
  directory.prompts = new FixedPrompts()
    .add("github_hi", says(`{"resultType":"complete",${HI.slice(1)}`), {
      name: "github_hi",
      arguments: [{ name: "x" }],
    })
    .add("old_hi", says(HI, "legacy"));
  directory.resources = new FixedResources()
    .add("file:///new", async ({ onProgress }) => {
      for (const progress of [1, 2]) onProgress?.({ progress });
      return answerOf(
        '{"resultType":"complete","contents":[{"uri":"file:///new","text":"new"}],"ttlMs":7,"cacheScope":"public"}',
      );
    })
    .add("file:///old", says('{"contents":[{"uri":"file:///old","blob":"AA=="}]}', "legacy"))
    .add("file:///hang", hangs());
  directory.resources.templates = { entries: ['{"uriTemplate":"file:///{x}","name":"any"}'], omitted: [] };
  directory.complete = async (_binding, { ref, argument, context }) => {
    const values = [ref.type, argument.value, JSON.stringify(context ?? null)];
    return answerOf(JSON.stringify({ resultType: "complete", completion: { values, hasMore: false } }));
  };
}

describe.each(ERAS)("H-21, H-22, H-28: the official client at %s", (revision) => {
  it("lists and gets prompts of servers of either era", async () => {
    const { agent, directory } = await start(offers);
    const client = await connect(agent, revision);
    expect(client.getServerCapabilities()).toMatchObject({ prompts: {}, resources: {}, completions: {} });
    expect((await client.listPrompts()).prompts).toEqual([
      { name: "github_hi", arguments: [{ name: "x" }] },
      { name: "old_hi" },
    ]);
    for (const name of ["github_hi", "old_hi"]) {
      expect((await client.getPrompt({ name, arguments: { x: "é" } })).messages).toMatchObject([
        { content: { text: "hi" } },
      ]);
    }
    expect(directory.prompts?.begun.map(({ request }) => request.argumentsText)).toEqual(['{"x":"é"}', '{"x":"é"}']);
    await expect(client.getPrompt({ name: "nope" })).rejects.toMatchObject({ code: -32602 });
  });

  it("lists and reads resources of servers of either era, and gets progress", async () => {
    const { agent } = await start(offers);
    const client = await connect(agent, revision);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["file:///new", "file:///old", "file:///hang"]);
    expect((await client.listResourceTemplates()).resourceTemplates).toEqual([
      { uriTemplate: "file:///{x}", name: "any" },
    ]);
    const seen: number[] = [];
    const onprogress = ({ progress }: { progress: number }): unknown => seen.push(progress);
    expect((await client.readResource({ uri: "file:///new" }, { onprogress })).contents).toMatchObject([
      { text: "new" },
    ]);
    expect((await client.readResource({ uri: "file:///old" })).contents).toMatchObject([{ blob: "AA==" }]);
    expect(seen).toEqual([1, 2]);
    const reading = client.readResource({ uri: "file:///nope" });
    await expect(reading).rejects.toBeInstanceOf(ResourceNotFoundError);
    await expect(reading).rejects.toMatchObject({ data: { uri: "file:///nope" } });
  });

  it("completes arguments", async () => {
    const { agent } = await start(offers);
    const client = await connect(agent, revision);
    const argument = { name: "x", value: "a" };
    const prompt = await client.complete({ ref: { type: "ref/prompt", name: "github_hi" }, argument });
    expect(prompt.completion.values).toEqual(["ref/prompt", "a", "null"]);
    const ref = { type: "ref/resource" as const, uri: "file:///{x}" };
    const template = await client.complete({ ref, argument, context: { arguments: { y: "1" } } });
    expect(template.completion.values).toEqual(["ref/resource", "a", '{"arguments":{"y":"1"}}']);
  });

  it("can stop reading", async () => {
    const { agent, directory } = await start(offers);
    const client = await connect(agent, revision);
    const stopping = new AbortController();
    const reading = client.readResource({ uri: "file:///hang" }, { signal: stopping.signal });
    await expect.poll(() => directory.resources?.begun.length).toBe(1);
    stopping.abort();
    await expect(reading).rejects.toThrow();
    await expect.poll(() => directory.resources?.begun[0]?.request.signal.aborted).toBe(true);
  });
});

describe("H-25: the official client at 2026-07-28", () => {
  it("hears of changes", async () => {
    const { server, agent, directory } = await start(tools);
    const client = await connect(agent, "2026-07-28");
    let heard = 0;
    client.setNotificationHandler("notifications/tools/list_changed", () => {
      heard += 1;
    });
    const subscription = await client.listen({ toolsListChanged: true });
    directory.add("new_tool", says(HELLO));
    server.notifyListChanged("tools");
    await expect.poll(() => heard).toBe(1);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("new_tool");
    await subscription.close();
  });

  it("H-28: hears of the resources that it watches, and of each list", async () => {
    const { server, agent, directory } = await start(offers);
    const client = await connect(agent, "2026-07-28");
    const heard: string[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.push(params.uri));
    client.setNotificationHandler("notifications/prompts/list_changed", () => void heard.push("prompts"));
    client.setNotificationHandler("notifications/resources/list_changed", () => void heard.push("resources"));
    const asked = { promptsListChanged: true, resourcesListChanged: true };
    const uris = ["file:///new", "file:///nope"];
    const subscription = await client.listen({ ...asked, resourceSubscriptions: uris });
    expect(subscription.honoredFilter).toEqual({ ...asked, resourceSubscriptions: ["file:///new"] });
    directory.resources?.update("file:///new");
    server.notifyListChanged("prompts");
    server.notifyListChanged("resources");
    await expect.poll(() => heard).toEqual(["file:///new", "prompts", "resources"]);
    await subscription.close();
    await expect.poll(() => directory.resources?.watches[0]?.watch.signal.aborted).toBe(true);
  });

  it("comes by itself to the modern revision", async () => {
    const { agent } = await start(tools);
    const client = new Client({ name: "test-agent", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(agent.url), { requestInit: { headers: agent.headers } }),
    );
    onTestFinished(() => client.close());
    expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
  });
});
