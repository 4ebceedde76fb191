import { afterEach, describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { AuthorizationServer } from "../../../src/testing/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import { call, openClient, openWorld, startProgram, tokenRequests } from "../../support/oauth-world.js";
import { Opened } from "../../support/opened.js";

const opened = new Opened();
afterEach(opened.close);

function kinds({ events }: { readonly events: readonly { readonly kind: string }[] }): readonly string[] {
  return events.map(({ kind }) => kind);
}

describe("what a refusal comes to", () => {
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
