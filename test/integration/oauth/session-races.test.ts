import { afterEach, describe, expect, it } from "vitest";
import { type CallbackReceiver, memoryOAuthStore, type OAuthStore } from "../../../src/oauth/index.js";
import { FakeClock, settle } from "../../support/fake-clock.js";
import { browse, call, openClient, openWorld, startProgram, tokenRequests } from "../../support/oauth-world.js";
import { Opened } from "../../support/opened.js";
import { latch } from "./places.js";

const opened = new Opened();
afterEach(opened.close);

/** A store whose next `put` of tokens waits; before it begins, or when it was done. */
function slowStore(): {
  readonly store: OAuthStore;
  hold(when: "before" | "after"): ReturnType<typeof latch> & { reached: boolean };
} {
  const { credentials, leases } = memoryOAuthStore();
  let held: (ReturnType<typeof latch> & { reached: boolean; when: "before" | "after" }) | undefined;
  const store: OAuthStore = {
    leases,
    credentials: {
      get: (key) => credentials.get(key),
      list: (resource) => credentials.list(resource),
      remove: (key, expected) => credentials.remove(key, expected),
      put: async (put) => {
        const mine = put.name.startsWith("tokens@") ? held : undefined;
        if (mine === undefined) return credentials.put(put);
        held = undefined;
        const early = mine.when === "after" ? await credentials.put(put) : undefined;
        mine.reached = true;
        await mine.opened;
        return early ?? credentials.put(put);
      },
    },
  };
  return {
    store,
    hold: (when) => (held = { ...latch(), reached: false, when }),
  };
}

describe("what goes on at once", () => {
  it("A-7: a sign-out while a sign-in is being stored leaves nothing there, and gives the tokens back", async () => {
    for (const when of ["before", "after"] as const) {
      const world = await openWorld(opened);
      const slow = slowStore();
      const program = startProgram(opened, world, { store: slow.store });
      const writing = slow.hold(when);
      const signing = program.oauth.signIn(world.server.url).catch((error: unknown) => error);
      while (!writing.reached) await settle();
      await program.oauth.signOut(world.server.url);
      writing.open();
      expect(await signing).toMatchObject({ code: "cancelled" });
      expect(await program.oauth.accounts(world.server.url)).toEqual([]);
      expect(world.issuer.tokens.map(({ state }) => state)).toEqual(["revoked", "revoked"]);
      expect(await call(openClient(opened, world.server, program.oauth.account("", { asks: false })))).toBe(
        "sign_in_required",
      );
    }
  });

  it("A-7: after a sign-out a person is asked again at once, although a browser was open", async () => {
    let asked = 0;
    const consent = () => ((asked += 1) === 1 ? "wait" : "approve");
    const world = await openWorld(opened, { issuer: { consent } });
    const program = startProgram(opened, world);
    const client = openClient(opened, world.server, program.oauth);
    const calling = call(client);
    while (world.issuer.requests.every(({ endpoint }) => endpoint !== "authorize")) await settle();
    await program.oauth.signOut(world.server.url);
    expect(await calling).toBe("cancelled");
    expect(await call(client)).toBe("read");
  });

  it("A-7: a sign-in right after one that was given up does not end with it", async () => {
    let asked = 0;
    const consent = () => ((asked += 1) === 1 ? "wait" : "approve");
    const world = await openWorld(opened, { issuer: { consent } });
    const program = startProgram(opened, world);
    const abort = new AbortController();
    const { signal } = abort;
    const first = program.oauth.signIn(world.server.url, { signal }).catch((error: unknown) => error);
    while (world.issuer.requests.every(({ endpoint }) => endpoint !== "authorize")) await settle();
    abort.abort("given up");
    expect(await first).toBe("given up");
    // The listener of the first is not closed yet.
    expect(await program.oauth.signIn(world.server.url)).toMatchObject({ account: "" });
  });

  it("A-5: what shows the URL may wait for the browser, and may never end", async () => {
    const world = await openWorld(opened);
    const clock = new FakeClock();
    const never = new Promise<void>(() => undefined);
    const urls: string[] = [];
    const openUrl = (url: string): Promise<void> => {
      urls.push(url);
      void browse(url);
      return never;
    };
    const program = startProgram(opened, world, { openUrl, clock, signInTimeoutMs: 1_000 });
    expect(await program.oauth.signIn(world.server.url)).toMatchObject({ account: "" });

    world.issuer.consent = "wait";
    const signing = program.oauth.signIn(world.server.url).catch((error: unknown) => error);
    while (urls.length < 2) await settle();
    await clock.advance(1_000);
    expect(await signing).toMatchObject({ code: "timeout" });
  });

  it("A-5: a receiver that never opens is waited for as long as a person, and closed when it does", async () => {
    const world = await openWorld(opened);
    const clock = new FakeClock();
    const [opening, asked] = [latch(), latch()];
    const closed: string[] = [];
    const callback: CallbackReceiver = {
      redirectUris: [],
      open: async () => {
        asked.open();
        await opening.opened;
        return {
          redirectUri: "https://app.test/callback",
          wait: () => new Promise<URL>(() => undefined),
          close: async (outcome) => void closed.push(outcome),
        };
      },
    };
    const program = startProgram(opened, world, { callback, clock, signInTimeoutMs: 1_000 });
    const signing = program.oauth.signIn(world.server.url).catch((error: unknown) => error);
    await asked.opened;
    await clock.advance(1_000);
    expect(await signing).toMatchObject({ code: "timeout" });
    opening.open();
    await settle();
    expect(closed).toEqual(["failed"]);
  });

  it("A-8: five operations that want a scope each get it, whoever is asked first", async () => {
    const names = ["a", "b", "c", "d", "e"];
    const requiredScopes = Object.fromEntries(names.map((name) => [`tools/call ${name}`, [name]]));
    const world = await openWorld(opened, { server: { challengeScopes: ["read"], requiredScopes } });
    const program = startProgram(opened, world);
    await program.oauth.signIn(world.server.url, { scopes: ["read"] });
    const before = latch();
    world.issuer.consent = () => before.opened.then(() => "approve");
    const clients = names.map(() => openClient(opened, world.server, program.oauth));
    const refused = () => world.server.accesses.filter(({ outcome }) => outcome === "refused").length;
    const calls = clients.map((client, index) => client.callTool({ name: names[index] ?? "", arguments: {} }));
    const ended = Promise.all(calls.map((each) => each.then(() => "done").catch((error: unknown) => codeOf(error))));
    while (refused() < names.length) await settle();
    before.open();
    // The tools are not there: what counts is that the server let them pass.
    expect(await ended).not.toContain("token_refused");
    const scopes = new Set(new URL(program.visits.at(-1) ?? "").searchParams.get("scope")?.split(" "));
    expect(scopes).toEqual(new Set(["read", ...names]));
    expect(program.visits.length).toBeLessThanOrEqual(1 + names.length);
  });

  it("A-8: an operation for which a person was asked twice at once asks three times in all", async () => {
    const world = await openWorld(opened, {
      server: {
        challengeScopes: ["read"],
        requiredScopes: { "tools/call write": ["write"], "*": ["read"] },
      },
    });
    const program = startProgram(opened, world);
    await program.oauth.signIn(world.server.url);
    await program.oauth.signOut(world.server.url);
    const visits = program.visits.length;
    // The registration is not known any more at each first attempt: each authorization takes two.
    world.issuer.addFault({ endpoint: "token", kind: "error", error: "invalid_client" });
    const fault = (): void => {
      world.issuer.addFault({ endpoint: "token", kind: "error", error: "invalid_client" });
    };
    world.server.change({
      rewrite: (answer) => {
        if (answer.status === 403) fault();
        return answer;
      },
    });
    expect(await call(openClient(opened, world.server, program.oauth), "write")).toBe("oauth_refused");
    expect(program.visits.length - visits).toBe(3);
  });

  it("A-6: a token that is over as soon as it is issued costs one refresh for each request, and not two", async () => {
    const world = await openWorld(opened, {
      issuer: {
        rewrite: ({ body, ...answer }) => ({
          ...answer,
          body: typeof body === "object" && "access_token" in body ? { ...body, expires_in: 0 } : body,
        }),
      },
    });
    const program = startProgram(opened, world);
    await program.oauth.signIn(world.server.url);
    world.time.now += 1_000;
    expect(await call(openClient(opened, world.server, program.oauth))).toBe("read");
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(1);
  });

  it("A-7: accounts that are being worked for are not closed to make room", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    const looking = latch();
    world.server.change({
      rewrite: async (answer) => {
        if (answer.status === 200) await looking.opened;
        return answer;
      },
    });
    const calling = call(openClient(opened, world.server, program.oauth.account("first")));
    while (world.server.accesses.length < 2) await settle();
    const request = { url: world.server.url, method: "x", httpMethod: "POST", attempt: 1, operation: {} } as const;
    for (let each = 0; each < 300; each += 1) await program.oauth.account(String(each)).authorize(request);
    looking.open();
    expect(await calling).toBe("read");
  });

  it("A-11: a resource's metadata have a minute in all, and a call waits no longer than its own deadline", async () => {
    const world = await openWorld(opened);
    const clock = new FakeClock();
    const program = startProgram(opened, world, { clock });
    world.server.change({ rewrite: (answer) => (answer.status === 401 ? answer : new Promise(() => undefined)) });
    const abort = new AbortController();
    const client = openClient(opened, world.server, program.oauth);
    const waiting = call(client, "read", abort.signal);
    while (world.server.accesses.length < 2) await settle();
    abort.abort(new Error("given up"));
    expect(await waiting).toContain("given up");
    const signing = program.oauth.signIn(world.server.url).catch((error: unknown) => error);
    await clock.advance(60_000);
    expect(await signing).toMatchObject({ code: "timeout" });
    expect(clock.pending).toBe(0);
  });
});

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : String(error);
}
