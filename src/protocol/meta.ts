/** The `_meta` keys that the protocol itself defines. Source: 2026-07-28, Overview, `_meta`. */
export const MetaKey = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  progressToken: "progressToken",
} as const;

const LABEL = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
const NAME = "(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?";
const META_KEY = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*/)?${NAME}$`);

/** Whether `key` obeys the grammar of `_meta` keys: an optional dotted prefix and a slash, then a name. */
export function isMetaKey(key: string): boolean {
  return META_KEY.test(key);
}

/**
 * Whether the key's prefix belongs to MCP: its second label is `modelcontextprotocol` or `mcp`. The prefix alone decides,
 * so that a malformed name does not get a key out of the reserved space.
 */
export function isReservedMetaKey(key: string): boolean {
  const slash = key.indexOf("/");
  const owner = slash === -1 ? undefined : key.slice(0, slash).split(".", 2)[1];
  return owner === "modelcontextprotocol" || owner === "mcp";
}
