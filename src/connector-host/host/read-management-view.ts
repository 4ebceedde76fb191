import type { ManagedConnector, ManagedTool, ManagementView } from "../admin/index.js";
import type { ConnectorTraits } from "../aggregation/index.js";
import type { ToolPermission } from "../registration/index.js";
import type { ConnectorStatus } from "./connector-status.js";
import type { ListedConnector } from "./describe-entry.js";

/** The tools of a connector as they were listed last. */
export interface ListedTools {
  readonly tools: readonly Omit<ManagedTool, "permission" | "isDecided">[];
  readonly fetchedAt: number | undefined;
  readonly isStale: boolean;
}

/** Everything that a connector is shown by. */
export interface ConnectorFacts {
  readonly listed: ListedConnector;
  readonly status: ConnectorStatus | undefined;
  readonly traits: Pick<ConnectorTraits, "listing" | "origin">;
  readonly rules: { readonly newTools: ToolPermission; readonly permissions: Readonly<Record<string, ToolPermission>> };
  /** What may be done with one of its tools in effect. */
  readonly permissionOf: (nativeName: string) => ToolPermission;
  /** `undefined`: nobody is. */
  readonly signedIn: ManagedConnector["signedIn"];
  /** `undefined`: nothing was listed yet. */
  readonly known: ListedTools | undefined;
}

/** A connector as people see it: with the tools that it lists, and those about which somebody decided. Pure. */
export function manageConnector(facts: ConnectorFacts): ManagedConnector {
  const { listed, status, traits, rules, signedIn, known } = facts;
  const { connectorKey, kind, displayName, place, version, candidateVersion, enabled, paused, capabilities } = listed;
  return {
    connectorKey,
    kind,
    displayName,
    place,
    version,
    candidateVersion,
    enabled,
    paused,
    state: status?.state ?? "starting",
    reason: status?.reason,
    since: status?.since,
    nextAttemptAt: status?.nextAttemptAt,
    capabilities: [...capabilities],
    listing: traits.listing,
    origin: traits.origin,
    signedIn: signedIn && { account: signedIn.account, issuer: signedIn.issuer },
    newTools: rules.newTools,
    tools: manageTools(facts),
    catalog: known && { fetchedAt: known.fetchedAt, isStale: known.isStale },
  };
}

function manageTools({ known, permissionOf, rules }: ConnectorFacts): readonly ManagedTool[] {
  const listed = known?.tools ?? [];
  const names = new Set(listed.map(({ nativeName }) => nativeName));
  const unlisted = Object.keys(rules.permissions).filter((name) => !names.has(name));
  return [...listed, ...unlisted.map((nativeName) => ({ nativeName }))].map((tool) => ({
    ...tool,
    permission: permissionOf(tool.nativeName),
    isDecided: Object.hasOwn(rules.permissions, tool.nativeName),
  }));
}

/** A view holds no secret: of a durable binding its name and its account. Pure. */
export function manageBindings(
  bindings: readonly { readonly name: string; readonly accountId: string | undefined }[],
): ManagementView["durableBindings"] {
  return bindings.map(({ name, accountId }) => ({ name, accountId }));
}
