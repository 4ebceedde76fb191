import {
  type ConnectorCatalog,
  deviceEntry,
  type KeptConnectors,
  openCatalog,
  readKept,
  writeRelease,
} from "../catalog/index.js";
import { registeredConnector } from "../device/index.js";
import { registrationFileName, type StorageIssue } from "../registration/index.js";
import type { ConnectorHostConfig } from "./host-options.js";
import type { HostStore } from "./host-store.js";
import { REGISTERED } from "./registration-admin.js";

/** What there is when a host starts. */
export interface LoadedCatalog {
  readonly catalog: ConnectorCatalog;
  /** Registrations that can't be read, or whose key another connector has. */
  readonly issues: readonly StorageIssue[];
}

/**
 * Reads everything that can be connected. What an earlier process was still uninstalling is gone: nothing of it runs.
 *
 * Rejects with `duplicate_connector`, and with what the stores reject with.
 */
export async function loadCatalog(config: ConnectorHostConfig, store: HostStore): Promise<LoadedCatalog> {
  const { declared, registrationPolicy, registrationStore } = config;
  const kept = await store.read(readKept);
  await removeLeaving(config, store, kept);
  const catalog = openCatalog(declared, kept);
  const { registrations, issues } = await registrationStore.load(registrationPolicy);
  const found = [...issues];
  for (const registration of registrations) {
    const { slug } = registration;
    const entry = deviceEntry(registeredConnector(registration), REGISTERED);
    if (catalog.get(slug) === undefined) catalog.set(slug, { ...entry, isOn: !kept.off.has(slug) });
    else
      found.push({ file: registrationFileName(registration), member: "slug", reason: `${slug} is another connector` });
  }
  return { catalog, issues: found };
}

async function removeLeaving(
  { wallClock }: ConnectorHostConfig,
  store: HostStore,
  { releases }: KeptConnectors,
): Promise<void> {
  const leaving = releases.filter(({ isLeaving }) => isLeaving);
  if (leaving.length === 0) return;
  await store.write(async (tx) => {
    for (const { key } of leaving) await writeRelease(tx, key, undefined, wallClock.now());
  });
}
