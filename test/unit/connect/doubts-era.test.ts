import { describe, expect, it } from "vitest";
import { doubtsEra, type EraStanding, wasRefused } from "../../../src/connect/doubts-era.js";
import { type Delivery, RemoteConnectorError } from "../../../src/errors.js";
import { LEGACY_REVISIONS, MODERN_REVISION, peerError, type PeerErrorContext } from "../../../src/protocol/index.js";

const CONTEXT = { over: "http", accepts: [MODERN_REVISION, ...LEGACY_REVISIONS] } as const;
const REMEMBERED: EraStanding = { era: "modern", isProven: false };
const PROVEN: EraStanding = { era: "modern", isProven: true };
const LEGACY: EraStanding = { era: "legacy", isProven: true };

function rpc(code: number, context: PeerErrorContext = {}): unknown {
  return peerError({ code, message: "No." }, context);
}

function status(code: number): unknown {
  const details = { status: code, mediaType: "text/html", snippet: "", reason: "no JSON" };
  return new RemoteConnectorError("unexpected_answer", { message: "It failed.", details });
}

const TIMEOUT = new RemoteConnectorError("timeout", {
  message: "It failed.",
  details: { phase: "idle", option: "idleTimeoutMs", limitMs: 1 },
});
const EXIT = new RemoteConnectorError("process_exited", {
  message: "It failed.",
  details: { exitCode: 1, signal: undefined, stderrTail: "" },
});

describe("L-22 which failures put a server's era in doubt", () => {
  it.each<[string, unknown, EraStanding, boolean]>([
    ["an error in an answer of one that is only remembered", rpc(-32601, { httpStatus: 200 }), REMEMBERED, true],
    ["an error in an answer of one that has proved itself", rpc(-32602, { httpStatus: 200 }), PROVEN, false],
    ["an error over stdio of one that has proved itself", rpc(-32602), PROVEN, false],
    ["400 with a legacy error", rpc(-32000, { httpStatus: 400 }), PROVEN, true],
    ["404 without an error", status(404), PROVEN, true],
    ["HTML in place of an answer", status(200), PROVEN, true],
    ["401", status(401), PROVEN, false],
    ["429", status(429), REMEMBERED, false],
    ["503", status(503), REMEMBERED, false],
    ["a modern error", rpc(-32020, { httpStatus: 400 }), REMEMBERED, false],
    ["a modern error of a legacy server", rpc(-32020, { httpStatus: 400 }), LEGACY, true],
    ["a refused version of a legacy server", rpc(-32022), LEGACY, true],
    ["404 of a legacy server", status(404), LEGACY, true],
    ["400 of a legacy server", rpc(-32602, { httpStatus: 400 }), LEGACY, true],
    ["an error in an answer of a legacy server", rpc(-32602, { httpStatus: 200 }), LEGACY, false],
    ["a deadline over HTTP", TIMEOUT, REMEMBERED, false],
    ["a caller's abort", new Error("enough"), REMEMBERED, false],
    ["a reason that is no error", "enough", LEGACY, false],
  ])("%s", (_, failure, standing, expected) => {
    expect(doubtsEra(failure, standing, CONTEXT)).toBe(expected);
  });

  it.each([TIMEOUT, EXIT])("not $code over stdio, which is a sign only in answer to a probe", (failure) => {
    expect(doubtsEra(failure, REMEMBERED, { ...CONTEXT, over: "stdio" })).toBe(false);
  });

  it("a process that was found to speak no modern revision, by what it said", () => {
    const details = { supported: [], ours: [MODERN_REVISION] };
    const failure = new RemoteConnectorError("unsupported_version", { message: "No.", details, cause: rpc(-32601) });
    expect(doubtsEra(failure, PROVEN, { ...CONTEXT, over: "stdio" })).toBe(true);
  });
});

describe("L-22 F-11 which failures show that nothing ran", () => {
  it.each<[string, unknown, Delivery, boolean]>([
    ["nothing was sent", TIMEOUT, "not_sent", true],
    ["a deadline", TIMEOUT, "unknown", false],
    ["the end of the process", EXIT, "unknown", false],
    ["404", status(404), "answered", true],
    ["405 with an error of its own", rpc(-32000, { httpStatus: 405 }), "answered", true],
    ["408", status(408), "unknown", false],
    ["501", status(501), "unknown", false],
    ["HTML in place of an answer", status(200), "unknown", false],
    ["an unknown method", rpc(-32601), "answered", true],
    ["a modern error", rpc(-32020, { httpStatus: 400 }), "answered", true],
    ["an internal error", rpc(-32603), "answered", false],
    ["an internal error with 400", rpc(-32603, { httpStatus: 400 }), "answered", false],
    ["an internal error with 500", rpc(-32603, { httpStatus: 500 }), "answered", false],
    ["an error of a tool's own", rpc(-32000, { httpStatus: 200 }), "answered", false],
    ["a caller's own reason", new Error("enough"), "answered", false],
  ])("%s", (_, failure, delivery, expected) => {
    expect(wasRefused(failure, delivery)).toBe(expected);
  });
});
