import { describe, expect, it } from "vitest";
import { classifyLine } from "../../../../src/connector-host/stdio-shim/classify-line.js";

const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };

function request(method: string, params?: object, id: unknown = 1): object {
  return { jsonrpc: "2.0", id, method, params };
}

function note(method: string, params?: object): object {
  return { jsonrpc: "2.0", method, params };
}

describe("H-23: a line before any handshake", () => {
  it.each([
    [
      "a request that names its version",
      request("tools/list", { _meta }),
      { kind: "modern", ids: [1], method: "tools/list" },
    ],
    ["one that names none", request("tools/call"), { kind: "modern", ids: [1], method: "tools/call" }],
    ["initialize", request("initialize", { protocolVersion: "x" }), { kind: "initialize", id: 1, offered: "x" }],
    [
      "initialize that names a version",
      request("initialize", { _meta }),
      { kind: "modern", ids: [1], method: "initialize" },
    ],
    ["ping", request("ping", undefined, 0), { kind: "ping", id: 0 }],
    ["the end of a request", note("notifications/cancelled", { requestId: "" }), { kind: "cancel", requestId: "" }],
    ["the end of no request", note("notifications/cancelled", {}), { kind: "ignored" }],
    ["another notification", note("notifications/initialized"), { kind: "ignored" }],
    ["an answer", { jsonrpc: "2.0", id: 1, result: {} }, { kind: "ignored" }],
    ["a broken answer", { jsonrpc: "2.0", id: 1, result: 1 }, { kind: "ignored" }],
  ])("%s", (_what, value, verdict) => {
    expect(classifyLine(value, undefined)).toEqual(verdict);
  });

  it.each([
    ["a batch", [request("ping")], undefined],
    ["a text", "ping", undefined],
    ["a request with an id that is none", request("ping", undefined, null), undefined],
    ["a request of another JSON-RPC", { id: 3, method: "ping" }, 3],
    ["nothing that was ever sent", {}, undefined],
  ])("%s is malformed", (_what, value, id) => {
    expect(classifyLine(value, undefined)).toMatchObject({ kind: "malformed", id });
  });
});

describe("H-23, L-1: a line of a session", () => {
  it("is legacy, unless it names a version", () => {
    expect(classifyLine(request("tools/list", { a: 1 }), "2025-06-18")).toEqual({
      kind: "legacy",
      ids: [1],
      method: "tools/list",
      params: { a: 1 },
    });
    expect(classifyLine(request("tools/list", { _meta }), "2025-06-18").kind).toBe("modern");
    expect(classifyLine(request("ping"), "2024-11-05").kind).toBe("legacy");
  });

  it("can be a notification, or an answer", () => {
    expect(classifyLine(note("notifications/initialized"), "2025-06-18")).toEqual({
      kind: "aside",
      method: "notifications/initialized",
    });
  });

  it.each([
    ["a result", { result: {} }],
    ["an error", { error: { code: -1, message: "no" } }],
    ["a result that is no object", { result: 7 }],
    ["an error without a code", { error: {} }],
    ["both", { result: {}, error: { code: -1 } }],
  ])("H-27: is an answer for the host, broken or not: %s", (_what, members) => {
    const answer = { jsonrpc: "2.0", id: "e", ...members };
    expect(classifyLine(answer, "2025-06-18")).toEqual({ kind: "response", id: "e" });
    expect(classifyLine(answer, undefined)).toEqual({ kind: "ignored" });
  });

  it("can be a batch in the one revision that has them, of 1 to 64 messages", () => {
    const batch = [request("ping", undefined, "a"), note("notifications/initialized"), request("ping", undefined, 0)];
    expect(classifyLine(batch, "2025-03-26")).toEqual({ kind: "batch", ids: ["a", 0] });
    for (const revision of ["2025-11-25", "2025-06-18", "2024-11-05"]) {
      expect(classifyLine(batch, revision).kind).toBe("malformed");
    }
    expect(classifyLine([], "2025-03-26").kind).toBe("malformed");
    expect(
      classifyLine(
        Array.from({ length: 65 }, () => request("ping")),
        "2025-03-26",
      ).kind,
    ).toBe("malformed");
  });
});
