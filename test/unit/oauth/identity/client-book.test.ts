import { describe, expect, it } from "vitest";
import { ClientBook } from "../../../../src/oauth/identity/index.js";
import type { OAuthClient } from "../../../../src/oauth/oauth-client.js";
import type { CredentialStore } from "../../../../src/oauth/index.js";
import { createMemorySharedStore } from "../../../../src/store/index.js";

const ENDPOINT = "https://mcp.example/mcp";
const ISSUER = "https://as.example";
const NOW = 1_800_000_000_000;
const ROW = { resource: ENDPOINT, name: `client@${ISSUER}` };
const BINDING = { resource: ENDPOINT, name: "binding@own" };

const CLIENT: OAuthClient = {
  kind: "dynamic",
  issuer: ISSUER,
  clientId: "id",
  clientSecret: "sentinel-secret",
  secretExpiresAt: NOW + 1,
  authMethod: "client_secret_basic",
  signingKey: undefined,
  redirectUris: ["http://127.0.0.1:1/callback"],
};
const DAMAGED = { code: "oauth_invalid", delivery: "not_sent", details: { subject: "credential", url: ENDPOINT } };

function opened(): { readonly book: ClientBook; readonly store: CredentialStore } {
  const store = createMemorySharedStore().credentials;
  return { store, book: new ClientBook(store, () => NOW) };
}

async function write(store: CredentialStore, key: typeof ROW, text: string): Promise<void> {
  const current = await store.get(key);
  expect(await store.put({ ...key, text, expected: current?.generation, now: NOW })).toMatchObject({ kind: "written" });
}

async function textOf(store: CredentialStore, key: typeof ROW): Promise<string> {
  const row = await store.get(key);
  if (row === undefined) throw new Error("There is no row.");
  return row.text;
}

/** Every beginning of a text, and the text with each of its characters changed. */
function damages(text: string): readonly string[] {
  const places = Array.from(text, (_, index) => index);
  const changed = places.map((at) => `${text.slice(0, at)}${text[at] === "~" ? "!" : "~"}${text.slice(at + 1)}`);
  return [...places.map((at) => text.slice(0, at)), ...changed];
}

describe("A-4: registrations that are kept", () => {
  it.each<[string, OAuthClient]>([
    ["with a secret", CLIENT],
    ["without one", { ...CLIENT, clientSecret: undefined, secretExpiresAt: undefined, authMethod: "none" }],
    ["without a time", { ...CLIENT, secretExpiresAt: undefined, authMethod: "client_secret_post" }],
  ])("come back as they were, %s", async (_title, client) => {
    const { book } = opened();
    expect(await book.registration(ENDPOINT, ISSUER)).toBeUndefined();
    const kept = await book.keep(ENDPOINT, client, undefined);
    expect(kept.client).toEqual(client);
    expect(await book.registration(ENDPOINT, ISSUER)).toEqual(kept);
  });

  it("are one for each endpoint and issuer", async () => {
    const { book } = opened();
    await book.keep(ENDPOINT, CLIENT, undefined);
    await book.keep(ENDPOINT, { ...CLIENT, issuer: `${ISSUER}/`, clientId: "other" }, undefined);
    expect(await book.registration(ENDPOINT, ISSUER)).toMatchObject({ client: { clientId: "id" } });
    expect(await book.registration(ENDPOINT, `${ISSUER}/`)).toMatchObject({ client: { clientId: "other" } });
    expect(await book.registration(`${ENDPOINT}/`, ISSUER)).toBeUndefined();
  });

  it("hold no key that signs", async () => {
    const { book, store } = opened();
    await book.keep(ENDPOINT, { ...CLIENT, signingKey: { key: "sentinel-key" } }, undefined);
    expect(await textOf(store, ROW)).not.toContain("sentinel-key");
  });

  it("replace the one that they were made for", async () => {
    const { book } = opened();
    const first = await book.keep(ENDPOINT, CLIENT, undefined);
    const second = await book.keep(ENDPOINT, { ...CLIENT, clientId: "new" }, first.generation);
    expect(second.client.clientId).toBe("new");
    expect(await book.registration(ENDPOINT, ISSUER)).toEqual(second);
  });

  it("give way to one that was faster", async () => {
    const { book } = opened();
    const first = await book.keep(ENDPOINT, CLIENT, undefined);
    expect(await book.keep(ENDPOINT, { ...CLIENT, clientId: "slow" }, undefined)).toEqual(first);
    const second = await book.keep(ENDPOINT, { ...CLIENT, clientId: "second" }, first.generation);
    expect(await book.keep(ENDPOINT, { ...CLIENT, clientId: "slow" }, first.generation)).toEqual(second);
  });

  it.each<[string, Partial<OAuthClient>]>([
    ["lacks the redirect URI", { redirectUris: ["http://127.0.0.1:2/callback"] }],
    ["has expired", { secretExpiresAt: NOW }],
  ])("replace one that was faster and %s", async (_title, change) => {
    const { book } = opened();
    await book.keep(ENDPOINT, { ...CLIENT, ...change, clientId: "fast" }, undefined);
    expect(await book.keep(ENDPOINT, CLIENT, undefined)).toMatchObject({ client: { clientId: "id" } });
    expect(await book.registration(ENDPOINT, ISSUER)).toMatchObject({ client: CLIENT });
  });

  it("are written though the one before was removed meanwhile", async () => {
    const { book } = opened();
    const { generation } = await book.keep(ENDPOINT, CLIENT, undefined);
    await book.forget(ENDPOINT, ISSUER, generation);
    expect(await book.keep(ENDPOINT, { ...CLIENT, clientId: "new" }, generation)).toMatchObject({
      client: { clientId: "new" },
    });
  });

  it("are forgotten only as the one that failed", async () => {
    const { book } = opened();
    const first = await book.keep(ENDPOINT, CLIENT, undefined);
    const second = await book.keep(ENDPOINT, { ...CLIENT, clientId: "new" }, first.generation);
    expect(await book.forget(ENDPOINT, ISSUER, first.generation)).toBe(false);
    expect(await book.registration(ENDPOINT, ISSUER)).toEqual(second);
    expect(await book.forget(ENDPOINT, ISSUER, second.generation)).toBe(true);
    expect(await book.forget(ENDPOINT, ISSUER, second.generation)).toBe(false);
    expect(await book.registration(ENDPOINT, ISSUER)).toBeUndefined();
  });

  it("are refused wherever they are damaged, and never shown", async () => {
    const { book, store } = opened();
    await book.keep(ENDPOINT, CLIENT, undefined);
    const text = await textOf(store, ROW);
    let refused = 0;
    for (const damage of damages(text)) {
      await write(store, ROW, damage);
      const outcome: unknown = await book.registration(ENDPOINT, ISSUER).catch((error: unknown) => error);
      if (!(outcome instanceof Error)) {
        // A value was changed that can be any.
        expect(outcome).toMatchObject({ client: { kind: "dynamic", issuer: ISSUER } });
        continue;
      }
      refused += 1;
      expect(outcome).toMatchObject({ ...DAMAGED, details: { ...DAMAGED.details, member: ROW.name } });
      expect(JSON.stringify(outcome)).not.toContain("sentinel");
    }
    expect(refused).toBeGreaterThan(text.length);
  });

  it.each([
    ["another version", { version: 2 }],
    ["another kind", { kind: "binding" }],
    ["another issuer", { issuer: "https://other.example" }],
    ["a member too many", { extra: 1 }],
    ["no secret for its method", { clientSecret: undefined }],
    ["a method that needs a key", { authMethod: "private_key_jwt" }],
  ])("are refused with %s, and replaced", async (_title, change) => {
    const { book, store } = opened();
    await book.keep(ENDPOINT, CLIENT, undefined);
    const row: object = JSON.parse(await textOf(store, ROW));
    await write(store, ROW, JSON.stringify({ ...row, ...change }));
    await expect(book.registration(ENDPOINT, ISSUER)).rejects.toMatchObject(DAMAGED);
    expect(await book.keep(ENDPOINT, { ...CLIENT, clientId: "new" }, undefined)).toMatchObject({
      client: { clientId: "new" },
    });
    expect(await book.registration(ENDPOINT, ISSUER)).toMatchObject({ client: { clientId: "new" } });
  });
});

describe("A-4: where clients without an issuer belong", () => {
  it("is where they were bound first", async () => {
    const { book } = opened();
    expect(await book.boundIssuer(ENDPOINT, "own")).toBeUndefined();
    expect(await book.bind(ENDPOINT, "own", ISSUER)).toBe(ISSUER);
    expect(await book.bind(ENDPOINT, "own", "https://other.example")).toBe(ISSUER);
    expect(await book.boundIssuer(ENDPOINT, "own")).toBe(ISSUER);
    expect(await book.boundIssuer(ENDPOINT, "another")).toBeUndefined();
  });

  it("is decided once by several at a time", async () => {
    const { book } = opened();
    const issuers = Array.from({ length: 5 }, (_, index) => `https://as${String(index)}.example`);
    const bound = await Promise.all(issuers.map((issuer) => book.bind(ENDPOINT, "own", issuer)));
    expect(new Set(bound).size).toBe(1);
  });

  it("is not decided anew where the row is damaged, until it is forgotten", async () => {
    const { book, store } = opened();
    await book.bind(ENDPOINT, "own", ISSUER);
    const text = await textOf(store, BINDING);
    for (const damage of damages(text)) {
      await write(store, BINDING, damage);
      for (const ask of [
        () => book.boundIssuer(ENDPOINT, "own"),
        () => book.bind(ENDPOINT, "own", "https://new.example"),
      ]) {
        const outcome: unknown = await ask().catch((error: unknown) => error);
        if (typeof outcome === "string") expect(outcome).not.toBe("https://new.example");
        else expect(outcome).toMatchObject(DAMAGED);
      }
    }
  });

  it("is not another client's", async () => {
    const { book, store } = opened();
    await book.bind(ENDPOINT, "another", ISSUER);
    await write(store, BINDING, await textOf(store, { resource: ENDPOINT, name: "binding@another" }));
    await expect(book.boundIssuer(ENDPOINT, "own")).rejects.toMatchObject(DAMAGED);
  });
});
