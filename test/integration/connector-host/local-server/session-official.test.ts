import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished } from "vitest";
import type { BoundAgent } from "../../../../src/connector-host/local-server/index.js";
import { answerOf, HELLO, says } from "./fixed-directory.js";
import { FixedResources } from "./fixed-offers.js";
import { cuttingProxy } from "./session-agent.js";
import { gate, start } from "./start.js";

/** The official client, which opens its listening stream by itself; resolves when it has. */
async function connect(agent: BoundAgent, url = agent.url, revision = "2025-11-25") {
  const listening = gate();
  const client = new Client({ name: "test-agent", version: "1" }, { supportedProtocolVersions: [revision] });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: agent.headers },
    reconnectionOptions: {
      initialReconnectionDelay: 10,
      maxReconnectionDelay: 100,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 5,
    },
    fetch: async (target, init) => {
      const response = await fetch(target, init);
      if (init?.method === "GET" && response.ok) listening.open();
      return response;
    },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  await listening.opened;
  return { client, transport };
}

describe.each(["2025-11-25", "2025-06-18"])("H-22: the official client at %s, in its session", (revision) => {
  it("hears of changed lists, and of resources that it watches", async () => {
    const { server, agent, directory } = await start((fixed) => {
      fixed.resources = new FixedResources().add("a:1", says("{}"));
    });
    const { client } = await connect(agent, agent.url, revision);
    const heard: unknown[] = [];
    client.setNotificationHandler("notifications/tools/list_changed", () => void heard.push("tools"));
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.push(params.uri));
    server.notifyListChanged("tools");
    await expect.poll(() => heard, { interval: 2 }).toEqual(["tools"]);
    await client.subscribeResource({ uri: "a:1" });
    directory.resources?.update("a:1");
    await expect.poll(() => heard, { interval: 2 }).toEqual(["tools", "a:1"]);
    await client.unsubscribeResource({ uri: "a:1" });
    directory.resources?.update("a:1");
    server.notifyListChanged("tools");
    await expect.poll(() => heard, { interval: 2 }).toEqual(["tools", "a:1", "tools"]);
  });

  it("gets log messages of the level that it sets", async () => {
    const { agent } = await start((tools) =>
      tools.add("a_x", async ({ onNotification }) => {
        for (const level of ["debug", "error"]) {
          onNotification?.({ method: "notifications/message", params: { level, data: level } });
        }
        return answerOf(HELLO);
      }),
    );
    const { client } = await connect(agent, agent.url, revision);
    const heard: unknown[] = [];
    client.setNotificationHandler("notifications/message", ({ params }) => void heard.push(params.level));
    await client.setLoggingLevel("warning");
    await client.callTool({ name: "a_x" });
    expect(heard).toEqual(["error"]);
  });

  it("gets the answer to a call whose stream was cut, and the call runs once", async () => {
    const going = gate();
    const { agent, directory } = await start(
      (tools) =>
        tools.add("a_x", async ({ onProgress }) => {
          onProgress?.({ progress: 1 });
          await going.opened;
          onProgress?.({ progress: 2 });
          return answerOf(HELLO);
        }),
      { streamRetryMs: 10 },
    );
    const proxy = await cuttingProxy(agent.url);
    const { client } = await connect(agent, proxy.url, revision);
    const seen: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => {
      seen.push(progress);
      if (progress > 1) return;
      // The next byte that comes is the last one.
      proxy.cutNext(1);
      going.open();
    };
    const result = await client.callTool({ name: "a_x" }, { onprogress });
    expect(result).toMatchObject({ content: [{ text: "hello" }] });
    expect([seen, proxy.cuts, directory.calls.length]).toEqual([[1, 2], 1, 1]);
  });

  it("ends it, and can begin another", async () => {
    const { agent } = await start((tools) => tools.add("a_x", says(HELLO)));
    const { client, transport } = await connect(agent, agent.url, revision);
    const headers = { ...agent.headers, "Mcp-Session-Id": transport.sessionId ?? "", Accept: "text/event-stream" };
    await transport.terminateSession();
    expect((await fetch(agent.url, { headers })).status).toBe(404);
    await client.close();
    const again = await connect(agent, agent.url, revision);
    expect(await again.client.callTool({ name: "a_x" })).toMatchObject({ content: [{ text: "hello" }] });
  });
});
