import { afterEach, describe, expect, it } from "vitest";
import { Opened } from "../../support/opened.js";
import { agentOf } from "./host-parties.js";
import { callbackOf, tokenRequests } from "../../support/oauth-world.js";
import { becomes, declared, openHost, serverParty, statesOf, worldOf } from "./server-oauth-parties.js";

const opened = new Opened();
afterEach(opened.close);

const REQUIRED = { docs: "authorization_required" };
const READY = { docs: "ready" };

describe("H-8, A-8: a registered server that wants OAuth", () => {
  it.each(["modern", "legacy"] as const)(
    "H-8: of the %s era waits for a sign-in, is published at once after it, and is called by agents",
    async (era) => {
      const { host, visits, world } = await serverParty(opened, await worldOf(opened, era));
      await becomes(host, REQUIRED);
      const agent = agentOf(host);
      expect((await agent.call("docs_read")).error).toBeDefined();
      await becomes(host, REQUIRED);
      expect(visits).toEqual([]);
      expect(world.issuer.requests.filter(({ endpoint }) => endpoint === "register")).toEqual([]);
      const signedIn = await host.connectors.accounts.signIn("docs");
      expect(signedIn).toMatchObject({ endpoint: world.server.url, account: "", issuer: world.issuer.issuer });
      expect(visits).toHaveLength(1);
      await becomes(host, READY);
      expect((await agent.list()).names).toEqual(["docs_read", "docs_write"]);
      expect((await agent.call("docs_read", { n: 1 })).result).toMatchObject({ content: [{ text: '{"n":1}' }] });
      expect(await host.connectors.accounts.signedIn("docs")).toEqual(signedIn);
    },
  );

  it("H-8: stays authorization_required however often it was tried, and a sign-in does not wait for the next try", async () => {
    const { host } = await serverParty(opened, await worldOf(opened, "modern"));
    const agent = agentOf(host);
    // A call has it tried: more often than the budget of failures lasts.
    for (let tries = 0; tries < 9; tries += 1) {
      await becomes(host, REQUIRED);
      const { error } = await agent.call("docs_read");
      expect(error?.data).toMatchObject({ "sh.tutti/delivery": { delivery: "not_sent" } });
    }
    // Longer than any pause before it was parked.
    const pause = async () => ((await host.status())[0]?.nextAttemptAt ?? 0) - Date.now();
    await expect.poll(pause, { timeout: 5_000 }).toBeGreaterThan(100_000);
    expect(await statesOf(host)).toEqual(REQUIRED);
    await host.connectors.accounts.signIn("docs");
    await becomes(host, READY);
  });

  it("A-5: a sign-in asks for the scopes that the server's challenge named, and for those of the settings", async () => {
    const world = await worldOf(opened, "modern", {
      server: { challengeScopes: ["mcp"], requiredScopes: { "*": ["mcp"] } },
    });
    const registrations = [declared(world.server.url, { oauth: { scopes: ["extra"] } })];
    const { host, visits } = await serverParty(opened, world, { registrations });
    await becomes(host, REQUIRED);
    await host.connectors.accounts.signIn("docs");
    expect(new URL(visits[0] ?? "").searchParams.get("scope")?.split(" ").sort()).toEqual(["extra", "mcp"]);
    await becomes(host, READY);
  });

  it("A-8: a server that lists nothing without more scope is authorization_required, and named scopes open it", async () => {
    const world = await worldOf(opened, "modern", { server: { requiredScopes: { "tools/list": ["list"] } } });
    const { host, visits } = await serverParty(opened, world);
    await becomes(host, REQUIRED);
    await host.connectors.accounts.signIn("docs");
    await expect
      .poll(async () => [
        visits.length,
        await statesOf(host),
        world.server.accesses.some(({ status }) => status === 403),
      ])
      .toEqual([1, REQUIRED, true]);
    await host.connectors.accounts.signIn("docs");
    await becomes(host, READY);
  });

  it("A-5: whoever shows the URL by themselves ends it with the callback, and it is published", async () => {
    const { host, visits } = await serverParty(opened, await worldOf(opened, "modern"));
    await becomes(host, REQUIRED);
    const redirectUri = "http://127.0.0.1:9/callback";
    const cancelled = await host.connectors.accounts.startSignIn("docs", redirectUri);
    cancelled.cancel();
    await expect(cancelled.finish(await callbackOf(cancelled.url))).rejects.toMatchObject({ code: "cancelled" });
    expect(await statesOf(host)).toEqual(REQUIRED);
    const started = await host.connectors.accounts.startSignIn("docs", redirectUri);
    expect(await started.finish(await callbackOf(started.url))).toMatchObject({ account: "" });
    await becomes(host, READY);
    expect(visits).toEqual([]);
  });

  it("A-8: a person who does not agree gets a typed error, and the server stays as it is", async () => {
    const { host, world } = await serverParty(opened, await worldOf(opened, "modern"));
    await becomes(host, REQUIRED);
    world.issuer.consent = "deny";
    await expect(host.connectors.accounts.signIn("docs")).rejects.toMatchObject({
      code: "oauth_refused",
      details: { step: "authorization", errorCode: "access_denied" },
    });
    expect(await statesOf(host)).toEqual(REQUIRED);
    world.issuer.consent = "approve";
    await host.connectors.accounts.signIn("docs");
    await becomes(host, READY);
  });

  it("H-8: closing the host ends a sign-in that waits for a person, and there is none afterwards", async () => {
    const { host, visits, world } = await serverParty(opened, await worldOf(opened, "modern"));
    world.issuer.consent = "wait";
    const closed = host.connectors.accounts.signIn("docs").catch((error: unknown) => error);
    await expect.poll(() => visits.length).toBe(1);
    await host.close();
    expect(await closed).toMatchObject({ code: "cancelled", details: { reason: "host_closed" } });
    await expect(host.connectors.accounts.signIn("docs")).rejects.toMatchObject({ code: "cancelled" });
  });

  it("H-8: a signal ends a sign-in that waits for a person", async () => {
    const { host, visits, world } = await serverParty(opened, await worldOf(opened, "modern"));
    world.issuer.consent = "wait";
    const leaving = new AbortController();
    const left = host.connectors.accounts.signIn("docs", { signal: leaving.signal }).catch((error: unknown) => error);
    await expect.poll(() => visits.length).toBe(1);
    leaving.abort(new Error("left"));
    expect(await left).toMatchObject({ message: "left" });
    await becomes(host, REQUIRED);
  });
});

describe("H-8: what is not signed in to by OAuth", () => {
  it("H-8, A-11: is refused, and gets no token", async () => {
    const world = await worldOf(opened, "modern");
    const { url } = world.server;
    const headers = { authorization: ["Bearer ", { env: "TOKEN" }] };
    const registrations = [
      declared(url, { oauth: false }, "refused"),
      declared(url, { headers }, "header"),
      declared(url, {}, "own"),
      declared(url),
    ];
    const { host } = await serverParty(opened, world, {
      registrations,
      environment: { read: (name) => (name === "TOKEN" ? "of-mine" : undefined) },
      authorizeServer: ({ slug }) => (slug === "own" ? () => ({ Authorization: "Bearer of-the-host" }) : undefined),
    });
    await host.connectors.accounts.signIn("docs");
    const required = "authorization_required";
    await becomes(host, { docs: "ready", header: required, own: required, refused: required });
    for (const slug of ["refused", "header", "own"]) {
      const { accounts } = host.connectors;
      const refused = { code: "invalid_argument", details: { argument: "slug" } };
      await expect(accounts.signIn(slug)).rejects.toMatchObject(refused);
      await expect(accounts.startSignIn(slug, "http://127.0.0.1:9/")).rejects.toMatchObject(refused);
      await expect(accounts.signOut(slug)).rejects.toMatchObject(refused);
      await expect(accounts.signedIn(slug)).rejects.toMatchObject(refused);
    }
    await becomes(host, { docs: "ready", header: required, own: required, refused: required });
    const sent = new Set(world.server.accesses.map(({ authorization }) => authorization?.slice(0, 18)));
    expect(sent).toContain("Bearer of-mine");
    expect(sent).toContain("Bearer of-the-host");
    expect(tokenRequests(world.issuer, "authorization_code")).toHaveLength(1);
  });

  it("H-8: neither is anything without oauth, a key that there is not, nor a release", async () => {
    const world = await worldOf(opened, "modern");
    const host = await openHost(opened, undefined, { registrations: [declared(world.server.url)] });
    await becomes(host, REQUIRED);
    await expect(host.connectors.accounts.signIn("docs")).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(host.connectors.accounts.signIn("none")).rejects.toMatchObject({
      code: "unknown_connector",
      details: { connectorKey: "none" },
    });
    await expect(host.connectors.accounts.signIn("docs", JSON.parse('{"scope":[]}'))).rejects.toMatchObject({
      code: "invalid_options",
    });
  });
});
