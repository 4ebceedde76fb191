import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OAuthStore } from "../../../src/oauth/index.js";
import {
  createVaultKey,
  memoryOAuthStore,
  openFileStore,
  sealedStore,
  type VaultLimits,
} from "../../../src/oauth/vault/index.js";
import { openSharedStore, type SharedStore } from "../../../src/store/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import { describeCredentialsAndLeases } from "../store/credentials-and-leases.js";

/** Of an envelope, in characters, for a text of so many bytes. */
function sealedLength(bytes: number): number {
  return "rcv1.".length + 22 + ".".length + Math.ceil(((12 + 1 + bytes + 16) * 4) / 3);
}

describe.each(["memory", "sealed memory", "sealed sqlite", "files"])("A-10: the %s store of OAuth", (kind) => {
  const clock = new FakeClock(1_700_000_000_000);
  const key = createVaultKey({ keys: [randomBytes(32)] });
  const opened: SharedStore[] = [];
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "oauth-store-"));
  });

  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function openStore(limits: VaultLimits = {}): Promise<OAuthStore> {
    if (kind === "memory") return memoryOAuthStore(limits);
    if (kind === "files") return openFileStore({ directory, key, ...limits });
    const { maxCredentialBytes, ...others } = limits;
    const inner =
      maxCredentialBytes === undefined ? others : { ...others, maxCredentialBytes: sealedLength(maxCredentialBytes) };
    if (kind === "sealed memory") return sealedStore(memoryOAuthStore(inner), key);
    const store = await openSharedStore({ directory, ...inner });
    opened.push(store);
    return sealedStore(store, key);
  }

  describeCredentialsAndLeases(clock, openStore);

  it("R-11: refuses times that could not be kept", async () => {
    const { credentials, leases } = await openStore();
    const refused = { code: "invalid_argument", details: { argument: "now" } };
    const put = credentials.put({ resource: "r", name: "n", text: "t", expected: undefined, now: 0.5 });
    await expect(put).rejects.toMatchObject(refused);
    await expect(leases.acquire({ name: "l", holder: "h", ttlMs: 1, now: Number.NaN })).rejects.toMatchObject(refused);
  });
});

describe.each(["memory", "files"])("the options of the %s store of OAuth", (kind) => {
  it.each<[VaultLimits & { readonly maxCredential?: number }, string]>([
    [{ maxCredentials: 0 }, "maxCredentials"],
    [{ maxCredentialBytes: -1 }, "maxCredentialBytes"],
    [{ maxCredential: 1 }, "maxCredential"],
  ])("refuse %o", async (limits, option) => {
    const key = createVaultKey({ keys: [randomBytes(32)] });
    const open = async () =>
      kind === "memory" ? memoryOAuthStore(limits) : openFileStore({ directory: "never-made", key, ...limits });
    await expect(open()).rejects.toMatchObject({ code: "invalid_options", details: { option } });
  });
});
