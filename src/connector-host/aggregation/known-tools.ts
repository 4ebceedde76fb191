import { isJsonObject } from "../../protocol/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Route } from "../routes/index.js";
import type { RouteListing } from "./route-listing.js";

/** A tool as people see it, whatever agents may do with it. */
export interface KnownTool {
  /** The name that its server has for it. */
  readonly nativeName: string;
  /** The name that agents know it by; `undefined` before anything but its activation has listed it. */
  readonly exposedName: string | undefined;
  readonly title: string | undefined;
  /** Its server's own words, at most 1,024 characters of them. */
  readonly description: string | undefined;
}

/** The tools of a connector as they were listed last. */
export interface KnownTools {
  readonly tools: readonly KnownTool[];
  /** Epoch milliseconds; `undefined` where that is not noted. */
  readonly fetchedAt: number | undefined;
  /** Whether its server can't be asked now. */
  readonly isStale: boolean;
}

const MAX_TITLE = 256;
const MAX_DESCRIPTION = 1_024;

/** A listing is never changed: what was read from it is kept with it. */
const described = new WeakMap<RouteListing, readonly KnownTool[]>();

/** The tools of a listing, by native name. */
export function toolsOfListing(listing: RouteListing): readonly KnownTool[] {
  const known = described.get(listing);
  if (known !== undefined) return known;
  const tools: KnownTool[] = [];
  for (const [exposedName, { nativeName, definition }] of listing.tools) {
    const value: unknown = JSON.parse(definition);
    tools.push({ nativeName, exposedName, ...wordsOf(value) });
  }
  const sorted = tools.sort(byNativeName);
  described.set(listing, sorted);
  return sorted;
}

/** The tools that a route was activated with, by native name. */
export function toolsOfActivation({ tools }: Route<RemoteMcpClient>): readonly KnownTool[] {
  const known = Array.from(tools, ([nativeName, { tool }]) => ({
    nativeName,
    exposedName: undefined,
    ...wordsOf(tool),
  }));
  return known.sort(byNativeName);
}

function wordsOf(definition: unknown): Pick<KnownTool, "title" | "description"> {
  const { title, description } = isJsonObject(definition) ? definition : {};
  return { title: textOf(title, MAX_TITLE), description: textOf(description, MAX_DESCRIPTION) };
}

function textOf(value: unknown, maxCharacters: number): string | undefined {
  return typeof value === "string" ? value.slice(0, maxCharacters) : undefined;
}

function byNativeName(one: KnownTool, other: KnownTool): number {
  return one.nativeName < other.nativeName ? -1 : 1;
}
