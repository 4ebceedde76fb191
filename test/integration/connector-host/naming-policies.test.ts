import { afterEach, describe, expect, it } from "vitest";
import { createRawNaming, openConnectorHost } from "../../../src/connector-host/index.js";
import { RawAgent } from "../../support/agent.js";
import { releaseOf } from "../../support/releases.js";
import { type ConnectorCall, ScriptedGateway, working } from "../../support/scripted-gateway.js";

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** A connector with these tools, each of which says who it is. */
function offering(key: string, names: readonly string[]) {
  return (call: ConnectorCall): void => {
    if (call.method === "tools/list") {
      call.result(JSON.stringify({ tools: names.map((name) => ({ name, inputSchema: { type: "object" } })) }));
    } else if (call.method === "tools/call") {
      const text = `${key} ${String(call.params["name"])}`;
      call.result(JSON.stringify({ content: [{ type: "text", text }], resultType: "complete" }));
    } else working(call);
  };
}

describe("H-18, H-19: a host with raw names", () => {
  it("lists them as they are, and the longest key has the call", async () => {
    const offered = { a: ["b__c", "Größe:读/x", "__proto__"], a__b: ["c", "b__c"] };
    const gateway = await ScriptedGateway.start();
    cleanups.push(() => gateway.close());
    gateway.connect(1, { a: 1, a__b: 1 });
    for (const [key, names] of Object.entries(offered)) gateway.script(key, offering(key, names));
    const host = await openConnectorHost({
      baseUrl: gateway.url,
      releases: Object.keys(offered).map((key) => releaseOf(key)),
      accounts: { authorize: () => ({}) },
      hostInfo: { name: "test", version: "1.0.0" },
      hintsUrl: false,
      naming: createRawNaming(),
    });
    cleanups.push(() => host.close());
    host.signIn("ada");
    const states = async () => (await host.status()).map(({ state }) => state);
    await expect.poll(states, { timeout: 10_000 }).toEqual(["ready", "ready"]);
    const agent = new RawAgent(host.bind({ workspaceId: "w", agentSessionId: "s" }));
    const owners = {
      "mcp__a__Größe:读/x": "a Größe:读/x",
      mcp__a____proto__: "a __proto__",
      mcp__a__b__b__c: "a__b b__c",
      mcp__a__b__c: "a__b c",
    };
    expect(await agent.list()).toEqual({ names: Object.keys(owners).toSorted(), omitted: {} });
    for (const [name, text] of Object.entries(owners)) {
      expect((await agent.call(name)).result, name).toMatchObject({ content: [{ text }] });
    }
  });
});
