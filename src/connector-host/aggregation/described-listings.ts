import type { Binding } from "../local-server/index.js";
import { type DescriptionTable, overrideDescriptions } from "./override-descriptions.js";
import type { ListDiagnostic } from "./ports.js";
import { type ListedTool, listingOf, type RouteListing } from "./route-listing.js";

export interface DescribedListingsOptions {
  /** What is said of a connector's tools to a binding in place of what their server says, each table over those before it. */
  readonly tablesOf: ((connectorKey: string, binding: Binding) => readonly DescriptionTable[]) | undefined;
  /** Told once for each listing and table in which something does not fit. */
  readonly onDiagnostics: (connectorKey: string, diagnostics: readonly ListDiagnostic[]) => void;
}

/** Listings with the descriptions that people gave their tools. One of which nothing is said is the same object. */
export class DescribedListings {
  readonly #options: DescribedListingsOptions;
  readonly #known = new WeakMap<RouteListing, WeakMap<DescriptionTable, RouteListing>>();

  constructor(options: DescribedListingsOptions) {
    this.#options = options;
  }

  /** A connector's listing as it is described to a binding. A tool with an override that does not fit is not in it. */
  of(connectorKey: string, binding: Binding, listing: RouteListing): RouteListing {
    const tables = this.#options.tablesOf?.(connectorKey, binding) ?? NO_TABLES;
    return tables.reduce((shown, table) => this.#describe(connectorKey, shown, table), listing);
  }

  #describe(connectorKey: string, listing: RouteListing, table: DescriptionTable): RouteListing {
    let byTable = this.#known.get(listing);
    const known = byTable?.get(table);
    if (known !== undefined) return known;
    const described = describeListing(connectorKey, listing, table);
    const fresh = described.diagnostics.slice(listing.diagnostics.length);
    if (fresh.length > 0) this.#options.onDiagnostics(connectorKey, fresh);
    byTable ??= new WeakMap();
    byTable.set(table, described);
    this.#known.set(listing, byTable);
    return described;
  }
}

const NO_TABLES: readonly DescriptionTable[] = [];

/** Puts descriptions into a listing. A tool that they don't fit is left out: what its server says is never in their place. Pure. */
function describeListing(connectorKey: string, listing: RouteListing, table: DescriptionTable): RouteListing {
  const tools = new Map<string, ListedTool>();
  const misfits: ListDiagnostic[] = [];
  let isSame = true;
  for (const [name, tool] of listing.tools) {
    const { nativeName } = tool;
    const override = Object.hasOwn(table, nativeName) ? table[nativeName] : undefined;
    if (override === undefined) {
      tools.set(name, tool);
      continue;
    }
    isSame = false;
    const verdict = overrideDescriptions(tool.definition, override);
    if (verdict.kind === "fits") tools.set(name, { ...tool, definition: verdict.definition });
    else misfits.push({ kind: "unfit_description", tool: { connectorKey, nativeName }, reason: verdict.reason });
  }
  return isSame ? listing : listingOf(tools, [...listing.diagnostics, ...misfits]);
}
