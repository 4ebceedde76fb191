import { describe, expect, it } from "vitest";
import type { GrantRecord } from "../../../../src/oauth/grant-record.js";
import {
  createOAuth,
  createVaultKey,
  memoryOAuthStore,
  type OAuthStore,
  sealedStore,
} from "../../../../src/oauth/index.js";
import { ClientBook } from "../../../../src/oauth/identity/index.js";
import { GrantShelf, grantKey } from "../../../../src/oauth/session/grant-shelf.js";

const ENDPOINT = "https://mcp.test/";

const RECORD: GrantRecord = {
  endpoint: ENDPOINT,
  resource: undefined,
  issuer: "https://as.test",
  client: {
    kind: "metadata_document",
    issuer: "https://as.test",
    clientId: "https://client.test/id",
    clientSecret: undefined,
    secretExpiresAt: undefined,
    authMethod: "none",
    signingKey: undefined,
    redirectUris: [],
  },
  tokenEndpoint: "https://as.test/token",
  tokens: undefined,
  requestedScopes: [],
  refusedScopes: [],
  dpopKey: undefined,
};

/** A text that is nothing of ours, and one that was sealed with a key that is lost. */
async function damagedStores(): Promise<readonly (readonly [string, OAuthStore])[]> {
  const plain = memoryOAuthStore();
  await plain.credentials.put({ ...grantKey(ENDPOINT, ""), text: "damaged", expected: undefined, now: 1 });
  const rows = memoryOAuthStore();
  const keyOf = (byte: number) => createVaultKey({ keys: [new Uint8Array(32).fill(byte)] });
  await shelfOn(sealedStore(rows, keyOf(1))).write(RECORD, undefined);
  return [
    ["plain", plain],
    ["sealed", sealedStore(rows, keyOf(2))],
  ];
}

function shelfOn({ credentials }: OAuthStore): GrantShelf {
  return new GrantShelf(ENDPOINT, "", credentials, () => 2);
}

describe("a credential that can't be read", () => {
  it("A-10: is refused, and written over by a sign-in", async () => {
    for (const [, store] of await damagedStores()) {
      const shelf = shelfOn(store);
      await expect(shelf.read()).rejects.toMatchObject({ code: "oauth_invalid", details: { subject: "credential" } });
      await shelf.replace(RECORD);
      expect((await shelf.read())?.record).toEqual(RECORD);
    }
  });

  it("A-10: is removed by a sign-out", async () => {
    for (const [, store] of await damagedStores()) {
      const shelf = shelfOn(store);
      expect(await shelf.remove()).toBe("damaged");
      expect(await shelf.read()).toBeUndefined();
      expect(await shelf.remove()).toBeUndefined();
    }
  });

  it("A-10: one flipped byte: one account is refused, the others go on, and it can be removed", async () => {
    const rows = memoryOAuthStore();
    const store = sealedStore(rows, createVaultKey({ keys: [new Uint8Array(32).fill(1)] }));
    const tokens = { accessToken: "t", tokenType: "Bearer", expiresAt: undefined, scopes: undefined } as const;
    const record = { ...RECORD, tokens: { ...tokens, refreshToken: undefined } };
    for (const account of ["a", "b"]) {
      await new GrantShelf(ENDPOINT, account, store.credentials, () => 2).write(record, undefined);
    }
    const key = grantKey(ENDPOINT, "a");
    const row = await rows.credentials.get(key);
    const text = `${row?.text.slice(0, -9) ?? ""}${row?.text.at(-9) === "A" ? "B" : "A"}${row?.text.slice(-8) ?? ""}`;
    await rows.credentials.put({ ...key, text, expected: row?.generation, now: 3 });

    const oauth = createOAuth({ clientName: "test", store });
    const request = { url: ENDPOINT, method: "x", httpMethod: "POST", attempt: 1, operation: {} } as const;
    const headersOf = async (account: string) => oauth.account(account).authorize(request);
    await expect(headersOf("a")).rejects.toMatchObject({ code: "oauth_invalid" });
    expect(await headersOf("b")).toEqual({ Authorization: "Bearer t" });
    expect((await oauth.accounts(ENDPOINT)).map(({ account }) => account)).toEqual(["b"]);

    expect(await oauth.signOut(ENDPOINT, { account: "a" })).toBe(true);
    expect(await headersOf("a")).toBeUndefined();
    expect(await headersOf("b")).toEqual({ Authorization: "Bearer t" });
    await oauth.close();
  });

  it("A-10: where a client belongs is not told by a row that can't be opened", async () => {
    const rows = memoryOAuthStore();
    const bookOf = (byte: number) => {
      const { credentials } = sealedStore(rows, createVaultKey({ keys: [new Uint8Array(32).fill(byte)] }));
      return new ClientBook(credentials, () => 2);
    };
    await bookOf(1).bind("place", "client", "https://as.test");
    const other = bookOf(2);
    await expect(other.boundIssuer("place", "client")).rejects.toMatchObject({ code: "oauth_invalid" });
    expect(await bookOf(1).boundIssuer("place", "client")).toBe("https://as.test");
  });
});
