import { isJsonObject, isLegacyRevision, type LegacyRevision, MetaKey } from "../../protocol/index.js";

/** Legacy revisions that have a Streamable HTTP transport, newest first. */
export const LEGACY_HTTP_REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26"] as const;

export type LegacyHttpRevision = (typeof LEGACY_HTTP_REVISIONS)[number];

/** Which form of the protocol a POST is written in. */
export type Surface =
  | { readonly kind: "modern" }
  | { readonly kind: "legacy"; readonly revision: LegacyHttpRevision }
  /** A legacy revision without this transport. */
  | { readonly kind: "unsupported"; readonly revision: LegacyRevision };

/** The two headers that the choice may rest on. */
export interface SurfaceHeaders {
  /** `MCP-Protocol-Version`. */
  readonly version: string | undefined;
  /** `Mcp-Method`. */
  readonly method: string | undefined;
}

const MODERN: Surface = { kind: "modern" };

/** Methods that only the modern revision has. */
const MODERN_METHODS: ReadonlySet<unknown> = new Set(["server/discover", "subscriptions/listen"]);

/** What a request without the version header is taken for. Source: 2025-11-25, Transports, Protocol Version Header. */
const ASSUMED_REVISION = "2025-03-26";

/**
 * Whether the headers alone show a modern request, so that its body need not be looked at first. `Mcp-Method` came with
 * the modern revision; `initialize` is a method that both eras can name.
 */
export function isModernByHeaders({ version, method }: SurfaceHeaders): boolean {
  return method !== undefined && method !== "initialize" && !isLegacyRevision(version);
}

/**
 * Tells which form of the protocol a posted JSON value is written in. Pure; throws nothing.
 *
 * A request that carries a protocol version in its `_meta` is modern, whatever the headers say; `initialize` without one
 * is legacy; then the version header decides. Without that header it is 2025-03-26, unless the method or `Mcp-Method`
 * shows a modern request that misses its metadata: it is then told so in modern terms. A version that nobody here knows
 * is modern too, since only that revision has an answer that lists what would be understood.
 *
 * Source: 2026-07-28, Versioning, Backward Compatibility; 2025-11-25, Transports, Protocol Version Header.
 */
export function classifySurface(headers: SurfaceHeaders, message: unknown): Surface {
  const method = isJsonObject(message) ? message["method"] : undefined;
  if (hasModernMeta(message)) return MODERN;
  const { version } = headers;
  if (isLegacyHttpRevision(version)) return { kind: "legacy", revision: version };
  if (method === "initialize") return { kind: "legacy", revision: ASSUMED_REVISION };
  if (isLegacyRevision(version)) return { kind: "unsupported", revision: version };
  if (version !== undefined || headers.method !== undefined || MODERN_METHODS.has(method)) return MODERN;
  return { kind: "legacy", revision: ASSUMED_REVISION };
}

export function isLegacyHttpRevision(value: unknown): value is LegacyHttpRevision {
  return LEGACY_HTTP_REVISIONS.some((revision) => revision === value);
}

function hasModernMeta(message: unknown): boolean {
  const params = isJsonObject(message) ? message["params"] : undefined;
  const meta = isJsonObject(params) ? params["_meta"] : undefined;
  return isJsonObject(meta) && meta[MetaKey.protocolVersion] !== undefined;
}
