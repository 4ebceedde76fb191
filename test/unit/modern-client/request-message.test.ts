import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { composeClientMeta, encodeMeta, withTrace } from "../../../src/modern-client/request-meta.js";
import {
  encodeBody,
  encodeHeaders,
  prepareRequest,
  prepareToolCall,
} from "../../../src/modern-client/request-message.js";
import { RawJson } from "../../../src/protocol/index.js";

const clientInfo = { name: "test", version: "1" };
const client = composeClientMeta({ clientInfo, capabilities: {}, further: { "sh.tutti/connectorVersion": "1.0.0" } });
const own = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": clientInfo,
  "io.modelcontextprotocol/clientCapabilities": {},
  "sh.tutti/connectorVersion": "1.0.0",
};

const refusal = (code: string) => expect.objectContaining({ code, delivery: "not_sent" });

describe("_meta", () => {
  it("F-19: takes up the trace of its request, and leaves alone what the caller or the client gives of another", () => {
    const trace = { traceparent: "00-1", baggage: 'a="b"' };
    const json = encodeMeta(client, {});
    expect(JSON.parse(withTrace(json, trace, client))).toEqual({ ...own, ...trace });
    expect(JSON.parse(withTrace(json, trace, client, { traceparent: undefined }))).toEqual({ ...own, ...trace });
    expect(withTrace(json, undefined, client)).toBe(json);
    expect(withTrace(json, trace, client, { tracestate: "" })).toBe(json);
    const traced = composeClientMeta({ clientInfo, capabilities: {}, further: { baggage: "c=d" } });
    expect(withTrace(json, trace, traced)).toBe(json);
  });

  it("W-4: carries version, capabilities and identity, and what the caller adds", () => {
    const meta = encodeMeta(client, {
      members: { traceparent: "00-1", "dev.mcp/x": 1, gone: undefined },
      progressToken: 0,
      logLevel: "info",
    });
    expect(JSON.parse(meta)).toEqual({
      ...own,
      progressToken: 0,
      "io.modelcontextprotocol/logLevel": "info",
      traceparent: "00-1",
      "dev.mcp/x": 1,
    });
  });

  it("W-4: identity can be left out, capabilities are always there", () => {
    const anonymous = composeClientMeta({ clientInfo: false, capabilities: {}, further: {} });
    expect(JSON.parse(encodeMeta(anonymous, {}))).toEqual({
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    });
  });

  it.each(Object.keys(own))("W-4: a caller's %s throws, it is neither overwritten nor lost", (key) => {
    expect(() => encodeMeta(client, { members: { [key]: 1 } })).toThrow(refusal("invalid_argument"));
  });

  it("W-4: a progress token or log level of the caller's own collides only with ours", () => {
    expect(JSON.parse(encodeMeta(client, { members: { progressToken: "mine" } }))).toMatchObject({
      progressToken: "mine",
    });
    expect(() => encodeMeta(client, { members: { progressToken: "mine" }, progressToken: 1 })).toThrow(
      refusal("invalid_argument"),
    );
  });

  it.each(["a/b/c", "-x", "x-", "1.a/b", "a./b", "io.modelcontextprotocol/clientInfo", "progressToken"])(
    "W-4: a configured %s is refused",
    (key) => {
      expect(() => composeClientMeta({ clientInfo, capabilities: {}, further: { [key]: 1 } })).toThrow(
        refusal("invalid_options"),
      );
    },
  );
});

describe("requests", () => {
  it("W-1, W-4: the body is one request, whatever the params", () => {
    const jsonObject = fc.dictionary(fc.string(), fc.jsonValue());
    const property = fc.property(jsonObject, fc.nat(), (params, id) => {
      const { _meta: _, ...members } = params;
      const text = encodeBody(prepareRequest("x/y", members), id, encodeMeta(client, {}));
      expect(JSON.parse(text)).toEqual(
        JSON.parse(JSON.stringify({ jsonrpc: "2.0", id, method: "x/y", params: { ...members, _meta: own } })),
      );
    });
    fc.assert(property, { seed: 20260728, numRuns: 300 });
  });

  it("H-26: params given as raw JSON keep their text, beside others", () => {
    const text = '{ "n":9007199254740993, "z":1.0 }';
    const params = { name: "p", arguments: new RawJson(text), left: undefined, more: [1] };
    expect(prepareRequest("prompts/get", params).paramsJson).toBe(`"name":"p","arguments":${text},"more":[1]`);
    expect(() => prepareRequest("x", { raw: new RawJson("1"), odd: () => 1 })).toThrow(refusal("invalid_argument"));
  });

  it("W-4: _meta inside params is merged with that of the options", () => {
    expect(prepareRequest("x", { _meta: { a: 1, b: 1 }, c: 1 }, { b: 2 })).toMatchObject({
      meta: { a: 1, b: 2 },
      paramsJson: '"c":1',
    });
  });

  it.each([
    ["tools/call", { name: "größe" }, "=?base64?Z3LDtsOfZQ==?="],
    ["prompts/get", { name: "p" }, "p"],
    ["resources/read", { uri: "file:///a b" }, "file:///a b"],
    ["tasks/get", { taskId: "" }, "=?base64??="],
    ["tasks/update", { taskId: "t" }, "t"],
    ["tasks/cancel", { taskId: "t" }, "t"],
  ])("W-2: %s mirrors its name", (method, params, expected) => {
    const headers = encodeHeaders(["A", "b"], prepareRequest(method, params), [{ header: "Mcp-Param-X", value: " x" }]);
    expect(headers).toEqual(["A", "b", "Mcp-Method", method, "Mcp-Name", expected, "Mcp-Param-X", "=?base64?IHg=?="]);
  });

  it.each(["tools/list", "server/discover", "completion/complete", "x/y"])("W-2: %s has no Mcp-Name", (method) => {
    expect(encodeHeaders([], prepareRequest(method, { name: "n", uri: "u" }), [])).toEqual(["Mcp-Method", method]);
  });

  it("H-34: raw arguments keep their digits and their order", () => {
    const raw = new RawJson('{"b":12345678901234567890, "a":1.0}');
    const body = encodeBody(prepareToolCall("t", raw), 1, "{}");
    expect(body).toContain('"arguments":{"b":12345678901234567890, "a":1.0}');
    expect(JSON.parse(body)).toMatchObject({ params: { name: "t", _meta: {} } });
  });

  it.each([
    ["arguments that are a list", () => prepareToolCall("t", new RawJson("[]"))],
    ["arguments without JSON form", () => prepareToolCall("t", { big: 1n })],
    ["a name that is missing", () => prepareRequest("tools/call", {})],
    ["a method with a line break", () => prepareRequest("x\r\ny")],
    ["a _meta that is a list", () => prepareRequest("x", { _meta: [] })],
  ])("%s is refused before anything is sent", (_, prepare) => {
    expect(prepare).toThrow(refusal("invalid_argument"));
  });
});
