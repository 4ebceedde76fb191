import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import {
  parseSession,
  readCode,
  type SessionExpectation,
} from "../../../../src/auth-projection/flows/parse-session.js";

const asked: SessionExpectation = {
  connectorVersion: "1.0.0",
  needsVersion: true,
  sessionId: undefined,
  hasSecret: false,
  allowsLoopbackHttp: false,
};
const known: SessionExpectation = { ...asked, needsVersion: false, sessionId: "s-1" };
const redirect = { type: "redirect", url: "https://provider.example/a?b=c" };

const answer = (members: object = {}): unknown => ({
  session: { sessionId: "s-1", connectorRevision: "1.0.0", status: "AWAITING_USER", nextAction: redirect, ...members },
});

const refusal = (value: unknown, expected = asked): unknown => {
  try {
    return parseSession(value, expected);
  } catch (error) {
    return isRemoteConnectorError(error, "invalid_session") ? error : undefined;
  }
};

describe("P-10: the answer about a session", () => {
  it.each([
    ["CREATED", "created"],
    ["CONNECTOR_AUTHORIZATION_SESSION_STATUS_CREATED", "created"],
    ["AWAITING_USER", "awaiting_user"],
    ["SESSION_STATUS_AWAITING_USER", "awaiting_user"],
    ["PROCESSING", "processing"],
    ["x_processing", "processing"],
  ])("P-10: the status %s", (status, expected) => {
    expect(parseSession(answer({ status }), asked)).toMatchObject({ status: expected, nextAction: redirect });
  });

  it.each([
    ["SUCCEEDED", { resultConnectionId: "c-1" }, { status: "succeeded", connectionId: "c-1", nextAction: undefined }],
    ["X_FAILED", { errorCode: "access_denied" }, { status: "failed", errorCode: "access_denied" }],
    ["FAILED", { errorCode: "a text\nof a person" }, { status: "failed", errorCode: undefined }],
    ["FAILED", {}, { status: "failed", errorCode: undefined }],
    ["CANCELED", { resultConnectionId: "c-1" }, { status: "canceled", connectionId: undefined }],
  ])("P-10: the end %s %o", (status, members, expected) => {
    expect(parseSession(answer({ status, ...members }), asked)).toMatchObject(expected);
  });

  it.each([
    ["no object", "session"],
    ["no session", {}],
    ["an unknown status", answer({ status: "DONE" })],
    ["a status that only begins like one", answer({ status: "SUCCEEDED_PARTLY" })],
    ["no status", answer({ status: undefined })],
    ["a success without its connection", answer({ status: "SUCCEEDED" })],
    ["a success with an empty connection", answer({ status: "SUCCEEDED", resultConnectionId: "" })],
    ["another release", answer({ connectorRevision: "1.0.1" })],
    ["a release that is a number", answer({ connectorRevision: 1 })],
    ["no release", answer({ connectorRevision: undefined })],
    ["no id", answer({ sessionId: undefined })],
    ["an id that a path swallows", answer({ sessionId: ".." })],
    ["an id with a control character", answer({ sessionId: "a\nb" })],
    ["nothing to do", answer({ nextAction: undefined })],
    ["an unknown action", answer({ nextAction: { type: "call_us" } })],
    ["an action without a type", answer({ nextAction: { url: redirect.url } })],
    ["a page without a URL", answer({ nextAction: { type: "redirect" } })],
    ["a page on http", answer({ nextAction: { type: "redirect", url: "http://provider.example/" } })],
    ["a page on http on loopback", answer({ nextAction: { type: "redirect", url: "http://127.0.0.1/" } })],
    ["a page that runs", answer({ nextAction: { type: "redirect", url: "javascript:alert(1)" } })],
    ["a page with userinfo", answer({ nextAction: { type: "redirect", url: "https://u:p@provider.example/" } })],
    ["a page with a password alone", answer({ nextAction: { type: "redirect", url: "https://:p@provider.example/" } })],
    ["a page with a user", answer({ nextAction: { type: "redirect", url: "https://u@provider.example/" } })],
    ["a relative page", answer({ nextAction: { type: "redirect", url: "/authorize" } })],
    ["a page without end", answer({ nextAction: { type: "redirect", url: `https://a.example/${"x".repeat(9_000)}` } })],
  ])("P-10: %s is refused, and shown nowhere", (_what, value) => {
    const error = refusal(value);
    expect(error).toMatchObject({ code: "invalid_session", delivery: "answered" });
    expect(JSON.stringify(error)).not.toContain("provider");
  });

  it("P-10: pages on plain http are for a control plane on loopback", () => {
    const local = { ...asked, allowsLoopbackHttp: true };
    for (const url of ["http://127.0.0.1:1/", "http://localhost/a", "http://[::1]/"]) {
      expect(parseSession(answer({ nextAction: { type: "redirect", url } }), local).nextAction).toEqual({
        type: "redirect",
        url,
      });
    }
    expect(refusal(answer({ nextAction: { type: "redirect", url: "http://10.0.0.1/" } }), local)).toMatchObject({
      code: "invalid_session",
    });
  });

  it("P-10: a session that wants a secret says so, or is asked for with one", () => {
    const wants = { nextAction: { type: "submit_secret" } };
    expect(parseSession(answer({ nextAction: { type: "submit_secret" } }), asked)).toMatchObject(wants);
    expect(parseSession(answer({ nextAction: undefined }), { ...asked, hasSecret: true })).toMatchObject(wants);
    expect(parseSession(answer({ nextAction: {} }), { ...asked, hasSecret: true })).toMatchObject(wants);
    expect(parseSession(answer(), { ...asked, hasSecret: true }).nextAction).toEqual(redirect);
  });

  it("P-10: a session that is known need say neither its id, nor its release, nor what is to be done", () => {
    const bare = { session: { status: "AWAITING_USER" } };
    expect(parseSession(bare, known)).toMatchObject({
      sessionId: "s-1",
      status: "awaiting_user",
      nextAction: undefined,
    });
    expect(refusal(answer({ sessionId: "s-2" }), known)).toMatchObject({ code: "invalid_session" });
    expect(refusal(answer({ connectorRevision: "2" }), known)).toMatchObject({ code: "invalid_session" });
  });

  it("P-10: any value gives a session or `invalid_session`", () => {
    const member = fc.oneof(fc.string(), fc.constantFrom("SUCCEEDED", "s-1", "1.0.0", redirect, null), fc.jsonValue());
    const sessions = fc.record({
      session: fc.record(
        {
          sessionId: member,
          connectorRevision: member,
          status: member,
          nextAction: member,
          resultConnectionId: member,
          errorCode: member,
        },
        { requiredKeys: [] },
      ),
    });
    fc.assert(
      fc.property(fc.oneof(sessions, fc.jsonValue()), fc.constantFrom(asked, known), (value, expected) => {
        expect(refusal(value, expected)).toBeDefined();
      }),
    );
  });
});

it("P-10: a code is short and plain, or none", () => {
  expect([readCode("a.b:C-1_"), readCode(""), readCode("a b"), readCode("x".repeat(129)), readCode(7)]).toEqual([
    "a.b:C-1_",
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
