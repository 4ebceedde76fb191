import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MessageChannel, type Reception } from "../../../src/protocol/message-channel.js";

/** A channel in which the requests with these ids wait, each named after its id; ids up to `used` were used. */
function channel(pending: readonly number[], used = Math.max(0, ...pending)): MessageChannel<string> {
  const made = new MessageChannel<string>();
  for (let id = 1; id <= used; id += 1) expect(made.takeId()).toBe(id);
  for (const id of pending) made.open(id, `request ${String(id)}`);
  return made;
}

function receive(pending: readonly number[], message: object, used?: number): Reception<string> {
  return channel(pending, used).receive({ jsonrpc: "2.0", ...message });
}

const RESULT = { kind: "result", result: {} };
const ERROR = { kind: "error", error: { code: -1, message: "no" } };
const WITHOUT_ID = { ...ERROR, withoutId: true };
const error = { code: -1, message: "no" };

describe("MessageChannel", () => {
  it.each<[string, readonly number[], object, object]>([
    ["the only request", [1], { id: 1, result: {} }, { request: "request 1", answer: RESULT }],
    ["one of several, out of order", [1, 2, 3], { id: 2, result: {} }, { request: "request 2", answer: RESULT }],
    ["an error", [1, 2], { id: 2, error }, { request: "request 2", answer: ERROR }],
    [
      "an error beside a result that is null",
      [1],
      { id: 1, result: null, error },
      { request: "request 1", answer: ERROR },
    ],
    ["an error without an id, when one waits", [2], { error }, { request: "request 2", answer: WITHOUT_ID }],
    [
      "an error with null as id, when one waits",
      [2],
      { id: null, error },
      { request: "request 2", answer: WITHOUT_ID },
    ],
  ])("W-5, W-9: settles %s", (_name, pending, message, expected) => {
    expect(receive(pending, message)).toEqual({ kind: "answer", diagnostic: undefined, ...expected });
  });

  it("W-5: accepts an id that came back as a string, with a diagnostic", () => {
    expect(receive([1, 12], { id: "12", result: {} })).toMatchObject({
      kind: "answer",
      request: "request 12",
      diagnostic: { kind: "id_echoed_as_string" },
    });
  });

  it.each(["012", "12.0", " 12", "1e1", "+12", "0xc", "-12", ""])(
    "W-5: does not take %j for the decimal form of an id",
    (id) => {
      expect(receive([10, 12], { id, result: {} })).toMatchObject({
        kind: "ignored",
        diagnostic: { kind: "unmatched_response" },
      });
    },
  );

  it.each<[string, readonly number[], object]>([
    ["an id that was never used", [1], { id: 2, result: {} }],
    ["zero", [1], { id: 0, result: {} }],
    ["a negative id", [1], { id: -1, result: {} }],
    ["an error without an id, when none waits", [], { error }],
    ["an error without an id, when two wait", [1, 2], { id: null, error }],
  ])("W-5, W-9: ignores a response with %s, with a diagnostic", (_name, pending, message) => {
    expect(receive(pending, message)).toMatchObject({ kind: "ignored", diagnostic: { kind: "unmatched_response" } });
  });

  it.each([1, "1"])("L-7: ignores the late answer to a request that was given up (%j)", (id) => {
    expect(receive([2], { id, result: {} }, 2)).toEqual({ kind: "ignored", diagnostic: undefined });
  });

  it("W-5: settles a request once", () => {
    const made = channel([1]);
    const answer = { jsonrpc: "2.0", id: 1, result: {} };
    expect(made.receive(answer).kind).toBe("answer");
    expect(made.receive(answer)).toEqual({ kind: "ignored", diagnostic: undefined });
  });

  it("does not let an answer come before its request was sent", () => {
    const made = new MessageChannel<string>();
    const id = made.takeId();
    expect(made.receive({ jsonrpc: "2.0", id, result: {} }).kind).toBe("ignored");
    made.open(id, "request");
    expect(made.receive({ jsonrpc: "2.0", id, result: {} }).kind).toBe("answer");
  });

  it.each<[string, object]>([
    ["neither a result nor an error", { id: 1 }],
    ["both", { id: 1, result: {}, error }],
    ["null as result", { id: 1, result: null }],
    ["a result that is no object", { id: 1, result: [] }],
    ["an error without a code", { id: 1, error: {} }],
    ["another version", { id: 1, result: {}, jsonrpc: "1.0" }],
    ["a method beside it", { id: 1, result: {}, method: "ping" }],
    ["null as method and nothing else", { id: 1, method: null }],
  ])("W-11: a response with %s is an invalid answer for the call whose id it carries", (_name, message) => {
    expect(receive([1, 2], message)).toMatchObject({
      kind: "answer",
      request: "request 1",
      answer: { kind: "invalid" },
    });
  });

  it.each<[string, unknown]>([
    ["an invalid answer without an id", { jsonrpc: "2.0", result: {} }],
    ["an array", [{ jsonrpc: "2.0", id: 1, result: {} }]],
    ["null", null],
    ["a broken request of the server, though its id be ours", { id: 1, method: "ping" }],
  ])("L-13: %s is no message", (_name, value) => {
    expect(channel([1]).receive(value)).toMatchObject({ kind: "ignored", diagnostic: { kind: "not_a_message" } });
  });

  it("L-6: keeps the ids of the server's requests apart from ours", () => {
    const made = channel([1]);
    expect(made.receive({ jsonrpc: "2.0", id: 1, method: "ping" })).toEqual({
      kind: "server_request",
      id: 1,
      method: "ping",
      params: undefined,
    });
    expect(made.receive({ jsonrpc: "2.0", id: 1, result: {} }).kind).toBe("answer");
  });

  it.each<[string, object, object]>([
    ["all of it", { progress: 1, total: 2, message: "m" }, { progress: 1, total: 2, message: "m" }],
    ["a fraction", { progress: 0.5 }, { progress: 0.5 }],
    ["nothing done yet", { progress: 0, total: 0 }, { progress: 0, total: 0 }],
    ["members of a wrong type", { progress: 1, total: "2", message: 3 }, { progress: 1 }],
  ])("W-18: gives progress to the request with its token: %s", (_name, params, progress) => {
    const message = { method: "notifications/progress", params: { progressToken: 2, ...params } };
    const notification = { method: "notifications/progress", params: message.params };
    expect(receive([1, 2], message)).toEqual({ kind: "progress", request: "request 2", progress, notification });
  });

  it.each<[string, unknown]>([
    ["a token that is not ours", { progressToken: 9, progress: 1 }],
    ["a token as a string", { progressToken: "1", progress: 1 }],
    ["no token", { progress: 1 }],
    ["no progress", { progressToken: 1 }],
    ["no params", undefined],
  ])("W-18: ignores progress with %s", (_name, params) => {
    const message = { method: "notifications/progress", params };
    expect(receive([1], message)).toEqual({ kind: "ignored", diagnostic: undefined });
  });

  it("hands other notifications on as they are", () => {
    const params = { level: "info" };
    expect(receive([1], { method: "notifications/message", params })).toEqual({
      kind: "notification",
      notification: { method: "notifications/message", params },
    });
  });

  it("F-10: finds and forgets the request whose answer can't be read", () => {
    const made = channel([1, 2]);
    expect(made.forfeit(undefined)).toBeUndefined();
    expect(made.forfeit(3)).toBeUndefined();
    expect(made.forfeit("2")).toBe("request 2");
    expect(made.receive({ jsonrpc: "2.0", id: 2, result: {} })).toEqual({ kind: "ignored", diagnostic: undefined });
  });

  it("W-5: settles every request exactly once, whatever the order and whatever else comes", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.infiniteStream(fc.nat()),
        fc.array(fc.jsonValue()),
        (count, order, noise) => {
          const ids = Array.from({ length: count }, (_, index) => index + 1);
          const made = channel(ids);
          const settled: string[] = [];
          const left = [...ids];
          for (const value of noise) {
            expect(made.receive(value).kind).toBe("ignored");
          }
          while (left.length > 0) {
            const [id] = left.splice(Number(order.next().value) % left.length, 1);
            const reception = made.receive({ jsonrpc: "2.0", id, result: {} });
            if (reception.kind === "answer") settled.push(reception.request);
          }
          expect(settled.toSorted()).toEqual(ids.map((id) => `request ${String(id)}`).toSorted());
        },
      ),
      { seed: 23, numRuns: 200 },
    );
  });
});
