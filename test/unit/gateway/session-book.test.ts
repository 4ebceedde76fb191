import { describe, expect, it } from "vitest";
import { SessionBook, type SessionRequest, type SessionStart } from "../../../src/gateway/authorizing/session-book.js";
import { FakeClock } from "../../support/fake-clock.js";

const SESSION_MS = 1_000;
const KEEP_MS = 500;

function setUp(maxSessions = 10): { book: SessionBook; clock: FakeClock } {
  const clock = new FakeClock();
  let next = 0;
  const random = (size: number): Uint8Array => Buffer.alloc(size, (next += 1));
  return { book: new SessionBook({ clock, random, sessionMs: SESSION_MS, keepMs: KEEP_MS, maxSessions }), clock };
}

const request = (changes: Partial<SessionRequest> = {}): SessionRequest => ({
  accountId: "ada",
  connectorId: "files",
  connectorVersion: "1.0.0",
  clientRequestId: "one",
  replacesActive: false,
  ...changes,
});

function begin(book: SessionBook, changes: Partial<SessionRequest> = {}): string {
  const start = book.begin(request(changes));
  return "session" in start ? start.session.sessionId : start.kind;
}

const kindOf = (start: SessionStart): string => start.kind;

describe("SessionBook", () => {
  it("P-10: the same request finds the same session, also when it is over; another account's is another", () => {
    const { book } = setUp();
    const sessionId = begin(book);
    expect(begin(book)).toBe(sessionId);
    book.apply(sessionId, { kind: "cancel" });
    expect(book.begin(request())).toMatchObject({ kind: "known", session: { sessionId, status: "CANCELED" } });
    expect(begin(book, { accountId: "bob" })).not.toBe(sessionId);
    expect(book.find("bob", sessionId)).toBeUndefined();
  });

  it.each([{ connectorId: "other" }, { connectorVersion: "2.0.0" }])(
    "P-10: a request id is not used for something else: %j",
    (changes) => {
      const { book } = setUp();
      begin(book);
      expect(kindOf(book.begin(request(changes)))).toBe("conflict");
    },
  );

  it("P-11: one session at a time for an account and connector, unless it replaces the first", () => {
    const { book } = setUp();
    const first = begin(book);
    expect(begin(book, { clientRequestId: "two" })).toBe("in_progress");
    expect(begin(book, { clientRequestId: "two", connectorId: "other" })).toMatch(/^session-/);
    const second = begin(book, { clientRequestId: "three", replacesActive: true });
    expect(book.find("ada", first)?.status).toBe("CANCELED");
    expect(book.active("ada", "files")?.sessionId).toBe(second);
  });

  it("P-11: one whose connection is being made is not replaced", () => {
    const { book } = setUp();
    const first = begin(book);
    book.apply(first, { kind: "prompt", nextAction: { type: "submit_secret" } });
    book.apply(first, { kind: "take" });
    book.apply(first, { kind: "settle" });
    expect(begin(book, { clientRequestId: "two", replacesActive: true })).toBe("in_progress");
  });

  it("P-10: a session fails when its time is over, frees its connector, and is forgotten later", async () => {
    const { book, clock } = setUp();
    const sessionId = begin(book);
    await clock.advance(SESSION_MS - 1);
    expect(book.find("ada", sessionId)?.status).toBe("CREATED");
    await clock.advance(1);
    expect(book.find("ada", sessionId)).toMatchObject({
      status: "FAILED",
      errorCode: "connector_authorization_timeout",
    });
    expect(begin(book, { clientRequestId: "two" })).toMatch(/^session-/);
    await clock.advance(KEEP_MS);
    expect(book.find("ada", sessionId)).toBeUndefined();
    expect(clock.pending).toBe(0);
  });

  it("C-5: their number is bounded: those that are over make room, those that are not keep theirs", () => {
    const { book } = setUp(2);
    const first = begin(book, { connectorId: "a", clientRequestId: "a" });
    begin(book, { connectorId: "b", clientRequestId: "b" });
    expect(begin(book, { connectorId: "c", clientRequestId: "c" })).toBe("full");
    book.apply(first, { kind: "cancel" });
    expect(begin(book, { connectorId: "c", clientRequestId: "c" })).toMatch(/^session-/);
    expect(book.find("ada", first)).toBeUndefined();
    expect(book.list()).toHaveLength(2);
  });

  it("P-10: a state works once, and only while its session waits for it", () => {
    const { book } = setUp();
    const url = "https://issuer.test/authorize";
    const [one, two] = [begin(book), begin(book, { connectorId: "other", clientRequestId: "two" })];
    for (const sessionId of [one, two]) {
      const attempt = { state: `state of ${sessionId}`, codeVerifier: `verifier of ${sessionId}` };
      book.apply(sessionId, { kind: "prompt", nextAction: { type: "redirect", url } }, attempt);
    }
    expect(book.takeState("another", "files")).toBeUndefined();
    // The answer of another connector's server, whoever gave it the state.
    expect(book.takeState(`state of ${one}`, "other")).toBeUndefined();
    expect(book.takeState(`state of ${one}`, "files")).toMatchObject({
      session: { sessionId: one, status: "PROCESSING" },
      codeVerifier: `verifier of ${one}`,
    });
    expect(book.takeState(`state of ${one}`, "files")).toBeUndefined();
    book.apply(two, { kind: "cancel" });
    expect(book.takeState(`state of ${two}`, "other")).toBeUndefined();
  });

  it("P-10: nothing comes of one whose time is over, though nobody looked at it since", async () => {
    const { book, clock } = setUp();
    const sessionId = begin(book);
    book.apply(sessionId, { kind: "prompt", nextAction: { type: "submit_secret" } });
    book.apply(sessionId, { kind: "take" });
    await clock.advance(SESSION_MS);
    expect(book.apply(sessionId, { kind: "settle" })).toBeUndefined();
    expect(book.find("ada", sessionId)).toMatchObject({
      status: "FAILED",
      errorCode: "connector_authorization_timeout",
    });
  });

  it("C-5: an account makes room among its own sessions first", () => {
    const { book } = setUp(2);
    const bobs = begin(book, { accountId: "bob" });
    book.apply(bobs, { kind: "cancel" });
    for (const clientRequestId of ["one", "two", "three"]) {
      const own = begin(book, { clientRequestId });
      expect(own).toMatch(/^session-/);
      book.apply(own, { kind: "cancel" });
    }
    expect(book.find("bob", bobs)?.status).toBe("CANCELED");
  });
});
