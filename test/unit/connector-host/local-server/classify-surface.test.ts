import { describe, expect, it } from "vitest";
import {
  classifySurface,
  isModernByHeaders,
  type SurfaceHeaders,
} from "../../../../src/connector-host/local-server/classify-surface.js";
import { MetaKey } from "../../../../src/protocol/index.js";

const NONE: SurfaceHeaders = { version: undefined, method: undefined };

function request(method: string, meta?: object): unknown {
  return { jsonrpc: "2.0", id: 1, method, params: meta === undefined ? {} : { _meta: meta } };
}

const MODERN_META = { [MetaKey.protocolVersion]: "2026-07-28", [MetaKey.clientCapabilities]: {} };

describe("H-21, H-22: the surface of a POST", () => {
  it.each<[string, SurfaceHeaders, unknown, object]>([
    [
      "modern metadata and headers",
      { version: "2026-07-28", method: "tools/list" },
      request("tools/list", MODERN_META),
      { kind: "modern" },
    ],
    ["modern metadata without headers", NONE, request("tools/list", MODERN_META), { kind: "modern" }],
    [
      "modern metadata under a legacy header",
      { version: "2025-06-18", method: undefined },
      request("tools/list", MODERN_META),
      { kind: "modern" },
    ],
    [
      "modern metadata of a version nobody knows",
      NONE,
      request("tools/list", { [MetaKey.protocolVersion]: "1900-01-01" }),
      { kind: "modern" },
    ],
    [
      "a modern version that is no text",
      NONE,
      request("tools/list", { [MetaKey.protocolVersion]: 7 }),
      { kind: "modern" },
    ],
    ["initialize with modern metadata", NONE, request("initialize", MODERN_META), { kind: "modern" }],
    ["initialize", NONE, request("initialize"), { kind: "legacy", revision: "2025-03-26" }],
    [
      "initialize under a legacy header",
      { version: "2025-11-25", method: undefined },
      request("initialize"),
      { kind: "legacy", revision: "2025-11-25" },
    ],
    [
      "initialize under a modern header",
      { version: "2026-07-28", method: "initialize" },
      request("initialize"),
      { kind: "legacy", revision: "2025-03-26" },
    ],
    [
      "initialize under the header of a revision without this transport",
      { version: "2024-11-05", method: undefined },
      request("initialize"),
      { kind: "legacy", revision: "2025-03-26" },
    ],
    ["a method without any sign", NONE, request("tools/list"), { kind: "legacy", revision: "2025-03-26" }],
    [
      "a method with other metadata",
      NONE,
      request("tools/call", { progressToken: 1 }),
      { kind: "legacy", revision: "2025-03-26" },
    ],
    [
      "2025-06-18",
      { version: "2025-06-18", method: undefined },
      request("tools/list"),
      { kind: "legacy", revision: "2025-06-18" },
    ],
    [
      "2025-03-26",
      { version: "2025-03-26", method: undefined },
      request("ping"),
      { kind: "legacy", revision: "2025-03-26" },
    ],
    [
      "2024-11-05",
      { version: "2024-11-05", method: undefined },
      request("tools/list"),
      { kind: "unsupported", revision: "2024-11-05" },
    ],
    [
      "a legacy notification",
      NONE,
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { kind: "legacy", revision: "2025-03-26" },
    ],
    ["a batch", NONE, [request("ping")], { kind: "legacy", revision: "2025-03-26" }],
    [
      "a batch under 2025-06-18",
      { version: "2025-06-18", method: undefined },
      [request("ping")],
      { kind: "legacy", revision: "2025-06-18" },
    ],
    [
      "a batch under a modern header",
      { version: "2026-07-28", method: undefined },
      [request("ping")],
      { kind: "modern" },
    ],
    ["a modern method without metadata", NONE, request("server/discover"), { kind: "modern" }],
    ["a subscription without metadata", NONE, request("subscriptions/listen"), { kind: "modern" }],
    [
      "Mcp-Method without metadata",
      { version: undefined, method: "tools/list" },
      request("tools/list"),
      { kind: "modern" },
    ],
    [
      "Mcp-Method under a legacy header",
      { version: "2025-06-18", method: "tools/list" },
      request("tools/list"),
      { kind: "legacy", revision: "2025-06-18" },
    ],
    [
      "a version that nobody knows",
      { version: "2099-01-01", method: undefined },
      request("tools/list"),
      { kind: "modern" },
    ],
    ["an empty version", { version: "", method: undefined }, request("tools/list"), { kind: "modern" }],
    ["no object", NONE, "text", { kind: "legacy", revision: "2025-03-26" }],
    ["null", NONE, null, { kind: "legacy", revision: "2025-03-26" }],
    [
      "params that are no object",
      NONE,
      { jsonrpc: "2.0", id: 1, method: "ping", params: [] },
      { kind: "legacy", revision: "2025-03-26" },
    ],
    [
      "_meta that is no object",
      NONE,
      { jsonrpc: "2.0", id: 1, method: "ping", params: { _meta: "x" } },
      { kind: "legacy", revision: "2025-03-26" },
    ],
  ])("%s", (_name, headers, message, expected) => {
    expect(classifySurface(headers, message)).toEqual(expected);
  });
});

describe("H-21: a modern request shown by its headers alone", () => {
  it.each<[SurfaceHeaders, boolean]>([
    [{ version: "2026-07-28", method: "tools/call" }, true],
    [{ version: undefined, method: "tools/call" }, true],
    [{ version: "2099-01-01", method: "tools/call" }, true],
    [{ version: "2026-07-28", method: "initialize" }, false],
    [{ version: "2025-11-25", method: "tools/call" }, false],
    [{ version: "2026-07-28", method: undefined }, false],
    [NONE, false],
  ])("%j: %s", (headers, expected) => {
    expect(isModernByHeaders(headers)).toBe(expected);
  });

  it("never disagrees with the whole look for a request that isn't initialize", () => {
    for (const version of [undefined, "2026-07-28", "2099-01-01", "2025-06-18", "2024-11-05"]) {
      const headers = { version, method: "tools/list" };
      if (!isModernByHeaders(headers)) continue;
      expect(classifySurface(headers, request("tools/list"))).toEqual({ kind: "modern" });
      expect(classifySurface(headers, request("tools/list", MODERN_META))).toEqual({ kind: "modern" });
    }
  });
});
