import { isJsonObject, isMetaKey, isReservedMetaKey, type JsonObject, MetaKey } from "../../protocol/index.js";

/** The keys of trace context, which are allowed without a prefix. Their values are texts. */
const TRACE_KEYS: ReadonlySet<string> = new Set(["traceparent", "tracestate", "baggage"]);

const NOTHING: JsonObject = Object.freeze({});

/** The prefix of the keys that the protocol itself defines. */
const OWN = "io.modelcontextprotocol/";

/**
 * What of an agent's `_meta` travels on to the connector: trace context, and keys of third parties.
 *
 * Left out are the keys that MCP reserves, since they speak of the hop between agent and host; `progressToken`, since the
 * host chooses its own; keys of the product (`productPrefix`, and prefixes below it, in any case), which only the host may
 * set; and keys that break the grammar, which would spoil the request that they were merged into.
 *
 * Source: 2026-07-28, Overview, `_meta`.
 */
export function passOnAgentMeta(meta: unknown, productPrefix: string): JsonObject {
  if (!isJsonObject(meta)) return NOTHING;
  let passed: Record<string, unknown> | undefined;
  for (const key of Object.keys(meta)) {
    // What every request has needs no closer look.
    if (key.startsWith(OWN)) continue;
    const value = meta[key];
    if (!mayPass(key, value, productPrefix)) continue;
    passed ??= {};
    passed[key] = value;
  }
  return passed ?? NOTHING;
}

function mayPass(key: string, value: unknown, productPrefix: string): boolean {
  if (TRACE_KEYS.has(key)) return typeof value === "string";
  if (key === MetaKey.progressToken || !isMetaKey(key) || isReservedMetaKey(key)) return false;
  return !isOf(key, productPrefix);
}

function isOf(key: string, productPrefix: string): boolean {
  const owned = productPrefix.toLowerCase();
  const slash = key.indexOf("/");
  const prefix = slash === -1 ? "" : key.slice(0, slash).toLowerCase();
  return prefix === owned || prefix.startsWith(`${owned}.`);
}
