import {
  compareDiagnostics,
  compareText,
  identityOf,
  type NameDiagnostic,
  type ToolIdentity,
} from "./name-diagnostic.js";
import type { NamespaceTable } from "./namespace-table.js";

/** Which tool is exposed under which name. */
export interface NameTable<Entry extends ToolIdentity> {
  /** Exposed name to entry, sorted by name in code units. */
  readonly entries: ReadonlyMap<string, Entry>;
  /** What was left out. Collisions of namespaces are reported by the {@link NamespaceTable}, once. */
  readonly diagnostics: readonly NameDiagnostic[];
}

/**
 * Names the tools of a list. Every claimant of a name is left out when there are several, whichever came first; so is a
 * tool whose name a call would look for at another connector, and so are the tools of connectors that `namespaces` does
 * not hold. The order of `entries` never matters.
 */
export function buildNameTable<Entry extends ToolIdentity>(
  namespaces: NamespaceTable,
  entries: Iterable<Entry>,
): NameTable<Entry> {
  const claims = new Map<string, Entry[]>();
  const diagnostics: NameDiagnostic[] = [];
  for (const entry of entries) {
    if (namespaces.namespaceOf(entry.connectorKey) === undefined) continue;
    const name = namespaces.policy.exposedName(entry.connectorKey, entry.nativeName);
    if (name === undefined) {
      diagnostics.push({ kind: "unnamable_tool", tool: identityOf(entry) });
      continue;
    }
    const owner = namespaces.locate(name)?.connectorKey;
    const claimants = claims.get(name);
    if (owner !== entry.connectorKey) {
      diagnostics.push({ kind: "shadowed_tool", exposedName: name, tool: identityOf(entry), owner });
    } else if (claimants === undefined) claims.set(name, [entry]);
    else claimants.push(entry);
  }
  const named: [string, Entry][] = [];
  for (const [exposedName, claimants] of claims) {
    const [entry] = claimants;
    if (entry !== undefined && claimants.length === 1) named.push([exposedName, entry]);
    else
      diagnostics.push({ kind: "name_collision", exposedName, claimants: claimants.map(identityOf).sort(byIdentity) });
  }
  named.sort(([a], [b]) => compareText(a, b));
  return { entries: new Map(named), diagnostics: diagnostics.sort(compareDiagnostics) };
}

/** What a call's exposed name turned out to be. */
export type NativeNameVerdict =
  | { readonly kind: "found"; readonly nativeName: string }
  /** No tool of the connector's has the name. Its list may be old. */
  | { readonly kind: "unknown" }
  /** Several tools have the name. None of them was listed, and none may be called. */
  | { readonly kind: "ambiguous"; readonly nativeNames: readonly string[] };

/**
 * Finds the tool behind an exposed name among `nativeNames`, all that its connector has, by the rule that
 * {@link buildNameTable} lists by. Native names come back as they are; a repeated one is ambiguous with itself.
 */
export function findNativeName(
  namespaces: NamespaceTable,
  exposedName: string,
  nativeNames: Iterable<string>,
): NativeNameVerdict {
  const place = namespaces.locate(exposedName);
  if (place === undefined) return { kind: "unknown" };
  const found: string[] = [];
  for (const nativeName of nativeNames) {
    if (namespaces.policy.exposedName(place.connectorKey, nativeName) === exposedName) found.push(nativeName);
  }
  const [nativeName, ...others] = found;
  if (nativeName === undefined) return { kind: "unknown" };
  return others.length === 0 ? { kind: "found", nativeName } : { kind: "ambiguous", nativeNames: found.sort() };
}

function byIdentity(a: ToolIdentity, b: ToolIdentity): number {
  return compareText(a.connectorKey, b.connectorKey) || compareText(a.nativeName, b.nativeName);
}
