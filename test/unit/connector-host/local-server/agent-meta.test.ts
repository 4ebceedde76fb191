import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { passOnAgentMeta } from "../../../../src/connector-host/local-server/agent-meta.js";
import { isMetaKey, isReservedMetaKey, MetaKey } from "../../../../src/protocol/index.js";

describe("H-6: what of an agent's _meta travels on", () => {
  it.each<[string, unknown, boolean]>([
    ["traceparent", "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01", true],
    ["tracestate", "vendor=1", true],
    ["baggage", "a=b", true],
    ["traceparent", 7, false],
    ["com.example/thing", { deep: [1, null] }, true],
    ["claudecode/toolUseId", "x", true],
    ["plain", 0, true],
    ["constructor", "x", true],
    ["com.example.mcp/key", 1, true],
    [MetaKey.protocolVersion, "2026-07-28", false],
    [MetaKey.clientInfo, {}, false],
    [MetaKey.clientCapabilities, {}, false],
    [MetaKey.logLevel, "debug", false],
    [MetaKey.subscriptionId, 1, false],
    [MetaKey.progressToken, 0, false],
    ["io.modelcontextprotocol/related-task", {}, false],
    ["dev.mcp/anything", 1, false],
    ["com.mcp.tools/x", 1, false],
    ["sh.tutti/connectorVersion", "9.9.9", false],
    ["sh.tutti/", 1, false],
    ["SH.Tutti/delivery", 1, false],
    ["sh.tutti.host/x", 1, false],
    ["sh.tuttifrutti/x", 1, true],
    ["sh.tutti", 1, true],
    ["sh/tutti", 1, true],
    ["__proto__", { polluted: true }, false],
    ["with space", 1, false],
    ["/x", 1, false],
    ["", 1, true],
  ])("%j: %j: %s", (key, value, passes) => {
    // Written as text, because only then `__proto__` is a member like any other.
    const meta: unknown = JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`);
    const passed = passOnAgentMeta(meta, "sh.tutti");
    expect(Object.keys(passed)).toEqual(passes ? [key] : []);
    if (passes) expect(passed[key]).toEqual(value);
    expect(Object.getPrototypeOf(passed)).toBe(Object.prototype);
  });

  it.each([undefined, null, "x", 5, [], [1]])("is nothing for %j", (meta) => {
    expect(passOnAgentMeta(meta, "sh.tutti")).toEqual({});
  });

  it("follows the product's own prefix", () => {
    const meta = { "sh.tutti/x": 1, "com.acme/x": 1, "com.acme.desk/x": 1 };
    expect(passOnAgentMeta(meta, "com.acme")).toEqual({ "sh.tutti/x": 1 });
  });

  it("never passes a reserved key, a key of the product or one that breaks the grammar", () => {
    const key = fc.oneof(
      fc.string(),
      fc
        .tuple(
          fc.constantFrom("sh.tutti", "Sh.TUTTI", "sh.tutti.a", "io.mcp", "a.modelcontextprotocol.b", "x"),
          fc.string(),
        )
        .map(([prefix, name]) => `${prefix}/${name}`),
    );
    fc.assert(
      fc.property(fc.dictionary(key, fc.jsonValue()), (meta) => {
        for (const passed of Object.keys(passOnAgentMeta(meta, "sh.tutti"))) {
          expect(isMetaKey(passed)).toBe(true);
          expect(isReservedMetaKey(passed)).toBe(false);
          expect(passed.toLowerCase()).not.toMatch(/^sh\.tutti[./]/);
          expect(passed).not.toBe("progressToken");
        }
      }),
      { seed: 20, numRuns: 500 },
    );
  });
});
