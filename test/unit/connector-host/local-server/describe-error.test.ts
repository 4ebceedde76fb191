import { describe, expect, it } from "vitest";
import { describeError } from "../../../../src/connector-host/local-server/describe-error.js";
import {
  type AnyRemoteConnectorError,
  type Delivery,
  type ErrorCode,
  type ErrorDetails,
  RemoteConnectorError,
} from "../../../../src/errors.js";

const KEY = "sh.tutti/delivery";
const OPTIONS = { deliveryKey: KEY, era: "modern" as const };

function peerError(
  details: Partial<ErrorDetails["peer_error"]>,
  delivery: Delivery = "answered",
): RemoteConnectorError<"peer_error"> {
  return new RemoteConnectorError("peer_error", {
    message: "not shown",
    delivery,
    details: { rpcCode: -32000, rpcMessage: "theirs", rpcData: undefined, ...details },
  });
}

describe("H-26: an error of a peer", () => {
  it.each([-33001, -33002, -33003, -33004, -33005, -33006, -32601, -32602, -32603, -32000, 7])(
    "keeps its code %i and its message",
    (rpcCode) => {
      const described = describeError(peerError({ rpcCode }), OPTIONS);
      expect(described).toEqual({
        status: 200,
        error: { code: rpcCode, message: "theirs", data: { [KEY]: { delivery: "answered", code: "peer_error" } } },
      });
    },
  );

  it.each([-32020, -32021, -32022])("has status 400 where its code %i fixes it", (rpcCode) => {
    expect(describeError(peerError({ rpcCode }), OPTIONS).status).toBe(400);
  });

  it("keeps an object as data, beside the verdict", () => {
    const { error } = describeError(peerError({ rpcData: { a: 1, nested: { b: [null] } } }), OPTIONS);
    expect(error.data).toEqual({ a: 1, nested: { b: [null] }, [KEY]: { delivery: "answered", code: "peer_error" } });
  });

  it.each([["text"], [0], [null], [[1, 2]], [false]])("leaves data alone that is no object: %j", (rpcData) => {
    expect(describeError(peerError({ rpcData }), OPTIONS).error.data).toEqual(rpcData);
  });

  it("is not believed about the verdict", () => {
    const { error } = describeError(peerError({ rpcData: { [KEY]: { delivery: "not_sent" } } }), OPTIONS);
    expect(error.data).toEqual({ [KEY]: { delivery: "answered", code: "peer_error" } });
  });

  it.each([-33003, -33004, -33005, -33006])(
    "H-26, F-1: with the gateway's code %i the verdict is never firmer than the gateway's own",
    (rpcCode) => {
      const verdictFor = (told: unknown, delivery: Delivery): unknown => {
        const error = peerError({ rpcCode, rpcData: { reason: "timeout", delivery: told } }, delivery);
        const data = describeError(error, OPTIONS).error.data;
        expect(data).toMatchObject({ reason: "timeout", delivery: told });
        return Reflect.get(Object(Reflect.get(Object(data), KEY)), "delivery");
      };
      const deliveries: readonly Delivery[] = ["not_sent", "answered", "unknown"];
      expect(deliveries.map((told) => verdictFor(told, "answered"))).toEqual(["answered", "answered", "unknown"]);
      expect(deliveries.map((told) => verdictFor(told, "unknown"))).toEqual(["unknown", "unknown", "unknown"]);
      expect([null, 0, "sent", {}, undefined].map((told) => verdictFor(told, "answered"))).toEqual(
        Array.from({ length: 5 }, () => "answered"),
      );
    },
  );

  it("H-26: data of other errors says nothing of the delivery, and what is known of the agent's request goes before it", () => {
    const rpcData = { delivery: "unknown" };
    const verdict = (delivery: Delivery): object => ({ ...rpcData, [KEY]: { delivery, code: "peer_error" } });
    for (const rpcCode of [-32603, -33001, -33002, -33007]) {
      expect(describeError(peerError({ rpcCode, rpcData }), OPTIONS).error.data).toEqual(verdict("answered"));
    }
    const error = peerError({ rpcCode: -33004, rpcData });
    expect(describeError(error, { ...OPTIONS, delivery: "not_sent" }).error.data).toEqual(verdict("not_sent"));
  });

  it.each<[string, object]>([
    ["30", { retryAfterMs: 30_000 }],
    ["0", { retryAfterMs: 0 }],
    ["Wed, 21 Oct 2026 07:28:00 GMT", { retryAfter: "Wed, 21 Oct 2026 07:28:00 GMT" }],
    ["soon; token=secret", {}],
    ["99999999999999999999", { retryAfter: "99999999999999999999" }],
  ])("tells when to retry: %s", (retryAfter, expected) => {
    const { error } = describeError(peerError({ rpcCode: -33005, retryAfter, httpStatus: 429 }), OPTIONS);
    expect(error.data).toEqual({
      [KEY]: { delivery: "answered", code: "peer_error", httpStatus: 429, ...expected },
    });
  });

  it("can have another verdict than the agent's request", () => {
    const { error } = describeError(peerError({}), { ...OPTIONS, delivery: "not_sent" });
    expect(error.data).toEqual({ [KEY]: { delivery: "not_sent", code: "peer_error" } });
  });
});

const OWN: { readonly [C in ErrorCode]?: [details: ErrorDetails[C], rpcCode: number, facts: object] } = {
  invalid_argument: [{ argument: "a.b", reason: "not a string" }, -32602, { argument: "a.b", reason: "not a string" }],
  unknown_prompt: [{ prompt: "github_p" }, -32602, { prompt: "github_p" }],
  ambiguous_resource: [
    { uri: "file:///a", connectorKeys: ["a", "b"] },
    -32602,
    { uri: "file:///a", connectorKeys: ["a", "b"] },
  ],
  unknown_tool: [{ tool: "github_x" }, -32602, { tool: "github_x" }],
  unknown_connector: [{ connectorKey: "github" }, -32602, { connectorKey: "github" }],
  invalid_tool: [{ tool: "t", path: "/properties/x", reason: "r" }, -32602, { tool: "t" }],
  timeout: [
    { phase: "idle", option: "idleTimeoutMs", limitMs: 5 },
    -32603,
    { phase: "idle", option: "idleTimeoutMs", limitMs: 5 },
  ],
  cancelled: [{ reason: "fenced" }, -32603, { reason: "fenced" }],
  not_admitted: [{ reason: "stale" }, -32603, { reason: "stale" }],
  limit_exceeded: [{ option: "maxBytes", limit: 7 }, -32603, { option: "maxBytes", limit: 7 }],
  authorization_required: [{ connectorKey: "x", reauthorize: true }, -32603, { connectorKey: "x", reauthorize: true }],
  sign_in_required: [
    {
      endpoint: "https://SECRET",
      reason: "insufficient_scope",
      issuer: "https://SECRET",
      scopes: ["a"],
      authorizationUrl: "https://SECRET",
    },
    -32603,
    { reason: "insufficient_scope", scopes: ["a"] },
  ],
  token_refused: [
    { endpoint: "https://SECRET", status: 403, reason: "scope_not_enough", scopes: ["a"] },
    -32603,
    { reason: "scope_not_enough", scopes: ["a"] },
  ],
  oauth_refused: [{ step: "refresh", issuer: "https://SECRET", errorCode: "SECRET" }, -32603, {}],
  route_unavailable: [
    { connectorKey: "x", state: "offline", nextAttemptAt: 99 },
    -32603,
    { connectorKey: "x", state: "offline", nextAttemptAt: 99 },
  ],
  unexpected_answer: [
    { status: 502, mediaType: "text/html", snippet: "SECRET", reason: "r", retryAfter: "2", wwwAuthenticate: "SECRET" },
    -32603,
    { httpStatus: 502, retryAfterMs: 2000 },
  ],
  relay_refused: [{ reason: "busy", detail: "SECRET" }, -32603, { reason: "busy" }],
  unsupported: [{ feature: "x" }, -32603, { feature: "x" }],
  input_required: [{ capability: "elicitation", key: "SECRET" }, -32603, { capability: "elicitation" }],
  connect_failed: [{ origin: "https://SECRET", reason: "SECRET" }, -32603, {}],
  process_exited: [{ exitCode: 1, signal: undefined, stderrTail: "SECRET" }, -32603, {}],
  store_unavailable: [{ path: "SECRET", reason: "SECRET" }, -32603, {}],
  redirect_refused: [{ status: 302, location: "SECRET", reason: "r" }, -32603, {}],
};

describe("H-21, H-22: a resource that is not there", () => {
  const missing = (rpcData?: unknown): RemoteConnectorError<"resource_not_found"> =>
    new RemoteConnectorError("resource_not_found", {
      message: "No such resource.",
      delivery: "answered",
      details: { uri: "shown:///", rpcCode: -32002, rpcData },
    });
  const verdict = { delivery: "answered", code: "resource_not_found" };

  it.each([
    ["modern", -32602, {}],
    ["legacy", -32002, { [KEY]: verdict }],
  ] as const)("has the code of a %s agent's revision, and the URI that it asked for", (era, code, more) => {
    expect(describeError(missing(), { ...OPTIONS, era, uri: "file:///a?b=1" })).toEqual({
      status: 200,
      error: { code, message: "No such resource.", data: { uri: "file:///a?b=1", ...more } },
    });
    expect(describeError(missing(), { ...OPTIONS, era }).error.data).toMatchObject({ uri: "shown:///" });
  });

  it("keeps the server's own data", () => {
    const options = { ...OPTIONS, uri: "a:b" };
    expect(describeError(missing({ uri: "x:y", hint: [1] }), options).error.data).toEqual({
      uri: "a:b",
      hint: [1],
    });
    expect(describeError(missing({ uri: "x:y", hint: [1] }), { ...options, era: "legacy" }).error.data).toEqual({
      uri: "a:b",
      hint: [1],
      [KEY]: verdict,
    });
    for (const rpcData of ["text", 0, null, [1]]) {
      expect(describeError(missing(rpcData), options).error.data).toEqual({
        uri: "a:b",
        [KEY]: { ...verdict, rpcData },
      });
    }
  });

  it("has the modern code for a modern agent whatever it asked for", () => {
    const error = peerError({ rpcCode: -32002, rpcData: { a: 1 } });
    const data = { a: 1, [KEY]: { delivery: "answered", code: "peer_error" } };
    expect(describeError(error, OPTIONS).error).toEqual({ code: -32602, message: "theirs", data });
    expect(describeError(error, { ...OPTIONS, era: "legacy" }).error).toMatchObject({ code: -32002, data });
  });
});

describe("H-26: a failure of our own", () => {
  const deliveries: readonly Delivery[] = ["not_sent", "answered", "unknown"];

  it.each(Object.entries(OWN))("%s says what a program can act on, and no more", (code, [details, rpcCode, facts]) => {
    for (const delivery of deliveries) {
      // The table is typed by code; walking over it loses the pairing.
      const error: AnyRemoteConnectorError = Reflect.construct(RemoteConnectorError, [
        code,
        { message: "ours", delivery, details, cause: new Error("SECRET") },
      ]);
      const described = describeError(error, OPTIONS);
      expect(described).toEqual({
        status: 200,
        error: { code: rpcCode, message: "ours", data: { [KEY]: { delivery, code, ...facts } } },
      });
      expect(JSON.stringify(described)).not.toContain("SECRET");
    }
  });

  it("has a bounded message without control characters", () => {
    const error = new RemoteConnectorError("cancelled", {
      message: `a\r\nb\u0000c${"x".repeat(2_000)}`,
      details: { reason: "r" },
    });
    const { message } = describeError(error, OPTIONS).error;
    expect(message).toMatch(/^a b cx+$/);
    expect(message.length).toBe(512);
  });

  it.each([new Error("SECRET"), "SECRET", undefined, null, { code: "timeout", message: "SECRET" }])(
    "F-6: shows nothing of what is no error of this package: %s",
    (error) => {
      expect(describeError(error, OPTIONS)).toEqual({
        status: 200,
        error: {
          code: -32603,
          message: "Internal error",
          data: { [KEY]: { delivery: "unknown", code: "internal_error" } },
        },
      });
    },
  );

  it("puts the verdict under the product's own key", () => {
    const error = new RemoteConnectorError("cancelled", { message: "m", details: { reason: "r" } });
    expect(describeError(error, { ...OPTIONS, deliveryKey: "com.acme/delivery" }).error.data).toEqual({
      "com.acme/delivery": { delivery: "not_sent", code: "cancelled", reason: "r" },
    });
  });
});
