import { describe, expect, it } from "vitest";
import { checkAuthorization } from "../../../src/gateway/authorization-refusal.js";
import type { Connection, ConnectionState } from "../../../src/gateway/index.js";
import { forwardedMeta } from "../../../src/gateway/connector-methods.js";
import type { GatewayConnector } from "../../../src/gateway/options.js";
import { logLine, progressLine } from "../../../src/gateway/relay.js";
import { checkReleasePin } from "../../../src/gateway/release-pin.js";
import { parseRetryAfter } from "../../../src/protocol/index.js";
import { readRoute } from "../../../src/gateway/routes.js";
import { readCookie, Sessions } from "../../../src/gateway/sessions.js";
import { RpcCode } from "../../../src/protocol/index.js";
import type { RequestMeta } from "../../../src/serving/index.js";

describe("readRoute", () => {
  it.each([
    ["/v1/connectors/files/mcp", { kind: "connector", connectorId: "files" }],
    ["/v1/connectors/a%2Eb/mcp?x=1", { kind: "connector", connectorId: "a.b" }],
    ["/v1/connectors/files/authorization-sessions", { kind: "begin_session", connectorId: "files" }],
    ["/v1/connectors/files/authorization", { kind: "disconnect", connectorId: "files" }],
    ["/v1/connector-authorization-sessions/s%2D1", { kind: "session", sessionId: "s-1" }],
    ["/v1/connector-authorization-sessions/s-1/complete", { kind: "complete_session", sessionId: "s-1" }],
    ["/v1/connector-authorization-sessions/s-1/other", { kind: "unknown" }],
    ["/v1/connector-authorizations/callback/a?code=1", { kind: "callback", connectorId: "a" }],
    ["/v1/connector-authorizations/callback?code=1", { kind: "unknown" }],
    ["/v1/connector-authorizations/snapshot", { kind: "snapshot" }],
    ["/v1/connector-authorizations/snapshot?x", { kind: "snapshot" }],
    ["/v1/events", { kind: "events" }],
    ["/v1/connectors/files/constructor", { kind: "unknown" }],
    ["/v1/connectors/files/mcp/", { kind: "unknown" }],
    ["/v1/connectors//mcp", { kind: "unknown" }],
    ["/v1/connectors/a/b/mcp", { kind: "unknown" }],
    ["/v1/connectors/%zz/mcp", { kind: "unknown" }],
    ["/V1/events", { kind: "unknown" }],
    ["*", { kind: "unknown" }],
    [undefined, { kind: "unknown" }],
  ])("H-6: %s", (target, route) => {
    expect(readRoute(target)).toEqual(route);
  });
});

describe("sessions", () => {
  it.each([
    ["session=a", "a"],
    ["x=1; session=a=b; y=2", "a=b"],
    ["session=", ""],
    ["  session = a ", "a"],
    ["session=first; session=second", "first"],
    ["xsession=a", undefined],
    ["Session=a", undefined],
    ["session", undefined],
    ["", undefined],
  ])("H-6: the cookie in %j", (header, value) => {
    expect(readCookie(header, "session")).toBe(value);
  });

  it("H-6: an account has several sessions, and nobody has an unknown or empty one", () => {
    const sessions = new Sessions("sid", [
      { accountId: "ada", sessions: ["one", "two"] },
      { accountId: "bob", sessions: ["three"] },
    ]);
    const of = (cookie?: string): string | undefined => sessions.accountOf({ cookie });
    expect([of("sid=one"), of("sid=two"), of("sid=three")]).toEqual(["ada", "ada", "bob"]);
    expect([of(), of("sid="), of("sid=four"), of("session=one")]).toEqual([undefined, undefined, undefined, undefined]);
  });
});

describe("checkReleasePin", () => {
  const names = { versionHeader: "X-Version", versionMetaKey: "com.example/version" };
  const pin = (
    header: string | undefined,
    member: unknown,
  ): { status: number; code: number; data: unknown } | undefined => {
    const members = member === undefined ? {} : { "com.example/version": member };
    const meta: RequestMeta = {
      protocolVersion: "2026-07-28",
      clientCapabilities: {},
      clientInfo: undefined,
      progressToken: undefined,
      logLevel: undefined,
      members,
    };
    const refusal = checkReleasePin({ "x-version": header }, { id: 1, meta }, names, "1.0.0");
    return refusal && { status: refusal.status, code: refusal.error.code, data: refusal.error.data };
  };

  it("H-6: accepts the published version, said twice", () => {
    expect(pin("1.0.0", "1.0.0")).toBeUndefined();
  });

  it.each([
    [undefined, "1.0.0"],
    ["1.0.0", undefined],
    ["1.0.0", 1],
    ["1.0.0", "1.0.1"],
    ["", "1.0.0"],
    ["1.0.0, 1.0.0", "1.0.0"],
    [undefined, undefined],
  ])("H-6: header %s and member %s are 400 with -32020", (header, member) => {
    expect(pin(header, member)).toMatchObject({ status: 400, code: RpcCode.headerMismatch });
  });

  it("H-6: another version, said twice, is 409 with -33003 and both versions", () => {
    expect(pin("2.0.0", "2.0.0")).toEqual({
      status: 409,
      code: RpcCode.connectorUnavailable,
      data: { reason: "release_mismatch", published: "1.0.0", requested: "2.0.0" },
    });
  });
});

describe("checkAuthorization", () => {
  const connector = (authorization: "account" | "none"): GatewayConnector => ({
    connectorId: "files",
    connectorVersion: "1",
    authorization,
    upstream: { kind: "stdio", command: "x" },
  });
  const connection = (state: ConnectionState): Connection => ({
    state,
    connectionId: "c",
    connectionVersion: 1n,
    others: [],
  });

  it.each([
    ["account", undefined, 428, RpcCode.authorizationRequired],
    ["account", connection("disconnected"), 428, RpcCode.authorizationRequired],
    ["account", connection("reauth_required"), 428, RpcCode.reauthRequired],
    ["account", connection("connected"), undefined, undefined],
    ["none", undefined, undefined, undefined],
    ["none", connection("disconnected"), undefined, undefined],
  ] as const)("H-6: %s, %o: %s %s", (authorization, current, status, code) => {
    const refusal = checkAuthorization(connector(authorization), current, 1);
    expect([refusal?.status, refusal?.error.code]).toEqual([status, code]);
  });
});

describe("parseRetryAfter", () => {
  const now = Date.UTC(2026, 0, 1, 0, 0, 0);
  it.each([
    [undefined, undefined],
    ["0", 0],
    [" 120 ", 120_000],
    ["Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
    ["Wed, 31 Dec 2025 23:59:00 GMT", 0],
    ["-1", undefined],
    ["1.5", undefined],
    ["soon", undefined],
    ["", undefined],
    ["2026", 2_026_000],
    ["Xxx, nonsense", undefined],
  ])("F-4: %j", (value, ms) => {
    expect(parseRetryAfter(value, now)).toBe(ms);
  });
});

describe("relay", () => {
  it.each([0, "", "t"])("W-18: progress carries the caller's own token %j", (token) => {
    expect(JSON.parse(progressLine(token, { progress: 1, total: 2, message: "m" }))).toEqual({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken: token, progress: 1, total: 2, message: "m" },
    });
  });

  const log = (level: unknown): { method: string; params: unknown } => ({
    method: "notifications/message",
    params: { level, logger: "l", data: { a: 1 } },
  });

  it.each([
    [log("warning"), "warning", true],
    [log("emergency"), "warning", true],
    [log("notice"), "warning", false],
    [log("debug"), "debug", true],
    [log("debug"), undefined, false],
    [log("loud"), "debug", false],
    [log(undefined), "debug", false],
    [{ method: "notifications/message", params: null }, "debug", false],
    [{ method: "notifications/tools/list_changed", params: {} }, "debug", false],
  ] as const)("H-21: %j under %s passes: %s", (notification, level, passes) => {
    expect(logLine(notification, level) !== undefined).toBe(passes);
  });

  it("H-21: a log message passes as it came", () => {
    expect(JSON.parse(logLine(log("error"), "info") ?? "")).toEqual({ jsonrpc: "2.0", ...log("error") });
  });
});

describe("forwardedMeta", () => {
  it("H-6: keeps what is meant for the other end, and nothing of the caller's own hop", () => {
    const members = {
      "io.modelcontextprotocol/protocolVersion": "x",
      "io.modelcontextprotocol/clientInfo": {},
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/logLevel": "info",
      progressToken: 0,
      "com.example/version": "1",
      traceparent: "00-1-1-01",
      "com.example/other": [1],
    };
    expect(forwardedMeta(members, "com.example/version")).toEqual({
      traceparent: "00-1-1-01",
      "com.example/other": [1],
    });
  });
});
