import * as oauth from "oauth4webapi";
import { afterEach, describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import {
  AuthorizationServer,
  type AuthorizationServerOptions,
  type AuthorizationServerRequest,
  type Visit,
} from "../../../src/testing/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import { Opened } from "../../support/opened.js";

const opened = new Opened();
afterEach(opened.close);

const REDIRECT = "http://127.0.0.1:1/back";
const CLIENT = { clientId: "app", clientSecret: "secret of app", redirectUris: [REDIRECT] };
const client: oauth.Client = { client_id: "app" };
const insecure = { [oauth.allowInsecureRequests]: true } as const;

async function start(options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
  const server = await AuthorizationServer.start({ clients: [CLIENT], ...options });
  opened.push(server);
  return server;
}

/** The server as a client that knows only its issuer finds it. */
async function discover({ issuer }: AuthorizationServer): Promise<oauth.AuthorizationServer> {
  const options = { algorithm: "oauth2", ...insecure } as const;
  const identifier = new URL(issuer);
  return oauth.processDiscoveryResponse(identifier, await oauth.discoveryRequest(identifier, options));
}

const STATE = "state";
const VERIFIER = "verifier".repeat(8);

/** The address of a visit to the authorization endpoint. */
async function authorizationUrl(as: oauth.AuthorizationServer, changes: Record<string, string> = {}): Promise<string> {
  const url = new URL(as.authorization_endpoint ?? "");
  const parameters = {
    client_id: "app",
    redirect_uri: REDIRECT,
    response_type: "code",
    code_challenge: await oauth.calculatePKCECodeChallenge(VERIFIER),
    code_challenge_method: "S256",
    state: STATE,
    ...changes,
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** Visits the authorization endpoint; gives where it leads. */
async function visit(as: oauth.AuthorizationServer, changes: Record<string, string> = {}): Promise<URL> {
  const answer = await fetch(await authorizationUrl(as, changes), { redirect: "manual" });
  return new URL(answer.headers.get("location") ?? "about:blank");
}

async function exchange(as: oauth.AuthorizationServer, answer: URL): Promise<oauth.TokenEndpointResponse> {
  const checked = oauth.validateAuthResponse(as, client, answer, STATE);
  const authentication = oauth.ClientSecretBasic(CLIENT.clientSecret);
  const response = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    authentication,
    checked,
    REDIRECT,
    VERIFIER,
    insecure,
  );
  return oauth.processAuthorizationCodeResponse(as, client, response);
}

async function refresh(as: oauth.AuthorizationServer, token: string): Promise<oauth.TokenEndpointResponse> {
  const authentication = oauth.ClientSecretPost(CLIENT.clientSecret);
  const response = await oauth.refreshTokenGrantRequest(as, client, authentication, token, insecure);
  return oauth.processRefreshTokenResponse(as, client, response);
}

/** What a rejected promise's error says in OAuth's words. */
async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  const error: unknown = await promise.then(
    () => "no error",
    (caught: unknown) => caught,
  );
  return Reflect.get(Object(error), "error") ?? String(error);
}

describe("AuthorizationServer", () => {
  it.each(["", "/tenant/one"])(
    "serves a strict client from its metadata to revocation (issuer path %j)",
    async (issuerPath) => {
      const server = await start({ issuerPath });
      const as = await discover(server);
      expect(as.issuer).toBe(server.issuer);
      const tokens = await exchange(as, await visit(as, { scope: "read write", resource: "https://mcp.test/" }));
      expect(tokens).toMatchObject({ token_type: "bearer", expires_in: 3_600, scope: "read write" });
      expect(server.isValid(tokens.access_token)).toBe(true);
      expect(server.isValid("another")).toBe(false);
      expect(server.tokens.map(({ kind, resources, subject }) => [kind, subject, resources])).toEqual([
        ["access", "user", ["https://mcp.test/"]],
        ["refresh", "user", ["https://mcp.test/"]],
      ]);
      const renewed = await refresh(as, tokens.refresh_token ?? "");
      expect(server.isValid(renewed.access_token)).toBe(true);
      const authentication = oauth.ClientSecretBasic(CLIENT.clientSecret);
      const token = renewed.refresh_token ?? "";
      await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, authentication, token, insecure));
      expect([server.isValid(tokens.access_token), server.isValid(renewed.access_token)]).toEqual([false, false]);
      const endpoints: AuthorizationServerRequest["endpoint"][] = ["metadata", "authorize", "token", "token", "revoke"];
      expect(server.requests.map(({ endpoint }) => endpoint)).toEqual(endpoints);
    },
  );

  it("registers clients that ask for it, and only where that is allowed", async () => {
    const server = await start({ allowsRegistration: true });
    const as = await discover(server);
    const metadata = { redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" };
    const answer = await oauth.dynamicClientRegistrationRequest(as, metadata, insecure);
    const registered = await oauth.processDynamicClientRegistrationResponse(answer);
    expect(registered).toMatchObject({ ...metadata, client_id: expect.stringMatching(/^client-/) });
    const url = await visit(as, { client_id: registered.client_id });
    const response = await oauth.authorizationCodeGrantRequest(
      as,
      registered,
      oauth.None(),
      oauth.validateAuthResponse(as, registered, url, STATE),
      REDIRECT,
      VERIFIER,
      insecure,
    );
    expect((await oauth.processAuthorizationCodeResponse(as, registered, response)).access_token).toMatch(/^access-/);
    const refused = { redirect_uris: [REDIRECT], token_endpoint_auth_method: "private_key_jwt" };
    const refusal = await oauth.dynamicClientRegistrationRequest(as, refused, insecure);
    expect([refusal.status, await refusal.json()]).toMatchObject([400, { error: "invalid_client_metadata" }]);
    const closed = await start();
    expect((await fetch(`${closed.issuer}/register`, { method: "POST" })).status).toBe(404);
    expect((await discover(closed)).registration_endpoint).toBeUndefined();
  });

  it("lets the person deny, leave, and take their time", async () => {
    const server = await start({ consent: "deny" });
    const as = await discover(server);
    expect((await visit(as)).searchParams.get("error")).toBe("access_denied");
    server.consent = "wait";
    const page = await fetch(await authorizationUrl(as), { redirect: "manual" });
    expect([page.status, await page.text()]).toEqual([200, "Do you agree? Nobody answers here.\n"]);
    let agree = (): void => undefined;
    const visits: Visit[] = [];
    server.consent = (each) => {
      visits.push(each);
      return new Promise((resolve) => (agree = () => resolve("approve")));
    };
    const url = visit(as, { scope: "read" });
    await expect.poll(() => visits).toHaveLength(1);
    expect(visits).toMatchObject([{ clientId: "app", scopes: ["read"], parameters: { redirect_uri: REDIRECT } }]);
    agree();
    expect((await url).searchParams.get("code")).toMatch(/^code-/);
  });

  it("tells persons, not redirects, when it does not know where they would go", async () => {
    const server = await start();
    const as = await discover(server);
    const answer = await fetch(await authorizationUrl(as, { redirect_uri: "https://evil.test/" }), {
      redirect: "manual",
    });
    expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
    expect((await visit(as, { code_challenge_method: "plain" })).searchParams.get("error")).toBe("invalid_request");
  });

  it("refuses a refresh token that was rotated away, and takes back everything of it", async () => {
    const server = await start();
    const as = await discover(server);
    const { refresh_token: first = "" } = await exchange(as, await visit(as));
    const renewed = await refresh(as, first);
    expect(await errorOf(refresh(as, first))).toBe("invalid_grant");
    expect(server.isValid(renewed.access_token)).toBe(false);
    const lasting = await start({ rotatesRefreshTokens: false });
    const other = await discover(lasting);
    const { refresh_token: kept = "" } = await exchange(other, await visit(other));
    expect((await refresh(other, kept)).refresh_token).toBeUndefined();
    expect((await refresh(other, kept)).access_token).toMatch(/^access-/);
  });

  it("forgets codes and tokens when their time is over", async () => {
    let nowMs = 1_700_000_000_000;
    const server = await start({ unixTime: () => nowMs, issuesRefreshTokens: false });
    const as = await discover(server);
    const late = await visit(as);
    const { access_token: token, refresh_token: none } = await exchange(as, await visit(as));
    expect(none).toBeUndefined();
    nowMs += 60_000;
    expect(await errorOf(exchange(as, late))).toBe("invalid_grant");
    expect(server.isValid(token)).toBe(true);
    nowMs += 3_540_000;
    expect(server.isValid(token)).toBe(false);
  });

  it.each([
    ["wrong_state", /unexpected "state"/],
    ["no_state", /"state" missing/],
    ["wrong_issuer", /unexpected "iss"/],
    ["no_issuer", /"iss" \(issuer\) missing/],
  ] as const)("answers once with %s", async (kind, message) => {
    const server = await start();
    const as = await discover(server);
    server.addFault({ endpoint: "authorize", kind });
    const url = await visit(as);
    expect(() => oauth.validateAuthResponse(as, client, url, STATE)).toThrow(message);
    await exchange(as, await visit(as));
  });

  it("plays faults of the other endpoints", async () => {
    const clock = new FakeClock();
    const server = await start({ clock });
    const as = await discover(server);
    server.addFault({ endpoint: "token", kind: "error", error: "temporarily_unavailable" });
    expect(await errorOf(exchange(as, await visit(as)))).toBe("temporarily_unavailable");
    server.addFault({ endpoint: "token", kind: "malformed" });
    expect(await errorOf(exchange(as, await visit(as)))).toMatch(/failed to parse/);
    server.addFault({ endpoint: "token", kind: "status", status: 503, headers: { "Retry-After": "7" } });
    const unavailable = await fetch(`${server.issuer}/token`, { method: "POST" });
    expect([unavailable.status, unavailable.headers.get("retry-after")]).toEqual([503, "7"]);
    server.addFault({ endpoint: "metadata", kind: "drop_connection" });
    await expect(discover(server)).rejects.toThrow();
    server.addFault({ endpoint: "authorize", kind: "error", error: "server_error" });
    expect((await visit(as)).searchParams.get("error")).toBe("server_error");
    server.addFault({ endpoint: "metadata", kind: "delay", ms: 1_000 });
    let isFound = false;
    const found = discover(server).then(() => (isFound = true));
    await expect.poll(() => server.requests.at(-1)?.endpoint).toBe("metadata");
    expect(isFound).toBe(false);
    await clock.advance(1_000);
    await found;
    server.addFault({ endpoint: "metadata", kind: "malformed", times: 9 });
    server.clearFaults();
    await discover(server);
  });

  it("serves no more requests than it keeps, no other methods, and no large ones", async () => {
    const server = await start({ maxRequests: 2 });
    const { issuer } = server;
    const statuses = [
      await fetch(`${issuer}/token`, { method: "POST", body: "x".repeat(70_000) }),
      await fetch(`${issuer}/token`),
      await fetch(`${issuer}/nothing`),
      await fetch(`${issuer}/token`, { method: "POST" }),
      await fetch(`${issuer}/token`, { method: "POST" }),
      await fetch(`${issuer}/token`, { method: "POST" }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([413, 405, 404, 401, 401, 503]);
  });

  it("ends with a visitor who is still thinking", async () => {
    const server = await start({ consent: () => new Promise(() => undefined) });
    const as = await discover(server);
    const page = visit(as).catch(() => "gone");
    await expect.poll(() => server.requests.at(-1)?.endpoint).toBe("authorize");
    await server.close();
    expect(await page).toBe("gone");
  });

  it("says why it can't start", async () => {
    const server = await start();
    const port = Number(new URL(server.issuer).port);
    const error: unknown = await AuthorizationServer.start({ port }).catch((caught: unknown) => caught);
    expect(isRemoteConnectorError(error, "listen_failed")).toBe(true);
  });
});
