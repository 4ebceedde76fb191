import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import {
  type AuthorizationState,
  createMemoryState,
  type Gateway,
  type GatewayOptions,
} from "../../../src/gateway/index.js";
import { AuthorizationServer, type AuthorizationServerOptions } from "../../../src/testing/index.js";
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
  post,
  sessionOf,
  snapshotOf,
  startCredentialUpstream,
  startGateway,
  stdioConnector,
} from "./support.js";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const NOWHERE = "http://127.0.0.1:9/mcp";
const REPLACE_ACTIVE = "CONNECTOR_AUTHORIZATION_REPLACEMENT_POLICY_REPLACE_ACTIVE";

/** What must never be seen again. */
const SENTINEL = "sentinel-of-the-provider";

function startServer(connectorId: string, options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
  const redirectUris = [`http://127.0.0.1/v1/connector-authorizations/callback/${connectorId}`];
  return AuthorizationServer.start({ clients: [{ clientId: "gateway", redirectUris }], ...options }).then((server) => {
    cleanup.add(() => server.close());
    return server;
  });
}

interface Stage {
  readonly server: AuthorizationServer;
  readonly gateway: Gateway;
  readonly faults: unknown[];
}

async function setUp(options: Partial<GatewayOptions> = {}, server: AuthorizationServerOptions = {}): Promise<Stage> {
  const provider = await startServer("c", server);
  const upstream = await startCredentialUpstream(cleanup, (header) =>
    provider.isValid(header?.replace("Bearer ", "") ?? ""),
  );
  const authorizing = { kind: "oauth", issuer: provider.issuer, clientId: "gateway" } as const;
  const faults: unknown[] = [];
  const gateway = await startGateway(cleanup, [authorizingConnector("c", upstream.url, authorizing)], {
    onFault: (error) => faults.push(error),
    ...options,
  });
  return { server: provider, gateway, faults };
}

async function urlOf(begun: Promise<Response>): Promise<URL> {
  return new URL((await sessionOf(begun)).nextAction?.url ?? "");
}

/** Goes to an address, and back to where it leads. */
async function visit(url: URL): Promise<Response> {
  const away = await fetch(url, { redirect: "manual" });
  return fetch(away.headers.get("location") ?? "");
}

/** Everything that a log could show of it. */
function shown(faults: readonly unknown[]): string {
  return inspect(faults, { depth: 20, showHidden: true }) + JSON.stringify(faults);
}

describe("what a provider says", () => {
  it.each([
    ["tokens of no type", 200, JSON.stringify({ access_token: SENTINEL, refresh_token: SENTINEL })],
    ["tokens of a type of its own", 200, JSON.stringify({ access_token: SENTINEL, token_type: "mac" })],
    ["tokens that are bound to a key", 200, JSON.stringify({ access_token: SENTINEL, token_type: "DPoP" })],
    ["no access token", 200, JSON.stringify({ refresh_token: SENTINEL, token_type: "Bearer" })],
    ["text", 200, SENTINEL],
    ["an error that echoes", 400, JSON.stringify({ error: "invalid_request", error_description: SENTINEL })],
    ["a server error", 500, SENTINEL],
  ])("F-6: %s: is in no fault", async (_what, status, body) => {
    const { faults, gateway, server } = await setUp();
    const url = await urlOf(beginSession(gateway, "c"));
    server.addFault({ endpoint: "token", kind: "status", status, body });
    expect((await visit(url)).status).toBe(502);
    expect(faults).toHaveLength(1);
    expect(shown(faults)).not.toContain(SENTINEL);
    expect(shown(faults)).not.toContain(SENTINEL.slice(0, 8));
  });

  it("F-6: what a browser brought is in no fault, neither state nor code", async () => {
    const { faults, gateway } = await setUp();
    const url = await urlOf(beginSession(gateway, "c"));
    const state = url.searchParams.get("state") ?? "";
    const query = new URLSearchParams({ state, iss: url.origin, error: "server_error", code: SENTINEL });
    await fetch(`${url.searchParams.get("redirect_uri") ?? ""}?${query.toString()}`);
    expect(faults).toHaveLength(1);
    expect(shown(faults)).not.toContain(SENTINEL);
    expect(shown(faults)).not.toContain(state);
  });

  it("F-6: a refresh and a revocation that fail tell no token", async () => {
    const clock = new FakeClock();
    const { faults, gateway, server } = await setUp({ clock });
    await visit(await urlOf(beginSession(gateway, "c")));
    await clock.advance(3_590_000);
    server.addFault({ endpoint: "token", kind: "status", status: 200, body: `{"access_token":"${SENTINEL}"}` });
    await callEcho(gateway, "c");
    server.addFault({ endpoint: "revoke", kind: "status", status: 400, body: `{"error":"${SENTINEL}"}` });
    await control(gateway, "DELETE", "connectors/c/authorization");
    await expect.poll(() => faults).toHaveLength(2);
    expect(shown(faults)).not.toContain(SENTINEL);
    for (const { token } of server.tokens) expect(shown(faults)).not.toContain(token);
  });

  it.each([
    ["a line break", "a\r\nX-Other: 1"],
    ["a letter beyond ASCII", "ключ"],
  ])("P-11: a token with %s, that no header can carry, makes no connection", async (_what, token) => {
    const { faults, gateway, server } = await setUp();
    const url = await urlOf(beginSession(gateway, "c"));
    const body = JSON.stringify({ access_token: token, token_type: "Bearer" });
    server.addFault({ endpoint: "token", kind: "status", status: 200, body });
    expect((await visit(url)).status).toBe(502);
    expect(faults).toHaveLength(1);
    expect(await callEcho(gateway, "c")).toBe("428 -33001");
  });

  it.each([["plain"], undefined])("P-10: does not begin where its metadata have no S256 but %j", async (methods) => {
    const metadata = { code_challenge_methods_supported: methods };
    const { gateway } = await setUp({}, { metadata });
    expect((await beginSession(gateway, "c")).status).toBe(503);
  });

  it("P-10: of two browsers that bring the same answer at once, one is taken", async () => {
    const { gateway, server } = await setUp();
    const away = await fetch(await urlOf(beginSession(gateway, "c")), { redirect: "manual" });
    const back = away.headers.get("location") ?? "";
    const pages = await Promise.all([fetch(back), fetch(back)]);
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200, 400]));
    expect(server.requests.filter(({ endpoint }) => endpoint === "token")).toHaveLength(1);
    expect(await callEcho(gateway, "c")).toMatch(/^Bearer /);
  });

  it("P-10: two equal requests at once are one session", async () => {
    const { gateway, server } = await setUp();
    const sessions = await Promise.all([1, 2, 3].map(() => sessionOf(beginSession(gateway, "c"))));
    expect(new Set(sessions.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(new Set(sessions.map(({ nextAction }) => nextAction?.url)).size).toBe(1);
    expect(server.requests).toHaveLength(1);
  });

  it("P-10: a code that another authorization server issued is not sent to the session's own", async () => {
    const [honest, other] = [
      await startServer("honest", { announcesIssuer: false }),
      await startServer("other", { announcesIssuer: false }),
    ];
    const of = (connectorId: string, { issuer }: AuthorizationServer) =>
      authorizingConnector(connectorId, NOWHERE, { kind: "oauth", issuer, clientId: "gateway" });
    const gateway = await startGateway(cleanup, [of("honest", honest), of("other", other)]);
    const own = await urlOf(beginSession(gateway, "other"));
    const theirs = await urlOf(beginSession(gateway, "honest", { clientRequestId: "2" }));
    // The other server sends its visitor on to the honest one, which knows where its own client's answers go.
    for (const name of ["state", "code_challenge"]) theirs.searchParams.set(name, own.searchParams.get(name) ?? "");
    expect((await visit(theirs)).status).toBe(400);
    expect(other.requests.filter(({ endpoint }) => endpoint === "token")).toEqual([]);
  });
});

describe("a provider that is away", () => {
  it.each(["invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope"])(
    "P-6: is not away when it says %s to a refresh",
    async (error) => {
      const clock = new FakeClock();
      const unixTime = (): number => 1_700_000_000_000 + clock.now();
      const { gateway, server } = await setUp({ clock }, { accessTokenLifetimeMs: 100_000, unixTime });
      await visit(await urlOf(beginSession(gateway, "c")));
      await clock.advance(101_000);
      server.addFault({ endpoint: "token", kind: "error", error });
      expect(await callEcho(gateway, "c")).toBe("428 -33002");
    },
  );

  it("P-6: makes nobody authorize again: a token that expired meanwhile is renewed when it is back", async () => {
    const clock = new FakeClock();
    const unixTime = (): number => 1_700_000_000_000 + clock.now();
    const { gateway, server } = await setUp({ clock }, { accessTokenLifetimeMs: 100_000, unixTime });
    await visit(await urlOf(beginSession(gateway, "c")));
    const first = await callEcho(gateway, "c");
    await clock.advance(101_000);
    server.addFault({ endpoint: "token", kind: "status", status: 503, times: 2 });
    expect(await callEcho(gateway, "c")).toBe("503 -33003");
    expect(await callEcho(gateway, "c")).toBe("503 -33003");
    await clock.advance(5_000);
    expect(await callEcho(gateway, "c")).toBe("503 -33003");
    await clock.advance(5_000);
    expect(await callEcho(gateway, "c")).toMatch(/^Bearer /);
    expect(await callEcho(gateway, "c")).not.toBe(first);
  });

  it("P-11: a session that was replaced while its server was looked up stays cancelled when that fails", async () => {
    const clock = new FakeClock();
    const { gateway, server } = await setUp({}, { clock });
    server.addFault({ endpoint: "metadata", kind: "delay", ms: 1_000 });
    server.addFault({ endpoint: "metadata", kind: "delay", ms: 1_000 });
    const first = beginSession(gateway, "c", { clientRequestId: "first" });
    await expect.poll(() => server.requests).toHaveLength(1);
    const second = beginSession(gateway, "c", { clientRequestId: "second", replacementPolicy: REPLACE_ACTIVE });
    await expect
      .poll(async () => JSON.parse(await (await admin(gateway, "GET", "/admin/state")).text()).sessions)
      .toMatchObject([{ status: "CANCELED" }, { status: "CREATED" }]);
    // Both wait for one look-up, which ends here.
    await server.close();
    expect((await second).status).toBe(503);
    expect((await sessionOf(first)).status).toBe("CANCELED");
    expect((await sessionOf(beginSession(gateway, "c", { clientRequestId: "first" }))).status).toBe("CANCELED");
  });
});

describe("a token that expires, and that nothing renews", () => {
  it("P-6: makes the account authorize again, also where no upstream would say so", async () => {
    const clock = new FakeClock();
    const provider = await startServer("c", { accessTokenLifetimeMs: 100_000, issuesRefreshTokens: false });
    const program = stdioConnector("c", ["-e", CREDENTIAL_PROGRAM], "account");
    const upstream = { ...program.upstream, kind: "stdio", command: process.execPath } as const;
    const authorizing = { kind: "oauth", issuer: provider.issuer, clientId: "gateway" } as const;
    const connectors = [{ ...program, authorizing, upstream: { ...upstream, credentialVariable: "PROVIDER_KEY" } }];
    const gateway = await startGateway(cleanup, connectors, { clock });
    await visit(await urlOf(beginSession(gateway, "c")));
    expect(await callEcho(gateway, "c")).toMatch(/^access-/);
    await clock.advance(99_999);
    expect(await callEcho(gateway, "c")).toMatch(/^access-/);
    await clock.advance(1);
    expect(await callEcho(gateway, "c")).toBe("428 -33002");
  });
});

describe("a connection whose credential is gone", () => {
  it("P-6: is authorized again after a restart of the gateway, which keeps no credentials", async () => {
    const state = createMemoryState();
    const upstream = await startCredentialUpstream(cleanup, (header) => header === "Bearer key");
    const connectors = [authorizingConnector("c", upstream.url, { kind: "secret" })];
    const before = await startGateway(cleanup, connectors, { state });
    const connectionId = await authorizeBySecret(before, "c", "key");
    expect(await callEcho(before, "c")).toBe("Bearer key");
    await before.close();
    const after = await startGateway(cleanup, connectors, { state });
    expect(await callEcho(after, "c")).toBe("428 -33002");
    expect(await authorizeBySecret(after, "c", "key")).toBe(connectionId);
    expect(await callEcho(after, "c")).toBe("Bearer key");
  });

  it("C-5: a provider that refuses the operator's own headers is the operator's trouble", async () => {
    const upstream = await startCredentialUpstream(cleanup, () => false);
    const gateway = await startGateway(cleanup, [httpConnector("c", upstream.url, "account")]);
    await gateway.grant("ada", "c");
    expect(await callEcho(gateway, "c")).toBe("502 -33006");
  });
});

describe("a refresh that is under way", () => {
  /** Connected, with a call that waits for a refresh. */
  async function refreshing(): Promise<Stage & { readonly waits: FakeClock; readonly call: Promise<string> }> {
    const [clock, waits] = [new FakeClock(), new FakeClock()];
    const unixTime = (): number => 1_700_000_000_000 + clock.now();
    const stage = await setUp({ clock }, { clock: waits, accessTokenLifetimeMs: 100_000, unixTime });
    await visit(await urlOf(beginSession(stage.gateway, "c")));
    await clock.advance(95_000);
    stage.server.addFault({ endpoint: "token", kind: "delay", ms: 1_000 });
    const call = callEcho(stage.gateway, "c");
    await expect.poll(() => stage.server.requests.filter(({ endpoint }) => endpoint === "token")).toHaveLength(2);
    return { ...stage, waits, call };
  }

  const active = ({ server }: Stage): number => server.tokens.filter(({ state }) => state === "active").length;

  it("P-12: gives nothing back to an account that disconnects meanwhile", async () => {
    const stage = await refreshing();
    // So that the refresh succeeds: the old tokens are not taken back.
    stage.server.addFault({ endpoint: "revoke", kind: "status", status: 503 });
    expect((await control(stage.gateway, "DELETE", "connectors/c/authorization")).status).toBe(204);
    await stage.waits.advance(1_000);
    expect(await stage.call).toBe("428 -33001");
    await expect.poll(() => active(stage)).toBe(0);
    expect(await callEcho(stage.gateway, "c")).toBe("428 -33001");
  });

  it("P-11: does not replace what the account authorized meanwhile", async () => {
    const stage = await refreshing();
    await visit(await urlOf(beginSession(stage.gateway, "c", { clientRequestId: "2" })));
    const granted = stage.server.tokens.filter(({ kind }) => kind === "access").at(-1);
    await stage.waits.advance(1_000);
    expect(await stage.call).toBe(`Bearer ${granted?.token ?? ""}`);
    expect(await callEcho(stage.gateway, "c")).toBe(`Bearer ${granted?.token ?? ""}`);
    // The new access and refresh token are what is left.
    await expect.poll(() => active(stage)).toBe(2);
  });

  it("H-6: belongs to the connection that it was begun for, whichever is used meanwhile", async () => {
    const stage = await refreshing();
    const first = stage.server.tokens[0]?.token ?? "";
    await stage.gateway.switchConnection("ada", "c");
    await stage.waits.advance(1_000);
    // The other connection was never given a credential.
    expect(await stage.call).toBe("428 -33002");
    await stage.gateway.grant("ada", "c");
    await stage.gateway.switchConnection("ada", "c");
    expect(await callEcho(stage.gateway, "c")).toMatch(/^Bearer /);
    expect(await callEcho(stage.gateway, "c")).not.toContain(first);
  });
});

describe("a credential", () => {
  it.each(["a\nb", "ключ"])("C-5: that no header can carry is not taken from the operator: %j", async (secret) => {
    const gateway = await startGateway(cleanup, [authorizingConnector("c", NOWHERE, { kind: "secret" })]);
    const target = { accountId: "ada", connectorId: "c", secret };
    for (const path of ["/admin/grant", "/admin/add-connection"]) {
      const refused = await admin(gateway, "POST", path, target);
      expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: "bad_request" } }]);
    }
    await expect(gateway.grant("ada", "c", secret)).rejects.toMatchObject({ code: "invalid_argument" });
    expect(await callEcho(gateway, "c")).toBe("428 -33001");
  });

  it("C-5: that a program has no variable for is not taken from the operator", async () => {
    const gateway = await startGateway(cleanup, [stdioConnector("c", ["-e", CREDENTIAL_PROGRAM], "account")]);
    await expect(gateway.grant("ada", "c", "key")).rejects.toMatchObject({ code: "invalid_argument" });
    expect((await gateway.grant("ada", "c")).changed).toBe(true);
  });

  it("F-6: is not among the arguments of the program that it is for", async () => {
    const program = stdioConnector("c", ["-e", CREDENTIAL_PROGRAM], "account");
    const upstream = { ...program.upstream, kind: "stdio", command: process.execPath } as const;
    const gateway = await startGateway(cleanup, [
      { ...program, authorizing: { kind: "secret" }, upstream: { ...upstream, credentialVariable: "PROVIDER_KEY" } },
    ]);
    await authorizeBySecret(gateway, "c", "key-of-ada");
    const [key, pid = ""] = (await callEcho(gateway, "c")).split(" ");
    expect(key).toBe("key-of-ada");
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).not.toContain("key-of-ada");
  });

  it.each(["restore", "reset-epoch"])("P-3: is taken under the epoch that is new by then, after %s", async (path) => {
    let answer = (_isTaken: boolean): void => undefined;
    let ask = (): void => undefined;
    const asked = new Promise<void>((resolve) => (ask = resolve));
    const verify = (): Promise<boolean> => {
      ask();
      return new Promise((taken) => (answer = taken));
    };
    const upstream = await startCredentialUpstream(cleanup);
    const authorizing = { kind: "secret", verify } as const;
    const gateway = await startGateway(cleanup, [authorizingConnector("c", upstream.url, authorizing)]);
    const before = JSON.parse(await (await snapshotOf(gateway, "s-ada")).text());
    const connecting = authorizeBySecret(gateway, "c", "key");
    await asked;
    const changed = await admin(gateway, "POST", `/admin/${path}`, {
      accountId: "ada",
      ...(path === "restore" ? { revision: 1 } : {}),
    });
    expect(changed.status).toBe(200);
    answer(true);
    const connectionId = await connecting;
    const after = JSON.parse(await (await snapshotOf(gateway, "s-ada")).text());
    expect(after).toMatchObject({ revision: "2", connectors: [{ state: "connected", connectionId }] });
    expect(after.epoch).not.toBe(before.epoch);
    expect(await callEcho(gateway, "c")).toBe("Bearer key");
  });

  it("C-5: one that is replaced while an upstream is opened is not used in pieces", async () => {
    const memory = createMemoryState();
    let go = (): void => undefined;
    const gone = new Promise<void>((resolve) => (go = resolve));
    let reads = 0;
    let isHeld = false;
    const state: AuthorizationState = {
      epoch: memory.epoch,
      async read(accountId) {
        reads += 1;
        // The first is that of the call; the second that of the opening.
        if (isHeld && reads > 1) await gone;
        return memory.read(accountId);
      },
      readAt: (accountId, revision) => memory.readAt(accountId, revision),
      async change(accountId, connectorId, change) {
        if (isHeld) await gone;
        return memory.change(accountId, connectorId, change);
      },
      restore: (accountId, revision) => memory.restore(accountId, revision),
      resetEpoch: (accountId) => memory.resetEpoch(accountId),
    };
    const upstream = await startCredentialUpstream(cleanup);
    const gateway = await startGateway(cleanup, [authorizingConnector("c", upstream.url, { kind: "secret" })], {
      state,
    });
    await gateway.grant("ada", "c", "one");
    isHeld = true;
    reads = 0;
    const call = callEcho(gateway, "c");
    await expect.poll(() => reads).toBe(2);
    const granting = gateway.grant("ada", "c", "two");
    // Both go on in the same moment.
    go();
    await granting;
    expect(["Bearer one", "Bearer two"]).toContain(await call);
  });
});

describe("the gateway's edges", () => {
  it("C-5: a body that is too large ends its connection", async () => {
    const gateway = await startGateway(cleanup, [authorizingConnector("c", NOWHERE, { kind: "secret" })]);
    const large = JSON.stringify({ clientRequestId: "x".repeat(200_000) });
    for (const answer of [
      await control(gateway, "POST", "connectors/c/authorization-sessions", large),
      await admin(gateway, "POST", "/admin/grant", large),
    ]) {
      expect([answer.status, answer.headers.get("connection")]).toEqual([413, "close"]);
    }
  });

  it("C-5: a refused hint connection is ended, whether its caller ends it or not", async () => {
    const gateway = await startGateway(cleanup, []);
    const { hostname, port } = new URL(gateway.origin);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    cleanup.add(() => socket.destroy());
    socket.on("error", () => undefined);
    socket.write(`GET /nowhere HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
    socket.resume();
    await once(socket, "end");
    const closed = new Promise((resolve) => socket.once("close", resolve));
    // Nobody is there to take these: the answer to them is a reset.
    socket.write("x");
    await new Promise((resolve) => setTimeout(resolve, 30));
    socket.write("x");
    await closed;
  });

  it.each([
    ["gateway.test:8443", "https://gateway.test:8443", 400],
    ["gateway.test:8443", undefined, 400],
    ["127.0.0.1", undefined, 400],
    ["evil.test", undefined, 403],
    ["gateway.test:8443", "https://evil.test", 403],
    ["gateway.test:8443", "http://gateway.test:8443", 403],
  ])("C-5: behind a proxy, the host %s and the origin %s are met by %d", async (host, origin, status) => {
    const gateway = await startGateway(cleanup, [authorizingConnector("c", NOWHERE, { kind: "secret" })], {
      publicUrl: "https://gateway.test:8443/gateway",
    });
    const url = `${gateway.origin}/v1/connector-authorizations/callback/c`;
    const headers = { Host: host, ...(origin === undefined ? {} : { Origin: origin }) };
    const [answer]: IncomingMessage[] = await once(get(url, { headers }), "response");
    answer?.resume();
    expect(answer?.statusCode).toBe(status);
  });

  it("C-5: a fault can't be written that no header can carry", async () => {
    const gateway = await startGateway(cleanup, []);
    for (const location of ["\ud800", "/a\r\nb", "/é"]) {
      const answer = await admin(gateway, "POST", "/admin/faults", { kind: "captive_portal", location });
      expect(answer.status).toBe(400);
    }
  });

  it("C-5: no timer is left when a gateway has closed", async () => {
    const clock = new FakeClock();
    const { gateway, server } = await setUp({ clock }, { clock: new FakeClock() });
    await visit(await urlOf(beginSession(gateway, "c")));
    await callEcho(gateway, "c");
    gateway.faults.add({ kind: "delay", ms: 60_000, on: "snapshot" });
    const waiting = fetch(`${gateway.origin}/v1/connector-authorizations/snapshot`, {
      headers: { Cookie: "session=s-ada" },
    }).catch(() => undefined);
    await expect.poll(() => gateway.faults.list()).toEqual([]);
    server.addFault({ endpoint: "token", kind: "delay", ms: 60_000 });
    const arriving = visit(await urlOf(beginSession(gateway, "c", { clientRequestId: "2" }))).catch(() => undefined);
    await expect.poll(() => server.requests.filter(({ endpoint }) => endpoint === "token")).toHaveLength(2);
    await gateway.close();
    await Promise.all([waiting, arriving]);
    // The server learns of cut connections a moment after it has cut them.
    await expect.poll(() => clock.pending).toBe(0);
  });

  it("C-5: the operator's methods know the same accounts and connectors as the operator's paths", async () => {
    const gateway = await startGateway(cleanup, [
      httpConnector("c", NOWHERE, "account"),
      httpConnector("open", NOWHERE),
    ]);
    for (const [accountId, connectorId] of [
      ["eve", "c"],
      ["ada", "nothing"],
      ["ada", "open"],
    ] as const) {
      await expect(gateway.grant(accountId, connectorId)).rejects.toMatchObject({ code: "invalid_argument" });
    }
    await expect(gateway.restore({ accountId: "eve", revision: 1n })).rejects.toMatchObject({
      code: "invalid_argument",
    });
    const answer = await post(gateway, { connectorId: "open", method: "server/discover" });
    expect(answer.status).toBe(200);
  });
});
