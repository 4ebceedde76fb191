import { describe, expect, it } from "vitest";
import {
  classifyDeviceFault,
  explainDeviceFault,
} from "../../../../src/connector-host/device/classify-device-fault.js";
import { isUnauthorized, needsSignIn } from "../../../../src/connector-host/device/list-server.js";
import { classifySilence } from "../../../../src/connector-host/device/silence.js";
import { type Delivery, type ErrorDetails, RemoteConnectorError } from "../../../../src/errors.js";

const NOW = Date.UTC(2026, 7, 1);

const answered = (status: number, retryAfter?: string): RemoteConnectorError =>
  new RemoteConnectorError("unexpected_answer", {
    message: "no",
    delivery: "answered",
    details: { status, mediaType: "", snippet: "", reason: "status", retryAfter },
  });
const peer = (httpStatus?: number): RemoteConnectorError =>
  new RemoteConnectorError("peer_error", {
    message: "no",
    delivery: "answered",
    details: { rpcCode: -32_001, rpcMessage: "no", rpcData: undefined, httpStatus },
  });
const timeout = (delivery: Delivery): RemoteConnectorError =>
  new RemoteConnectorError("timeout", {
    message: "late",
    delivery,
    details: { phase: "total", option: "totalTimeoutMs", limitMs: 1 },
  });
const exited = new RemoteConnectorError("process_exited", {
  message: "gone",
  delivery: "unknown",
  details: { exitCode: 1, signal: undefined, stderrTail: "" },
});
const unresolved = new RemoteConnectorError("unresolved_reference", {
  message: "missing",
  details: { connectorKey: "docs", member: "env.A", source: "secret", name: "a", reason: "missing" },
});
const signIn = (reason: ErrorDetails["sign_in_required"]["reason"]): RemoteConnectorError =>
  new RemoteConnectorError("sign_in_required", {
    message: "no",
    delivery: "answered",
    details: { endpoint: "https://docs.example/mcp", reason, scopes: [] },
  });
const refused = (status: 401 | 403): RemoteConnectorError =>
  new RemoteConnectorError("token_refused", {
    message: "no",
    delivery: "answered",
    details: { endpoint: "https://docs.example/mcp", status, reason: "refused_again", scopes: [] },
  });
const cancelled = new RemoteConnectorError("cancelled", { message: "no", details: { reason: "closed" } });

describe("faults of the device's connectors", () => {
  it.each([
    ["a program that ended", exited, true, undefined],
    ["a reference that can't be resolved", unresolved, true, undefined],
    ["a refusal of whoever is not signed in", explainDeviceFault("docs", answered(401), false), true, undefined],
    ["a server that is busy", answered(503, "7"), false, 7_000],
    ["a deadline", timeout("unknown"), false, undefined],
    ["what our own side ended", cancelled, false, undefined],
    ["a fault of ours", new TypeError("x"), true, undefined],
  ] as const)("H-9: %s", (_name, error, counts, retryAfterMs) => {
    expect(classifyDeviceFault(error, NOW)).toEqual({ counts, retryAfterMs });
  });

  it("H-9: only a 401 means that somebody has to sign in", () => {
    for (const error of [answered(401), peer(401)]) {
      expect(explainDeviceFault("docs", error, true)).toMatchObject({
        code: "authorization_required",
        delivery: "answered",
        details: { connectorKey: "docs", reauthorize: true },
        cause: error,
      });
    }
    for (const error of [answered(403), answered(404), peer(403), peer(), exited]) {
      expect(explainDeviceFault("docs", error, true)).toBe(error);
    }
  });

  it.each([
    ["no_token", signIn("no_token"), true, true],
    ["token_refused", signIn("token_refused"), true, true],
    ["refresh_refused", signIn("refresh_refused"), true, true],
    ["insufficient_scope", signIn("insufficient_scope"), false, true],
    ["a token that is refused", refused(401), true, true],
    ["a scope that is not enough", refused(403), false, false],
  ] as const)("A-8, H-8: %s ends what is published, or what is being opened", (_, error, published, opened) => {
    expect([isUnauthorized(error), needsSignIn(error)]).toEqual([published, opened]);
    const explained = explainDeviceFault("docs", error, false);
    if (opened) expect(explained).toMatchObject({ code: "authorization_required", cause: error });
    else expect(explained).toBe(error);
  });

  it("H-9: what a failure says of a server's life", () => {
    const verdicts = [timeout("unknown"), timeout("not_sent"), answered(500), peer(), cancelled, exited, "stopped"];
    expect(verdicts.map(classifySilence)).toEqual([
      "silence",
      "silence",
      "life",
      "life",
      "nothing",
      "nothing",
      "nothing",
    ]);
  });
});
