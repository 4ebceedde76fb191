import { isJsonObject, type JsonObject, MetaKey } from "../protocol/index.js";
import { notificationLine, refuseParams } from "../serving/index.js";
import type { AcceptedCall, MethodOutcome } from "./accepted-call.js";
import type { ConnectorOffer } from "./options.js";
import type { ListenFilter } from "./upstream.js";
import type { OpenUpstream } from "./upstream-pool.js";

/** The lists whose changes can be told of, by the member of the filter, and what the connector has to offer for each. */
const LISTS: ReadonlyMap<string, ConnectorOffer | undefined> = new Map([
  ["toolsListChanged", undefined],
  ["promptsListChanged", "prompts"],
  ["resourcesListChanged", "resources"],
]);

/**
 * Answers a `subscriptions/listen` with what the upstream tells, under the caller's own subscription id, until either side ends
 * it. Source: 2026-07-28, Subscriptions.
 */
export async function listen(
  { upstream, retiring }: OpenUpstream,
  { call, answer, meta, offers }: AcceptedCall,
): Promise<MethodOutcome> {
  const { id, params } = call;
  const wanted = params["notifications"];
  if (!isJsonObject(wanted)) return refuseParams(id, "params.notifications must be an object");
  const filter = readFilter(wanted, offers);
  if (filter === undefined)
    return refuseParams(id, "params.notifications.resourceSubscriptions must be a list of strings");
  const own = { [MetaKey.subscriptionId]: id };
  const say = (method: string, said: JsonObject): void => {
    const given = said["_meta"];
    const line = notificationLine(method, { ...said, _meta: isJsonObject(given) ? { ...given, ...own } : own });
    answer.notify(line, { droppable: false });
  };
  // A new credential has another upstream: whoever listens is to listen to that.
  const ending = new AbortController();
  const end = (): void => ending.abort();
  for (const signal of [answer.signal, retiring]) signal.addEventListener("abort", end);
  if (answer.signal.aborted || retiring.aborted) end();
  try {
    await upstream.listen(filter, {
      signal: ending.signal,
      meta,
      onAcknowledged: (notifications) => say("notifications/subscriptions/acknowledged", { notifications }),
      onNotification: ({ method, params: said }) => say(method, isJsonObject(said) ? said : {}),
    });
  } finally {
    for (const signal of [answer.signal, retiring]) signal.removeEventListener("abort", end);
  }
  return Buffer.from(JSON.stringify({ resultType: "complete", _meta: own }), "utf8");
}

/** What of a filter the connector has to do with. `undefined` for one that breaks the schema. */
function readFilter(wanted: JsonObject, offers: ReadonlySet<ConnectorOffer>): ListenFilter | undefined {
  const filter: Record<string, unknown> = {};
  for (const [flag, offer] of LISTS) {
    if (wanted[flag] === true && (offer === undefined || offers.has(offer))) filter[flag] = true;
  }
  const uris = wanted["resourceSubscriptions"];
  if (uris === undefined) return filter;
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === "string")) return undefined;
  return offers.has("resources") ? { ...filter, resourceSubscriptions: uris } : filter;
}
