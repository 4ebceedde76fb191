import { describe, expect, it } from "vitest";
import { type Delivery, type ErrorCode, recordDelivery, RemoteConnectorError } from "../../../src/errors.js";
import { projectFailure } from "../../../src/result-projection/index.js";

const SECRET = "s3cr3t-sentinel";

function peerError(rpcMessage: string, rest: object = {}): RemoteConnectorError<"peer_error"> {
  const details = { rpcCode: -32602, rpcMessage, rpcData: { token: SECRET }, ...rest };
  return new RemoteConnectorError("peer_error", { message: rpcMessage, delivery: "answered", details });
}

describe("H-38: a failure for a model", () => {
  it.each([
    ["not_sent", "Nothing was sent, so the tool did not run."],
    ["answered", "The server has answered, so the call is over."],
    ["unknown", "Whether the tool ran is not known: find out before calling it again."],
  ] as const)("says the verdict %s", (delivery: Delivery, sentence) => {
    const error = new RemoteConnectorError("cancelled", { message: "x", delivery, details: { reason: "closed" } });
    expect(projectFailure(error)).toEqual({
      text: `The call was ended before its answer. ${sentence}`,
      isError: true,
      code: "cancelled",
      delivery,
    });
  });

  it("says what the server has against the call, on one line and cut", () => {
    expect(projectFailure(peerError("city is\nrequired")).text).toMatch(
      /^The server refused the call: city is required \(-32602\)\. The server has answered/,
    );
    expect(projectFailure(peerError("\ud800".repeat(9_000))).text.length).toBeLessThanOrEqual(1_500);
    expect(projectFailure(peerError(" ")).text).toContain("it does not say why");
  });

  it("takes the verdict from behind a gateway", () => {
    expect(projectFailure(peerError("late", { rpcCode: -33004, rpcData: undefined })).delivery).toBe("unknown");
    const rpcData = { delivery: "not_sent" };
    expect(projectFailure(peerError("away", { rpcCode: -33003, rpcData })).delivery).toBe("not_sent");
  });

  it("knows an abort by its promise or its reason, and shows nothing of the reason", () => {
    const reason = new Error(SECRET);
    expect(projectFailure(reason)).toMatchObject({ code: undefined, delivery: "unknown" });
    const call = Promise.reject(reason);
    call.catch(() => undefined);
    recordDelivery(call, reason, "not_sent");
    expect(projectFailure(reason)).toEqual({
      text: "The call was given up before its answer. Nothing was sent, so the tool did not run.",
      isError: true,
      code: undefined,
      delivery: "not_sent",
    });
    expect(projectFailure(reason, { delivery: "answered" }).delivery).toBe("answered");
  });

  it.each([undefined, null, 0, "", SECRET, Symbol("x")])("takes any value: %s", (value) => {
    expect(projectFailure(value)).toMatchObject({ isError: true, code: undefined });
    expect(projectFailure(value).text).not.toContain(SECRET);
  });

  /** Every text that a code's details can hold is the secret, but for those that are meant for whoever made the call. */
  const details: Readonly<Record<string, object>> = {
    unexpected_answer: { status: 502, mediaType: SECRET, snippet: SECRET, reason: SECRET, wwwAuthenticate: SECRET },
    redirect_refused: { status: 302, location: SECRET, reason: SECRET },
    invalid_url: { url: SECRET, reason: SECRET },
    invalid_header: { header: SECRET, reason: SECRET },
    authorize_failed: { reason: SECRET },
    sign_in_required: { endpoint: SECRET, reason: "no_token", scopes: [SECRET], authorizationUrl: SECRET },
    token_refused: { endpoint: SECRET, status: 403, reason: "refused_again", scopes: [SECRET] },
    oauth_refused: { step: "token", issuer: SECRET, errorCode: SECRET },
    oauth_invalid: { subject: "token", url: SECRET, member: SECRET, reason: SECRET },
    oauth_discovery_failed: { url: SECRET, status: 503, reason: SECRET },
    client_identity_required: { issuer: SECRET, reason: "none", configuredFor: [SECRET] },
    connect_failed: { origin: SECRET, reason: SECRET },
    connection_broken: { origin: SECRET, reason: SECRET },
    process_exited: { exitCode: 1, signal: undefined, stderrTail: SECRET },
    spawn_failed: { command: SECRET, reason: SECRET },
    handler_failed: { kind: SECRET, key: SECRET, reason: SECRET },
    resource_not_found: { uri: SECRET, rpcCode: -32602, rpcData: SECRET },
    continuation_refused: { reason: "used" },
    control_plane_error: { status: 500, controlCode: SECRET, controlMessage: SECRET, retryable: undefined },
    unresolved_reference: { connectorKey: "x", member: SECRET, source: "secret", name: SECRET, reason: "missing" },
    invalid_argument: { argument: "name", reason: SECRET },
    invalid_output: { tool: "x", verdict: "invalid", path: SECRET, reason: SECRET },
    not_ready: { state: "starting", text: SECRET },
    task_cancelled: { taskId: SECRET, statusMessage: SECRET },
    journal_unavailable: { reason: SECRET },
    internal_error: { reason: SECRET },
    store_unavailable: { path: SECRET, reason: SECRET },
    peer_error: { rpcCode: 1, rpcMessage: "no", rpcData: SECRET, wwwAuthenticate: SECRET },
  };

  it.each(Object.keys(details))("holds of %s no body, address, path or cause", (code) => {
    const error = anyError(code, details[code] ?? {});
    const projected = projectFailure(error);
    expect(JSON.stringify(projected)).not.toContain(SECRET);
    expect(projected.code).toBe(code);
    expect(projected.text.length).toBeGreaterThan(10);
  });

  it.each([
    ["unknown_tool", { tool: `a"\nb` }, `There is no tool "a\\" b".`],
    ["approval_denied", { connectorKey: "x", reason: "denied" }, "A person did not approve the call."],
    ["approval_denied", { connectorKey: "x", reason: "expired" }, "Nobody approved the call in time."],
    ["authorization_required", { connectorKey: "mail", reauthorize: false }, `authorize the connector "mail" first.`],
    [
      "sign_in_required",
      { endpoint: "", reason: "no_token", scopes: [] },
      "A person has to sign in to the server first.",
    ],
    [
      "token_refused",
      { endpoint: "", status: 401, reason: "refused_again", scopes: [] },
      "The server refuses the call,",
    ],
    ["oauth_invalid", { subject: "token", url: "", member: "", reason: "" }, "authorization that could not be had."],
    ["route_unavailable", { connectorKey: "mail", state: "offline" }, `"mail" can't take calls now: offline.`],
    ["timeout", { phase: "total", option: "totalTimeoutMs", limitMs: 5_000 }, "Nothing came within 5000 ms."],
    ["no_progress", { method: "tools/list", pages: 3 }, "The call failed (no_progress)."],
  ])("says what %s means", (code, facts, words) => {
    expect(projectFailure(anyError(code, facts)).text).toContain(words);
  });

  it("refuses options that it does not know, and verdicts that are none", () => {
    const refused = expect.objectContaining({ code: "invalid_options" });
    expect(() => projectFailure(1, JSON.parse(`{"deliver": "unknown"}`))).toThrow(refused);
    expect(() => projectFailure(1, JSON.parse(`{"delivery": "maybe"}`))).toThrow(refused);
  });
});

/** An error as a process could get it that has another version of this package. */
function anyError(code: string, facts: object): RemoteConnectorError {
  const isCode = (name: string): name is ErrorCode => name !== "";
  if (!isCode(code)) throw new Error("no code");
  const init: { message: string; details: never; cause: unknown } = JSON.parse(
    JSON.stringify({ message: SECRET, details: facts }),
  );
  return new RemoteConnectorError(code, { ...init, cause: new Error(SECRET) });
}
