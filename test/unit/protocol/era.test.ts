import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AnyRemoteConnectorError,
  type ErrorCode,
  type ErrorDetails,
  isRemoteConnectorError,
  RemoteConnectorError,
} from "../../../src/errors.js";
import {
  classifyProbe,
  ERA_RULES,
  type EraVerdict,
  invalidAnswer,
  LEGACY_REVISIONS,
  MODERN_REVISION,
  peerError,
  type PeerErrorContext,
  type ProbeContext,
} from "../../../src/protocol/index.js";

const OVER_HTTP: ProbeContext = { over: "http", accepts: [MODERN_REVISION, ...LEGACY_REVISIONS] };
const OVER_STDIO: ProbeContext = { ...OVER_HTTP, over: "stdio" };

function failed<C extends ErrorCode>(code: C, details: ErrorDetails[C]): AnyRemoteConnectorError {
  const error: unknown = new RemoteConnectorError(code, { message: "It failed.", details });
  if (!isRemoteConnectorError(error)) throw new Error("An error is no error.");
  return error;
}

function rpc(code: number, context: PeerErrorContext = {}): AnyRemoteConnectorError {
  return peerError({ code, message: "No." }, context);
}

function status(code: number, wwwAuthenticate?: string): AnyRemoteConnectorError {
  const details = { status: code, mediaType: "text/html", snippet: "<html>", reason: "no JSON", wwwAuthenticate };
  return failed("unexpected_answer", details);
}

function names(...supported: string[]): AnyRemoteConnectorError {
  return failed("unsupported_version", { supported, ours: [MODERN_REVISION] });
}

function verdict(error: AnyRemoteConnectorError, context = OVER_HTTP): EraVerdict {
  return classifyProbe({ kind: "failed", error }, context);
}

const LEGACY = { kind: "initialize", revision: undefined } as const;
const SCOPE = 'Bearer error="insufficient_scope", scope="files"';
const REDIRECT = { status: 301, location: "/mcp/", reason: "it is a POST" };
const TIMEOUT = { phase: "total", option: "probeTimeoutMs", limitMs: 5_000 } as const;
const EXIT = { exitCode: 1, signal: undefined, stderrTail: "" };

const ISSUER = "https://as.example";
const AUTHORIZATION_FAILURES: [string, AnyRemoteConnectorError][] = [
  ["a sign-in that nobody was asked for", failed("sign_in_required", { endpoint: "", reason: "no_token", scopes: [] })],
  [
    "a token that is refused again",
    failed("token_refused", { endpoint: "", status: 401, reason: "refused_again", scopes: [] }),
  ],
  ["a refusal of the authorization server", failed("oauth_refused", { step: "token", issuer: ISSUER, status: 400 })],
  ["metadata of no use", failed("oauth_invalid", { subject: "token", url: ISSUER, member: "", reason: "" })],
  ["no metadata", failed("oauth_discovery_failed", { url: ISSUER, status: 503, reason: "" })],
  ["no client", failed("client_identity_required", { issuer: ISSUER, reason: "none" })],
];

describe("L-19 the era by what the modern probe met", () => {
  it("is modern when the server names a modern revision of ours", () => {
    expect(classifyProbe({ kind: "discovered" }, OVER_HTTP)).toEqual({ kind: "modern" });
  });

  it.each([-32020, -32021, -32022])("is modern, and refused, for %i at any status", (code) => {
    for (const httpStatus of [200, 400, 401, 404, 429, 500, 503, undefined]) {
      expect(verdict(rpc(code, { httpStatus }))).toEqual({ kind: "modern_refused" });
    }
  });

  it("goes on with the newest legacy revision that both speak, when the server names one", () => {
    expect(verdict(names("2024-11-05", "2025-06-18", "2031-01-01"))).toEqual({
      kind: "initialize",
      revision: "2025-06-18",
    });
  });

  it("L-18 heeds what may be spoken, in the caller's order", () => {
    const context: ProbeContext = { over: "http", accepts: ["2025-03-26", "2025-11-25"] };
    const answer = names("2025-11-25", "2025-06-18", "2025-03-26");
    expect(verdict(answer, context)).toEqual({ kind: "initialize", revision: "2025-03-26" });
  });

  it.each([[["2031-01-01"]], [[]]])("finds no revision when the server names %j", (supported) => {
    expect(verdict(names(...supported))).toEqual({ kind: "no_revision" });
  });

  it.each([
    ["401", status(401)],
    ["401 with a JSON-RPC error", rpc(-32001, { httpStatus: 401 })],
    ["403 for want of a scope", status(403, SCOPE)],
    ["428", status(428)],
    ["a gateway's -33001 under 200", rpc(-33001, { httpStatus: 200 })],
    ["a gateway's -33002 under 428", rpc(-33002, { httpStatus: 428 })],
  ])("waits for authorization after %s", (_, error) => {
    expect(verdict(error)).toEqual({ kind: "authorize" });
  });

  it.each([403, 407, 408, 421, 425, 429, 500, 502, 503, 504, 599])("says nothing after a bare %i", (code) => {
    expect(verdict(status(code))).toEqual({ kind: "undecided" });
  });

  it.each([
    ["a redirect", failed("redirect_refused", REDIRECT)],
    ["no connection", failed("connect_failed", { origin: "https://a.example", reason: "ECONNREFUSED" })],
    ["a broken connection", failed("connection_broken", { origin: "https://a.example", reason: "ECONNRESET" })],
    ["a deadline over HTTP", failed("timeout", TIMEOUT)],
    ["a closed client", failed("cancelled", { reason: "client closed" })],
    ...AUTHORIZATION_FAILURES,
    ["500 with an error without our id", rpc(-32603, { httpStatus: 500, withoutId: true })],
    ["503 with a JSON-RPC error", rpc(-32000, { httpStatus: 503 })],
    ["429 with a JSON-RPC error", rpc(-32000, { httpStatus: 429 })],
  ])("says nothing after %s", (_, error) => {
    expect(verdict(error)).toEqual({ kind: "undecided" });
  });

  it.each([
    ["-32601 under 200", rpc(-32601, { httpStatus: 200 })],
    ["-32600 under 200, without an id", rpc(-32600, { httpStatus: 200, withoutId: true })],
    ["a result that names no versions", invalidAnswer("server/discover without supportedVersions")],
    ["a stream that ends without a message", failed("stream_ended", { reason: "end of stream" })],
    ["HTML under 200", status(200)],
    ["202 and nothing", status(202)],
    ["400 with any body", status(400)],
    ["400 that speaks of the session", rpc(-32000, { httpStatus: 400, withoutId: true })],
    ["404", status(404)],
    ["405", status(405)],
    ["406", status(406)],
    ["415", status(415)],
    ["422 with a JSON-RPC error", rpc(-32602, { httpStatus: 422 })],
    ["500 with an error that carries our id", rpc(-32603, { httpStatus: 500 })],
    ["501", status(501)],
  ])("is legacy after %s", (_, error) => {
    expect(verdict(error)).toEqual(LEGACY);
  });

  it.each([
    ["silence", failed("timeout", TIMEOUT)],
    ["an exit", failed("process_exited", EXIT)],
    ["-32601", rpc(-32601)],
    ["-32602", rpc(-32602)],
  ])("L-21 is legacy over stdio after %s", (_, error) => {
    expect(verdict(error, OVER_STDIO)).toEqual(LEGACY);
  });

  it("L-21 says nothing over stdio when the process could not be started", () => {
    const error = failed("spawn_failed", { command: "server", reason: "ENOENT" });
    expect(verdict(error, OVER_STDIO)).toEqual({ kind: "undecided" });
  });

  it("judges every status and every code, and never takes a guess for what the server named", () => {
    const code = fc.oneof(fc.integer({ min: -33100, max: -31900 }), fc.integer());
    const answers = fc.tuple(fc.integer({ min: 200, max: 599 }), fc.option(code, { nil: undefined }), fc.boolean());
    fc.assert(
      fc.property(answers, ([httpStatus, rpcCode, bare]) => {
        const withoutId = bare ? true : undefined;
        const error = rpcCode === undefined ? status(httpStatus) : rpc(rpcCode, { httpStatus, withoutId });
        const { kind } = verdict(error);
        expect(kind).not.toBe("modern");
        expect(kind).not.toBe("no_revision");
        if (rpcCode === undefined || ![-32020, -32021, -32022].includes(rpcCode))
          expect(kind).not.toBe("modern_refused");
        if (kind === "initialize") expect(verdict(error)).toEqual(LEGACY);
      }),
    );
  });

  it("ends its table with a rule that always holds", () => {
    const last = ERA_RULES.at(-1);
    expect(last?.holds({ over: "http", error: undefined, status: undefined, named: undefined })).toBe(true);
    expect(last?.verdict).toBe("undecided");
  });
});
