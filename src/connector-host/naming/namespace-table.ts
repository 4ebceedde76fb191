import type { NameDiagnostic } from "./name-diagnostic.js";
import type { NamingPolicy } from "./naming-policy.js";

/** A place that an exposed name points to. The tool itself is found with `findNativeName`. */
export interface NamedPlace {
  readonly connectorKey: string;
  readonly rest: string;
}

/** Which connector owns which namespace. Immutable. */
export interface NamespaceTable {
  readonly policy: NamingPolicy;
  /** `undefined` for a connector that is not in the table, or that shares its namespace with another. */
  namespaceOf(connectorKey: string): string | undefined;
  /** The connector that an exposed name belongs to, by the name alone; `undefined` when none does. */
  locate(exposedName: string): NamedPlace | undefined;
  readonly diagnostics: readonly NameDiagnostic[];
}

/**
 * Maps the namespaces of all `connectorKeys` that have any: those whose tools a list left out belong in it too, so that
 * lists and calls see the same collisions. The connectors of a collision are left out, all of them. Repeated keys are one.
 */
export function buildNamespaceTable(policy: NamingPolicy, connectorKeys: Iterable<string>): NamespaceTable {
  const claims = new Map<string, string[]>();
  for (const key of [...new Set(connectorKeys)].sort()) {
    const namespace = policy.namespace(key);
    const claimants = claims.get(namespace);
    if (claimants === undefined) claims.set(namespace, [key]);
    else claimants.push(key);
  }
  const owners = new Map<string, string>();
  const namespaces = new Map<string, string>();
  const diagnostics: NameDiagnostic[] = [];
  for (const [namespace, [owner, ...others]] of claims) {
    if (owner === undefined) continue;
    if (others.length > 0) {
      diagnostics.push({ kind: "namespace_collision", namespace, connectorKeys: [owner, ...others] });
      continue;
    }
    owners.set(namespace, owner);
    namespaces.set(owner, namespace);
  }
  return {
    policy,
    namespaceOf: (connectorKey) => namespaces.get(connectorKey),
    locate(exposedName) {
      const split = policy.parse(exposedName, owners);
      const connectorKey = split === undefined ? undefined : owners.get(split.namespace);
      return split === undefined || connectorKey === undefined ? undefined : { connectorKey, rest: split.rest };
    },
    diagnostics,
  };
}
