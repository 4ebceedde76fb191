import { isJsonObject, type JsonObject } from "../protocol/index.js";

/**
 * Two sets of capabilities as one: what either declares is declared, down to the sub-capabilities. Pure.
 *
 * Source: 2026-07-28, Client Capabilities.
 */
export function mergeCapabilities(base: JsonObject, added: JsonObject): JsonObject {
  const merged = Object.entries(added).map(([name, value]): [string, unknown] => {
    const known = Object.hasOwn(base, name) ? base[name] : undefined;
    return [name, isJsonObject(known) && isJsonObject(value) ? mergeCapabilities(known, value) : value];
  });
  return Object.fromEntries([...Object.entries(base), ...merged]);
}

/** Which member, if any, is no object: capabilities are objects, and servers refuse others. */
export function oddCapability(capabilities: JsonObject): string | undefined {
  return Object.keys(capabilities).find((name) => !isJsonObject(capabilities[name]));
}
