import { isJsonObject, type JsonObject, MetaKey } from "../protocol/index.js";

/** The subscription that a notification's params name; `undefined` for none. Source: 2026-07-28, Subscriptions. */
export function subscriptionIdIn(params: JsonObject): unknown {
  const { _meta: meta } = params;
  return isJsonObject(meta) ? meta[MetaKey.subscriptionId] : undefined;
}
