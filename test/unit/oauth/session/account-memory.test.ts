import { describe, expect, it } from "vitest";
import { createOAuth, type CredentialStore, memoryOAuthStore } from "../../../../src/oauth/index.js";
import type { GrantRecord } from "../../../../src/oauth/grant-record.js";
import { AccountMemory } from "../../../../src/oauth/session/account-memory.js";
import { grantKey, GrantShelf } from "../../../../src/oauth/session/grant-shelf.js";
import { renewalTime } from "../../../../src/oauth/session/freshness.js";
import { printGrant } from "../../../../src/oauth/session/record-codec.js";
import { FakeClock } from "../../../support/fake-clock.js";

const ENDPOINT = "https://mcp.test/mcp";
const NOW = 1_800_000_000_000;

function record(accessToken: string): GrantRecord {
  const issuer = "https://as.test";
  return {
    endpoint: ENDPOINT,
    resource: ENDPOINT,
    issuer,
    client: {
      kind: "dynamic",
      issuer,
      clientId: "client",
      clientSecret: undefined,
      secretExpiresAt: undefined,
      authMethod: "none",
      signingKey: undefined,
      redirectUris: [],
    },
    tokenEndpoint: "https://as.test/token",
    tokens: { accessToken, tokenType: "Bearer", expiresAt: undefined, refreshToken: undefined, scopes: undefined },
    requestedScopes: [],
    refusedScopes: [],
    dpopKey: undefined,
  };
}

async function open() {
  const { credentials, leases } = memoryOAuthStore();
  const clock = new FakeClock();
  let reads = 0;
  const counted: CredentialStore = {
    list: (resource) => credentials.list(resource),
    put: (put) => credentials.put(put),
    remove: (key, expected) => credentials.remove(key, expected),
    get: (key) => {
      reads += 1;
      return credentials.get(key);
    },
  };
  const oauth = createOAuth({ clientName: "test", store: { credentials: counted, leases }, clock, wallNow: () => NOW });
  const key = grantKey(ENDPOINT, "");
  const put = await credentials.put({ ...key, text: printGrant(record("first")), expected: undefined, now: NOW });
  const generation = put.kind === "written" ? put.generation : 0;
  const ask = (url = ENDPOINT) =>
    oauth.authorize({ url, method: "tools/call", httpMethod: "POST", attempt: 1, operation: {} });
  return { ask, clock, credentials, generation, key, reads: () => reads };
}

describe("the headers of a request", () => {
  it("A-8: come from memory, at once, without a read for each", async () => {
    const { ask, reads } = await open();
    expect(await ask()).toEqual({ Authorization: "Bearer first" });
    const kept = ask();
    expect(kept).not.toBeInstanceOf(Promise);
    expect(kept).toEqual({ Authorization: "Bearer first" });
    // One object for all: nothing is made for a request.
    for (let each = 0; each < 10; each += 1) expect(ask()).toBe(kept);
    expect(reads()).toBe(1);
  });

  it("A-7: see after 5 seconds what others did to the store", async () => {
    const { ask, clock, credentials, generation, key, reads } = await open();
    await ask();
    await credentials.put({ ...key, text: printGrant(record("second")), expected: generation, now: NOW });
    clock.step(4_999);
    expect(ask()).toEqual({ Authorization: "Bearer first" });
    clock.step(1);
    const asked = [ask(), ask()];
    expect(await Promise.all(asked.map(async (each) => each))).toEqual([
      { Authorization: "Bearer second" },
      { Authorization: "Bearer second" },
    ]);
    expect(reads()).toBe(2);
    const [row] = await credentials.list(ENDPOINT);
    await credentials.remove(key, row?.generation ?? 0);
    clock.step(5_000);
    expect(await ask()).toBeUndefined();
  });

  it("A-4: are given for the endpoint that the tokens are for, in any spelling, and for no other", async () => {
    const { ask, credentials, key, generation } = await open();
    expect(await ask("HTTPS://MCP.test:443/mcp#part")).toEqual({ Authorization: "Bearer first" });
    for (const other of [
      "https://mcp.test/",
      "https://mcp.test/mcp/",
      "https://mcp.test/mcp?a",
      "https://other.test/mcp",
    ]) {
      expect(await ask(other)).toBeUndefined();
    }
    // A row that somebody moved here.
    const moved = printGrant({ ...record("stolen"), endpoint: "https://other.test/mcp" });
    await credentials.put({ ...key, text: moved, expected: generation, now: NOW });
    const again = createOAuth({ clientName: "test", store: { credentials, leases: memoryOAuthStore().leases } });
    const request = { url: ENDPOINT, method: "GET", httpMethod: "GET", attempt: 1, operation: {} } as const;
    await expect(Promise.resolve(again.authorize(request))).rejects.toMatchObject({ code: "oauth_invalid" });
  });

  it("A-7: are renewed a minute before the token ends, or a tenth of its life if that is less", () => {
    const token = { accessToken: "a", tokenType: "Bearer", refreshToken: undefined, scopes: undefined } as const;
    expect(renewalTime({ ...token, expiresAt: NOW + 3_600_000 }, NOW)).toBe(NOW + 3_540_000);
    expect(renewalTime({ ...token, expiresAt: NOW + 100_000 }, NOW)).toBe(NOW + 90_000);
    expect(renewalTime({ ...token, expiresAt: NOW - 5 }, NOW)).toBe(NOW - 5);
    expect(renewalTime({ ...token, expiresAt: undefined }, NOW)).toBe(Infinity);
  });
});

describe("AccountMemory", () => {
  async function openMemory() {
    const { credentials } = memoryOAuthStore();
    const shelf = new GrantShelf(ENDPOINT, "", credentials, () => NOW);
    const memory = new AccountMemory(shelf, new FakeClock());
    const first = await shelf.replace(record("first"));
    return { first, memory, shelf };
  }

  it("A-7: what was read before a sign-out comes back into no request", async () => {
    const { first, memory, shelf } = await openMemory();
    const late = [memory.look(), memory.read()];
    await shelf.remove();
    memory.forget(first.generation);
    await Promise.all(late);
    expect(memory.last.grant).toBeUndefined();
    // An answer to a write that others were faster than, and told late.
    expect(memory.take(first).grant).toBeUndefined();
    const second = await shelf.replace(record("second"));
    expect(memory.take(second).grant).toBe(second);
  });

  it("A-7: an older token takes the place of no newer one", async () => {
    const { first, memory, shelf } = await openMemory();
    const second = await shelf.replace(record("second"));
    memory.take(second);
    expect(memory.take(first).grant).toBe(second);
    memory.forget(first.generation);
    expect(memory.last.grant).toBe(second);
  });
});
