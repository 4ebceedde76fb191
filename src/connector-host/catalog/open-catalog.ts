import type { CatalogEntry, ReleaseEntry } from "./catalog-entry.js";
import { ConnectorCatalog } from "./connector-catalog.js";
import type { DeclaredConnectors } from "./declare-connectors.js";
import type { KeptConnectors, KeptRelease } from "./kept-connectors.js";

const KEPT = "the store";

/**
 * Joins what is kept with what the configuration has. Pure.
 *
 * Of a connector in both, what is kept counts while the configuration's release is the one that it was made from. Another one
 * stands in the place of the current release of its version; of a new version, it is the candidate. Throws `duplicate_connector` for a key that two connectors have.
 */
export function openCatalog(declared: DeclaredConnectors, { releases, off }: KeptConnectors): ConnectorCatalog {
  const kept = new Map(releases.filter(({ isLeaving }) => !isLeaving).map((each) => [each.key, each]));
  const entries: CatalogEntry[] = [...declared.device];
  for (const entry of declared.releases) {
    const known = kept.get(entry.key);
    kept.delete(entry.key);
    entries.push(known === undefined ? entry : joinReleases(entry, known));
  }
  for (const known of kept.values()) entries.push({ kind: "release", ...known, place: KEPT, isOn: true });
  return new ConnectorCatalog(entries.map((entry) => (off.has(entry.key) ? { ...entry, isOn: false } : entry)));
}

function joinReleases(declared: ReleaseEntry, { current, candidate, declaredDigest }: KeptRelease): ReleaseEntry {
  const isKnown = declaredDigest === declared.declaredDigest;
  if (isKnown && current !== undefined) return { ...declared, current, candidate };
  const isNewer = current !== undefined && current.release.version !== declared.current?.release.version;
  return isNewer ? { ...declared, current, candidate: declared.current } : { ...declared, candidate };
}
