import { describe, expect, it } from "vitest";
import type { GrantRecord } from "../../../../src/oauth/grant-record.js";
import { createVaultKey, memoryOAuthStore, type OAuthStore, sealedStore } from "../../../../src/oauth/index.js";
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
});
