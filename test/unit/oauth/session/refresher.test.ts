import { describe, expect, it } from "vitest";
import type { GrantRecord } from "../../../../src/oauth/grant-record.js";
import { memoryOAuthStore } from "../../../../src/oauth/index.js";
import { AccountMemory } from "../../../../src/oauth/session/account-memory.js";
import { GrantShelf, type StoredGrant } from "../../../../src/oauth/session/grant-shelf.js";
import { Refresher, type RefreshFailure, type Renewal } from "../../../../src/oauth/session/refresher.js";
import type { TokenSet } from "../../../../src/oauth/token-set.js";
import { FakeClock } from "../../../support/fake-clock.js";

const ENDPOINT = "https://mcp.test/";

function tokens(name: string): TokenSet {
  const scopes = ["read"];
  return { accessToken: name, tokenType: "Bearer", expiresAt: undefined, refreshToken: `${name} refresh`, scopes };
}

const RECORD: GrantRecord = {
  endpoint: ENDPOINT,
  resource: ENDPOINT,
  issuer: "https://as.test",
  client: {
    kind: "dynamic",
    issuer: "https://as.test",
    clientId: "client",
    clientSecret: undefined,
    secretExpiresAt: undefined,
    authMethod: "none",
    signingKey: undefined,
    redirectUris: [],
  },
  tokenEndpoint: "https://as.test/token",
  tokens: tokens("old"),
  requestedScopes: ["read"],
  refusedScopes: [],
  dpopKey: { kty: "EC" },
};

/** Two processes on one store: what the token endpoint says, and what happens meanwhile, is up to the test. */
async function open(answer: (shelf: GrantShelf, attempt: number) => Promise<TokenSet> | TokenSet) {
  const clock = new FakeClock();
  const abort = new AbortController();
  const store = memoryOAuthStore();
  const wallNow = (): number => clock.now();
  const discarded: TokenSet[] = [];
  const ended: Renewal[] = [];
  const forgotten: string[] = [];
  const used: string[] = [];
  const process = () => {
    const shelf = new GrantShelf(ENDPOINT, "", store.credentials, wallNow);
    const memory = new AccountMemory(shelf, clock);
    const refresher = new Refresher({
      shelf,
      memory,
      leases: store.leases,
      clock,
      wallNow,
      leaseMs: 1_000,
      randomBytes: (size) => new Uint8Array(size).fill((sequence += 1)),
      canRefresh: (record) => record.tokens?.refreshToken !== undefined,
      request: async (_record, refreshToken) => {
        used.push(refreshToken);
        return answer(shelf, used.length);
      },
      classify: (error) => (error === "transient" || error === "client" || error === "lasting" ? error : "other"),
      forgetClient: async ({ client }) => {
        forgotten.push(client.clientId);
        return client.kind === "dynamic";
      },
      discard: (_record, given) => discarded.push(given),
      ended: (renewal) => ended.push(renewal),
      signal: abort.signal,
    });
    return { shelf, memory, refresher };
  };
  let sequence = 0;
  const one = process();
  const written = await one.shelf.write(RECORD, undefined);
  return { abort, clock, store, discarded, ended, forgotten, used, one, two: process(), written };
}

async function current(shelf: GrantShelf): Promise<StoredGrant> {
  const grant = await shelf.read();
  if (grant === undefined) throw new Error("Nothing is stored.");
  return grant;
}

describe("Refresher", () => {
  it("A-7: whoever asks meanwhile gets the same, and the token is stored before", async () => {
    const { ended, one, used } = await open(() => tokens("new"));
    const [a, b] = await Promise.all([one.refresher.renew("old"), one.refresher.renew("old")]);
    expect(a).toBe(b);
    expect(a).toMatchObject({ kind: "renewed", by: "us" });
    expect(used).toEqual(["old refresh"]);
    expect((await current(one.shelf)).record.tokens).toEqual(tokens("new"));
    expect(one.memory.last.grant?.record.tokens).toEqual(tokens("new"));
    expect(ended).toHaveLength(1);
  });

  it("A-7: an answer without a refresh token and scopes keeps those that are there", async () => {
    const { one } = await open(() => ({ ...tokens("new"), refreshToken: undefined, scopes: undefined }));
    await one.refresher.renew("old");
    expect((await current(one.shelf)).record.tokens).toEqual({ ...tokens("new"), refreshToken: "old refresh" });
  });

  it("A-7: a second process waits for the first, and adopts what it got", async () => {
    let goOn = (): void => undefined;
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const { clock, one, two, used } = await open(() => gate.then(() => tokens("new")));
    const [a, b] = [one.refresher.renew("old"), two.refresher.renew("old")];
    // Longer than a lease lasts: it is made longer.
    await clock.advance(2_500);
    goOn();
    await clock.advance(500);
    expect(await a).toMatchObject({ kind: "renewed", by: "us" });
    expect(await b).toMatchObject({ kind: "renewed", by: "others" });
    expect(used).toEqual(["old refresh"]);
  });

  it("A-7: the lease of a process that was killed ends by itself", async () => {
    const { clock, one, store } = await open(() => tokens("new"));
    await store.leases.acquire({
      name: JSON.stringify(["oauth-refresh", ENDPOINT, ""]),
      holder: "killed",
      ttlMs: 1_000,
      now: clock.now(),
    });
    const renewing = one.refresher.renew("old");
    await clock.advance(999);
    expect(one.refresher.isBusy).toBe(true);
    await clock.advance(1);
    expect(await renewing).toMatchObject({ kind: "renewed", by: "us" });
  });

  it("A-7: others who hold the lease without end are not waited for without end", async () => {
    const { clock, one, store, used } = await open(() => tokens("new"));
    const claim = { name: JSON.stringify(["oauth-refresh", ENDPOINT, ""]), holder: "alive", ttlMs: 60_000 };
    await store.leases.acquire({ ...claim, now: clock.now() });
    const renewing = one.refresher.renew("old");
    await clock.advance(4_000);
    expect(await renewing).toMatchObject({ kind: "failed", error: { code: "timeout" } });
    expect(used).toEqual([]);
    expect((await current(one.shelf)).record.tokens).toEqual(tokens("old"));
  });

  it("A-7: a sign-out meanwhile is obeyed, and the new token given back", async () => {
    const { discarded, one } = await open(async (shelf) => {
      await shelf.remove();
      return tokens("new");
    });
    expect(await one.refresher.renew("old")).toEqual({ kind: "none" });
    expect(await one.shelf.read()).toBeUndefined();
    expect(discarded).toEqual([tokens("new")]);
  });

  it("A-7: a sign-in meanwhile is adopted, and not overwritten", async () => {
    const { one } = await open(async (shelf) => {
      await shelf.replace({ ...RECORD, tokens: tokens("signed in") });
      return tokens("new");
    });
    expect(await one.refresher.renew("old")).toMatchObject({ kind: "renewed", by: "others" });
    expect((await current(one.shelf)).record.tokens).toEqual(tokens("signed in"));
  });

  it("A-7: a rotated token is not lost to somebody who wrote the old one again, or cleared it", async () => {
    const again = await open(async (shelf) => {
      await shelf.replace({ ...RECORD, refusedScopes: ["write"] });
      return tokens("new");
    });
    expect(await again.one.refresher.renew("old")).toMatchObject({ kind: "renewed", by: "us" });
    expect((await current(again.one.shelf)).record).toMatchObject({ tokens: tokens("new"), refusedScopes: ["write"] });

    const cleared = await open(async (shelf) => {
      await shelf.replace({ ...RECORD, tokens: undefined, dpopKey: undefined });
      return tokens("new");
    });
    expect(await cleared.one.refresher.renew("old")).toMatchObject({ kind: "renewed", by: "us" });
    expect((await current(cleared.one.shelf)).record).toMatchObject({ tokens: tokens("new"), dpopKey: { kty: "EC" } });
  });

  it("A-7: a refusal clears the tokens that failed, and keeps client and scopes", async () => {
    const { one } = await open(() => Promise.reject("lasting" satisfies RefreshFailure));
    expect(await one.refresher.renew("old")).toEqual({ kind: "refused", error: "lasting" });
    const { record } = await current(one.shelf);
    expect(record).toMatchObject({ tokens: undefined, client: { clientId: "client" }, requestedScopes: ["read"] });
  });

  it("A-7: a refusal while somebody else was faster adopts their token, and clears nothing", async () => {
    const { one } = await open(async (shelf) => {
      await shelf.replace({ ...RECORD, tokens: tokens("theirs") });
      throw "lasting" satisfies RefreshFailure;
    });
    expect(await one.refresher.renew("old")).toMatchObject({ kind: "renewed", by: "others" });
    expect((await current(one.shelf)).record.tokens).toEqual(tokens("theirs"));
  });

  it("A-7: an unknown client is forgotten when it was registered dynamically, and kept with its tokens otherwise", async () => {
    const dynamic = await open(() => Promise.reject("client" satisfies RefreshFailure));
    expect(await dynamic.one.refresher.renew("old")).toMatchObject({ kind: "refused" });
    expect(dynamic.forgotten).toEqual(["client"]);

    const byHand = await open(() => Promise.reject("client" satisfies RefreshFailure));
    await byHand.one.shelf.replace({ ...RECORD, client: { ...RECORD.client, kind: "pre_registered" } });
    expect(await byHand.one.refresher.renew("old")).toEqual({ kind: "failed", error: "client" });
    expect((await current(byHand.one.shelf)).record.tokens).toEqual(tokens("old"));
  });

  it("A-7: what passes is tried three times, with pauses, and keeps the tokens", async () => {
    const { clock, one, used } = await open(() => Promise.reject("transient" satisfies RefreshFailure));
    const renewing = one.refresher.renew("old");
    await clock.advance(100);
    expect(used).toHaveLength(1);
    await clock.advance(2_000);
    expect(await renewing).toEqual({ kind: "failed", error: "transient" });
    expect(used).toHaveLength(3);
    expect((await current(one.shelf)).record.tokens).toEqual(tokens("old"));
    // The lease was given back.
    expect(await one.refresher.renew("newer")).toMatchObject({ kind: "renewed", by: "others" });
  });

  it("A-7: what passes and then does not", async () => {
    const { clock, one } = await open((_shelf, attempt) => {
      if (attempt < 3) throw "transient" satisfies RefreshFailure;
      return tokens("new");
    });
    const renewing = one.refresher.renew("old");
    await clock.advance(2_000);
    expect(await renewing).toMatchObject({ kind: "renewed", by: "us" });
  });

  it("A-7: whoever wants the token replaced that a refresh is just bringing does not get the same one", async () => {
    let asked = 0;
    const { one, two, used } = await open(() => tokens((asked += 1) === 1 ? "new" : "newer"));
    const first = one.refresher.renew("old");
    const second = one.refresher.renew("new");
    expect(await first).toMatchObject({ grant: { record: { tokens: tokens("new") } } });
    expect(await second).toMatchObject({ grant: { record: { tokens: tokens("newer") } } });
    expect(used).toEqual(["old refresh", "new refresh"]);
    expect(await two.refresher.renew("new")).toMatchObject({ by: "others" });
  });

  it("A-7: an answer that brings the same access token again is no reason to ask without end", async () => {
    const { one, used } = await open(() => tokens("old"));
    expect(await one.refresher.renew("old")).toMatchObject({ kind: "renewed", by: "us" });
    expect(used).toHaveLength(1);
  });

  it("A-7: nothing is sent for a session that was closed before the lease was had", async () => {
    const { abort, clock, one, store, used } = await open(() => tokens("new"));
    const claim = { name: JSON.stringify(["oauth-refresh", ENDPOINT, ""]), holder: "other", ttlMs: 1_000 };
    await store.leases.acquire({ ...claim, now: clock.now() });
    const renewing = one.refresher.renew("old").catch((error: unknown) => error);
    await clock.advance(0);
    await store.leases.release(claim.name, claim.holder);
    abort.abort("closed");
    await clock.advance(1_000);
    expect(await renewing).toBe("closed");
    expect(used).toEqual([]);
  });
});
