import { afterEach, describe, expect, it } from "vitest";
import { type AuthorizationState, createMemoryState } from "../../../src/gateway/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import {
  admin,
  authorizeBySecret,
  authorizingConnector,
  beginSession,
  callEcho,
  Cleanup,
  control,
  CREDENTIAL_PROGRAM,
  httpConnector,
  raw,
  type Received,
  runs,
  sessionOf,
  snapshotOf,
  startCredentialUpstream,
  startGateway,
  startUpstream,
  stdioConnector,
  subscribe,
  VERSION,
} from "./support.js";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const NOWHERE = "http://127.0.0.1:9/mcp";
const bySecret = { kind: "secret" } as const;

/** A session's path below `/v1`. */
const pathOf = (sessionId: string, step = ""): string => `connector-authorization-sessions/${sessionId}${step}`;

/** What a refusal says to programs. */
async function refusalOf(answer: Promise<Response>): Promise<unknown> {
  const response = await answer;
  const { code, message, retryable } = JSON.parse(await response.text());
  expect(typeof message).toBe("string");
  return [response.status, code, retryable];
}

describe("a session with a secret", () => {
  it("P-10: asks for the secret, takes it, and connects the account, which is told of it", async () => {
    const upstream = await startCredentialUpstream(cleanup);
    const gateway = await startGateway(cleanup, [authorizingConnector("c", upstream.url, bySecret)]);
    const { told } = await subscribe(cleanup, gateway);
    expect(await callEcho(gateway, "c")).toBe("428 -33001");
    const begun = await sessionOf(beginSession(gateway, "c"));
    expect(begun).toEqual({
      sessionId: expect.stringMatching(/^session-[\w-]{24}$/),
      connectorRevision: VERSION,
      status: "AWAITING_USER",
      nextAction: { type: "submit_secret" },
    });
    const { sessionId } = begun;
    const secret = { secret: { secret: "key-of-ada" } };
    const done = await sessionOf(control(gateway, "POST", pathOf(sessionId, "/complete"), secret));
    const { resultConnectionId } = done;
    expect(done).toEqual({
      sessionId,
      connectorRevision: VERSION,
      status: "SUCCEEDED",
      resultConnectionId: expect.any(String),
    });
    const snapshot = JSON.parse(await (await snapshotOf(gateway, "s-ada")).text());
    expect(snapshot).toMatchObject({
      revision: "2",
      connectors: [{ state: "connected", connectionId: resultConnectionId, connectionVersion: "1" }],
    });
    await expect.poll(() => told).toHaveLength(1);
    expect(await callEcho(gateway, "c")).toBe("Bearer key-of-ada");
    expect(await sessionOf(control(gateway, "GET", pathOf(sessionId)))).toEqual(done);
  });

  it("P-11: a new secret keeps the connection, raises its version, and goes with the next call", async () => {
    const upstream = await startCredentialUpstream(cleanup, () => true, "x-api-key");
    const connector = authorizingConnector("c", upstream.url, bySecret);
    const own = { kind: "http", url: upstream.url, credentialHeader: "X-Api-Key", credentialPrefix: "" } as const;
    const gateway = await startGateway(cleanup, [{ ...connector, upstream: own }]);
    const first = await authorizeBySecret(gateway, "c", "one", "first");
    expect(await callEcho(gateway, "c")).toBe("one");
    expect(await authorizeBySecret(gateway, "c", "two", "second")).toBe(first);
    expect(await callEcho(gateway, "c")).toBe("two");
    const snapshot = JSON.parse(await (await snapshotOf(gateway, "s-ada")).text());
    expect(snapshot.connectors).toMatchObject([{ connectionId: first, connectionVersion: "2" }]);
  });

  it("P-11: a program gets it as a variable, and is started anew for another", async () => {
    const program = stdioConnector("c", ["-e", CREDENTIAL_PROGRAM], "account");
    const upstream = { ...program.upstream, kind: "stdio", command: process.execPath } as const;
    const gateway = await startGateway(cleanup, [
      { ...program, authorizing: bySecret, upstream: { ...upstream, credentialVariable: "PROVIDER_KEY" } },
    ]);
    await authorizeBySecret(gateway, "c", "one", "first");
    const [key, pid] = (await callEcho(gateway, "c")).split(" ");
    expect(key).toBe("one");
    await authorizeBySecret(gateway, "c", "two", "second");
    expect(await callEcho(gateway, "c")).toMatch(/^two \d+$/);
    await expect.poll(() => runs(Number(pid))).toBe(false);
  });

  it("P-10: the same request gives the same session, and its end is told again", async () => {
    const gateway = await startGateway(cleanup, [authorizingConnector("c", NOWHERE, bySecret)]);
    const begun = await sessionOf(beginSession(gateway, "c"));
    expect(await sessionOf(beginSession(gateway, "c"))).toEqual(begun);
    await authorizeBySecret(gateway, "c", "key");
    const again = await sessionOf(beginSession(gateway, "c"));
    expect([again.sessionId, again.status]).toEqual([begun.sessionId, "SUCCEEDED"]);
    const complete = control(gateway, "POST", pathOf(begun.sessionId, "/complete"), { secret: { secret: "other" } });
    expect(await sessionOf(complete)).toEqual(again);
    const snapshot = JSON.parse(await (await snapshotOf(gateway, "s-ada")).text());
    expect(snapshot.revision).toBe("2");
  });

  it("P-11: a second one is refused while the first is not over, or replaces it", async () => {
    const gateway = await startGateway(cleanup, [authorizingConnector("c", NOWHERE, bySecret)]);
    const first = await sessionOf(beginSession(gateway, "c"));
    const second = { clientRequestId: "request-2" };
    const refused = await refusalOf(beginSession(gateway, "c", second));
    expect(refused).toEqual([409, "connector_operation_in_progress", false]);
    const replacementPolicy = "CONNECTOR_AUTHORIZATION_REPLACEMENT_POLICY_REPLACE_ACTIVE";
    const replaced = await sessionOf(beginSession(gateway, "c", { ...second, replacementPolicy }));
    expect(replaced.status).toBe("AWAITING_USER");
    expect((await sessionOf(control(gateway, "GET", pathOf(first.sessionId)))).status).toBe("CANCELED");
    const late = control(gateway, "POST", pathOf(first.sessionId, "/complete"), { secret: { secret: "key" } });
    expect((await sessionOf(late)).status).toBe("CANCELED");
    expect(await callEcho(gateway, "c")).toBe("428 -33001");
  });

  it("P-10: cancelling is idempotent, and comes too late for what has succeeded", async () => {
    const gateway = await startGateway(cleanup, [
      authorizingConnector("c", NOWHERE, bySecret),
      authorizingConnector("d", NOWHERE, bySecret),
    ]);
    const { sessionId } = await sessionOf(beginSession(gateway, "c"));
    for (let i = 0; i < 2; i += 1) {
      expect((await sessionOf(control(gateway, "DELETE", pathOf(sessionId)))).status).toBe("CANCELED");
    }
    await authorizeBySecret(gateway, "d", "key", "other");
    const done = await sessionOf(beginSession(gateway, "d", { clientRequestId: "other" }));
    expect((await sessionOf(control(gateway, "DELETE", pathOf(done.sessionId)))).status).toBe("SUCCEEDED");
  });

  it("P-10: a secret that the provider does not take fails the session; one that is being looked at can be cancelled", async () => {
    let answer = (_isTaken: boolean): void => undefined;
    const asked: string[] = [];
    const verify = (secret: string): boolean | Promise<boolean> => {
      asked.push(secret);
      return secret === "slow" ? new Promise((resolve) => (answer = resolve)) : secret === "right";
    };
    const gateway = await startGateway(cleanup, [authorizingConnector("c", NOWHERE, { kind: "secret", verify })]);
    const wrong = await sessionOf(beginSession(gateway, "c"));
    const complete = (sessionId: string, secret: string): Promise<Response> =>
      control(gateway, "POST", pathOf(sessionId, "/complete"), { secret: { secret } });
    expect(await sessionOf(complete(wrong.sessionId, "wrong"))).toMatchObject({
      status: "FAILED",
      errorCode: "connector_authorization_failed",
    });
    const slow = await sessionOf(beginSession(gateway, "c", { clientRequestId: "slow" }));
    const completing = complete(slow.sessionId, "slow");
    await expect.poll(() => asked).toEqual(["wrong", "slow"]);
    expect((await sessionOf(control(gateway, "GET", pathOf(slow.sessionId)))).status).toBe("PROCESSING");
    expect(await refusalOf(complete(slow.sessionId, "again"))).toEqual([409, "connector_operation_in_progress", true]);
    await control(gateway, "DELETE", pathOf(slow.sessionId));
    answer(true);
    expect((await sessionOf(completing)).status).toBe("CANCELED");
    expect(await callEcho(gateway, "c")).toBe("428 -33001");
  });

  it.each(["cancelled", "replaced"] as const)(
    "P-10: one whose connection is being made is not %s: the outcome is waited for",
    async (how) => {
      const memory = createMemoryState();
      let arrived = (): void => undefined;
      const arrival = new Promise<void>((resolve) => (arrived = resolve));
      let finish = (): void => undefined;
      const finished = new Promise<void>((resolve) => (finish = resolve));
      const slow: AuthorizationState = {
        epoch: memory.epoch,
        read: (accountId) => memory.read(accountId),
        readAt: (accountId, revision) => memory.readAt(accountId, revision),
        async change(accountId, connectorId, change) {
          arrived();
          await finished;
          return memory.change(accountId, connectorId, change);
        },
        restore: (accountId, revision) => memory.restore(accountId, revision),
        resetEpoch: (accountId) => memory.resetEpoch(accountId),
      };
      const connectors = [authorizingConnector("c", NOWHERE, bySecret)];
      const gateway = await startGateway(cleanup, connectors, { state: slow });
      const { sessionId } = await sessionOf(beginSession(gateway, "c"));
      const secret = { secret: { secret: "key" } };
      const completing = sessionOf(control(gateway, "POST", pathOf(sessionId, "/complete"), secret));
      await arrival;
      const replacementPolicy = "CONNECTOR_AUTHORIZATION_REPLACEMENT_POLICY_REPLACE_ACTIVE";
      const second = { clientRequestId: "second", replacementPolicy };
      let isAnswered = false;
      const ending = sessionOf(
        how === "cancelled" ? control(gateway, "DELETE", pathOf(sessionId)) : beginSession(gateway, "c", second),
      ).finally(() => (isAnswered = true));
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect(isAnswered).toBe(false);
      finish();
      expect((await completing).status).toBe("SUCCEEDED");
      expect((await ending).status).toBe(how === "cancelled" ? "SUCCEEDED" : "AWAITING_USER");
    },
  );

  it("P-10: a store that fails is a failed session, and no connection", async () => {
    const memory = createMemoryState();
    const broken: AuthorizationState = {
      epoch: memory.epoch,
      read: (accountId) => memory.read(accountId),
      readAt: (accountId, revision) => memory.readAt(accountId, revision),
      change: () => Promise.reject(new Error("full")),
      restore: () => Promise.resolve(false),
      resetEpoch: () => Promise.resolve(),
    };
    const faults: unknown[] = [];
    const connectors = [authorizingConnector("c", NOWHERE, bySecret)];
    const options = { state: broken, onFault: (error: unknown) => faults.push(error) };
    const gateway = await startGateway(cleanup, connectors, options);
    const { sessionId } = await sessionOf(beginSession(gateway, "c"));
    const complete = control(gateway, "POST", pathOf(sessionId, "/complete"), { secret: { secret: "key" } });
    expect((await sessionOf(complete)).status).toBe("FAILED");
    expect(faults).toEqual([new Error("full")]);
  });

  it("P-10: its time is over after ten minutes, and then it is forgotten", async () => {
    const clock = new FakeClock();
    const gateway = await startGateway(cleanup, [authorizingConnector("c", NOWHERE, bySecret)], { clock });
    const { sessionId } = await sessionOf(beginSession(gateway, "c"));
    await clock.advance(600_000);
    expect(await sessionOf(control(gateway, "GET", pathOf(sessionId)))).toMatchObject({
      status: "FAILED",
      errorCode: "connector_authorization_timeout",
    });
    await clock.advance(600_000);
    expect(await refusalOf(control(gateway, "GET", pathOf(sessionId)))).toEqual([404, "connector_not_found", false]);
  });

  it("P-10: is nobody else's", async () => {
    const gateway = await startGateway(cleanup, [authorizingConnector("c", NOWHERE, bySecret)]);
    const { sessionId } = await sessionOf(beginSession(gateway, "c"));
    for (const [method, step, body] of [
      ["GET", "", undefined],
      ["DELETE", "", undefined],
      ["POST", "/complete", { secret: { secret: "key" } }],
    ] as const) {
      const answer = control(gateway, method, pathOf(sessionId, step), body, "s-bob");
      expect(await refusalOf(answer)).toEqual([404, "connector_not_found", false]);
    }
    expect((await sessionOf(control(gateway, "GET", pathOf(sessionId)))).status).toBe("AWAITING_USER");
    const bob = { clientRequestId: "request-1", connectorVersion: VERSION };
    const own = await sessionOf(control(gateway, "POST", "connectors/c/authorization-sessions", bob, "s-bob"));
    expect(own.sessionId).not.toBe(sessionId);
  });

  it.each([
    ["no request id", { clientRequestId: "" }, 400, "connector_market_invalid_request"],
    ["a long request id", { clientRequestId: "x".repeat(129) }, 400, "connector_market_invalid_request"],
    ["a member nobody knows", { secret: "x" }, 400, "connector_market_invalid_request"],
    ["another policy", { replacementPolicy: "REPLACE" }, 400, "connector_market_invalid_request"],
    ["another version", { connectorVersion: "2.0.0" }, 409, "connector_incompatible"],
  ] as const)("P-10: refuses %s", async (_what, changes, status, code) => {
    const gateway = await startGateway(cleanup, [authorizingConnector("c", NOWHERE, bySecret)]);
    expect(await refusalOf(beginSession(gateway, "c", changes))).toEqual([status, code, false]);
  });

  it("P-10: refuses connectors that accounts don't authorize, paths that aren't there, and who has no session", async () => {
    const gateway = await startGateway(cleanup, [
      httpConnector("granted", NOWHERE, "account"),
      httpConnector("open", NOWHERE),
    ]);
    for (const connectorId of ["granted", "open"]) {
      const answer = beginSession(gateway, connectorId);
      expect(await refusalOf(answer)).toEqual([422, "connector_incompatible", false]);
    }
    expect(await refusalOf(beginSession(gateway, "nothing"))).toEqual([404, "connector_not_found", false]);
    const nobody = control(gateway, "GET", pathOf("x"), undefined, "s-eve");
    expect(await refusalOf(nobody)).toEqual([401, "connector_market_invalid_request", false]);
    const put = await control(gateway, "PUT", pathOf("x"));
    expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, DELETE"]);
    const foreign = await fetch(`${gateway.origin}/v1/connectors/granted/authorization-sessions`, {
      method: "POST",
      headers: { Cookie: "session=s-ada", Origin: "https://evil.test" },
    });
    expect(foreign.status).toBe(403);
  });

  it("P-10: takes a secret from 1 to 16,384 bytes, whatever its letters, where a header can hold it", async () => {
    const program = stdioConnector("c", ["-e", CREDENTIAL_PROGRAM], "account");
    const upstream = { kind: "stdio", command: process.execPath, credentialVariable: "PROVIDER_KEY" } as const;
    const gateway = await startGateway(cleanup, [
      { ...program, authorizing: bySecret, upstream },
      authorizingConnector("h", NOWHERE, bySecret),
    ]);
    const { sessionId } = await sessionOf(beginSession(gateway, "c"));
    const complete = (session: string, secret: unknown): Promise<Response> =>
      control(gateway, "POST", pathOf(session, "/complete"), secret);
    const invalid = [400, "connector_market_invalid_request", false];
    const secrets = ["", "é".repeat(8_193), "with\0null"];
    for (const secret of secrets) expect(await refusalOf(complete(sessionId, { secret: { secret } }))).toEqual(invalid);
    expect(await refusalOf(complete(sessionId, "{"))).toEqual(invalid);
    expect(await refusalOf(complete(sessionId, { secret: "key" }))).toEqual(invalid);
    const long = complete(sessionId, { secret: { secret: "x".repeat(200_000) } });
    expect(await refusalOf(long)).toEqual([413, "connector_market_invalid_request", false]);
    const largest = complete(sessionId, { secret: { secret: "é".repeat(8_192) } });
    expect((await sessionOf(largest)).status).toBe("SUCCEEDED");
    const http = await sessionOf(beginSession(gateway, "h", { clientRequestId: "h" }));
    for (const secret of ["line\nbreak", " blank", "é"]) {
      expect(await refusalOf(complete(http.sessionId, { secret: { secret } }))).toEqual(invalid);
    }
    expect((await sessionOf(complete(http.sessionId, { secret: { secret: "a b" } }))).status).toBe("SUCCEEDED");
  });

  it("P-12: a disconnect ends the connection and what is under way, is idempotent, and is told", async () => {
    const upstream = await startCredentialUpstream(cleanup);
    const gateway = await startGateway(cleanup, [
      authorizingConnector("c", upstream.url, bySecret),
      httpConnector("open", upstream.url),
    ]);
    const { told } = await subscribe(cleanup, gateway);
    const first = await authorizeBySecret(gateway, "c", "key");
    const { sessionId } = await sessionOf(beginSession(gateway, "c", { clientRequestId: "again" }));
    for (let i = 0; i < 2; i += 1) {
      const answer = await control(gateway, "DELETE", "connectors/c/authorization");
      expect([answer.status, await answer.text()]).toEqual([204, ""]);
    }
    expect((await sessionOf(control(gateway, "GET", pathOf(sessionId)))).status).toBe("CANCELED");
    expect(await callEcho(gateway, "c")).toBe("428 -33001");
    await expect.poll(() => told).toHaveLength(2);
    expect((await control(gateway, "DELETE", "connectors/open/authorization")).status).toBe(204);
    const unknown = control(gateway, "DELETE", "connectors/nothing/authorization");
    expect(await refusalOf(unknown)).toEqual([404, "connector_not_found", false]);
    // The credential went with the connection: an operator's grant brings none back.
    await gateway.grant("ada", "c");
    expect(await callEcho(gateway, "c")).toBe("none");
    expect(await authorizeBySecret(gateway, "c", "key", "third")).not.toBe(first);
  });

  it("P-6: a late refusal of a credential does not end the connection that has a newer one", async () => {
    let arrived = (_request: Received): void => undefined;
    const arrival = new Promise<Received>((resolve) => (arrived = resolve));
    let refuse = (): void => undefined;
    const upstream = await startUpstream(cleanup, async (request) => {
      if (request.method !== "tools/call") return;
      arrived(request);
      await new Promise<void>((resolve) => (refuse = resolve));
      raw(request.response, 401, "text/plain", "no");
    });
    const gateway = await startGateway(cleanup, [authorizingConnector("c", upstream.url, bySecret)]);
    await authorizeBySecret(gateway, "c", "one", "first");
    const call = callEcho(gateway, "c");
    await arrival;
    await authorizeBySecret(gateway, "c", "two", "second");
    refuse();
    expect(await call).toBe("503 -33003");
    const snapshot = JSON.parse(await (await snapshotOf(gateway, "s-ada")).text());
    expect(snapshot.connectors).toMatchObject([{ state: "connected", connectionVersion: "2" }]);
  });

  it("P-6: a provider that takes the credential no more ends the connection", async () => {
    const taken = new Set(["Bearer one"]);
    const upstream = await startCredentialUpstream(cleanup, (header) => taken.has(header ?? ""));
    const gateway = await startGateway(cleanup, [authorizingConnector("c", upstream.url, bySecret)]);
    await authorizeBySecret(gateway, "c", "one", "first");
    expect(await callEcho(gateway, "c")).toBe("Bearer one");
    taken.clear();
    expect(await callEcho(gateway, "c")).toBe("428 -33002");
    expect(await callEcho(gateway, "c")).toBe("428 -33002");
    taken.add("Bearer two");
    await authorizeBySecret(gateway, "c", "two", "second");
    expect(await callEcho(gateway, "c")).toBe("Bearer two");
  });

  it("C-5: shows no secret anywhere", async () => {
    const told: unknown[] = [];
    const upstream = await startCredentialUpstream(cleanup);
    const gateway = await startGateway(cleanup, [authorizingConnector("c", upstream.url, bySecret)], {
      onFault: (error) => told.push(error),
    });
    const { told: hints } = await subscribe(cleanup, gateway);
    await authorizeBySecret(gateway, "c", "key-of-ada");
    const granted = await admin(gateway, "POST", "/admin/add-connection", {
      accountId: "ada",
      connectorId: "c",
      secret: "key-of-ada",
    });
    await callEcho(gateway, "c");
    const state = await (await admin(gateway, "GET", "/admin/state")).text();
    const snapshot = await (await snapshotOf(gateway, "s-ada")).text();
    expect(JSON.parse(state)).toMatchObject({
      connectors: [{ connectorId: "c", authorizing: "secret" }],
      sessions: [{ accountId: "ada", connectorId: "c", status: "SUCCEEDED" }],
    });
    await expect.poll(() => hints).toHaveLength(2);
    const all = [state, snapshot, await granted.text(), JSON.stringify(hints), JSON.stringify(told)].join();
    expect(all).not.toContain("key-of-ada");
  });
});
