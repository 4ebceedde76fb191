import { describe, expect, it } from "vitest";
import type { CredentialStore } from "../../../../src/oauth/index.js";
import { findToReplace } from "../../../../src/oauth/find-to-replace.js";
import { createVaultKey, memoryOAuthStore, sealedCredentials, sealedStore } from "../../../../src/oauth/vault/index.js";

const RESOURCE = "https://mcp.example/mcp";
const [ADA, BOB] = [
  { resource: RESOURCE, name: "tokens@ada" },
  { resource: RESOURCE, name: "tokens@bob" },
];
const TEXT = '{"access_token":"secret-token"}';
const DAMAGED = { code: "oauth_invalid", details: { subject: "credential", url: RESOURCE, member: ADA.name } };
const key = createVaultKey({ keys: [new Uint8Array(32).fill(1)] });

async function write(store: CredentialStore, place: typeof ADA, text: string, expected?: number): Promise<number> {
  const result = await store.put({ ...place, text, expected, now: 1 });
  if (result.kind !== "written") throw new Error("It was not written.");
  return result.generation;
}

describe("sealed credentials", () => {
  it("A-10: are nowhere in the store below them, and leases are as they are", async () => {
    const inner = memoryOAuthStore();
    const store = sealedStore(inner, key);
    await write(store.credentials, ADA, TEXT);
    const row = await inner.credentials.get(ADA);
    expect(row?.text).toMatch(/^rcv1\./);
    expect(JSON.stringify(row)).not.toContain("secret-token");
    expect(store.leases).toBe(inner.leases);
  });

  it("A-10: that lie at another name or URL are refused", async () => {
    const inner = memoryOAuthStore().credentials;
    const store = sealedCredentials(inner, key);
    await write(store, BOB, TEXT);
    const moved = (await inner.get(BOB))?.text ?? "";
    await write(inner, ADA, moved);
    await write(inner, { ...BOB, resource: "https://other.example/mcp" }, moved);
    await expect(store.get(ADA)).rejects.toMatchObject(DAMAGED);
    await expect(store.get({ ...BOB, resource: "https://other.example/mcp" })).rejects.toMatchObject({
      code: "oauth_invalid",
      details: { url: "https://other.example/mcp" },
    });
    expect(await store.get(BOB)).toMatchObject({ text: TEXT });
  });

  it("A-10: of another account go on when one is damaged, which a new sign-in writes over", async () => {
    const inner = memoryOAuthStore().credentials;
    const store = sealedCredentials(inner, key);
    const bob = await write(store, BOB, TEXT);
    const ada = await write(inner, ADA, "rcv1.damaged");
    await expect(store.get(ADA)).rejects.toMatchObject(DAMAGED);
    expect(await store.get(BOB)).toMatchObject({ text: TEXT, generation: bob });
    expect((await store.list(RESOURCE)).map(({ name }) => name)).toEqual([BOB.name]);
    const late = { ...ADA, text: TEXT, expected: ada + 100, now: 1 };
    await expect(store.put(late)).rejects.toMatchObject(DAMAGED);
    await expect(store.remove(ADA, ada + 100)).rejects.toMatchObject(DAMAGED);
    expect(await write(store, ADA, TEXT)).toBeGreaterThan(ada);
    expect(await store.get(ADA)).toMatchObject({ text: TEXT });
    expect(await store.put({ ...ADA, text: "x", expected: undefined, now: 1 })).toMatchObject({
      kind: "conflict",
      current: { text: TEXT },
    });
  });

  it("A-10: are not written over when another process mended them meanwhile", async () => {
    const inner = memoryOAuthStore().credentials;
    const other = sealedCredentials(inner, key);
    const damaged = await write(inner, ADA, "rcv1.damaged");
    let isFirst = true;
    const slow: CredentialStore = {
      ...inner,
      put: async (put) => {
        const result = await inner.put(put);
        if (isFirst) await write(other, ADA, "theirs", damaged);
        isFirst = false;
        return result;
      },
    };
    const result = await sealedCredentials(slow, key).put({ ...ADA, text: "ours", expected: undefined, now: 1 });
    expect(result).toMatchObject({ kind: "conflict", current: { text: "theirs" } });
  });

  it("A-10: that can't be opened are found by those who replace or remove them whatever they say", async () => {
    const inner = memoryOAuthStore().credentials;
    const store = sealedCredentials(inner, key);
    expect(await findToReplace(store, ADA, 5)).toBeUndefined();
    const damaged = await write(inner, ADA, "rcv1.damaged");
    const found = await findToReplace(store, ADA, 5);
    expect(found).toMatchObject({ text: "", updatedAt: 5 });
    expect(found?.generation).toBeGreaterThan(damaged);
    expect(await findToReplace(store, ADA, 6)).toEqual(found);
    expect(await store.remove(ADA, found?.generation ?? 0)).toEqual({ kind: "removed" });
    const own = createVaultKey({ keys: [new Uint8Array(32)] });
    own.close();
    await write(inner, ADA, TEXT);
    const closed = findToReplace(sealedCredentials(inner, own), ADA, 5);
    await expect(closed).rejects.toMatchObject({ code: "store_unavailable" });
  });

  it("A-10: that were written unsealed are refused, or taken by an option and sealed when they are next written", async () => {
    const inner = memoryOAuthStore().credentials;
    const generation = await write(inner, ADA, TEXT);
    await expect(sealedCredentials(inner, key).get(ADA)).rejects.toMatchObject({
      ...DAMAGED,
      details: { reason: "is not sealed" },
    });
    const adopting = sealedCredentials(inner, key, { adoptsUnsealed: true });
    expect(await adopting.get(ADA)).toMatchObject({ text: TEXT, generation });
    expect(await adopting.list(RESOURCE)).toHaveLength(1);
    expect((await inner.get(ADA))?.text).toBe(TEXT);
    await write(adopting, ADA, TEXT, generation);
    expect((await inner.get(ADA))?.text).toMatch(/^rcv1\./);
    expect(await sealedCredentials(inner, key).get(ADA)).toMatchObject({ text: TEXT });
  });

  it("A-10: that are damaged are not taken for unsealed ones", async () => {
    const inner = memoryOAuthStore().credentials;
    const adopting = sealedCredentials(inner, key, { adoptsUnsealed: true });
    const envelope = key.seal(TEXT, ADA);
    let generation: number | undefined;
    for (const text of ["", "5", "rcv1", `x${envelope}`, envelope.slice(1), envelope.replace("rcv1", "rcv2")]) {
      generation = await write(inner, ADA, text, generation);
      await expect(adopting.get(ADA)).rejects.toMatchObject(DAMAGED);
    }
  });

  it("A-10: are closed with their key", async () => {
    const own = createVaultKey({ keys: [new Uint8Array(32).fill(3)] });
    const store = sealedCredentials(memoryOAuthStore().credentials, own);
    await write(store, ADA, TEXT);
    own.close();
    const closed = { code: "store_unavailable", details: { reason: "closed" } };
    await expect(store.get(ADA)).rejects.toMatchObject(closed);
    await expect(store.list(RESOURCE)).rejects.toMatchObject(closed);
    await expect(write(store, BOB, TEXT)).rejects.toMatchObject(closed);
  });
});
