import { describe, expect, it } from "vitest";
import { encodeHeaderValue, RpcCode } from "../../../src/protocol/index.js";
import { classifyModernRequest, type HeaderFields } from "../../../src/serving/index.js";

const VERSION = "2026-07-28";
const SUPPORTED = [VERSION];

function bytes(value: unknown): Uint8Array {
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
}

function meta(members: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    ...members,
  };
}

function headersFor(method: string, name?: string, changes: HeaderFields = {}): HeaderFields {
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": VERSION,
    "mcp-method": method,
    ...(name === undefined ? {} : { "mcp-name": name }),
    ...changes,
  };
}

function call(name: unknown, members: Record<string, unknown> = {}, params: Record<string, unknown> = {}): unknown {
  return { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name, ...params, _meta: meta(members) } };
}

/** Expects a refusal with a status, a code and an id (`undefined` for none). */
function refused(status: number, code: number, headers: HeaderFields, body: unknown, id: unknown): void {
  const verdict = classifyModernRequest(headers, bytes(body), SUPPORTED);
  expect(verdict).toMatchObject({ kind: "refused", status, id, error: { code } });
}

describe("a request that is accepted", () => {
  it("H-21: gives id, method, params and what `_meta` says", () => {
    const body = call("search", {
      "io.modelcontextprotocol/clientInfo": { name: "agent", version: "1" },
      "io.modelcontextprotocol/logLevel": "warning",
      progressToken: 0,
      "com.example/extra": [1],
    });
    const verdict = classifyModernRequest(headersFor("tools/call", "search"), bytes(body), SUPPORTED);
    expect(verdict).toMatchObject({
      kind: "request",
      id: 7,
      method: "tools/call",
      params: { name: "search" },
      meta: {
        protocolVersion: VERSION,
        clientCapabilities: {},
        clientInfo: { name: "agent", version: "1" },
        logLevel: "warning",
        progressToken: 0,
        members: { "com.example/extra": [1] },
      },
    });
  });

  it.each([0, "", "x", -1])("W-5: takes %j as an ordinary id", (id) => {
    const body = { jsonrpc: "2.0", id, method: "tools/list", params: { _meta: meta() } };
    expect(classifyModernRequest(headersFor("tools/list"), bytes(body), SUPPORTED)).toMatchObject({
      kind: "request",
      id,
    });
  });

  it.each(["", 0, "0"])("W-18: takes %j as an ordinary progress token", (progressToken) => {
    const verdict = classifyModernRequest(
      headersFor("tools/call", "a"),
      bytes(call("a", { progressToken })),
      SUPPORTED,
    );
    expect(verdict).toMatchObject({ kind: "request", meta: { progressToken } });
  });

  it.each([
    ["Application/JSON; charset=utf-8", "TEXT/event-stream;q=0.5 , application/json"],
    ["application/json", "application/json;q=1, text/event-stream, */*;q=0.1"],
  ])("H-21: compares media types without case and parameters (%s; %s)", (contentType, accept) => {
    const headers = headersFor("tools/call", "a", { "content-type": contentType, accept });
    expect(classifyModernRequest(headers, bytes(call("a")), SUPPORTED).kind).toBe("request");
  });

  it("H-21: does not look at `Mcp-Name` where the method has no name", () => {
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: meta() } };
    expect(classifyModernRequest(headersFor("tools/list", "other"), bytes(body), SUPPORTED).kind).toBe("request");
  });

  it.each([
    ["tools/call", { name: "wetter-übersicht" }, "wetter-übersicht"],
    ["prompts/get", { name: "" }, ""],
    ["resources/read", { uri: "file:///a b.txt" }, "file:///a b.txt"],
    ["tools/call", { name: "=?base64?x?=" }, "=?base64?x?="],
  ])("W-19: decodes the name of %s before it compares", (method, params, name) => {
    const body = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta() } };
    const headers = headersFor(method, encodeHeaderValue(name));
    expect(classifyModernRequest(headers, bytes(body), SUPPORTED).kind).toBe("request");
  });

  it("H-21: gives a notification as it is", () => {
    const body = { jsonrpc: "2.0", method: "notifications/x", params: { a: 1 } };
    const verdict = classifyModernRequest(headersFor("notifications/x"), bytes(body), SUPPORTED);
    expect(verdict).toEqual({ kind: "notification", method: "notifications/x", params: { a: 1 } });
  });
});

describe("a request that is refused", () => {
  const good = headersFor("tools/call", "a");

  it.each([["text/plain"], ["application/json-seq"], [undefined], ["application/jsonp"]])(
    "H-21: content type %s gets 415",
    (contentType) => {
      refused(415, RpcCode.invalidRequest, { ...good, "content-type": contentType }, call("a"), undefined);
    },
  );

  it.each([
    [undefined],
    ["application/json"],
    ["text/event-stream"],
    ["*/*"],
    ["application/json, text/event-stream;q=0"],
    ["application/json;q=0.0, text/event-stream"],
  ])("H-21: accept %s gets 406", (accept) => {
    refused(406, RpcCode.invalidRequest, { ...good, accept }, call("a"), undefined);
  });

  it.each([
    ["nothing", ""],
    ["a cut text", '{"jsonrpc":"2.0",'],
    ["trailing data", `${JSON.stringify(call("a"))} {}`],
    ["a byte order mark", `\ufeff${JSON.stringify(call("a"))}`],
  ])("H-21: %s is no JSON: -32700 without an id", (_what, text) => {
    refused(400, RpcCode.parseError, good, text, undefined);
  });

  it("H-21: text that is not UTF-8 is no JSON", () => {
    const latin1 = Buffer.from(JSON.stringify(call("caf\u00e9")), "latin1");
    expect(classifyModernRequest(good, latin1, SUPPORTED)).toMatchObject({
      status: 400,
      error: { code: RpcCode.parseError },
    });
  });

  it.each([
    ["a batch", [call("a")], undefined],
    ["a result", { jsonrpc: "2.0", id: 7, result: {} }, undefined],
    ["an error", { jsonrpc: "2.0", id: 7, error: { code: 1, message: "" } }, undefined],
    ["a null id", { jsonrpc: "2.0", id: null, method: "tools/list" }, undefined],
    ["a fractional id", { jsonrpc: "2.0", id: 1.5, method: "tools/list" }, undefined],
    ["no jsonrpc", { id: 7, method: "tools/list" }, 7],
    ["a number", 4, undefined],
  ])("W-1: %s is -32600", (_what, body, id) => {
    refused(400, RpcCode.invalidRequest, good, body, id);
  });

  it.each([
    ["no params", undefined],
    ["params that are a list", []],
    ["params without _meta", { name: "a" }],
    ["_meta that is null", { name: "a", _meta: null }],
    ["no version", { name: "a", _meta: { "io.modelcontextprotocol/clientCapabilities": {} } }],
    ["no capabilities", { name: "a", _meta: { "io.modelcontextprotocol/protocolVersion": VERSION } }],
    ["capabilities that are a list", { name: "a", _meta: meta({ "io.modelcontextprotocol/clientCapabilities": [] }) }],
    [
      "client info without a version",
      { name: "a", _meta: meta({ "io.modelcontextprotocol/clientInfo": { name: "x" } }) },
    ],
    ["a progress token that is a fraction", { name: "a", _meta: meta({ progressToken: 1.5 }) }],
    ["a progress token that is null", { name: "a", _meta: meta({ progressToken: null }) }],
    ["an unknown log level", { name: "a", _meta: meta({ "io.modelcontextprotocol/logLevel": "loud" }) }],
    ["a name that is no string", { name: 1, _meta: meta() }],
    ["no name", { _meta: meta() }],
  ])("W-4: %s is -32602", (_what, params) => {
    refused(400, RpcCode.invalidParams, good, { jsonrpc: "2.0", id: 7, method: "tools/call", params }, 7);
  });

  it.each([
    ["no version header", { "mcp-protocol-version": undefined }],
    ["another version than the body", { "mcp-protocol-version": "2025-11-25" }],
    ["no method header", { "mcp-method": undefined }],
    ["another method than the body", { "mcp-method": "tools/list" }],
    ["a method in another case", { "mcp-method": "Tools/Call" }],
    ["a method that is wrapped", { "mcp-method": "=?base64?dG9vbHMvY2FsbA==?=" }],
    ["a repeated method", { "mcp-method": "tools/call, tools/call" }],
    ["a repeated method as a list", { "mcp-method": ["tools/call", "tools/call"] }],
    ["no name header", { "mcp-name": undefined }],
    ["an empty name", { "mcp-name": "" }],
    ["another name than the body", { "mcp-name": "b" }],
    ["a name in another case", { "mcp-name": "A" }],
    ["a name with a character beyond ASCII", { "mcp-name": "\u00e4" }],
    ["a name with a control character", { "mcp-name": "a\u0007" }],
    ["a broken sentinel", { "mcp-name": "=?base64?YQ=?=" }],
    ["a sentinel around no UTF-8", { "mcp-name": "=?base64?/w==?=" }],
  ])("H-21: %s is -32020", (_what, changes) => {
    refused(400, RpcCode.headerMismatch, { ...good, ...changes }, call("a"), 7);
  });

  it("W-27: a version that is not spoken is -32022 with both lists", () => {
    const body = call("a", { "io.modelcontextprotocol/protocolVersion": "2027-01-01" });
    const headers = { ...good, "mcp-protocol-version": "2027-01-01" };
    expect(classifyModernRequest(headers, bytes(body), SUPPORTED)).toEqual({
      kind: "refused",
      status: 400,
      id: 7,
      error: {
        code: RpcCode.unsupportedProtocolVersion,
        message: expect.any(String),
        data: { supported: SUPPORTED, requested: "2027-01-01" },
      },
    });
  });

  it("W-27: a newer version is told so before its `_meta` is held against what this revision asks for", () => {
    const body = {
      jsonrpc: "2.0",
      id: 7,
      method: "tools/list",
      params: { _meta: { "io.modelcontextprotocol/protocolVersion": "2027-01-01" } },
    };
    const headers = { ...good, "mcp-protocol-version": "2027-01-01", "mcp-method": undefined };
    refused(400, RpcCode.unsupportedProtocolVersion, headers, body, 7);
  });

  it("W-27: an `initialize` of an older program learns what would be understood", () => {
    const body = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18" } };
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    expect(classifyModernRequest(headers, bytes(body), SUPPORTED)).toMatchObject({
      status: 400,
      id: 1,
      error: {
        code: RpcCode.unsupportedProtocolVersion,
        data: { supported: SUPPORTED, requested: "2025-06-18" },
      },
    });
  });
});
