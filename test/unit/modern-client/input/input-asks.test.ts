import { describe, expect, it } from "vitest";
import { readAsks } from "../../../../src/modern-client/input/input-asks.js";
import type { JsonObject } from "../../../../src/protocol/index.js";

const ask = (method: unknown, params?: unknown): JsonObject => ({ inputRequests: { k: { method, params } } });
const read = (method: unknown, params?: unknown): unknown => readAsks(ask(method, params)).requests?.get("k");
const schema = { type: "object", properties: {} };

describe("readAsks", () => {
  it("W-33: state only, requests only, and both; the empty string is a state, null is none", () => {
    expect(readAsks({ requestState: "" })).toEqual({ requests: undefined, state: "" });
    expect(readAsks({ requestState: "s", inputRequests: null })).toEqual({ requests: undefined, state: "s" });
    expect(readAsks({ requestState: null, inputRequests: {} })).toEqual({ requests: new Map(), state: undefined });
  });

  it.each([
    [{}],
    [{ inputRequests: null, requestState: null }],
    [{ requestState: 1 }],
    [{ inputRequests: [] }],
    [{ inputRequests: "x", requestState: "s" }],
    [{ inputRequests: { k: null } }],
    [{ inputRequests: { k: {} } }],
    [ask("roots/list", [])],
    [ask("elicitation/create", { requestedSchema: schema })],
    [ask("elicitation/create", { message: "m" })],
    [ask("elicitation/create", { mode: "url", message: "m" })],
    [ask("sampling/createMessage", { messages: [] })],
    [ask("sampling/createMessage", { maxTokens: 1 })],
    [
      ask("sampling/createMessage", {
        maxTokens: 1,
        messages: [{ role: "user", content: [{ type: "tool_result" }, { type: "text", text: "and" }] }],
      }),
    ],
  ])("W-33: %j breaks the protocol", (result) => {
    expect(() => readAsks(result)).toThrowError(
      expect.objectContaining({ code: "invalid_answer", delivery: "unknown" }),
    );
  });

  it("W-35: an absent mode is form; an unknown mode or method is named", () => {
    expect(read("elicitation/create", { message: "m", requestedSchema: schema })).toEqual({
      kind: "form",
      message: "m",
      requestedSchema: schema,
    });
    expect(read("elicitation/create", { mode: "voice", message: "m" })).toEqual({
      kind: "unknown",
      capability: "elicitation.voice",
    });
    expect(read("printing/print")).toEqual({ kind: "unknown", capability: "printing/print" });
    expect(read("roots/list")).toEqual({ kind: "roots" });
    expect(read("roots/list", null)).toEqual({ kind: "roots" });
    expect(read("elicitation/create", { mode: null, message: "m", requestedSchema: schema })).toMatchObject({
      kind: "form",
    });
  });

  it.each([["https://a.test/x?y=1"], ["http://127.0.0.1:80/"], ["http://localhost/"], ["http://[::1]/"]])(
    "W-35: %s reaches the handler as it is",
    (url) => {
      expect(read("elicitation/create", { mode: "url", message: "m", url })).toEqual({
        kind: "url",
        message: "m",
        url,
      });
    },
  );

  it.each([
    ["http://a.test/"],
    ["file:///etc/passwd"],
    ["javascript:alert(1)"],
    ["nonsense"],
    [""],
    ["https://bank.test@evil.test/"],
    ["ht\ntps://a.test"],
    ["https://a.test/\u202e"],
  ])("W-35: nobody is sent to %j", (url) => {
    expect(() => read("elicitation/create", { mode: "url", message: "m", url })).toThrowError(
      expect.objectContaining({ code: "invalid_url", delivery: "answered" }),
    );
  });
});
