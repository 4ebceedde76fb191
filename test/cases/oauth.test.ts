import { once } from "node:events";
import { createServer, type LookupFunction } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { memoryOAuthStore, type OAuthOptions } from "../../src/oauth/index.js";
import { answerBody, answerStatus, AuthorizationServer, type Protection } from "../../src/testing/index.js";
import { call, openClient, openWorld, startProgram, tokenRequests } from "../support/oauth-world.js";
import { Opened } from "../support/opened.js";

const opened = new Opened();
afterEach(opened.close);

const HOUR_MS = 3_600_000;

/** Where the authorization server was asked, in order. */
function asked({ requests }: AuthorizationServer): readonly string[] {
  return requests.map(({ endpoint }) => endpoint);
}

describe("discovery", () => {
  it("MB-078: a resource that is the endpoint's origin is refused", async () => {
    const parent = await openWorld(opened);
    parent.server.change({ resource: parent.server.origin });
    const { oauth } = startProgram(opened, parent);
    expect(await call(openClient(opened, parent.server, oauth))).toBe("read");
    expect(parent.issuer.tokens[0]?.resources).toEqual([parent.server.origin]);

    const world = await openWorld(opened);
    for (const resource of [world.server.url.slice(0, -1), "https://other.test/mcp"]) {
      world.server.change({ resource });
      const stranger = startProgram(opened, world);
      expect(await call(openClient(opened, world.server, stranger.oauth))).toBe("oauth_invalid");
    }
    expect(world.issuer.requests).toEqual([]);
  });

  it("MB-079: of two resources on one origin the wrong one is used", async () => {
    // What the root says would do for the endpoint as well, and is another server's.
    const other = await AuthorizationServer.start({ allowsRegistration: true });
    opened.push(other);
    for (const namesMetadata of [true, false]) {
      const world = await openWorld(opened);
      const { origin } = world.server;
      const ofRoot = JSON.stringify({ resource: origin, authorization_servers: [other.issuer] });
      const otherPaths: Protection["otherPaths"] = ({ path }) =>
        path === "/.well-known/oauth-protected-resource" ? answerBody(ofRoot) : answerStatus(404);
      world.server.change({ metadataAt: ["path"], namesMetadata, otherPaths });
      const { oauth } = startProgram(opened, world);
      expect(await call(openClient(opened, world.server, oauth))).toBe("read");
      expect(world.issuer.tokens[0]?.resources).toEqual([world.server.url]);
      expect(world.server.accesses.filter(({ outcome }) => outcome === "metadata")).toHaveLength(1);
    }
    expect(other.requests).toEqual([]);
  });

  it("MB-081: an authorization server with nothing but an OpenID configuration is not found", async () => {
    const world = await openWorld(opened, { issuer: { issuerPath: "/tenant1", metadataAt: ["openid_appended"] } });
    const { oauth } = startProgram(opened, world);
    expect(await call(openClient(opened, world.server, oauth))).toBe("read");
  });

  it("MB-083: a challenge that is not written in the simplest way is not understood", async () => {
    const world = await openWorld(opened, { server: { namesMetadata: false, metadataAt: ["/elsewhere"] } });
    const at = `${world.server.origin}/elsewhere`;
    const challenges = [
      `Negotiate, Basic realm="a, b", bearer Resource_Metadata = "u1", error="invalid_token", resource_metadata="${at}"`,
      `Basic realm="resource_metadata=\\"https://trap.test/\\"", BEARER realm="x" , resource_metadata = "${at}"`,
      `Negotiate YWJj=, DPoP algs="ES256", resource_metadata="${at}"`,
    ];
    for (const challenge of challenges) {
      world.server.change({
        rewrite: (answer) =>
          answer.status === 401 ? { ...answer, headers: { "WWW-Authenticate": challenge } } : answer,
      });
      const { oauth, visits } = startProgram(opened, world);
      expect(await call(openClient(opened, world.server, oauth)), challenge).toBe("read");
      expect(visits).toHaveLength(1);
    }
  });
});

describe("registration", () => {
  it("MB-084: a client's URL is its id although the server does not support that", async () => {
    const world = await openWorld(opened, { issuer: { metadata: { client_id_metadata_document_supported: false } } });
    const identity = { metadataDocument: "https://client.test/metadata.json" };
    const { oauth, visits } = startProgram(opened, world, { identity });
    expect(await call(openClient(opened, world.server, oauth))).toBe("read");
    expect(new URL(visits[0] ?? "").searchParams.get("client_id")).toBe(world.issuer.clients[0]?.clientId);
  });

  it("MB-086: a registration of before the authorization server was moved is used for ever", async () => {
    const world = await openWorld(opened);
    const store = memoryOAuthStore();
    const before = startProgram(opened, world, { store });
    expect(await call(openClient(opened, world.server, before.oauth))).toBe("read");
    const moved = await AuthorizationServer.start({ allowsRegistration: true, unixTime: () => world.time.now });
    opened.push(moved);
    world.server.change({ authorizationServers: [moved] });
    const old = world.issuer.clients[0]?.clientId;

    const after = startProgram(opened, world, { store });
    expect(await call(openClient(opened, world.server, after.oauth))).toBe("read");
    expect(asked(moved).filter((endpoint) => endpoint === "register")).toHaveLength(1);
    expect(JSON.stringify(moved.requests)).not.toContain(old);

    // The same issuer that has forgotten its clients.
    moved.forgetClient(moved.clients[0]?.clientId ?? "");
    moved.expireNow(moved.tokens[0]?.token ?? "");
    expect(await call(openClient(opened, world.server, after.oauth))).toBe("read");
    expect(asked(moved).filter((endpoint) => endpoint === "register")).toHaveLength(2);
  });

  it("MB-088: a client that was registered for Basic sends its secret in the body", async () => {
    const secret = "a b+c:d%/é*";
    const known = { clientId: "id with:colon", clientSecret: secret, redirectUris: ["http://127.0.0.1:8123/cb"] };
    for (const metadata of [{}, { token_endpoint_auth_methods_supported: undefined }]) {
      const world = await openWorld(opened, {
        issuer: {
          clients: [{ ...known, authentication: "client_secret_basic" }],
          authenticationMethods: ["client_secret_basic"],
          metadata,
        },
      });
      const { clientId, clientSecret } = known;
      const identity = { preRegistered: [{ clientId, clientSecret, redirectUris: known.redirectUris }] };
      const { oauth } = startProgram(opened, world, { identity });
      expect(await call(openClient(opened, world.server, oauth))).toBe("read");
      const [code] = tokenRequests(world.issuer, "authorization_code");
      expect(code).not.toHaveProperty("client_secret");
    }
  });
});

describe("security", () => {
  it("MB-089: what metadata name leads to addresses inside", async () => {
    const lookup = lookupOf({ "mapped.test": "::ffff:10.0.0.1", "inside.test": "10.0.0.1", "mcp.test": "127.0.0.1" });
    const hostile = [
      "https://169.254.169.254/",
      "https://[::ffff:10.0.0.1]/",
      "https://10.0.0.1/",
      "https://mapped.test/",
      "https://inside.test/",
      "http://169.254.169.254/",
      "http://inside.test/",
      "file:///etc/passwd",
      "javascript:alert(1)",
    ];
    const world = await openWorld(opened);
    for (const issuer of hostile) {
      world.server.change({ metadata: { authorization_servers: [issuer] } });
      const { oauth, visits } = startProgram(opened, world, { transport: { lookup } });
      const error = await oauth.signIn(world.server.url).catch((reason: unknown) => reason);
      const code = expect.stringMatching(/^(connect_failed|invalid_url|oauth_invalid)$/);
      expect(error, issuer).toMatchObject({ code });
      expect(visits, issuer).toEqual([]);
    }

    // A redirect leads no further, and a token endpoint's nowhere at all.
    world.server.change({ metadata: {} });
    for (const endpoint of ["metadata", "token"] as const) {
      world.issuer.addFault({ endpoint, kind: "status", status: 307, headers: { Location: "http://10.0.0.1/" } });
      const { oauth } = startProgram(opened, world);
      await expect(oauth.signIn(world.server.url), endpoint).rejects.toMatchObject({ code: "redirect_refused" });
    }

    // Loopback is for an endpoint on loopback: a name elsewhere that stands for it reaches nothing.
    let connections = 0;
    const inside = createServer().on("connection", () => (connections += 1));
    inside.listen(0, "127.0.0.1");
    await once(inside, "listening");
    opened.push(inside);
    const address = inside.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { oauth } = startProgram(opened, world, { transport: { lookup } });
    await expect(oauth.signIn(`https://mcp.test:${String(port)}/mcp`)).rejects.toMatchObject({
      code: "connect_failed",
      details: { lasting: true },
    });
    expect(connections).toBe(0);
  });

  it("MB-091: the token of one server goes to another that has its name", async () => {
    const world = await openWorld(opened);
    const other = await openWorld(opened);
    const store = memoryOAuthStore();
    const first = startProgram(opened, world, { store });
    // The program's own name for both.
    expect(await call(openClient(opened, world.server, first.oauth.account("mine")))).toBe("read");

    const second = startProgram(opened, other, { store, openUrl: false });
    expect(await call(openClient(opened, other.server, second.oauth.account("mine")))).toBe("sign_in_required");
    expect(other.server.accesses.flatMap(({ authorization }) => authorization ?? [])).toEqual([]);

    // The same server, whose tokens are another issuer's by now.
    const issuer = await AuthorizationServer.start({ allowsRegistration: true, unixTime: () => world.time.now });
    opened.push(issuer);
    world.server.change({ authorizationServers: [issuer] });
    const third = startProgram(opened, world, { store });
    const client = openClient(opened, world.server, third.oauth.account("mine"));
    expect(await call(client)).toBe("read");
    const [refresh] = world.issuer.tokens.filter(({ kind }) => kind === "refresh");
    expect(JSON.stringify(issuer.requests)).not.toContain(refresh?.token);
  });
});

describe("tokens", () => {
  it("MB-093: who lost a refresh removes the winner's token", async () => {
    const world = await openWorld(opened);
    const store = memoryOAuthStore();
    const a = startProgram(opened, world, { store });
    const b = startProgram(opened, world, { store, openUrl: false });
    const ofA = openClient(opened, world.server, a.oauth);
    const ofB = openClient(opened, world.server, b.oauth);
    expect(await call(ofA)).toBe("read");
    expect(await call(ofB)).toBe("read");
    world.issuer.expireNow(world.issuer.tokens[0]?.token ?? "");

    // Each has the old one in memory.
    expect(await call(ofA)).toBe("read");
    expect(await call(ofB)).toBe("read");

    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(1);
    expect(await a.oauth.accounts(world.server.url)).toHaveLength(1);
    expect(await call(ofA)).toBe("read");
    expect(a.visits).toHaveLength(1);
  });

  it("MB-094: a server that refuses every token is authorized for without end", async () => {
    const world = await openWorld(opened);
    const { oauth, visits } = startProgram(opened, world);
    const client = openClient(opened, world.server, oauth);
    expect(await call(client)).toBe("read");
    world.server.refuseNext(Infinity);
    expect(await call(client)).toBe("token_refused");
    expect(visits).toHaveLength(2);
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(1);
  });

  it("MB-096: more scope is asked for by a refresh, which brings the same", async () => {
    const server = { challengeScopes: ["r"], requiredScopes: { "*": ["r"], "tools/call write": ["w"] } };
    const world = await openWorld(opened, { server });
    const store = memoryOAuthStore();
    const { oauth, visits } = startProgram(opened, world, { store });
    expect(await call(openClient(opened, world.server, oauth))).toBe("read");

    const alone = startProgram(opened, world, { store, openUrl: false });
    const client = openClient(opened, world.server, alone.oauth);
    const error = await client.callTool({ name: "write", arguments: {} }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "sign_in_required",
      details: { reason: "insufficient_scope", scopes: ["r", "w"] },
    });

    expect(await call(openClient(opened, world.server, oauth), "write")).toBe("write");
    expect(new URL(visits[1] ?? "").searchParams.get("scope")).toBe("r w");
    expect(tokenRequests(world.issuer, "refresh_token")).toEqual([]);
  });

  it("MB-098: a refresh token that is dead is kept, or a registration is lost by what passes", async () => {
    const world = await openWorld(opened);
    const store = memoryOAuthStore();
    const { oauth, visits } = startProgram(opened, world, { store });
    const client = openClient(opened, world.server, oauth);
    expect(await call(client)).toBe("read");
    for (const { token } of world.issuer.tokens) world.issuer.revoke(token);
    expect(await call(client)).toBe("read");
    expect(visits).toHaveLength(2);
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(1);

    // The next start finds the new ones, and the client that was there.
    const again = startProgram(opened, world, { store });
    expect(await call(openClient(opened, world.server, again.oauth))).toBe("read");
    expect(again.visits).toEqual([]);
    expect(world.issuer.clients).toHaveLength(1);

    // A failure that passes keeps both.
    world.time.now += 2 * HOUR_MS;
    world.issuer.addFault({ endpoint: "token", kind: "status", status: 503 });
    expect(await call(client)).toBe("read");
    expect(visits).toHaveLength(2);
    expect(world.issuer.clients).toHaveLength(1);

    // A client that is not known is registered once more, and no more.
    world.issuer.expireNow(world.issuer.tokens.at(-2)?.token ?? "");
    world.issuer.addFault({ endpoint: "token", kind: "error", error: "invalid_client" });
    expect(await call(client)).toBe("read");
    expect(world.issuer.clients).toHaveLength(2);
  });

  it("MB-099: a refresh without a person needs a redirect URL, or another registration", async () => {
    const world = await openWorld(opened);
    const store = memoryOAuthStore();
    const { oauth } = startProgram(opened, world, { store });
    await oauth.signIn(world.server.url);
    world.time.now += 2 * HOUR_MS;

    const headless = startProgram(opened, world, { store, openUrl: false, callback: noCallback() });
    expect(await call(openClient(opened, world.server, headless.oauth))).toBe("read");
    expect(world.issuer.clients).toHaveLength(1);
    expect(asked(world.issuer).filter((endpoint) => endpoint === "register")).toHaveLength(1);
  });

  it("MB-101: a token answer that is a little odd is refused, or believed too far", async () => {
    const cases: readonly [Readonly<Record<string, unknown>>, number | undefined][] = [
      [{ expires_in: "4200" }, 4_200_000],
      [{ expires_in: 0 }, 0],
      [{ expires_in: -5 }, 0],
      [{ expires_in: "90s" }, undefined],
      [{ expires_in: undefined, token_type: "BEARER", scope: null }, undefined],
    ];
    const world = await openWorld(opened);
    for (const [oddity, lifeMs] of cases) {
      world.issuer.change({
        rewrite: (answer, { endpoint }) =>
          endpoint === "token" && isObject(answer.body) ? { ...answer, body: { ...answer.body, ...oddity } } : answer,
      });
      const { oauth } = startProgram(opened, world);
      const { expiresAt } = await oauth.signIn(world.server.url);
      if (lifeMs === undefined) expect(expiresAt, JSON.stringify(oddity)).toBeUndefined();
      else expect((expiresAt ?? Infinity) - world.time.now, JSON.stringify(oddity)).toBeLessThanOrEqual(lifeMs);
      if (lifeMs !== 0) expect(await call(openClient(opened, world.server, oauth))).toBe("read");
    }

    // One without a token is no answer, and takes nothing away.
    world.issuer.change({ rewrite: (answer) => answer });
    const { oauth } = startProgram(opened, world);
    await oauth.signIn(world.server.url);
    const before = await oauth.accounts(world.server.url);
    world.issuer.change({
      rewrite: (answer, { endpoint }) =>
        endpoint === "token" && isObject(answer.body)
          ? { ...answer, body: { ...answer.body, access_token: undefined } }
          : answer,
    });
    await expect(oauth.signIn(world.server.url)).rejects.toMatchObject({ code: "oauth_invalid" });
    expect(await oauth.accounts(world.server.url)).toEqual(before);
  });
});

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** A receiver that must not be asked. */
function noCallback(): OAuthOptions["callback"] {
  return {
    redirectUris: [],
    open: () => Promise.reject(new Error("Nobody may be waited for.")),
  };
}

/** Names with one address each; what is not among them is not found. */
function lookupOf(names: Readonly<Record<string, string>>): LookupFunction {
  return (hostname, options, callback) => {
    const address = names[hostname];
    if (address === undefined) {
      callback(Object.assign(new Error("There is no such name."), { code: "ENOTFOUND" }), "");
      return;
    }
    const family = address.includes(":") ? 6 : 4;
    if (options.all === true) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
}
