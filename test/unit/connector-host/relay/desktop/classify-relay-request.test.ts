import { describe, expect, it } from "vitest";
import { resolveVersionPin } from "../../../../../src/connector-host/gateway-route.js";
import { classifyRelayRequest } from "../../../../../src/connector-host/relay/desktop/classify-relay-request.js";
import { leaseConnectors, type LeaseTerms } from "../../../../../src/connector-host/relay/desktop/lease-terms.js";

const TERMS: LeaseTerms = {
  accountId: "größe 1",
  loginGeneration: 7,
  connectors: leaseConnectors([
    { connectorKey: "docs", releaseDigest: "d1", version: "1.0.0" },
    { connectorKey: "mail", releaseDigest: "d2", version: "2.0.0" },
  ]),
};

const META: Readonly<Record<string, unknown>> = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "guest", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
  "sh.tutti/connectorVersion": "1.0.0",
};

const HEADERS: Readonly<Record<string, string>> = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "search",
  "mcp-param-city": "=?base64?TMOkbmRlcg==?=",
  "relay-account": "=?base64?Z3LDtsOfZSAx?=",
  "relay-connector": "docs",
  "relay-release": "d1",
};

const call = (meta: object = META, changes: object = {}): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "search", _meta: meta }, ...changes });

function judge(headers: Readonly<Record<string, string | undefined>> = {}, body = call(), pin = {}) {
  const all: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...HEADERS, ...headers })) if (value !== undefined) all[name] = value;
  return classifyRelayRequest(all, Buffer.from(body), TERMS, resolveVersionPin(pin));
}

describe("H-7: what a guest may send", () => {
  it("is made anew: method and headers are the desktop's, only mirrored ones are the guest's", () => {
    expect(judge()).toEqual({
      kind: "accepted",
      leased: { connectorKey: "docs", releaseDigest: "d1", version: "1.0.0" },
      method: "tools/call",
      headers: [
        "Content-Type",
        "application/json",
        "Accept",
        "application/json, text/event-stream",
        "MCP-Protocol-Version",
        "2026-07-28",
        "Mcp-Method",
        "tools/call",
        "Mcp-Name",
        "search",
        "mcp-param-city",
        "=?base64?TMOkbmRlcg==?=",
        "Tutti-Connector-Version",
        "1.0.0",
      ],
    });
  });

  it.each([
    "cookie",
    "authorization",
    "host",
    "x-forwarded-for",
    "tutti-connector-version",
    "mcp-session-id",
    "mcp-anything",
    "connection",
    "content-length",
  ])("leaves out the forged header %s", (name) => {
    const verdict = judge({ [name]: "forged" });
    expect(verdict).toMatchObject({ kind: "accepted" });
    expect(JSON.stringify(verdict)).not.toContain("forged");
  });

  it.each([
    [{ "relay-account": "acc-2" }, "another account"],
    [{ "relay-connector": "other" }, "another connector"],
    [{ "relay-connector": "constructor" }, "another connector"],
    [{ "relay-connector": "../docs" }, "another connector"],
    [{ "relay-connector": "mail" }, "another release"],
    [{ "relay-release": "d2" }, "another release"],
    [{ "relay-connector": "mail", "relay-release": "d2" }, "another version"],
  ])("refuses what the lease does not name: %j", (headers, detail) => {
    expect(judge(headers)).toEqual({ kind: "refused", status: 403, reason: "not_leased", detail });
  });

  it.each([
    [{ ...META, "sh.tutti/connectorVersion": "9.9.9" }],
    [{ ...META, "sh.tutti/connectorVersion": ["1.0.0"] }],
    [{ ...META, "sh.tutti/connectorVersion": undefined }],
  ])("refuses a body that pins another version: %j", (meta) => {
    expect(judge({}, call(meta))).toMatchObject({ reason: "not_leased", detail: "another version" });
  });

  it("compares the pin under the product's own names", () => {
    const pin = { versionHeader: "X-Pin", versionMetaKey: "example.org/pin" };
    const { "sh.tutti/connectorVersion": _, ...rest } = META;
    expect(judge({}, call({ ...rest, "example.org/pin": "1.0.0", "sh.tutti/other": 1 }), pin)).toMatchObject({
      kind: "accepted",
      headers: expect.arrayContaining(["X-Pin", "1.0.0"]),
    });
    expect(judge({}, call(), pin)).toMatchObject({ reason: "not_leased" });
  });

  it.each([
    [{ ...META, "sh.tutti/other": 1 }, "sh.tutti/other"],
    [{ ...META, "SH.Tutti/connectorVersion": "1.0.0" }, "SH.Tutti/connectorVersion"],
    [{ ...META, "sh.tutti.x/y": 1 }, "sh.tutti.x/y"],
    [{ ...META, "io.modelcontextprotocol/subscriptionId": 1 }, "io.modelcontextprotocol/subscriptionId"],
    [{ ...META, "com.mcp/anything": 1 }, "com.mcp/anything"],
  ])("refuses keys that are not the guest's to set: %j", (meta, key) => {
    expect(judge({}, call(meta))).toEqual({
      kind: "refused",
      status: 400,
      reason: "invalid_request",
      detail: `the _meta key ${key}`,
    });
  });

  it("lets trace context, a progress token, a log level and keys of third parties through", () => {
    const meta = {
      ...META,
      traceparent: "00-1",
      progressToken: 0,
      "org.example/key": 1,
      "io.modelcontextprotocol/logLevel": "info",
    };
    expect(judge({}, call(meta))).toMatchObject({ kind: "accepted" });
  });

  it("refuses capabilities: nobody on a guest's side of a release-bound connector answers questions", () => {
    const meta = { ...META, "io.modelcontextprotocol/clientCapabilities": { sampling: {} } };
    expect(judge({}, call(meta))).toMatchObject({ reason: "invalid_request", detail: "capabilities" });
  });

  it.each([
    ["no identity", { "relay-account": undefined }, call()],
    ["no identity", { "relay-release": "=?base64?é?=" }, call()],
    ["a notification", {}, '{"jsonrpc":"2.0","method":"notifications/cancelled"}'],
    ["Header Mcp-Method does not equal the body", { "mcp-method": "tools/list" }, call()],
    ["Header Mcp-Name does not equal the body", { "mcp-name": "other" }, call()],
    ["Header MCP-Protocol-Version is missing", { "mcp-protocol-version": undefined }, call()],
    ["The body is not JSON", {}, "{"],
    ["The body is no JSON-RPC request: a batch", {}, `[${call()}]`],
    ["a header Mcp-Param-*", { "mcp-param-x": "=?base64?é?=" }, call()],
  ])("refuses what is no request of a client: %s", (detail, headers, body) => {
    expect(judge(headers, body)).toEqual({ kind: "refused", status: 400, reason: "invalid_request", detail });
  });

  it.each(["initialize", "resources/list", "subscriptions/listen", "tools/callx"])(
    "refuses the method %s",
    (method) => {
      const body = call(META, { method });
      expect(judge({ "mcp-method": method, "mcp-name": undefined }, body)).toMatchObject({ reason: "invalid_request" });
    },
  );

  it("takes lists and discovery without a name, and no parameter headers with them", () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: META } });
    const headers = { "mcp-method": "tools/list", "mcp-param-city": undefined };
    const verdict = judge({ ...headers, "mcp-name": "anything" }, body);
    expect(verdict).toMatchObject({ kind: "accepted" });
    expect(JSON.stringify(verdict)).not.toContain("anything");
    expect(judge({ "mcp-method": "tools/list" }, body)).toMatchObject({ detail: "a header Mcp-Param-*" });
  });

  it.each([
    call().replace("}}}", `},"_meta":${JSON.stringify({ ...META, "sh.tutti/connectorVersion": "9" })}}}`),
    call().replace('"sh.tutti/connectorVersion":', '"sh.tutti/connectorVersion":"9","sh.tutti/connectorVersion":'),
    call().replace('"sh.tutti/connectorVersion":', '"sh.tutti\\/connectorVersion":"9","sh.tutti/connectorVersion":'),
    call().replace('"name":"search"', '"name":"delete","name":"search"'),
    call().replace('"id":1', '"id":2,"id":1'),
  ])("refuses a body that another reader may understand differently", (body) => {
    expect(() => JSON.parse(body)).not.toThrow();
    expect(judge({}, body)).toMatchObject({ reason: "invalid_request", detail: "a member that is there twice" });
  });
});

describe("H-7: what can be leased", () => {
  const one = { connectorKey: "docs", releaseDigest: "d", version: "1.0.0" };
  it.each([
    [[{ ...one, connectorKey: "../x" }], "invalid_argument"],
    [[one, one], "invalid_argument"],
    [[{ ...one, releaseDigest: "" }], "invalid_argument"],
    [[{ ...one, version: "" }], "invalid_argument"],
    [[{ ...one, version: "1\r\n" }], "invalid_header"],
  ])("refuses %j", (connectors, code) => {
    expect(() => leaseConnectors(connectors)).toThrowError(expect.objectContaining({ code, delivery: "not_sent" }));
  });
});
