import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classifyMessage, isJsonObject, isRequestId, type Message, RpcCode } from "../../../src/protocol/index.js";

const v = { jsonrpc: "2.0" } as const;
const error = { code: -32603, message: "broken" };

/** Only `id` matters of an invalid message: reasons are for people. */
function verdictOf(value: unknown): Message | { kind: "invalid"; id: unknown } {
  const message = classifyMessage(value);
  return message.kind === "invalid" ? { kind: "invalid", id: message.id } : message;
}

const request = (id: string | number, method: string, params?: unknown): unknown => ({
  kind: "request",
  id,
  method,
  params,
});
const notification = (method: string, params?: unknown): unknown => ({ kind: "notification", method, params });
const result = (id: string | number, value: unknown = {}): unknown => ({ kind: "result", id, result: value });
const failure = (id: string | number | undefined, value: unknown = error): unknown => ({
  kind: "error",
  id,
  error: value,
});
const invalid = (id?: string | number): unknown => ({ kind: "invalid", id });

function errorOf(value: unknown): unknown {
  const message = classifyMessage({ ...v, id: 1, error: value });
  return message.kind === "error" ? message.error : message;
}

describe("classifyMessage", () => {
  it.each([
    ["a request", { ...v, id: 1, method: "ping" }, request(1, "ping")],
    ["one with params", { ...v, id: "a", method: "x", params: { y: 1 } }, request("a", "x", { y: 1 })],
    ["one with the id 0", { ...v, id: 0, method: "x" }, request(0, "x")],
    ["one with an empty id", { ...v, id: "", method: "x" }, request("", "x")],
    ["one with an empty method", { ...v, id: 1, method: "" }, request(1, "")],
    ["one with null beside it", { ...v, id: 1, method: "x", result: null, error: null }, request(1, "x")],
    ["a notification", { ...v, method: "notifications/progress" }, notification("notifications/progress")],
    ["one with params of any kind", { ...v, method: "x", params: [1] }, notification("x", [1])],
    ["one with null params", { ...v, method: "x", params: null }, notification("x", null)],
    ["a result", { ...v, id: 1, result: { a: 1 } }, result(1, { a: 1 })],
    ["an empty result", { ...v, id: 1, result: {} }, result(1)],
    ["a result for the id 0", { ...v, id: 0, result: {} }, result(0)],
    ["a result for an empty id", { ...v, id: "", result: {} }, result("")],
    ["an error", { ...v, id: 1, error }, failure(1)],
    ["an error for the id 0", { ...v, id: 0, error }, failure(0)],
    ["an error for an empty id", { ...v, id: "", error }, failure("")],
  ])("W-5: %s", (_, value, expected) => {
    expect(verdictOf(value)).toStrictEqual(expected);
  });

  it.each([
    ["with id null", { ...v, id: null, error }],
    ["without an id", { ...v, error }],
    ["with an undefined id", { ...v, id: undefined, error }],
  ])("W-9: an error %s belongs to whoever asked", (_, value) => {
    expect(verdictOf(value)).toStrictEqual(failure(undefined));
  });

  it.each([
    ["error null beside a result", { ...v, id: 1, result: { a: 1 }, error: null }, result(1, { a: 1 })],
    ["method and params null beside a result", { ...v, id: 1, method: null, params: null, result: {} }, result(1)],
    ["result null beside an error", { ...v, id: 1, result: null, error }, failure(1)],
    ["method null beside an error", { ...v, id: 1, method: null, error }, failure(1)],
    ["neither", { ...v, id: 1 }, invalid(1)],
    ["neither, for the id 0", { ...v, id: 0 }, invalid(0)],
    ["neither, for an empty id", { ...v, id: "" }, invalid("")],
    ["error null alone", { ...v, id: 1, error: null }, invalid(1)],
    ["result null alone", { ...v, id: 1, result: null }, invalid(1)],
    ["result and error null", { ...v, id: 1, result: null, error: null }, invalid(1)],
    ["both", { ...v, id: 1, result: {}, error }, invalid(1)],
    ["both, the result falsy", { ...v, id: 1, result: 0, error }, invalid(1)],
    ["a result that is text", { ...v, id: 1, result: "done" }, invalid(1)],
    ["a result that is a list", { ...v, id: 1, result: [] }, invalid(1)],
    ["a result that is false", { ...v, id: 1, result: false }, invalid(1)],
    ["an error that is text", { ...v, id: 1, error: "broken" }, invalid(1)],
    ["an error that is false", { ...v, id: 1, error: false }, invalid(1)],
    ["an error that is a list", { ...v, id: 1, error: [] }, invalid(1)],
    ["an error without a code", { ...v, id: 1, error: { message: "x" } }, invalid(1)],
    ["an error with a code in text", { ...v, id: 1, error: { code: "-32603", message: "x" } }, invalid(1)],
    ["an error with a fraction as code", { ...v, id: 1, error: { code: 0.5, message: "x" } }, invalid(1)],
    ["no jsonrpc", { id: 1, result: {} }, invalid(1)],
    ["no jsonrpc, an error", { id: 1, error }, invalid(1)],
    ["jsonrpc 1.0", { jsonrpc: "1.0", id: 1, result: {} }, invalid(1)],
    ["jsonrpc as number", { jsonrpc: 2, id: 1, result: {} }, invalid(1)],
    ["a result without an id", { ...v, result: {} }, invalid()],
    ["a result with id null", { ...v, id: null, result: {} }, invalid()],
    ["a result with a fraction as id", { ...v, id: 1.5, result: {} }, invalid()],
    ["a result with an object as id", { ...v, id: {}, result: {} }, invalid()],
    ["an error with a fraction as id", { ...v, id: 1.5, error }, invalid()],
    ["an error with false as id", { ...v, id: false, error }, invalid()],
  ])("W-11: a response with %s", (_, value, expected) => {
    expect(verdictOf(value)).toStrictEqual(expected);
  });

  it.each([
    ["a request with our id", { ...v, id: 1, method: "sampling/createMessage", params: {} }, "request"],
    ["one without jsonrpc", { id: 1, method: "ping" }, "invalid"],
    ["one with a number as method", { ...v, id: 1, method: 5 }, "invalid"],
    ["one with false as method", { ...v, id: 1, method: false }, "invalid"],
    ["one with id null", { ...v, id: null, method: "ping" }, "invalid"],
    ["one with a fraction as id", { ...v, id: 1.5, method: "ping" }, "invalid"],
  ])("W-16: %s is never taken for our response", (_, value, kind) => {
    const message = classifyMessage(value);
    expect(message.kind).toBe(kind);
    if (message.kind === "invalid") expect(message.id).toBeUndefined();
  });

  it.each([
    ["a result that echoes its method", { ...v, id: 1, method: "tools/call", result: {} }],
    ["an error that echoes its method", { ...v, id: 1, method: "tools/call", error }],
    ["a result that echoes it without jsonrpc", { id: 1, method: "tools/call", result: {} }],
    ["a result beside a broken method", { ...v, id: 1, method: 5, result: {} }],
  ])("W-13: %s fails the call that it names at once", (_, value) => {
    expect(verdictOf(value)).toStrictEqual(invalid(1));
  });

  it.each([undefined, null, true, 0, 1, "", "2.0", [], [{ ...v, id: 1, result: {} }], {}])(
    "W-9: %j is no message and names no call",
    (value) => {
      expect(verdictOf(value)).toStrictEqual(invalid());
    },
  );

  it("W-8: code, message and data of an error survive; what is missing stays missing", () => {
    expect(errorOf({ code: 0, message: "", data: 0 })).toStrictEqual({ code: 0, message: "", data: 0 });
    expect(errorOf({ code: -1, message: "x", data: null })).toStrictEqual({ code: -1, message: "x", data: null });
    expect(errorOf({ code: -1, message: "x" })).toStrictEqual({ code: -1, message: "x" });
    expect(errorOf({ code: -1 })).toStrictEqual({ code: -1, message: "" });
    expect(errorOf({ code: -1, message: 7 })).toStrictEqual({ code: -1, message: "" });
  });

  it("W-11: a result is handed over whole", () => {
    const whole: unknown = JSON.parse(
      '{"_meta":{"a":1},"__proto__":{"b":2},"content":[{"type":"json"}],"isError":true}',
    );
    const message = classifyMessage({ ...v, id: 1, result: whole });
    expect(message.kind === "result" && message.result === whole).toBe(true);
  });

  it("W-11: total: judges any JSON value and takes nothing that is not there", () => {
    const id = fc.oneof(fc.constantFrom(null, 0, 1, -0, "", "1", 1.5, true), fc.jsonValue());
    const messageLike = fc.record(
      {
        jsonrpc: fc.constantFrom("2.0", "2.0", "2.0", "1.0", 2, null),
        id,
        method: fc.oneof(fc.string(), fc.constantFrom(null, 1)),
        params: fc.jsonValue(),
        result: fc.oneof(fc.constantFrom({}, { a: 1 }, null, []), fc.jsonValue()),
        error: fc.oneof(fc.constantFrom(error, { code: 1.5 }, null, {}), fc.jsonValue()),
      },
      { requiredKeys: [] },
    );
    const seen = new Set<string>();
    fc.assert(
      fc.property(
        fc.oneof({ arbitrary: messageLike, weight: 9 }, { arbitrary: fc.jsonValue(), weight: 1 }),
        (value) => {
          const message = classifyMessage(value);
          seen.add(message.kind);
          if (message.kind !== "notification" && message.id !== undefined) {
            expect(isJsonObject(value) && Object.is(value["id"], message.id)).toBe(true);
          }
          if (message.kind === "invalid" || !isJsonObject(value)) return;
          expect(value["jsonrpc"]).toBe("2.0");
          if (message.kind === "result") expect(message.result).toBe(value["result"]);
          if (message.kind === "error") expect(Number.isInteger(message.error.code)).toBe(true);
          const isAnswer = message.kind === "result" || message.kind === "error";
          expect(isAnswer).toBe((value["method"] ?? undefined) === undefined);
        },
      ),
      { seed: 11, numRuns: 3000 },
    );
    expect([...seen].sort()).toEqual(["error", "invalid", "notification", "request", "result"]);
  });
});

describe("isRequestId", () => {
  it.each([0, 1, -1, -0, 2 ** 53, "", "0", "a"])("W-5: %j can be an id", (value) => {
    expect(isRequestId(value)).toBe(true);
  });

  it.each([null, undefined, true, 1.5, Number.NaN, Number.POSITIVE_INFINITY, {}, []])("W-5: %j can't", (value) => {
    expect(isRequestId(value)).toBe(false);
  });
});

describe("RpcCode", () => {
  it("W-24, W-28, W-29, F-3: has the published numbers", () => {
    expect(RpcCode).toEqual({
      parseError: -32700,
      invalidRequest: -32600,
      methodNotFound: -32601,
      invalidParams: -32602,
      internalError: -32603,
      resourceNotFound: -32002,
      headerMismatch: -32020,
      missingRequiredClientCapability: -32021,
      unsupportedProtocolVersion: -32022,
      authorizationRequired: -33001,
      reauthRequired: -33002,
      connectorUnavailable: -33003,
      upstreamTimeout: -33004,
      upstreamRateLimited: -33005,
      upstreamProtocolError: -33006,
    });
  });
});
