import { isJsonObject, type JsonObject } from "../../protocol/index.js";

/**
 * The connector that a request's `_meta` chooses among the owners of a resource, under the product's key. `undefined` when
 * it chooses none; what is no text chooses none either. Pure.
 */
export function chosenConnector(params: JsonObject, connectorMetaKey: string): string | undefined {
  const meta = params["_meta"];
  const chosen = isJsonObject(meta) ? meta[connectorMetaKey] : undefined;
  return typeof chosen === "string" ? chosen : undefined;
}
