import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  advanceSession,
  type AuthorizationSession,
  encodeSession,
  isOver,
  newSession,
  SESSION_TIMEOUT,
  type SessionEvent,
} from "../../../src/gateway/authorizing/session.js";

const begun = newSession(
  { accountId: "ada", clientRequestId: "request", connectorId: "files", connectorVersion: "1.0.0" },
  "session-1",
  5,
);

const prompt: SessionEvent = { kind: "prompt", nextAction: { type: "submit_secret" } };

function after(...events: readonly SessionEvent[]): AuthorizationSession {
  return events.reduce((session, event) => advanceSession(session, event, 9) ?? session, begun);
}

describe("advanceSession", () => {
  it.each<[string, readonly SessionEvent[], Partial<AuthorizationSession>]>([
    ["begins", [], { status: "CREATED", nextAction: undefined, endedAtMs: undefined }],
    ["waits for its account", [prompt], { status: "AWAITING_USER", nextAction: { type: "submit_secret" } }],
    ["works", [prompt, { kind: "take" }], { status: "PROCESSING", nextAction: undefined }],
    [
      "succeeds",
      [prompt, { kind: "take" }, { kind: "settle" }, { kind: "succeed", connectionId: "c" }],
      { status: "SUCCEEDED", resultConnectionId: "c", endedAtMs: 9 },
    ],
    ["fails", [prompt, { kind: "fail", errorCode: "x" }], { status: "FAILED", errorCode: "x", endedAtMs: 9 }],
    ["is cancelled", [{ kind: "cancel" }], { status: "CANCELED", nextAction: undefined, endedAtMs: 9 }],
    ["expires", [prompt, { kind: "expire" }], { status: "FAILED", errorCode: SESSION_TIMEOUT }],
  ])("P-10: a session %s", (_what, events, expected) => {
    expect(after(...events)).toMatchObject(expected);
  });

  it.each<[string, readonly SessionEvent[], SessionEvent]>([
    ["success before its connection is being made", [prompt, { kind: "take" }], { kind: "succeed", connectionId: "c" }],
    ["a secret that was not asked for", [], { kind: "take" }],
    ["a second secret", [prompt, { kind: "take" }], { kind: "take" }],
    ["a cancel while its connection is being made", [prompt, { kind: "take" }, { kind: "settle" }], { kind: "cancel" }],
    ["its end while its connection is being made", [prompt, { kind: "take" }, { kind: "settle" }], { kind: "expire" }],
    ["a success after it was cancelled", [prompt, { kind: "take" }, { kind: "cancel" }], { kind: "settle" }],
  ])("P-10: a session takes no %s", (_what, events, event) => {
    expect(advanceSession(after(...events), event, 10)).toBeUndefined();
  });

  it("P-10: whatever happens in whatever order: what is over stays, and each member is there exactly when it means something", () => {
    const event = fc.constantFrom<SessionEvent>(
      prompt,
      { kind: "prompt", nextAction: { type: "redirect", url: "https://issuer.test/authorize" } },
      { kind: "take" },
      { kind: "settle" },
      { kind: "succeed", connectionId: "c" },
      { kind: "fail", errorCode: "x" },
      { kind: "cancel" },
      { kind: "expire" },
    );
    const rank = { CREATED: 0, AWAITING_USER: 1, PROCESSING: 2, SUCCEEDED: 3, FAILED: 3, CANCELED: 3 };
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        let session = begun;
        for (const [index, each] of events.entries()) {
          const next = advanceSession(session, each, index);
          if (isOver(session)) expect(next).toBeUndefined();
          if (next === undefined) continue;
          expect(rank[next.status]).toBeGreaterThanOrEqual(rank[session.status]);
          expect(next.nextAction !== undefined).toBe(next.status === "AWAITING_USER");
          expect(next.resultConnectionId !== undefined).toBe(next.status === "SUCCEEDED");
          expect(next.errorCode !== undefined).toBe(next.status === "FAILED");
          expect(next.endedAtMs !== undefined).toBe(isOver(next));
          if (next.status === "SUCCEEDED") expect(session.isSettling).toBe(true);
          if (next.status === "CANCELED") expect(session.isSettling).toBe(false);
          session = next;
        }
      }),
      { seed: 10, numRuns: 500 },
    );
  });
});

describe("encodeSession", () => {
  it("P-10: is as the contract writes it, without members that have no value", () => {
    expect(JSON.parse(encodeSession(after(prompt)))).toEqual({
      session: {
        sessionId: "session-1",
        connectorRevision: "1.0.0",
        status: "AWAITING_USER",
        nextAction: { type: "submit_secret" },
      },
    });
    const failed = JSON.parse(encodeSession(after({ kind: "expire" })));
    expect(failed).toEqual({
      session: {
        sessionId: "session-1",
        connectorRevision: "1.0.0",
        status: "FAILED",
        errorCode: "connector_authorization_timeout",
      },
    });
  });
});
