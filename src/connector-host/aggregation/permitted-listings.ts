import type { ToolAccess } from "./ports.js";
import { type ListedTool, listingOf, type RouteListing } from "./route-listing.js";

/** A part of a listing, and the version of the permissions that made it so. */
interface Permitted {
  readonly version: number | undefined;
  readonly listing: RouteListing;
}

/** What agents may see of listings. One of which they may see everything is the same object. */
export class PermittedListings {
  readonly #access: ToolAccess | undefined;
  readonly #known = new WeakMap<RouteListing, Permitted>();

  /** Without `access`, everything may be seen. */
  constructor(access: ToolAccess | undefined) {
    this.#access = access;
  }

  /** What of a connector's listing may be seen now. */
  of(connectorKey: string, listing: RouteListing): RouteListing {
    const access = this.#access;
    if (access === undefined) return listing;
    const version = access.version(connectorKey);
    const known = this.#known.get(listing);
    if (known !== undefined && known.version === version) return known.listing;
    const permitted = permittedPart(listing, (nativeName) => access.ofTool(connectorKey, nativeName) !== "off");
    this.#known.set(listing, { version, listing: permitted });
    return permitted;
  }
}

function permittedPart(listing: RouteListing, isListed: (nativeName: string) => boolean): RouteListing {
  const tools = new Map<string, ListedTool>();
  for (const [name, tool] of listing.tools) if (isListed(tool.nativeName)) tools.set(name, tool);
  if (tools.size === listing.tools.size) return listing;
  return listingOf(tools, listing.diagnostics);
}
