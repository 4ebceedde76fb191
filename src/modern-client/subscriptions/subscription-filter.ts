import { isJsonObject, type JsonObject, refuseArgument } from "../../protocol/index.js";

/**
 * What a subscription is about. Extensions have further members, which are sent as they are.
 *
 * Source: 2026-07-28, Subscriptions, Notification Filter.
 */
export interface SubscriptionFilter {
  readonly toolsListChanged?: boolean | undefined;
  readonly promptsListChanged?: boolean | undefined;
  readonly resourcesListChanged?: boolean | undefined;
  /** URIs of resources; a server may tell of what lies below one, too. */
  readonly resourceSubscriptions?: readonly string[] | undefined;
  /** Ids of tasks, of the extension `io.modelcontextprotocol/tasks`. Tasks that are told of are looked at less often. */
  readonly taskIds?: readonly string[] | undefined;
  readonly [member: string]: unknown;
}

const FLAGS = ["toolsListChanged", "promptsListChanged", "resourcesListChanged"] as const;

/** Throws `invalid_argument` (`not_sent`) for a filter that breaks the schema. */
export function checkFilter(filter: SubscriptionFilter): void {
  if (!isJsonObject(filter)) refuseArgument("filter", "must be an object");
  for (const flag of FLAGS) {
    const value = filter[flag];
    if (value !== undefined && typeof value !== "boolean") refuseArgument(`filter.${flag}`, "must be a boolean");
  }
  const uris = filter.resourceSubscriptions;
  if (uris !== undefined && !isListOfStrings(uris)) {
    refuseArgument("filter.resourceSubscriptions", "must be a list of strings");
  }
  if (filter.taskIds !== undefined && !isListOfStrings(filter.taskIds)) {
    refuseArgument("filter.taskIds", "must be a list of strings");
  }
}

/** The acknowledged filter: what is not said, or not said well, is not acknowledged. Pure and total. */
export function parseAcknowledged(params: JsonObject): SubscriptionFilter {
  const { notifications } = params;
  if (!isJsonObject(notifications)) return {};
  const { resourceSubscriptions, ...filter }: Record<string, unknown> = { ...notifications };
  for (const flag of FLAGS) if (filter[flag] !== true) delete filter[flag];
  return isListOfStrings(resourceSubscriptions) ? { ...filter, resourceSubscriptions } : filter;
}

/** Whether a notification of this method is of a kind that the filter has. Methods of extensions are. */
export function isCovered(method: string, filter: SubscriptionFilter): boolean {
  switch (method) {
    case "notifications/tools/list_changed":
      return filter.toolsListChanged === true;
    case "notifications/prompts/list_changed":
      return filter.promptsListChanged === true;
    case "notifications/resources/list_changed":
      return filter.resourcesListChanged === true;
    case "notifications/resources/updated":
      // Which URI lies below which is the server's to know.
      return (filter.resourceSubscriptions ?? []).length > 0;
    default:
      return true;
  }
}

function isListOfStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
