import { createHash } from "node:crypto";
import type { ToolContract } from "../../protocol/index.js";
import { changeMembers } from "../../serving/index.js";
import { buildNameTable, type NamespaceTable } from "../naming/index.js";
import type { NativeTool } from "./native-tools.js";
import type { ListDiagnostic } from "./ports.js";

/** A tool of a connector, ready to be shown and called. */
export interface ListedTool {
  readonly nativeName: string;
  readonly contract: ToolContract;
  /** The definition's JSON as its server wrote it, but for the name and for descriptions that a person wrote. */
  readonly definition: string;
}

/** What one connector lists, under the names that agents see. Immutable. */
export interface RouteListing {
  /** By exposed name, sorted in code units. */
  readonly tools: ReadonlyMap<string, ListedTool>;
  /** Of all definitions. */
  readonly bytes: number;
  /** The same for listings that agents can't tell apart; `""` for an empty one. */
  readonly digest: string;
  /** What was left out. */
  readonly diagnostics: readonly ListDiagnostic[];
}

/** Names what a connector lists. `leftOut`: what was left out before. Pure. */
export function nameListing(
  namespaces: NamespaceTable,
  connectorKey: string,
  native: readonly NativeTool[],
  leftOut: readonly ListDiagnostic[] = [],
): RouteListing {
  const identified = native.map((tool) => ({ connectorKey, ...tool }));
  const { entries, diagnostics } = buildNameTable(namespaces, identified);
  const tools = new Map<string, ListedTool>();
  for (const [name, { nativeName, contract, definition }] of entries) {
    const renamed = changeMembers(definition, { name: JSON.stringify(name) });
    tools.set(name, { nativeName, contract, definition: Buffer.from(renamed).toString("utf8") });
  }
  return listingOf(tools, [...leftOut, ...diagnostics]);
}

/** A listing of these tools, which are sorted by name. Pure. */
export function listingOf(
  tools: ReadonlyMap<string, ListedTool>,
  diagnostics: readonly ListDiagnostic[],
): RouteListing {
  const hash = createHash("sha256");
  let bytes = 0;
  for (const { definition } of tools.values()) {
    bytes += Buffer.byteLength(definition, "utf8");
    // JSON holds no NUL, so that nothing can be moved from one definition to the next.
    hash.update(definition, "utf8").update("\0");
  }
  return { tools, bytes, digest: tools.size === 0 ? "" : hash.digest("base64url"), diagnostics };
}
