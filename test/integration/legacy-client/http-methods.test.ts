import { describe, expect, it } from "vitest";
import { answerError, answerResult, type ReceivedRequest } from "../../../src/testing/index.js";
import { caught, connectHttp, serve } from "./http-parties.js";
import { SessionServer } from "./session-server.js";

const EVERYTHING = {
  tools: {},
  resources: { subscribe: true },
  prompts: {},
  completions: {},
  logging: {},
};

const RESULTS: Readonly<Record<string, (request: ReceivedRequest) => object>> = {
  "resources/list": ({ params }) =>
    params["cursor"] === undefined
      ? { resources: [{ uri: "a:1", name: "one" }, { name: "no uri" }], nextCursor: "" }
      : { resources: [{ uri: "a:2", size: "big" }, { uri: "a:1" }] },
  "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "a:{n}" }] }),
  "resources/read": ({ params }) => ({ contents: [{ uri: params["uri"], text: "t" }] }),
  "prompts/list": () => ({ prompts: [{ name: "p" }, { name: 7 }] }),
  "prompts/get": ({ params }) => ({ messages: [{ role: "user", params }] }),
  "completion/complete": () => ({ completion: { values: ["x"] } }),
};

async function meet(capabilities: object = EVERYTHING, results = RESULTS) {
  const sessions = new SessionServer({
    capabilities: () => capabilities,
    answer: (request) => answerResult(results[request.method ?? ""]?.(request) ?? {}),
  });
  const server = await serve(sessions.handle);
  return { server, ...(await connectHttp(server.url)) };
}

describe("the methods of a legacy client", () => {
  it("W-32: lists are walked, and checked entry by entry; an empty cursor is one", async () => {
    const { client, kinds, server } = await meet();
    const { entries, duplicates } = await client.listAllResources();
    expect(entries).toEqual([{ uri: "a:1", name: "one" }, { uri: "a:2" }]);
    expect([...duplicates]).toEqual(["a:1"]);
    expect(kinds().toSorted()).toEqual(["duplicate_entry", "entry_dropped", "member_removed"]);
    expect(server.requests.filter(({ method }) => method === "resources/list").map(({ params }) => params)).toEqual([
      {},
      { cursor: "" },
    ]);
    await expect(client.listResources({ cursor: "" })).resolves.toMatchObject({
      resources: [{ uri: "a:2" }, { uri: "a:1" }],
    });
    await expect(client.listAllResourceTemplates()).resolves.toMatchObject({ entries: [{ uriTemplate: "a:{n}" }] });
    await expect(client.listResourceTemplates()).resolves.toMatchObject({
      resourceTemplates: [{ uriTemplate: "a:{n}" }],
    });
    await expect(client.listAllPrompts()).resolves.toMatchObject({ entries: [{ name: "p" }] });
    const { result, diagnostics } = await client.listPrompts({}, { detail: true });
    expect(result).toEqual({ prompts: [{ name: "p" }] });
    expect(diagnostics.map(({ kind }) => kind)).toEqual(["entry_dropped"]);
  });

  it("resources, prompts, completion and levels go out as the revision has them", async () => {
    const { client, server } = await meet();
    await expect(client.readResource({ uri: "a:1" })).resolves.toEqual({ contents: [{ uri: "a:1", text: "t" }] });
    await expect(client.getPrompt({ name: "p", arguments: { a: "1" } })).resolves.toEqual({
      messages: [{ role: "user", params: { name: "p", arguments: { a: "1" } } }],
    });
    const ref = { type: "ref/prompt", name: "p" };
    const argument = { name: "a", value: "1" };
    await expect(client.complete({ ref, argument })).resolves.toEqual({ completion: { values: ["x"] } });
    await client.setLogLevel("error");
    await client.subscribeResource({ uri: "a:1" });
    await client.unsubscribeResource({ uri: "a:1" });
    expect(server.requests.slice(4).map(({ method, params }) => [method, params])).toEqual([
      ["completion/complete", { ref, argument }],
      ["logging/setLevel", { level: "error" }],
      ["resources/subscribe", { uri: "a:1" }],
      ["resources/unsubscribe", { uri: "a:1" }],
    ]);
  });

  it("F-3: a resource that is not there is told from other refusals", async () => {
    let code = -32002;
    const sessions = new SessionServer({
      capabilities: () => EVERYTHING,
      answer: () => answerError(code, "no", { status: 200, data: { uri: "a:9" } }),
    });
    const { client } = await connectHttp((await serve(sessions.handle)).url);
    const missing = { code: "resource_not_found", delivery: "answered", details: { uri: "a:9", rpcCode: -32002 } };
    expect(await caught(client.readResource({ uri: "a:9" }))).toMatchObject(missing);
    code = -32603;
    expect(await caught(client.readResource({ uri: "a:9" }))).toMatchObject({ code: "peer_error" });
  });

  it("L-10: without a declaration lists are empty and the rest is not sent", async () => {
    const { client, server } = await meet({});
    const sent = server.requests.length;
    await expect(client.listAllResources()).resolves.toMatchObject({ entries: [] });
    await expect(client.listAllResourceTemplates()).resolves.toMatchObject({ entries: [] });
    await expect(client.listAllPrompts()).resolves.toMatchObject({ entries: [] });
    await expect(client.listAllTools()).resolves.toMatchObject({ tools: [] });
    const refused = { code: "unsupported", delivery: "not_sent" };
    for (const call of [
      client.readResource({ uri: "a:" }),
      client.subscribeResource({ uri: "a:" }),
      client.unsubscribeResource({ uri: "a:" }),
      client.getPrompt({ name: "p" }),
      client.complete({ ref: {}, argument: { name: "a", value: "" } }),
      client.setLogLevel("info"),
    ]) {
      expect(await caught(call)).toMatchObject(refused);
    }
    expect(server.requests).toHaveLength(sent);
  });

  it("W-11: a result without what it must have breaks the protocol", async () => {
    const { client } = await meet(EVERYTHING, {});
    const ref = { type: "ref/prompt", name: "p" };
    for (const call of [
      client.readResource({ uri: "a:" }),
      client.getPrompt({ name: "p" }),
      client.complete({ ref, argument: { name: "a", value: "" } }),
      client.listAllResources(),
      client.listPrompts(),
    ]) {
      expect(await caught(call)).toMatchObject({ code: "invalid_answer", delivery: "unknown" });
    }
  });

  it("F-2: a walk tells its end once, as one call", async () => {
    const { client } = await meet();
    const ends: unknown[] = [];
    await client.listAllResources({ onSettled: ({ outcome, delivery }) => ends.push([outcome, delivery]) });
    const sessions = new SessionServer({ answer: () => answerError(-32603, "no") });
    const server = await serve(sessions.handle);
    const failing = await connectHttp(server.url);
    await caught(failing.client.listAllTools({ onSettled: ({ outcome, delivery }) => ends.push([outcome, delivery]) }));
    expect(ends).toEqual([
      ["resolved", "answered"],
      ["rejected", "answered"],
    ]);
  });
});
