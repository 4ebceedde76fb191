import { afterEach, describe, expect, it } from "vitest";
import { agentOf, becomes, HostParties } from "../integration/connector-host/host-parties.js";
import { offering } from "../integration/connector-host/permission-parties.js";

const parties = new HostParties();
afterEach(parties.opened.close);

describe("schemas of tools", () => {
  it("MB-126: one broken schema makes the model's provider refuse every request", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const city = { type: "string" };
    const broken = { type: "object", properties: { city, required: ["city"] } };
    offering(gateway, "a", { tools: { good: {}, broken: { inputSchema: broken } } });
    const endpoint = `${gateway.url}/v1/connectors/a/mcp`;
    const registrations = [{ slug: "docs", displayName: "Docs", settings: { endpoint, protocol: "modern" } }];
    const told: unknown[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (_text: string, fields?: object) => told.push(fields) };
    const judge = async (brokenSchemas?: "omit" | "keep") => {
      const { host } = await parties.host(gateway, ["a"], { registrations, brokenSchemas, logger });
      host.signIn("ada");
      await becomes(host, { a: "ready", docs: "ready" });
      const agent = agentOf(host);
      const { names } = await agent.list();
      const { error } = await agent.call("a_broken");
      return { names, code: error?.code };
    };
    expect(await judge()).toEqual({ names: ["a_good", "docs_good"], code: -32602 });
    const reason = { path: "/properties", reason: expect.any(String) };
    const diagnostic = { kind: "broken_schema", tool: "broken", ...reason };
    for (const connectorKey of ["a", "docs"]) {
      expect(told).toContainEqual(expect.objectContaining({ connectorKey, diagnostics: [diagnostic] }));
    }
    // It is told of a list, too: the schema may have become what it is after the activation.
    const listed = { kind: "broken_schema", tool: { connectorKey: "a", nativeName: "broken" }, ...reason };
    expect(told).toContainEqual({ connectorKey: "a", diagnostics: [listed] });
    const kept = await judge("keep");
    expect(kept).toEqual({ names: ["a_broken", "a_good", "docs_broken", "docs_good"], code: undefined });
    await expect(judge(Object("drop"))).rejects.toMatchObject({ code: "invalid_options" });
  });
});
