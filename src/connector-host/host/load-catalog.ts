import { isRemoteConnectorError } from "../../errors.js";
import {
  type ConnectorCatalog,
  deviceEntry,
  type KeptConnectors,
  type KeptRules,
  openCatalog,
  readKept,
  readRules,
  writeRelease,
  writeRules,
  writeSwitch,
} from "../catalog/index.js";
import { registeredConnector } from "../device/index.js";
import { registrationFileName, type StorageIssue } from "../registration/index.js";
import type { ConnectorHostConfig } from "./host-options.js";
import type { HostStore } from "./host-store.js";
import { REGISTERED } from "./registration-admin.js";

/** What there is when a host starts. */
export interface LoadedCatalog {
  readonly catalog: ConnectorCatalog;
  /** What was decided about tools, by key; `undefined` for what can't be read. */
  readonly rules: ReadonlyMap<string, KeptRules | undefined>;
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
  const kept = await readPresent(config, store);
  const rules = await store.read(readRules);
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
  return { catalog, rules, issues: found };
}

/** Reads what is kept, after what was still leaving is gone, with its switches and rules. */
async function readPresent({ wallClock }: ConnectorHostConfig, store: HostStore): Promise<KeptConnectors> {
  const kept = await store.read(readKept);
  const leaving = kept.releases.filter(({ isLeaving }) => isLeaving);
  if (leaving.length === 0) return kept;
  try {
    return await store.write(async (tx) => {
      for (const { key } of leaving) {
        await writeRelease(tx, key, undefined, wallClock.now());
        await writeSwitch(tx, key, true, wallClock.now());
        await writeRules(tx, key, undefined, wallClock.now());
      }
      return readKept(tx);
    });
  } catch (error) {
    // A host that did not start would make no room. They are left out, and removed at another start.
    if (isRemoteConnectorError(error, "store_full")) return kept;
    throw error;
  }
}
