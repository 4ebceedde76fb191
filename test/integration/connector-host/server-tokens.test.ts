import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openVaultKey, sealedStore } from "../../../src/oauth/index.js";
import { openSharedStore } from "../../../src/store/index.js";
import { likeModernServer, ProtectedServer } from "../../../src/testing/index.js";
import { startProgram, tokenRequests } from "../../support/oauth-world.js";
import { Opened } from "../../support/opened.js";
import { agentOf } from "./host-parties.js";
import {
  becomes,
  declared,
  openHost,
  type ServerParty,
  serverParty,
  stateFolder,
  statesOf,
  TOOLS,
  worldOf,
} from "./server-oauth-parties.js";

const opened = new Opened();
afterEach(opened.close);

const REQUIRED = { docs: "authorization_required" };
const READY = { docs: "ready" };
const HOUR = 3_600_000;

/** A party whose server is signed in to and published, and what was published of it since. */
async function signedIn(party: ServerParty) {
  const published: string[] = [];
  await party.host.connectors.accounts.signIn("docs");
  await becomes(party.host, READY);
  party.host.onPublication(({ kind, connectorKey }) => published.push(`${kind} ${connectorKey}`));
  return { ...party, agent: agentOf(party.host), published };
}

describe("A-7: a token that ends while the host runs", () => {
  it.each(["modern", "legacy"] as const)(
    "A-7: is refreshed, before it expires and when the server says so, and the agent sees nothing (%s)",
    async (era) => {
      const party = await serverParty(opened, await worldOf(opened, era));
      const { agent, published, world } = await signedIn(party);
      world.time.now += HOUR;
      expect((await agent.call("docs_read")).result).toBeDefined();
      expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(1);
      for (const { kind, token } of world.issuer.tokens) if (kind === "access") world.issuer.expireNow(token);
      expect((await agent.call("docs_read")).result).toBeDefined();
      expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(2);
      expect(published).toEqual([]);
      expect(party.visits).toHaveLength(1);
    },
  );

  it("A-7: in the midst of a call ends no call, and the next one is refreshed", async () => {
    const world = await worldOf(opened, "modern");
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    let arrived = (): void => undefined;
    const began = new Promise<void>((resolve) => (arrived = resolve));
    const run = async () => {
      arrived();
      await held;
      return { content: [{ type: "text", text: "late" }] };
    };
    const tools = likeModernServer({ tools: [{ name: "slow", run }, { name: "read" }] });
    const unixTime = () => world.time.now;
    const server = await ProtectedServer.start(tools, { authorizationServers: [world.issuer], unixTime });
    opened.push(server);
    const { agent, published } = await signedIn(await serverParty(opened, { ...world, server }));
    const slow = agent.call("docs_slow");
    await began;
    world.time.now += HOUR;
    expect((await agent.call("docs_read")).result).toBeDefined();
    go();
    expect((await slow).result).toMatchObject({ content: [{ text: "late" }] });
    expect(published).toEqual([]);
  });

  it("A-8: and was revoked takes the route with it, says so, and a new sign-in brings it back", async () => {
    const { agent, host, published, world } = await signedIn(
      await serverParty(opened, await worldOf(opened, "modern")),
    );
    for (const { token } of world.issuer.tokens) world.issuer.revoke(token);
    const { error } = await agent.call("docs_read");
    expect(error?.data).toMatchObject({
      "sh.tutti/delivery": { code: "sign_in_required", reason: "refresh_refused", scopes: [] },
    });
    expect(published).toEqual(["withdrawn docs"]);
    await becomes(host, REQUIRED);
    expect((await agent.call("docs_read")).error?.data).toMatchObject({
      "sh.tutti/delivery": { code: "route_unavailable", delivery: "not_sent", state: "authorization_required" },
    });
    await host.connectors.accounts.signIn("docs");
    await becomes(host, READY);
    expect((await agent.call("docs_read")).result).toBeDefined();
  });
});

it("A-8: a server that refuses good tokens is asked for no more than one other, and is authorization_required", async () => {
  const { agent, host, visits, world } = await signedIn(await serverParty(opened, await worldOf(opened, "modern")));
  world.server.refuseNext(Infinity);
  expect((await agent.call("docs_read")).error?.data).toMatchObject({
    "sh.tutti/delivery": { code: "sign_in_required", reason: "token_refused" },
  });
  expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(1);
  await becomes(host, REQUIRED);
  expect(visits).toHaveLength(1);
});

describe("A-8: a call that needs more scope", () => {
  it("A-8: fails with what it needs, the server stays published, and a sign-in with it helps", async () => {
    const world = await worldOf(opened, "modern", { server: { requiredScopes: { "tools/call write": ["write"] } } });
    const { agent, host, published, visits } = await signedIn(await serverParty(opened, world));
    const refused = await agent.call("docs_write");
    expect(refused.error?.data).toEqual({
      "sh.tutti/delivery": {
        code: "sign_in_required",
        delivery: "answered",
        reason: "insufficient_scope",
        scopes: ["write"],
      },
    });
    expect(refused.text).not.toContain(world.issuer.origin);
    expect((await agent.call("docs_read")).result).toBeDefined();
    expect(await statesOf(host)).toEqual(READY);
    const { scopes } = await host.connectors.accounts.signIn("docs", { scopes: ["write"] });
    expect(scopes).toEqual(["write"]);
    expect((await agent.call("docs_write")).result).toBeDefined();
    expect(published).toEqual([]);
    expect(visits).toHaveLength(2);
  });

  it("A-8: is remembered for whoever signs in, until then", async () => {
    const world = await worldOf(opened, "modern", { server: { requiredScopes: { "tools/call write": ["write"] } } });
    const { agent, host, visits } = await signedIn(await serverParty(opened, world));
    await agent.call("docs_write");
    await host.connectors.accounts.signIn("docs");
    expect(new URL(visits[1] ?? "").searchParams.get("scope")).toBe("write");
    expect((await agent.call("docs_write")).result).toBeDefined();
  });
});

describe("A-10: signing out", () => {
  it("A-10: takes the route first, then forgets and revokes the tokens, and the next sign-in brings it back", async () => {
    const { agent, host, published, world, oauth } = await signedIn(
      await serverParty(opened, await worldOf(opened, "modern")),
    );
    let accountsThen: Promise<readonly unknown[]> | undefined;
    host.onPublication(({ kind }) => {
      if (kind === "withdrawn") accountsThen ??= oauth.accounts(world.server.url);
    });
    const signingOut = host.connectors.accounts.signOut("docs");
    expect(published).toEqual(["withdrawn docs"]);
    expect(await signingOut).toBe(true);
    expect(await accountsThen).toHaveLength(1);
    expect(world.issuer.requests.filter(({ endpoint }) => endpoint === "revoke").length).toBeGreaterThan(0);
    await becomes(host, REQUIRED);
    expect((await agent.call("docs_read")).result).toBeUndefined();
    expect(await host.connectors.accounts.signedIn("docs")).toBeUndefined();
    expect(await host.connectors.accounts.signOut("docs")).toBe(false);
    await host.connectors.accounts.signIn("docs");
    await becomes(host, READY);
  });

  it("A-10: has nothing become of a server that is just being opened with the tokens", async () => {
    const world = await worldOf(opened, "modern");
    let isHeld = false;
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    const tools = likeModernServer({ tools: TOOLS });
    const server = await ProtectedServer.start(
      async (request) => {
        if (isHeld && request.method === "tools/list") await held;
        return tools(request);
      },
      { authorizationServers: [world.issuer], unixTime: () => world.time.now },
    );
    opened.push(server);
    const { host, published } = await signedIn(await serverParty(opened, { ...world, server }));
    await host.connectors.setEnabled("docs", false);
    await becomes(host, { docs: "disabled" });
    isHeld = true;
    const before = server.accesses.length;
    await host.connectors.setEnabled("docs", true);
    // It was found, and asked what it has: nothing but the answer to that is missing.
    await expect.poll(() => server.accesses.slice(before).map(({ outcome }) => outcome)).toEqual(["passed", "passed"]);
    expect(await host.connectors.accounts.signOut("docs")).toBe(true);
    go();
    await becomes(host, REQUIRED);
    expect(published).toEqual(["withdrawn docs"]);
  });

  it("A-10: a person may pause the server meanwhile, or remove it: nothing comes back by itself", async () => {
    const party = await serverParty(opened, await worldOf(opened, "modern"), { registrations: [] });
    const { host, visits, world } = party;
    const { registrations, accounts } = host.connectors;
    await registrations.create({ slug: "docs", displayName: "Docs", settings: { endpoint: world.server.url } });
    await registrations.setState("docs", "active");
    await accounts.signIn("docs");
    await becomes(host, READY);
    await registrations.setState("docs", "paused");
    await becomes(host, { docs: "disabled" });
    expect(await accounts.signOut("docs")).toBe(true);
    await becomes(host, { docs: "disabled" });
    await accounts.signIn("docs");
    await becomes(host, { docs: "disabled" });
    await registrations.setState("docs", "active");
    await becomes(host, READY);
    expect(visits).toHaveLength(2);
    world.issuer.consent = async (): Promise<"approve"> => {
      await registrations.remove("docs");
      return "approve";
    };
    await accounts.signIn("docs");
    expect(await statesOf(host)).toEqual({});
    await expect(accounts.signedIn("docs")).rejects.toMatchObject({ code: "unknown_connector" });
  });
});

describe("A-10: several accounts at one server", () => {
  it("A-10: each registration has its own tokens, and signing one out leaves the other", async () => {
    const world = await worldOf(opened, "modern");
    const { url } = world.server;
    const registrations = [declared(url, { oauth: { account: "work" } }, "work"), declared(url, {}, "home")];
    const { host, oauth } = await serverParty(opened, world, { registrations });
    const required = "authorization_required";
    await becomes(host, { home: required, work: required });
    world.issuer.change({ subject: "at-work" });
    await host.connectors.accounts.signIn("work");
    await becomes(host, { home: required, work: "ready" });
    world.issuer.change({ subject: "at-home" });
    await host.connectors.accounts.signIn("home");
    await becomes(host, { home: "ready", work: "ready" });
    expect((await oauth.accounts(url)).map(({ account }) => account)).toEqual(["", "work"]);
    const agent = agentOf(host);
    const subjectOf = async (tool: string) => {
      expect((await agent.call(tool)).result).toBeDefined();
      return world.server.accesses.at(-1)?.token?.subject;
    };
    expect(await subjectOf("work_read")).toBe("at-work");
    expect(await subjectOf("home_read")).toBe("at-home");
    expect(await host.connectors.accounts.signOut("home")).toBe(true);
    await becomes(host, { home: required, work: "ready" });
    expect(await subjectOf("work_read")).toBe("at-work");
    expect((await oauth.accounts(url)).map(({ account }) => account)).toEqual(["work"]);
  });

  it("A-10: registrations with the same account come and go together", async () => {
    const world = await worldOf(opened, "modern");
    const { url } = world.server;
    const { host } = await serverParty(opened, world, {
      registrations: [declared(url, {}, "a"), declared(url, {}, "b")],
    });
    const required = "authorization_required";
    await becomes(host, { a: required, b: required });
    await host.connectors.accounts.signIn("a");
    await becomes(host, { a: "ready", b: "ready" });
    const published: string[] = [];
    host.onPublication(({ kind, connectorKey }) => published.push(`${kind} ${connectorKey}`));
    const signingOut = host.connectors.accounts.signOut("b");
    expect(published.toSorted()).toEqual(["withdrawn a", "withdrawn b"]);
    await signingOut;
    await becomes(host, { a: required, b: required });
  });

  it("A-10, H-3: other settings of the account are another entry, which nobody is signed in to yet", async () => {
    const party = await serverParty(opened, await worldOf(opened, "modern"), { registrations: [] });
    const { host, world } = party;
    const { registrations, accounts } = host.connectors;
    const settings = { endpoint: world.server.url };
    await registrations.create({ slug: "docs", displayName: "Docs", settings });
    await registrations.setState("docs", "active");
    await accounts.signIn("docs");
    await becomes(host, READY);
    await registrations.replaceSettings("docs", { ...settings, oauth: { account: "work" } });
    await becomes(host, REQUIRED);
    await accounts.signIn("docs");
    await becomes(host, READY);
    expect(await accounts.signedIn("docs")).toMatchObject({ account: "work" });
    await registrations.replaceSettings("docs", settings);
    await becomes(host, READY);
    expect(await accounts.signedIn("docs")).toMatchObject({ account: "" });
    expect(party.visits).toHaveLength(2);
  });
});

describe("A-10: tokens on disk", () => {
  it("A-10, F-6: a host that is started again finds them, and no file holds them in the clear", async () => {
    const world = await worldOf(opened, "modern");
    const stateDirectory = await stateFolder(opened);
    const vault = await stateFolder(opened);
    const run = async () => {
      const shared = await openSharedStore({ directory: vault });
      const key = await openVaultKey({ directory: vault, keychain: "never" });
      const program = startProgram(opened, world, { store: sealedStore(shared, key) });
      const registrations = [declared(world.server.url)];
      const host = await openHost(opened, program.oauth, { stateDirectory, registrations });
      const end = async () => {
        await host.close();
        await program.oauth.close();
        key.close();
        await shared.close();
      };
      return { ...program, host, end };
    };
    const first = await run();
    await first.host.connectors.accounts.signIn("docs");
    await becomes(first.host, READY);
    await first.end();
    const second = await run();
    await becomes(second.host, READY);
    expect((await agentOf(second.host).call("docs_read")).result).toBeDefined();
    expect(second.visits).toEqual([]);
    await second.end();
    expect(world.issuer.tokens.length).toBeGreaterThan(1);
    for (const directory of [stateDirectory, vault]) {
      const entries = await readdir(directory, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      expect(files.length).toBeGreaterThan(0);
      for (const { name, parentPath } of files) {
        const bytes = await readFile(join(parentPath, name), "latin1");
        for (const { token } of world.issuer.tokens) expect(bytes.includes(token)).toBe(false);
      }
    }
  });

  it("A-10, H-3: whose account a registration names is kept over a restart, and not asked for again", async () => {
    const world = await worldOf(opened, "modern");
    const stateDirectory = await stateFolder(opened);
    const { oauth, visits } = startProgram(opened, world);
    const first = await openHost(opened, oauth, { stateDirectory });
    const settings = { endpoint: world.server.url, oauth: { account: "work" } };
    await first.connectors.registrations.create({ slug: "docs", displayName: "Docs", settings });
    await first.connectors.registrations.setState("docs", "active");
    await first.connectors.accounts.signIn("docs");
    await becomes(first, READY);
    await first.close();
    const second = await openHost(opened, oauth, { stateDirectory });
    await becomes(second, READY);
    expect(await second.connectors.accounts.signedIn("docs")).toMatchObject({ account: "work" });
    expect(visits).toHaveLength(1);
  });

  it("A-10: another process's sign-in is found by the next call", async () => {
    const world = await worldOf(opened, "modern");
    const vault = await stateFolder(opened);
    const programs = await Promise.all(
      [1, 2].map(async () => {
        const shared = await openSharedStore({ directory: vault });
        opened.push(shared);
        return startProgram(opened, world, { store: shared });
      }),
    );
    const [ours, theirs] = programs;
    const host = await openHost(opened, ours?.oauth, { registrations: [declared(world.server.url)] });
    await becomes(host, REQUIRED);
    await theirs?.oauth.signIn(world.server.url);
    await agentOf(host).call("docs_read");
    await becomes(host, READY);
  });
});
