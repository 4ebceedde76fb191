import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isMetaKey, isReservedMetaKey, MetaKey } from "../../../src/protocol/index.js";

const isLetter = (text: string | undefined): boolean => text !== undefined && /^[A-Za-z]$/.test(text);
const isAlphanumeric = (text: string | undefined): boolean => text !== undefined && /^[A-Za-z0-9]$/.test(text);

/** The grammar as its page puts it, without the expression that the module uses. */
function obeysGrammar(key: string): boolean {
  const [first = "", second, ...more] = key.split("/");
  if (more.length > 0) return false;
  const name = Array.from(second ?? first);
  if (second !== undefined && !first.split(".").every((label) => isLabel(Array.from(label)))) return false;
  if (name.length === 0) return true;
  const inside = name.every((character) => isAlphanumeric(character) || "-_.".includes(character));
  return inside && isAlphanumeric(name[0]) && isAlphanumeric(name.at(-1));
}

function isLabel(label: readonly string[]): boolean {
  const inside = label.every((character) => isAlphanumeric(character) || character === "-");
  return inside && isLetter(label[0]) && isAlphanumeric(label.at(-1));
}

describe("isMetaKey", () => {
  it.each([
    "",
    "a",
    "0",
    "progressToken",
    "traceparent",
    "a.b",
    "a-b_c.d",
    "a..b",
    "com.example/",
    "com.example/a",
    "com.example/0a",
    "a/b",
    "A1/b",
    "a--b.c-1/d_e",
    "io.modelcontextprotocol/protocolVersion",
  ])("W-4: %j is a key", (key) => {
    expect(isMetaKey(key)).toBe(true);
  });

  it.each([
    "/",
    "/a",
    "a/b/c",
    "a//b",
    "-a",
    "a-",
    "_a",
    "a_",
    ".a",
    "a.",
    "a b",
    " a",
    "a\n",
    "é",
    "com.example/é",
    "com.example/-a",
    "com.example/a.",
    "1a/b",
    "com.1x/b",
    "a-/b",
    "-a/b",
    ".a/b",
    "a./b",
    "a..b/c",
    "a_b/c",
    "a b/c",
    "\n/a",
  ])("W-4: %j is none", (key) => {
    expect(isMetaKey(key)).toBe(false);
  });

  it("W-4: agrees with the grammar on every short key", () => {
    const unit = fc.constantFrom("a", "Z", "0", "-", "_", ".", "/", " ", "é");
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 9 }), (key) => {
        expect(isMetaKey(key)).toBe(obeysGrammar(key));
      }),
      { seed: 4, numRuns: 5000 },
    );
  });

  it("W-4: judges long keys in linear time", () => {
    for (const long of ["a".repeat(300_000), "a.".repeat(150_000), "a-".repeat(150_000), "a.a/".repeat(75_000)]) {
      expect(isMetaKey(`${long}!`)).toBe(false);
    }
  });
});

describe("isReservedMetaKey", () => {
  it.each([
    "io.modelcontextprotocol/",
    "io.modelcontextprotocol/x",
    "dev.mcp/x",
    "org.modelcontextprotocol.api/x",
    "com.mcp.tools/x",
    "io.modelcontextprotocol/not a name",
    "io.modelcontextprotocol/a/b",
    "io.mcp.-/x",
  ])("W-4: %j is MCP's", (key) => {
    expect(isReservedMetaKey(key)).toBe(true);
  });

  it.each([
    "com.example.mcp/x",
    "com.example/mcp",
    "com.example/io.mcp/x",
    "mcp/x",
    "modelcontextprotocol/x",
    "modelcontextprotocol.io/x",
    "com.mcpx/y",
    "com.MCP/x",
    "io.modelcontextprotocol",
    "dev.mcp",
    "progressToken",
    "traceparent",
    "",
  ])("W-4: %j is not", (key) => {
    expect(isReservedMetaKey(key)).toBe(false);
  });
});

describe("MetaKey", () => {
  it("W-4: names the protocol's own keys", () => {
    const prefix = "io.modelcontextprotocol/";
    expect(MetaKey).toEqual({
      protocolVersion: `${prefix}protocolVersion`,
      clientInfo: `${prefix}clientInfo`,
      clientCapabilities: `${prefix}clientCapabilities`,
      logLevel: `${prefix}logLevel`,
      subscriptionId: `${prefix}subscriptionId`,
      serverInfo: `${prefix}serverInfo`,
      progressToken: "progressToken",
    });
    expect(Object.values(MetaKey).every(isMetaKey)).toBe(true);
  });
});
