import { isJsonObject } from "../../protocol/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { ListKind } from "../local-server/index.js";

/** What a subscription is about. */
export type ListFilter = Parameters<RemoteMcpClient["listen"]>[0];

/** Each list, and the flag by which changes of it are asked for. */
export const LIST_FLAGS = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
} as const satisfies Record<ListKind, string>;

const KINDS: readonly ListKind[] = ["tools", "prompts", "resources"];

/** What a server is asked to tell of. */
export interface WantedNews {
  /** What a connector is opened for. */
  readonly capabilities: readonly string[];
  /** What its server said of itself; `undefined` when that is not known. */
  readonly declared: unknown;
  readonly era: "modern" | "legacy";
}

/**
 * The filter of a subscription to the lists that a connector is opened for; `undefined` when there is nothing to listen for. A modern server is
 * asked for what it declares to tell of, since each question costs a stream; a legacy one for all, since its session is there anyway and what it
 * tells without having declared it is true all the same. Pure.
 */
export function wantedNews({ capabilities, declared, era }: WantedNews): ListFilter | undefined {
  const filter: Partial<Record<(typeof LIST_FLAGS)[ListKind], true>> = {};
  for (const kind of KINDS) {
    if (!capabilities.includes(kind)) continue;
    if (era === "legacy" || declares(declared, kind)) filter[LIST_FLAGS[kind]] = true;
  }
  return Object.keys(filter).length === 0 ? undefined : filter;
}

/** The list that a notification says has changed; `undefined` for every other method. */
export function changedList(method: string): ListKind | undefined {
  return KINDS.find((kind) => method === `notifications/${kind}/list_changed`);
}

function declares(declared: unknown, kind: ListKind): boolean {
  const capability = isJsonObject(declared) ? declared[kind] : undefined;
  return isJsonObject(capability) && capability["listChanged"] === true;
}
