import { describe, expect, it } from "vitest";
import { classifyRelayAnswer } from "../../../../../src/connector-host/relay/guest/classify-relay-answer.js";

const ORIGIN = "http://localhost";

describe("F-1, H-7: what the relay's head says", () => {
  it("is the gateway's answer when it says so, of any status, with the headers that a client looks at", () => {
    const headers = {
      "relay-outcome": "answered",
      "content-type": "application/json",
      "retry-after": "3",
      "set-cookie": ["s=1"],
      location: "/elsewhere",
      "mcp-session-id": "x",
    };
    expect(classifyRelayAnswer(ORIGIN, 307, headers)).toEqual({
      kind: "answered",
      headers: { "content-type": "application/json", "retry-after": "3" },
    });
  });

  it.each([
    ["unreachable", "ECONNREFUSED", "connect_failed", { origin: ORIGIN, reason: "ECONNREFUSED" }],
    ["account_not_ready", "cancelled", "account_not_ready", {}],
    ["not_admitted", "paused", "not_admitted", { reason: "paused" }],
    ["unauthorized", "", "relay_refused", { reason: "unauthorized", detail: "" }],
    ["not_leased", "=?base64?Z3LDtsOfZQ==?=", "relay_refused", { reason: "not_leased", detail: "größe" }],
    ["of a later relay", "x", "relay_refused", { reason: "unknown", detail: "x" }],
  ])("not_sent by the reason %s", (reason, detail, code, details) => {
    const headers = { "relay-outcome": "not_sent", "relay-reason": reason, "relay-detail": detail };
    const verdict = classifyRelayAnswer(ORIGIN, 200, headers);
    expect(verdict).toMatchObject({ kind: "failed", notSent: true, error: { code, details } });
  });

  it.each([
    [{ "relay-reason": "broken", "relay-detail": "UND_ERR_SOCKET" }, "UND_ERR_SOCKET"],
    [{ "relay-reason": "lease_ended" }, "lease_ended"],
    [{}, "unknown"],
  ])("unknown with what is known: %j", (headers, reason) => {
    expect(classifyRelayAnswer(ORIGIN, 502, { "relay-outcome": "unknown", ...headers })).toMatchObject({
      kind: "failed",
      notSent: false,
      error: { code: "connection_broken", details: { origin: ORIGIN, reason } },
    });
  });

  it.each([
    [200, {}],
    [502, { "content-type": "text/html" }],
    [404, { "relay-reason": "unauthorized" }],
    [200, { "relay-outcome": "sent" }],
    [200, { "relay-outcome": ["answered", "answered"] }],
  ])("an answer of something else is never believed: %s %j", (status, headers) => {
    const verdict = classifyRelayAnswer(ORIGIN, status, headers);
    expect(verdict).toMatchObject({
      kind: "failed",
      notSent: false,
      error: { code: "unexpected_answer", details: { status } },
    });
  });
});
