import { describe, expect, it } from "vitest";
import { restoreFault } from "../../../../src/connector-host/admin/index.js";
import { faultOf, INTERNAL_FAULT } from "../../../../src/connector-host/admin/faults.js";
import { type Delivery, RemoteConnectorError } from "../../../../src/errors.js";

/** Over the wire and back. */
function travelled(error: unknown): unknown {
  return restoreFault(JSON.parse(JSON.stringify(faultOf(error) ?? INTERNAL_FAULT)));
}

describe("H-33: failures that travel", () => {
  it.each<[RemoteConnectorError]>([
    [new RemoteConnectorError("unknown_connector", { message: "m", details: { connectorKey: "" } })],
    [new RemoteConnectorError("invalid_argument", { message: "m", details: { argument: "a", reason: "r" } })],
    [new RemoteConnectorError("terminal_required", { message: "m", details: { action: "a" } })],
    [new RemoteConnectorError("store_full", { message: "m", details: { path: "p" } })],
    [new RemoteConnectorError("timeout", { message: "m", details: { phase: "idle", option: "o", limitMs: 0 } })],
    [
      new RemoteConnectorError("route_unavailable", {
        message: "m",
        details: { connectorKey: "a", state: "offline", since: 0 },
      }),
    ],
    [
      new RemoteConnectorError("process_exited", {
        message: "m",
        details: { exitCode: 0, signal: undefined, stderrTail: "" },
      }),
    ],
    [
      new RemoteConnectorError("peer_error", {
        message: "m",
        details: { rpcCode: -32020, rpcMessage: "no", rpcData: { x: [1] }, httpStatus: 400 },
      }),
    ],
    [
      new RemoteConnectorError("peer_error", {
        message: "m",
        details: { rpcCode: -32603, rpcMessage: "no", rpcData: undefined },
      }),
    ],
    [new RemoteConnectorError("invalid_header", { message: "m", details: { header: "h", reason: "r" } })],
    [new RemoteConnectorError("invalid_options", { message: "m", details: { option: "o", reason: "r" } })],
    [new RemoteConnectorError("unsupported_version", { message: "m", details: { supported: [], ours: ["v"] } })],
    [new RemoteConnectorError("login_ended", { message: "m", details: { connectorKey: "a" } })],
    [new RemoteConnectorError("store_in_use", { message: "m", details: { path: "p" } })],
    [new RemoteConnectorError("store_newer_format", { message: "m", details: { path: "p", found: 2, known: 1 } })],
    [
      new RemoteConnectorError("unresolved_reference", {
        message: "m",
        details: { connectorKey: "a", member: "x", source: "secret", name: "n", reason: "missing" },
      }),
    ],
    [
      new RemoteConnectorError("client_identity_required", {
        message: "m",
        details: { issuer: "https://as", reason: "other_issuer", configuredFor: ["https://other"] },
      }),
    ],
    [
      new RemoteConnectorError("oauth_discovery_failed", {
        message: "m",
        details: { url: "https://as/x", status: 503, reason: "r" },
      }),
    ],
    [
      new RemoteConnectorError("oauth_invalid", {
        message: "m",
        details: { subject: "token", url: "https://as/token", member: "access_token", reason: "missing" },
      }),
    ],
    [
      new RemoteConnectorError("oauth_refused", {
        message: "m",
        details: { step: "token", issuer: "https://as", errorCode: "invalid_client", status: 401 },
      }),
    ],
    [
      new RemoteConnectorError("sign_in_required", {
        message: "m",
        details: { endpoint: "https://mcp", reason: "no_token", issuer: "https://as", scopes: [""] },
      }),
    ],
    [
      new RemoteConnectorError("token_refused", {
        message: "m",
        details: { endpoint: "https://mcp", status: 403, reason: "scope_not_enough", scopes: ["a"] },
      }),
    ],
  ])("H-33: $code comes back with its facts and its delivery", (error) => {
    for (const delivery of ["not_sent", "answered", "unknown"] satisfies Delivery[]) {
      const sent = new RemoteConnectorError(error.code, { message: "m", delivery, details: error.details });
      const { code, details, message } = sent;
      expect(travelled(sent)).toMatchObject({ code, delivery, message, details });
      expect(travelled(sent)).toBeInstanceOf(RemoteConnectorError);
    }
  });

  it("H-33: only facts that are meant to travel do: neither causes, nor headers of answers, nor evidence", () => {
    const secret = "s3cret";
    const fault = faultOf(
      new RemoteConnectorError("peer_error", {
        message: "m",
        details: {
          rpcCode: 1,
          rpcMessage: "no",
          rpcData: 0,
          wwwAuthenticate: secret,
          evidence: { handedOver: true, headersSeen: true, messages: 0, elapsedMs: 1, attempts: 1 },
        },
        cause: new Error(secret),
      }),
    );
    expect(fault?.details).toEqual({ rpcCode: 1, rpcMessage: "no", rpcData: 0 });
    expect(JSON.stringify(fault)).not.toContain(secret);
  });

  it("H-33, A-5: where a person would go to sign in stays with whoever began it", () => {
    const authorizationUrl = "https://as/authorize?state=s3cret";
    const details = { endpoint: "https://mcp", reason: "no_token" as const, scopes: [], authorizationUrl };
    const fault = faultOf(new RemoteConnectorError("sign_in_required", { message: "m", details }));
    expect(fault?.details).toEqual({ endpoint: "https://mcp", reason: "no_token", scopes: [] });
    expect(JSON.stringify(fault)).not.toContain("s3cret");
  });

  it("H-33: what is no failure that may travel is told as a fault of the host", () => {
    const script = new RemoteConnectorError("script_violated", {
      message: "s3cret",
      details: { unexpected: [], unexpectedCount: 0, missing: [] },
    });
    for (const error of [new Error("s3cret"), undefined, script]) {
      expect(travelled(error)).toMatchObject({ code: "internal_error", delivery: "unknown" });
      expect(JSON.stringify(travelled(error))).not.toContain("s3cret");
    }
  });

  it.each([
    [undefined],
    [{}],
    [{ code: "unknown_connector", message: "m", delivery: "perhaps", details: { connectorKey: "a" } }],
    [{ code: "unknown_connector", message: "m", delivery: "not_sent", details: {} }],
    [{ code: "toString", message: "m", delivery: "not_sent", details: {} }],
    [{ code: "of_a_later_version", message: "m", delivery: "not_sent", details: {} }],
  ])("H-33: %o is none that can be restored", (value) => {
    expect(restoreFault(value)).toBeUndefined();
  });
});
