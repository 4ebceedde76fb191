import { afterEach, describe, expect, it } from "vitest";
import type { Gateway, GatewayOptions, OAuthAuthorizing } from "../../../src/gateway/index.js";
import { AuthorizationServer, type AuthorizationServerOptions } from "../../../src/testing/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import {
  admin,
  authorizingConnector,
  beginSession,
  callEcho,
  Cleanup,
  control,
  sessionOf,
  type ShownSession,
  snapshotOf,
  startCredentialUpstream,
  startGateway,
} from "./support.js";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const CLIENT = {
  clientId: "gateway",
  clientSecret: "secret of the gateway: 1+1",
  redirectUris: ["http://127.0.0.1/v1/connector-authorizations/callback/c"],
};

/** An answer that would do, if it were smaller. */
const LARGE = JSON.stringify({ access_token: "a", token_type: "Bearer", padding: "x".repeat(1_100_000) });

interface Stage {
  readonly server: AuthorizationServer;
  readonly gateway: Gateway;
  readonly faults: unknown[];
}

/** A provider whose upstream takes what its authorization server issued, and a gateway in front of it. */
async function setUp(
  options: {
    readonly server?: AuthorizationServerOptions;
    readonly authorizing?: Partial<OAuthAuthorizing>;
    readonly gateway?: Partial<GatewayOptions>;
  } = {},
): Promise<Stage> {
  const server = await AuthorizationServer.start({ clients: [CLIENT], ...options.server });
  cleanup.add(() => server.close());
  const upstream = await startCredentialUpstream(cleanup, (header) =>
    server.isValid(header?.replace("Bearer ", "") ?? ""),
  );
  const { clientId, clientSecret } = CLIENT;
  const authorizing = { kind: "oauth", issuer: server.issuer, clientId, clientSecret, ...options.authorizing } as const;
  const faults: unknown[] = [];
  const gateway = await startGateway(cleanup, [authorizingConnector("c", upstream.url, authorizing)], {
    onFault: (error) => faults.push(error),
    ...options.gateway,
  });
  return { server, gateway, faults };
}

/** Where a session sends its account. */
function urlOf({ nextAction }: ShownSession): string {
  if (nextAction?.url === undefined) throw new Error("The session sends nobody anywhere.");
  return nextAction.url;
}

/** A browser at an address: goes where it is sent once, and gives what it comes to. */
async function visit(url: string): Promise<{ status: number; text: string; headers: Headers; at: string }> {
  const away = await fetch(url, { redirect: "manual" });
  const at = away.headers.get("location") ?? url;
  const back = away.status === 302 ? await fetch(at) : away;
  return { status: back.status, text: await back.text(), headers: back.headers, at };
}

function read(gateway: Gateway, { sessionId }: ShownSession): Promise<ShownSession> {
  return sessionOf(control(gateway, "GET", `connector-authorization-sessions/${sessionId}`));
}

describe("a session with a redirect", () => {
  it("P-10, P-11: sends the account away, takes what comes back, and serves it with the token", async () => {
    const { gateway, server } = await setUp({ authorizing: { scopes: ["read", "write"] } });
    const begun = await sessionOf(beginSession(gateway, "c"));
    expect(begun).toMatchObject({ status: "AWAITING_USER", nextAction: { type: "redirect" } });
    expect(await read(gateway, begun)).toEqual(begun);
    const parameters = Object.fromEntries(new URL(urlOf(begun)).searchParams);
    expect(parameters).toMatchObject({
      response_type: "code",
      client_id: "gateway",
      redirect_uri: `${gateway.origin}/v1/connector-authorizations/callback/c`,
      code_challenge_method: "S256",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      scope: "read write",
    });
    const page = await visit(urlOf(begun));
    expect([page.status, page.text]).toEqual([200, "The connector is authorized. You can close this window.\n"]);
    expect([page.headers.get("referrer-policy"), page.headers.get("cache-control")]).toEqual([
      "no-referrer",
      "no-store",
    ]);
    const done = await read(gateway, begun);
    expect(done).toMatchObject({ status: "SUCCEEDED", resultConnectionId: expect.any(String) });
    expect(done.nextAction).toBeUndefined();
    const [access] = server.tokens;
    expect(access).toMatchObject({ kind: "access", scopes: ["read", "write"], clientId: "gateway" });
    expect(await callEcho(gateway, "c")).toBe(`Bearer ${access?.token ?? ""}`);
    const snapshot = JSON.parse(await (await snapshotOf(gateway, "s-ada")).text());
    expect(snapshot.connectors).toMatchObject([{ state: "connected", connectionId: done.resultConnectionId }]);
  });

  it.each([
    ["client_secret_basic", {}, "Basic"],
    ["client_secret_post", { clientAuthentication: "client_secret_post" }, undefined],
    ["none", { clientSecret: undefined }, undefined],
  ] as const)("P-10: authenticates by %s", async (authentication, authorizing, scheme) => {
    const client = { ...CLIENT, authentication };
    const clients = [authentication === "none" ? { ...client, clientSecret: undefined } : client];
    const { gateway, server } = await setUp({ server: { clients }, authorizing });
    const begun = await sessionOf(beginSession(gateway, "c"));
    await visit(urlOf(begun));
    expect((await read(gateway, begun)).status).toBe("SUCCEEDED");
    const token = server.requests.find(({ endpoint }) => endpoint === "token");
    expect(token?.authorization?.split(" ")[0]).toBe(scheme);
  });

  it("P-10: needs no metadata when it knows the endpoints", async () => {
    const server = await AuthorizationServer.start({ clients: [CLIENT] });
    cleanup.add(() => server.close());
    const { issuer } = server;
    const endpoints = { authorization: `${issuer}/authorize`, token: `${issuer}/token` };
    const { gateway } = await setUp({ authorizing: { issuer, endpoints } });
    const begun = await sessionOf(beginSession(gateway, "c"));
    await visit(urlOf(begun));
    expect((await read(gateway, begun)).status).toBe("SUCCEEDED");
    expect(server.requests.map(({ endpoint }) => endpoint)).toEqual(["authorize", "token"]);
  });

  it("P-10: is failed by an account that refuses", async () => {
    const { faults, gateway } = await setUp({ server: { consent: "deny" } });
    const begun = await sessionOf(beginSession(gateway, "c"));
    const page = await visit(urlOf(begun));
    expect(page.text).toBe("The connector was not authorized. You can close this window.\n");
    expect(await read(gateway, begun)).toMatchObject({
      status: "FAILED",
      errorCode: "connector_authorization_denied",
    });
    expect(faults).toEqual([]);
    expect(await callEcho(gateway, "c")).toBe("428 -33001");
  });

  it.each([
    ["a state that is not the session's", { endpoint: "authorize", kind: "wrong_state" }],
    ["no state", { endpoint: "authorize", kind: "no_state" }],
  ] as const)("P-10: takes nothing with %s, and goes on waiting", async (_what, fault) => {
    const { gateway, server } = await setUp();
    const begun = await sessionOf(beginSession(gateway, "c"));
    server.addFault(fault);
    expect((await visit(urlOf(begun))).status).toBe(400);
    expect((await read(gateway, begun)).status).toBe("AWAITING_USER");
    expect(server.tokens).toEqual([]);
    await visit(urlOf(begun));
    expect((await read(gateway, begun)).status).toBe("SUCCEEDED");
  });

  it.each([
    ["another issuer", { endpoint: "authorize", kind: "wrong_issuer" }],
    ["no issuer where one was announced", { endpoint: "authorize", kind: "no_issuer" }],
    ["a code that is refused", { endpoint: "token", kind: "error", error: "invalid_grant" }],
    ["an answer that can't be read", { endpoint: "token", kind: "malformed" }],
    ["a server error", { endpoint: "token", kind: "status", status: 500 }],
    [
      "a redirect of the token request",
      { endpoint: "token", kind: "status", status: 307, headers: { Location: "/token" } },
    ],
    ["a connection that ends", { endpoint: "token", kind: "drop_connection" }],
    ["too much of an answer", { endpoint: "token", kind: "status", status: 200, body: LARGE }],
  ] as const)("P-10: is failed by %s", async (_what, fault) => {
    const { faults, gateway, server } = await setUp();
    const begun = await sessionOf(beginSession(gateway, "c"));
    server.addFault(fault);
    expect((await visit(urlOf(begun))).status).toBe(502);
    expect(await read(gateway, begun)).toMatchObject({
      status: "FAILED",
      errorCode: "connector_authorization_failed",
    });
    expect(faults).toHaveLength(1);
    expect(server.tokens).toEqual([]);
    expect(await callEcho(gateway, "c")).toBe("428 -33001");
  });

  it("P-10: a page that is opened twice changes nothing the second time", async () => {
    const { gateway, server } = await setUp();
    const begun = await sessionOf(beginSession(gateway, "c"));
    const { at } = await visit(urlOf(begun));
    expect((await fetch(at)).status).toBe(400);
    expect((await read(gateway, begun)).status).toBe("SUCCEEDED");
    expect(server.requests.filter(({ endpoint }) => endpoint === "token")).toHaveLength(1);
    expect(server.tokens.every(({ state }) => state === "active")).toBe(true);
  });

  it("P-10: a browser that is signed in as another account changes nothing; one that is signed in as this one does", async () => {
    const { gateway } = await setUp();
    const begun = await sessionOf(beginSession(gateway, "c"));
    const away = await fetch(urlOf(begun), { redirect: "manual" });
    const back = (session: string): Promise<Response> =>
      fetch(away.headers.get("location") ?? "", { headers: { Cookie: `session=${session}` } });
    expect((await back("s-bob")).status).toBe(400);
    expect((await read(gateway, begun)).status).toBe("AWAITING_USER");
    expect((await back("s-ada")).status).toBe(200);
    expect((await read(gateway, begun)).status).toBe("SUCCEEDED");
  });

  it("P-10: nothing comes of one that was cancelled before the account came back", async () => {
    const { gateway, server } = await setUp();
    const begun = await sessionOf(beginSession(gateway, "c"));
    await control(gateway, "DELETE", `connector-authorization-sessions/${begun.sessionId}`);
    expect((await visit(urlOf(begun))).status).toBe(400);
    expect(server.tokens).toEqual([]);
    expect((await read(gateway, begun)).status).toBe("CANCELED");
  });

  it("P-10: one that is cancelled while its code is exchanged gives the tokens back", async () => {
    const clock = new FakeClock();
    const { gateway, server } = await setUp({ server: { clock } });
    const begun = await sessionOf(beginSession(gateway, "c"));
    server.addFault({ endpoint: "token", kind: "delay", ms: 1_000 });
    const page = visit(urlOf(begun));
    await expect.poll(() => server.requests.some(({ endpoint }) => endpoint === "token")).toBe(true);
    await control(gateway, "DELETE", `connector-authorization-sessions/${begun.sessionId}`);
    await clock.advance(1_000);
    expect((await page).status).toBe(502);
    expect((await read(gateway, begun)).status).toBe("CANCELED");
    await expect.poll(() => server.tokens.map(({ state }) => state)).toEqual(["revoked", "revoked"]);
    expect(await callEcho(gateway, "c")).toBe("428 -33001");
  });

  it.each([
    ["can't be reached", { endpoint: "metadata", kind: "drop_connection" }],
    ["has no metadata", { endpoint: "metadata", kind: "status", status: 404 }],
    ["is somebody else", { endpoint: "metadata", kind: "status", status: 200, body: '{"issuer":"https://x.test"}' }],
  ] as const)("P-10: does not begin while the authorization server %s, and begins afterwards", async (_what, fault) => {
    const { gateway, server } = await setUp();
    server.addFault(fault);
    const refused = await beginSession(gateway, "c");
    expect([refused.status, await refused.json()]).toMatchObject([
      503,
      { code: "connector_market_unavailable", retryable: true },
    ]);
    expect((await sessionOf(beginSession(gateway, "c"))).status).toBe("AWAITING_USER");
  });

  it("P-10: does not go where plain http leads off this machine", async () => {
    const metadata = { token_endpoint: "http://elsewhere.test/token" };
    const { gateway } = await setUp({ server: { metadata } });
    expect((await beginSession(gateway, "c")).status).toBe(503);
  });

  it("P-10: an authorization server that is slow is given up after its time; the same request then begins anew", async () => {
    const { faults, gateway, server } = await setUp({ gateway: { providerTimeoutMs: 50 } });
    server.addFault({ endpoint: "metadata", kind: "delay", ms: 60_000 });
    const [one, two] = await Promise.all([beginSession(gateway, "c"), beginSession(gateway, "c")]);
    expect([one.status, two.status]).toEqual([503, 503]);
    expect(faults).toHaveLength(1);
    expect((await sessionOf(beginSession(gateway, "c"))).status).toBe("AWAITING_USER");
  });

  it("C-5: closing does not wait for an authorization server", async () => {
    const { gateway, server } = await setUp({ server: { clock: new FakeClock() } });
    server.addFault({ endpoint: "metadata", kind: "delay", ms: 60_000 });
    const begun = beginSession(gateway, "c");
    await expect.poll(() => server.requests).toHaveLength(1);
    await gateway.close();
    expect((await begun).status).toBe(503);
  });

  it("P-10: is where a proxy has put it", async () => {
    const publicUrl = "https://gateway.test/connectors/";
    const redirectUris = ["https://gateway.test/connectors/v1/connector-authorizations/callback/c"];
    const { gateway } = await setUp({ gateway: { publicUrl }, server: { clients: [{ ...CLIENT, redirectUris }] } });
    const begun = await sessionOf(beginSession(gateway, "c"));
    const away = await fetch(urlOf(begun), { redirect: "manual" });
    const [, query = ""] = (away.headers.get("location") ?? "").split("?");
    expect((await fetch(`${gateway.origin}/v1/connector-authorizations/callback/c?${query}`)).status).toBe(200);
    expect((await read(gateway, begun)).status).toBe("SUCCEEDED");
  });

  it("C-5: shows no code, state, verifier or token to the operator", async () => {
    const { gateway, server } = await setUp();
    const begun = await sessionOf(beginSession(gateway, "c"));
    const waiting = await (await admin(gateway, "GET", "/admin/state")).text();
    const { at } = await visit(urlOf(begun));
    await callEcho(gateway, "c");
    const done = await (await admin(gateway, "GET", "/admin/state")).text();
    const query = new URL(at).searchParams;
    const token = server.requests.find(({ endpoint }) => endpoint === "token")?.parameters ?? {};
    const secrets = [query.get("code"), query.get("state"), token["code_verifier"], CLIENT.clientSecret];
    for (const secret of [...secrets, ...server.tokens.map((issued) => issued.token)]) {
      expect(secret).toMatch(/.{20}/);
      expect([waiting, done].join()).not.toContain(secret);
    }
  });
});

describe("the provider's tokens", () => {
  /** Connected, with a clock that decides when tokens are renewed and when they expire. */
  async function connect(options: AuthorizationServerOptions = {}): Promise<Stage & { readonly clock: FakeClock }> {
    const clock = new FakeClock();
    const unixTime = (): number => 1_700_000_000_000 + clock.now();
    const stage = await setUp({
      server: { accessTokenLifetimeMs: 100_000, unixTime, ...options },
      gateway: { clock },
    });
    await visit(urlOf(await sessionOf(beginSession(stage.gateway, "c"))));
    return { ...stage, clock };
  }

  const tokensOf = (server: AuthorizationServer): number =>
    server.requests.filter(({ endpoint, parameters }) => endpoint === "token" && "refresh_token" in parameters).length;

  it.each([true, false])("C-5: are renewed before they expire, once for all calls (rotation: %s)", async (rotates) => {
    const { clock, gateway, server } = await connect({ rotatesRefreshTokens: rotates });
    const first = await callEcho(gateway, "c");
    await clock.advance(89_000);
    expect(await callEcho(gateway, "c")).toBe(first);
    await clock.advance(1_000);
    const calls = await Promise.all([callEcho(gateway, "c"), callEcho(gateway, "c"), callEcho(gateway, "c")]);
    expect(new Set(calls).size).toBe(1);
    expect(calls[0]).not.toBe(first);
    expect(tokensOf(server)).toBe(1);
    await clock.advance(90_000);
    expect(await callEcho(gateway, "c")).toMatch(/^Bearer /);
    expect(tokensOf(server)).toBe(2);
    const snapshot = JSON.parse(await (await snapshotOf(gateway, "s-ada")).text());
    expect(snapshot).toMatchObject({ revision: "2", connectors: [{ connectionVersion: "1" }] });
  });

  it("C-5: are used as they are while the authorization server is away, which is asked again after a pause", async () => {
    const { clock, faults, gateway, server } = await connect();
    const first = await callEcho(gateway, "c");
    await clock.advance(90_000);
    server.addFault({ endpoint: "token", kind: "status", status: 503, times: 1 });
    expect(await callEcho(gateway, "c")).toBe(first);
    expect(await callEcho(gateway, "c")).toBe(first);
    expect([tokensOf(server), faults.length]).toEqual([1, 1]);
    await clock.advance(5_000);
    expect(await callEcho(gateway, "c")).not.toBe(first);
    expect(tokensOf(server)).toBe(2);
  });

  it("P-6: that can't be renewed any more, or are taken back, make the account authorize again", async () => {
    const { clock, gateway, server } = await connect();
    await callEcho(gateway, "c");
    server.revoke(server.tokens.find(({ kind }) => kind === "refresh")?.token ?? "");
    expect(await callEcho(gateway, "c")).toBe("428 -33002");
    const again = await sessionOf(beginSession(gateway, "c", { clientRequestId: "again" }));
    await visit(urlOf(again));
    expect(await callEcho(gateway, "c")).toMatch(/^Bearer /);
    await clock.advance(90_000);
    server.addFault({ endpoint: "token", kind: "error", error: "invalid_grant" });
    expect(await callEcho(gateway, "c")).toBe("428 -33002");
  });

  it("P-12: are given back when the account disconnects", async () => {
    const { gateway, server } = await connect();
    await control(gateway, "DELETE", "connectors/c/authorization");
    await expect.poll(() => server.tokens.map(({ state }) => state)).toEqual(["revoked", "revoked"]);
  });
});
