import { afterEach, describe, expect, it } from "vitest";
import { memoryOAuthStore } from "../../../src/oauth/index.js";
import { AuthorizationServer, likeModernServer, ProtectedServer } from "../../../src/testing/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import { call, openClient, openWorld, startProgram, tokenRequests } from "../../support/oauth-world.js";
import { Opened } from "../../support/opened.js";

const opened = new Opened();
afterEach(opened.close);

const SERVICE = { clientId: "service", clientSecret: "secret of the service" };

describe("who the client is", () => {
  it("A-4: a client by hand without an issuer is not shown to the issuer of a second, hostile server", async () => {
    const world = await openWorld(opened, {
      issuer: { allowsClientCredentials: true, clients: [{ ...SERVICE, redirectUris: [] }] },
    });
    const hostile = await openWorld(opened, { issuer: { allowsClientCredentials: true } });
    const store = memoryOAuthStore();
    const options = { store, grant: { kind: "client_credentials" }, identity: { preRegistered: [SERVICE] } } as const;
    const program = startProgram(opened, world, options);
    expect(await call(openClient(opened, world.server, program.oauth))).toBe("read");

    expect(await call(openClient(opened, hostile.server, program.oauth))).toBe("client_identity_required");
    // Nor in another process, later.
    const later = startProgram(opened, world, options);
    expect(await call(openClient(opened, hostile.server, later.oauth.account("other")))).toBe(
      "client_identity_required",
    );

    expect(new Set(hostile.issuer.requests.map(({ endpoint }) => endpoint))).toEqual(new Set(["metadata"]));
    expect(hostile.server.accesses.every(({ authorization }) => authorization === undefined)).toBe(true);
  });

  it("A-2: of several issuers the one is taken that a client by hand belongs to by now", async () => {
    const world = await openWorld(opened, {
      issuer: { allowsClientCredentials: true, clients: [{ ...SERVICE, redirectUris: [] }] },
    });
    const other = await AuthorizationServer.start({ unixTime: () => world.time.now });
    opened.push(other);
    const program = startProgram(opened, world, {
      grant: { kind: "client_credentials" },
      identity: { preRegistered: [SERVICE] },
    });
    expect(await call(openClient(opened, world.server, program.oauth))).toBe("read");
    const tools = likeModernServer({ tools: [{ name: "read" }] });
    const second = await ProtectedServer.start(tools, { authorizationServers: [other, world.issuer] });
    opened.push(second);
    expect(await call(openClient(opened, second, program.oauth))).toBe("read");
    expect(other.requests).toEqual([]);
  });

  it("A-9: a registration that was made for people is not used for client credentials", async () => {
    const world = await openWorld(opened, { issuer: { allowsClientCredentials: true } });
    const store = memoryOAuthStore();
    const people = startProgram(opened, world, { store });
    await people.oauth.signIn(world.server.url);
    await people.oauth.signOut(world.server.url);
    const elsewhere = { issuer: "https://elsewhere.test", ...SERVICE };
    const service = startProgram(opened, world, {
      store,
      grant: { kind: "client_credentials" },
      identity: { preRegistered: [elsewhere] },
    });
    expect(await call(openClient(opened, world.server, service.oauth))).toBe("client_identity_required");
    expect(tokenRequests(world.issuer, "client_credentials")).toEqual([]);
  });

  it("A-9: a grant without a person asks for no offline_access", async () => {
    const world = await openWorld(opened, {
      server: { challengeScopes: ["read"] },
      issuer: {
        allowsClientCredentials: true,
        scopesSupported: ["read", "offline_access"],
        clients: [{ ...SERVICE, redirectUris: [] }],
      },
    });
    const program = startProgram(opened, world, {
      grant: { kind: "client_credentials" },
      identity: { preRegistered: [SERVICE] },
    });
    expect(await call(openClient(opened, world.server, program.oauth))).toBe("read");
    expect(tokenRequests(world.issuer, "client_credentials")[0]?.["scope"]).toBe("read");
  });

  it("A-9: with no algorithm that is known, tokens are bound to no key, unless the server takes nothing else", async () => {
    const metadata = { dpop_signing_alg_values_supported: ["XY256"] };
    const world = await openWorld(opened, { issuer: { metadata } });
    const program = startProgram(opened, world, { dpop: true });
    expect(await call(openClient(opened, world.server, program.oauth))).toBe("read");
    expect(world.server.accesses.at(-1)?.authorization).toMatch(/^Bearer /);

    const strict = await openWorld(opened, { issuer: { metadata }, server: { requiresDpop: true } });
    const refused = startProgram(opened, strict, { dpop: true });
    expect(await call(openClient(opened, strict.server, refused.oauth))).toBe("unsupported");
  });
});

describe("another authorization server", () => {
  it("A-8: tokens of the old one are gone once the change was seen, although nobody is asked and the new one is down", async () => {
    const world = await openWorld(opened);
    const clock = new FakeClock();
    const program = startProgram(opened, world, { clock });
    const { url } = world.server;
    await program.oauth.signIn(url);
    const other = await AuthorizationServer.start({ allowsRegistration: true, unixTime: () => world.time.now });
    opened.push(other);
    other.addFault({ endpoint: "metadata", kind: "status", status: 503, times: 100 });
    world.server.change({ authorizationServers: [other] });
    const seen = world.issuer.requests.length;

    const request = { url, method: "GET", httpMethod: "GET", attempt: 1, operation: {} } as const;
    const sent = await program.oauth.authorize(request);
    const challenges = [`Bearer resource_metadata="${world.server.origin}/.well-known/oauth-protected-resource/mcp"`];
    const signal = new AbortController().signal;
    expect(await program.oauth.onRefused?.({ request, status: 401, headers: {}, challenges, sent, signal })).toBe(
      false,
    );

    world.time.now += 7_200_000;
    expect(await program.oauth.authorize(request)).toBeUndefined();
    expect(await call(openClient(opened, world.server, program.oauth))).toBe("oauth_discovery_failed");
    expect(world.issuer.requests).toHaveLength(seen);
    expect(program.events.filter(({ kind }) => kind === "issuer_changed")).toMatchObject([{ issuer: other.issuer }]);
  });

  it("A-8: what was found a moment ago removes no tokens that another process got since, of another issuer", async () => {
    const world = await openWorld(opened);
    const store = memoryOAuthStore();
    const first = startProgram(opened, world, { store, openUrl: false });
    const client = openClient(opened, world.server, first.oauth);
    expect(await call(client)).toBe("sign_in_required");

    const other = await AuthorizationServer.start({ allowsRegistration: true, unixTime: () => world.time.now });
    opened.push(other);
    world.server.change({ authorizationServers: [other] });
    const second = startProgram(opened, world, { store });
    await second.oauth.signIn(world.server.url);

    await first.oauth.signIn(world.server.url).catch(() => undefined);
    expect(await second.oauth.accounts(world.server.url)).toMatchObject([{ issuer: other.issuer }]);
    expect(await call(client)).toBe("read");
  });
});
