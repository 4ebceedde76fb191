import { isJsonObject } from "../../protocol/index.js";
import type { ListKind } from "./listeners.js";
import type { ToolDirectory } from "./ports.js";

/** What of a `subscriptions/listen` can be honoured. */
export interface SubscriptionFilter {
  readonly kind: "filter";
  readonly lists: ReadonlySet<ListKind>;
  /** The URIs to be watched, each once, in the order in which they were asked for. */
  readonly uris: readonly string[];
}

/** The member of the filter for each list. Source: 2026-07-28, Subscriptions, Notification Filter. */
const MEMBERS: readonly (readonly [ListKind, string])[] = [
  ["tools", "toolsListChanged"],
  ["prompts", "promptsListChanged"],
  ["resources", "resourcesListChanged"],
];

/**
 * Reads the `notifications` of a `subscriptions/listen`. Pure. What the directory doesn't offer is left out, and so is a list
 * for which anything but `true` is said.
 */
export function readSubscriptionFilter(
  notifications: unknown,
  directory: ToolDirectory,
): SubscriptionFilter | { readonly kind: "invalid"; readonly reason: string } {
  if (!isJsonObject(notifications)) return { kind: "invalid", reason: "params.notifications must be an object" };
  const uris = notifications["resourceSubscriptions"] ?? [];
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === "string")) {
    return { kind: "invalid", reason: "params.notifications.resourceSubscriptions must be an array of strings" };
  }
  const asked = MEMBERS.filter(([, member]) => notifications[member] === true).map(([list]) => list);
  const lists = asked.filter((list) => list === "tools" || directory[list] !== undefined);
  return { kind: "filter", lists: new Set(lists), uris: directory.resources === undefined ? [] : [...new Set(uris)] };
}

/** The filter as it is acknowledged: the lists, and the resources that are watched. */
export function acknowledgedFilter(lists: ReadonlySet<ListKind>, uris: readonly string[]): object {
  const told = MEMBERS.filter(([list]) => lists.has(list)).map(([, member]) => [member, true] as const);
  return { ...Object.fromEntries(told), ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }) };
}
