import { createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { memoryOAuthStore } from "../../../src/oauth/index.js";
import { AuthorizationServer } from "../../../src/testing/index.js";
import { FakeClock, settle } from "../../support/fake-clock.js";
import { call, callbackOf, openClient, openWorld, startProgram, tokenRequests } from "../../support/oauth-world.js";
import { Opened } from "../../support/opened.js";

const opened = new Opened();
afterEach(opened.close);

const HOUR_MS = 3_600_000;

function kinds({ events }: { readonly events: readonly { readonly kind: string }[] }): readonly string[] {
  return events.map(({ kind }) => kind);
}

describe("createOAuth", () => {
  it("A-8: a refused request signs a person in, and is made again with the token", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    const client = openClient(opened, world.server, program.oauth);

    expect(await call(client)).toBe("read");
    expect(await call(client)).toBe("read");

    expect(program.visits).toHaveLength(1);
    expect(world.server.accesses.map(({ outcome }) => outcome)).toEqual(["refused", "metadata", "passed", "passed"]);
    expect(kinds(program)).toEqual(["registered", "sign_in_started", "signed_in", "token_issued"]);
    const [code] = tokenRequests(world.issuer, "authorization_code");
    expect(code?.["resource"]).toBe(world.server.url);
    expect(await program.oauth.accounts(world.server.url)).toMatchObject([
      { account: "", issuer: world.issuer.issuer, canRefresh: true },
    ]);
  });

  it("A-8: parallel refusals share one browser window", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    const client = openClient(opened, world.server, program.oauth);

    const calls = await Promise.all(Array.from({ length: 5 }, () => call(client)));

    expect(calls).toEqual(["read", "read", "read", "read", "read"]);
    expect(program.visits).toHaveLength(1);
    expect(world.issuer.clients).toHaveLength(1);
  });

  it("A-7: five parallel calls on an expired token make one refresh, before they are sent", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    const client = openClient(opened, world.server, program.oauth);
    await call(client);

    world.time.now += 2 * HOUR_MS;
    const calls = await Promise.all(Array.from({ length: 5 }, () => call(client)));

    expect(calls).toEqual(["read", "read", "read", "read", "read"]);
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(1);
    expect(tokenRequests(world.issuer, "refresh_token")[0]?.["resource"]).toBe(world.server.url);
    expect(world.server.accesses.filter(({ outcome }) => outcome === "refused")).toHaveLength(1);
    expect(program.events.filter(({ kind }) => kind === "token_refreshed")).toHaveLength(1);
  });

  it("A-8: five parallel calls with a token that is refused make one refresh with a rotating token", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    const client = openClient(opened, world.server, program.oauth);
    await call(client);
    const [token] = world.issuer.tokens;

    world.issuer.expireNow(token?.token ?? "");
    const calls = await Promise.all(Array.from({ length: 5 }, () => call(client)));

    expect(calls).toEqual(["read", "read", "read", "read", "read"]);
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(1);
    expect(program.visits).toHaveLength(1);
  });

  it("A-7: a refresh without anybody there asks the token endpoint, and nobody and nothing else", async () => {
    const world = await openWorld(opened);
    const store = memoryOAuthStore();
    const first = startProgram(opened, world, { store });
    await first.oauth.signIn(world.server.url);
    world.time.now += 2 * HOUR_MS;
    const [asked, seen] = [world.issuer.requests.length, world.server.accesses.length];

    const second = startProgram(opened, world, { store, openUrl: false, identity: { registers: false } });
    expect(await call(openClient(opened, world.server, second.oauth))).toBe("read");

    expect(world.issuer.requests.slice(asked).map(({ endpoint }) => endpoint)).toEqual(["token"]);
    expect(world.server.accesses.slice(seen).map(({ outcome }) => outcome)).toEqual(["passed"]);
  });

  it("A-7: a token is replaced a minute before its end, and sent all the same while that fails for the moment", async () => {
    const world = await openWorld(opened);
    const clock = new FakeClock();
    const program = startProgram(opened, world, { clock });
    await program.oauth.signIn(world.server.url);
    const client = openClient(opened, world.server, program.oauth);

    world.time.now += HOUR_MS - 61_000;
    expect(await call(client)).toBe("read");
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(0);

    world.time.now += 2_000;
    world.issuer.addFault({ endpoint: "token", kind: "status", status: 503, times: 3 });
    const calling = call(client);
    while (tokenRequests(world.issuer, "refresh_token").length < 3) {
      await settle();
      if (clock.dueInMs <= 2_000) clock.step(clock.dueInMs);
    }
    expect(await calling).toBe("read");
    // Not again at once.
    expect(await call(client)).toBe("read");
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(3);

    clock.step(5_000);
    expect(await call(client)).toBe("read");
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(4);
    expect(kinds(program)).toContain("refresh_failed");
    expect(kinds(program).at(-1)).toBe("token_refreshed");
  });

  it("A-7: a refused refresh token is forgotten with its tokens, and a person is asked", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    const client = openClient(opened, world.server, program.oauth);
    await call(client);
    for (const { token } of world.issuer.tokens) world.issuer.revoke(token);

    expect(await call(client)).toBe("read");

    expect(program.visits).toHaveLength(2);
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(1);
    expect(world.issuer.clients).toHaveLength(1);
  });

  it("A-7: a dynamic registration that the server forgot is made anew, once", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    const client = openClient(opened, world.server, program.oauth);
    await call(client);
    world.issuer.forgetClient(world.issuer.clients[0]?.clientId ?? "");
    world.issuer.expireNow(world.issuer.tokens[0]?.token ?? "");

    expect(await call(client)).toBe("read");

    expect(program.visits).toHaveLength(2);
    expect(world.issuer.requests.filter(({ endpoint }) => endpoint === "register")).toHaveLength(2);
  });

  it("A-8: a server that refuses every token: one refresh and one authorization, then an error, and rest", async () => {
    const world = await openWorld(opened);
    const clock = new FakeClock();
    const program = startProgram(opened, world, { clock });
    await program.oauth.signIn(world.server.url);
    const client = openClient(opened, world.server, program.oauth);
    world.server.refuseNext(Infinity);

    expect(await call(client)).toBe("token_refused");
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(1);
    expect(program.visits).toHaveLength(2);

    // Calls one after the other open no browser each.
    expect(await call(client)).toBe("token_refused");
    expect(await call(client)).toBe("token_refused");
    expect(program.visits).toHaveLength(2);

    clock.step(30_000);
    expect(await call(client)).toBe("token_refused");
    expect(program.visits).toHaveLength(3);

    world.server.refuseNext(0);
    await program.oauth.signIn(world.server.url);
    world.server.refuseNext(1);
    expect(await call(client)).toBe("read");
  });

  it("A-8: a scope that is missing is asked for beside those that were", async () => {
    const world = await openWorld(opened, {
      server: { challengeScopes: ["read"], requiredScopes: { "tools/call write": ["write"], "*": ["read"] } },
    });
    const program = startProgram(opened, world);
    const client = openClient(opened, world.server, program.oauth);
    await call(client);

    expect(await call(client, "write")).toBe("write");

    const scopes = program.visits.map((url) => new URL(url).searchParams.get("scope"));
    expect(scopes).toEqual(["read", "read write"]);
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(0);
  });

  it("A-8: a scope that was authorized in vain is asked for once more, and then never again", async () => {
    const world = await openWorld(opened, {
      server: {
        challengeScopes: ["read"],
        rewrite: (answer) => ({
          ...answer,
          ...(answer.status === 200
            ? {}
            : {
                headers: { ...answer.headers, "WWW-Authenticate": 'Bearer error="insufficient_scope", scope="read"' },
              }),
        }),
      },
    });
    const program = startProgram(opened, world);
    await program.oauth.signIn(world.server.url, { scopes: ["read"] });
    const client = openClient(opened, world.server, program.oauth);
    world.server.refuseNext(Infinity);

    expect(await call(client)).toBe("token_refused");
    expect(program.visits).toHaveLength(2);
    expect(await call(client)).toBe("token_refused");
    expect(program.visits).toHaveLength(2);
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(0);
  });

  it("A-8: another authorization server: the old one gets nothing any more", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    const client = openClient(opened, world.server, program.oauth);
    await call(client);
    const other = await AuthorizationServer.start({ allowsRegistration: true, unixTime: () => world.time.now });
    opened.push(other);
    world.server.change({ authorizationServers: [other] });
    const seen = world.issuer.requests.length;

    expect(await call(client)).toBe("read");

    expect(world.issuer.requests).toHaveLength(seen);
    expect(other.clients).toHaveLength(1);
    expect(program.events.find(({ kind }) => kind === "issuer_changed")).toMatchObject({ issuer: other.issuer });
    const accounts = await program.oauth.accounts(world.server.url);
    expect(accounts.map(({ issuer }) => issuer)).toEqual([other.issuer]);
  });

  it("A-8: where nobody can be asked, the error says what a person would be asked for", async () => {
    const world = await openWorld(opened, {
      server: { challengeScopes: ["read"] },
      issuer: { clients: [{ clientId: "known", redirectUris: ["http://127.0.0.1:9/callback"] }] },
    });
    const identity = { preRegistered: [{ clientId: "known", redirectUris: ["http://127.0.0.1:9/callback"] }] };
    const program = startProgram(opened, world, { openUrl: false, identity });
    const client = openClient(opened, world.server, program.oauth);

    const error = await client.callTool({ name: "read", arguments: {} }).catch((reason: unknown) => reason);

    expect(error).toMatchObject({
      code: "sign_in_required",
      details: { reason: "no_token", scopes: ["read"], issuer: world.issuer.issuer },
    });
    const url = isRemoteConnectorError(error, "sign_in_required") ? error.details.authorizationUrl : undefined;
    expect(new URL(url ?? "").searchParams.get("client_id")).toBe("known");
    expect(world.issuer.requests.map(({ endpoint }) => endpoint)).toEqual(["metadata"]);
  });

  it("A-8: nobody is asked because of a GET, which uses a newer token when there is one", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    const url = world.server.url;
    const request = { url, method: "GET", httpMethod: "GET", attempt: 1, operation: {} } as const;
    const signal = new AbortController().signal;
    const refusal = { request, status: 401, headers: {}, challenges: ["Bearer"], signal } as const;
    expect(await program.oauth.onRefused?.({ ...refusal, sent: undefined })).toBe(false);

    await program.oauth.signIn(url);
    expect(await program.oauth.onRefused?.({ ...refusal, sent: { Authorization: "Bearer old" } })).toBe(true);
    const sent = await program.oauth.authorize(request);
    expect(await program.oauth.onRefused?.({ ...refusal, sent })).toBe(true);
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(1);
    const again = await program.oauth.authorize(request);
    expect(await program.oauth.onRefused?.({ ...refusal, sent: again })).toBe(false);
    expect(program.visits).toHaveLength(1);
  });

  it("A-8: an account that is not to ask says so, and uses what another request got", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    const background = openClient(opened, world.server, program.oauth.account("", { asks: false }));
    expect(await call(background)).toBe("sign_in_required");
    expect(program.visits).toHaveLength(0);

    await program.oauth.signIn(world.server.url);
    expect(await call(background)).toBe("read");
  });

  it("A-9: tokens that are bound to a key go with a proof, and a nonce that is asked for is used", async () => {
    const world = await openWorld(opened, {
      issuer: { dpop: "required", demandsDpopNonce: true },
      server: { requiresDpop: true, demandsDpopNonce: true },
    });
    const program = startProgram(opened, world, { dpop: true });
    const client = openClient(opened, world.server, program.oauth);

    expect(await call(client)).toBe("read");
    expect(await call(client)).toBe("read");
    world.server.renewDpopNonce();
    expect(await call(client)).toBe("read");
    world.issuer.expireNow(world.issuer.tokens[0]?.token ?? "");
    expect(await call(client)).toBe("read");

    expect(program.visits).toHaveLength(1);
    expect(tokenRequests(world.issuer, "refresh_token").length).toBeLessThanOrEqual(2);
  });

  it("A-9: a grant without a person gets tokens, and others when they end", async () => {
    const world = await openWorld(opened, {
      issuer: {
        allowsClientCredentials: true,
        clients: [{ clientId: "service", clientSecret: "s", redirectUris: [] }],
      },
    });
    const identity = { preRegistered: [{ clientId: "service", clientSecret: "s" }] };
    const program = startProgram(opened, world, { grant: { kind: "client_credentials" }, identity });
    const client = openClient(opened, world.server, program.oauth);

    expect(await call(client)).toBe("read");
    world.time.now += 2 * HOUR_MS;
    expect(await Promise.all([call(client), call(client)])).toEqual(["read", "read"]);
    world.issuer.expireNow(world.issuer.tokens.at(-1)?.token ?? "");
    expect(await call(client)).toBe("read");

    expect(tokenRequests(world.issuer, "client_credentials")).toHaveLength(3);
    expect(program.visits).toHaveLength(0);
  });

  it("A-7: a deadline ends the waiting of its call, and not what it waited for", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    const client = openClient(opened, world.server, program.oauth);
    let goOn = (): void => undefined;
    world.issuer.consent = () => new Promise((resolve) => (goOn = () => resolve("approve")));
    const abort = new AbortController();
    const calling = call(client, "read", abort.signal);
    while (program.visits.length === 0) await settle();
    abort.abort(new Error("given up"));
    expect(await calling).toContain("given up");

    const next = call(client);
    while (world.server.accesses.length < 3) await settle();
    goOn();
    expect(await next).toBe("read");
    expect(program.visits).toHaveLength(1);
  });
});

describe("signing in and out", () => {
  it("A-5: starts a sign-in whose browser others send, and ends it once", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    const started = await program.oauth.startSignIn(world.server.url, "https://app.test/callback", { account: "a" });
    const callback = await callbackOf(started.url);

    expect(await started.finish(callback)).toMatchObject({ account: "a", endpoint: world.server.url });
    await expect(started.finish(callback)).rejects.toMatchObject({ code: "cancelled" });
    expect(await call(openClient(opened, world.server, program.oauth.account("a", { asks: false })))).toBe("read");
    expect(await call(openClient(opened, world.server, program.oauth.account("b", { asks: false })))).toBe(
      "sign_in_required",
    );
    expect(program.visits).toHaveLength(0);
  });

  it("A-5: a registered port that is taken by now makes another registration", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    await program.oauth.signIn(world.server.url);
    const place = new URL(world.issuer.clients[0]?.redirectUris[0] ?? "");
    await program.oauth.signIn(world.server.url);
    expect(world.issuer.clients).toHaveLength(1);

    const neighbour = createServer();
    await new Promise<void>((resolve) => neighbour.listen(Number(place.port), "127.0.0.1", resolve));
    opened.push(neighbour);
    await program.oauth.signIn(world.server.url);
    expect(world.issuer.clients).toHaveLength(2);
    expect(program.visits).toHaveLength(3);
  });

  it("A-5: a registration that is not known any more at the token endpoint is made anew, once", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    await program.oauth.signIn(world.server.url);
    world.issuer.addFault({ endpoint: "token", kind: "error", error: "invalid_client" });
    await program.oauth.signIn(world.server.url);
    expect(world.issuer.clients).toHaveLength(2);
    expect(program.visits).toHaveLength(3);

    world.issuer.addFault({ endpoint: "token", kind: "error", error: "invalid_client", times: 2 });
    await expect(program.oauth.signIn(world.server.url)).rejects.toMatchObject({
      code: "oauth_refused",
      details: { errorCode: "invalid_client" },
    });
    expect(program.visits).toHaveLength(5);
  });

  it("A-5: a registration with which nobody came back is not used again", async () => {
    const world = await openWorld(opened);
    const clock = new FakeClock();
    const program = startProgram(opened, world, { clock, signInTimeoutMs: 1_000 });
    await program.oauth.signIn(world.server.url);
    world.issuer.forgetClient(world.issuer.clients[0]?.clientId ?? "");
    const signing = program.oauth.signIn(world.server.url).catch((error: unknown) => error);
    while (program.visits.length < 2) await settle();
    await clock.advance(1_000);
    expect(await signing).toMatchObject({ code: "timeout" });
    expect(await program.oauth.signIn(world.server.url)).toMatchObject({ clientId: world.issuer.clients[0]?.clientId });
  });

  it("A-7: a sign-in that nobody waits for any more is ended, and the next one begins anew", async () => {
    const world = await openWorld(opened, { issuer: { consent: "wait" } });
    const program = startProgram(opened, world);
    const abort = new AbortController();
    const signing = program.oauth.signIn(world.server.url, { signal: abort.signal }).catch((error: unknown) => error);
    while (program.visits.length === 0) await settle();
    abort.abort("given up");
    expect(await signing).toBe("given up");
    world.issuer.consent = "approve";
    expect(await program.oauth.signIn(world.server.url, { scopes: ["read"] })).toMatchObject({ scopes: ["read"] });
    expect(program.visits).toHaveLength(2);
  });

  it("A-7: signs out here and there, and requests go without a token from then on", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    await program.oauth.signIn(world.server.url);
    const client = openClient(opened, world.server, program.oauth.account("", { asks: false }));
    expect(await call(client)).toBe("read");

    expect(await program.oauth.signOut(world.server.url)).toBe(true);

    expect(await call(client)).toBe("sign_in_required");
    expect(world.issuer.tokens.map(({ state }) => state)).toEqual(["revoked", "revoked"]);
    expect(await program.oauth.signOut(world.server.url)).toBe(false);
    expect(await program.oauth.accounts(world.server.url)).toEqual([]);
    expect(world.server.accesses.at(-1)?.authorization).toBeUndefined();
  });

  it("A-7: a person who takes too long", async () => {
    const world = await openWorld(opened, { issuer: { consent: "wait" } });
    const clock = new FakeClock();
    const program = startProgram(opened, world, { clock, signInTimeoutMs: 1_000 });
    const signing = program.oauth.signIn(world.server.url).catch((error: unknown) => error);
    while (program.visits.length === 0) await settle();
    await clock.advance(1_000);
    expect(await signing).toMatchObject({ code: "timeout", details: { option: "signInTimeoutMs", limitMs: 1_000 } });
  });

  it("A-7: what is under way ends when everything is closed", async () => {
    const world = await openWorld(opened, { issuer: { consent: "wait" } });
    const program = startProgram(opened, world);
    const client = openClient(opened, world.server, program.oauth);
    const calling = call(client);
    while (program.visits.length === 0) await settle();
    await program.oauth.close();
    expect(await calling).toBe("cancelled");
    expect(await call(client)).toBe("cancelled");
  });

  it("A-7: a refresh that was sent is stored although everything is closed meanwhile", async () => {
    const world = await openWorld(opened);
    const store = memoryOAuthStore();
    const program = startProgram(opened, world, { store });
    await program.oauth.signIn(world.server.url);
    world.time.now += 2 * HOUR_MS;
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    world.issuer.change({ rewrite: (answer) => held.then(() => answer) });
    const calling = call(openClient(opened, world.server, program.oauth));
    while (tokenRequests(world.issuer, "refresh_token").length === 0) await settle();
    const closing = program.oauth.close();
    expect(await calling).toBe("cancelled");
    goOn();
    await closing;

    const later = startProgram(opened, world, { store, openUrl: false });
    expect(await call(openClient(opened, world.server, later.oauth))).toBe("read");
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(1);
  });

  it("A-8: a failure before anybody was asked keeps nobody from being asked", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    const client = openClient(opened, world.server, program.oauth);
    world.issuer.addFault({ endpoint: "metadata", kind: "status", status: 503 });
    expect(await call(client)).toBe("oauth_discovery_failed");
    expect(await call(client)).toBe("read");
  });

  it("A-8: a person who refuses is not asked again at once", async () => {
    const world = await openWorld(opened, { issuer: { consent: "deny" } });
    const program = startProgram(opened, world);
    const client = openClient(opened, world.server, program.oauth);
    expect(await call(client)).toBe("oauth_refused");
    expect(await call(client)).toBe("sign_in_required");
    expect(program.visits).toHaveLength(1);
    world.issuer.consent = "approve";
    await program.oauth.signIn(world.server.url);
    expect(await call(client)).toBe("read");
  });
});
