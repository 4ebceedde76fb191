import { afterEach, describe, expect, it } from "vitest";
import { memoryOAuthStore } from "../../../src/oauth/index.js";
import { FakeClock, settle } from "../../support/fake-clock.js";
import { call, openClient, openWorld, startProgram, tokenRequests } from "../../support/oauth-world.js";
import { Opened } from "../../support/opened.js";

const opened = new Opened();
afterEach(opened.close);

const HOUR_MS = 3_600_000;

function kinds({ events }: { readonly events: readonly { readonly kind: string }[] }): readonly string[] {
  return events.map(({ kind }) => kind);
}

describe("tokens and their end", () => {
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
});
