import { decodeHeaderValue, isReservedMetaKey, MetaKey } from "../../../protocol/index.js";
import { classifyModernRequest, type HeaderFields, headerValue, type ModernCall } from "../../../serving/index.js";
import type { VersionPin } from "../../gateway-route.js";
import { RelayHeader, type RelayReason } from "../wire.js";
import type { LeasedConnector, LeaseTerms } from "./lease-terms.js";
import { hasOneMeaning } from "./one-meaning.js";

/** A request of a guest, as the desktop makes it. Nothing else of what came travels on, but the body's own bytes. */
export interface AcceptedRequest {
  readonly kind: "accepted";
  readonly leased: LeasedConnector;
  readonly method: string;
  /** Of the request to the gateway, without those that authorize it. A flat list. */
  readonly headers: string[];
}

/** A request that is not made. */
export interface RefusedRequest {
  readonly kind: "refused";
  readonly status: number;
  readonly reason: RelayReason;
  readonly detail: string;
}

const REVISION = "2026-07-28";

/** What clients of a release-bound connector ask. Source: 2026-07-28, Overview; the connector contract's own list. */
const METHODS: ReadonlySet<string> = new Set(["server/discover", "tools/list", "tools/call"]);

/** The keys of MCP's own space that a request may have; the capabilities are looked at. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  MetaKey.clientCapabilities,
  MetaKey.clientInfo,
  MetaKey.logLevel,
  MetaKey.protocolVersion,
]);

/**
 * Judges what a guest has posted against its lease. Pure; never throws.
 *
 * The guest says which account, connector and release it means, and all three must be those of the lease: a guest whose own
 * idea of them is another one is not served with these. Its message must be a request of one of three methods, with headers
 * that equal the body, one meaning, and the lease's version in `_meta`; other keys of the product there, and capabilities, are
 * refused. Of its headers `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*` travel on; all others end here.
 */
export function classifyRelayRequest(
  headers: HeaderFields,
  body: Uint8Array,
  terms: LeaseTerms,
  pin: VersionPin,
): AcceptedRequest | RefusedRequest {
  const leased = classifyIdentity(headers, terms);
  if (leased.kind === "refused") return leased;
  const request = classifyModernRequest(headers, body, [REVISION]);
  if (request.kind === "refused") return invalid(request.error.message);
  if (request.kind === "notification") return invalid("a notification");
  if (!METHODS.has(request.method)) return invalid(`the method ${request.method}`);
  if (!hasOneMeaning(body)) return invalid("a member that is there twice");
  const fault = faultOfMeta(request, leased.connector, pin);
  if (fault !== undefined) return fault;
  const mirrored = mirroredHeaders(headers, request.method);
  if (mirrored === undefined) return invalid("a header Mcp-Param-*");
  return {
    kind: "accepted",
    leased: leased.connector,
    method: request.method,
    headers: [...FIXED, ...mirrored, pin.versionHeader, leased.connector.version],
  };
}

const FIXED: readonly string[] = [
  "Content-Type",
  "application/json",
  "Accept",
  "application/json, text/event-stream",
  "MCP-Protocol-Version",
  REVISION,
];

function classifyIdentity(
  headers: HeaderFields,
  terms: LeaseTerms,
): RefusedRequest | { readonly kind: "leased"; readonly connector: LeasedConnector } {
  const [account, key, release] = [RelayHeader.account, RelayHeader.connector, RelayHeader.release].map((name) => {
    const value = headerValue(headers, name);
    return value === undefined ? undefined : decodeHeaderValue(value);
  });
  if (account === undefined || key === undefined || release === undefined) return invalid("no identity");
  if (account !== terms.accountId) return notLeased("another account");
  const connector = terms.connectors.get(key);
  if (connector === undefined) return notLeased("another connector");
  if (connector.releaseDigest !== release) return notLeased("another release");
  return { kind: "leased", connector };
}

function faultOfMeta({ meta }: ModernCall, leased: LeasedConnector, pin: VersionPin): RefusedRequest | undefined {
  const version = meta.members[pin.versionMetaKey];
  if (version !== leased.version) return notLeased("another version");
  if (Object.keys(meta.clientCapabilities).length > 0) return invalid("capabilities");
  const product = prefixOf(pin.versionMetaKey);
  for (const key of Object.keys(meta.members)) {
    if (key === pin.versionMetaKey) continue;
    if (isReservedMetaKey(key) ? !OWN_KEYS.has(key) : isOf(key, product)) return invalid(`the _meta key ${key}`);
  }
  return undefined;
}

/** In any case, and below the product's own prefix too. A pin without a prefix has no space of its own. */
function isOf(key: string, product: string): boolean {
  const prefix = prefixOf(key);
  return product !== "" && (prefix === product || prefix.startsWith(`${product}.`));
}

function prefixOf(key: string): string {
  const slash = key.indexOf("/");
  return slash === -1 ? "" : key.slice(0, slash).toLowerCase();
}

/** `undefined`: a parameter header that no request has. The others equal the body, which was looked at before. */
function mirroredHeaders(headers: HeaderFields, method: string): readonly string[] | undefined {
  const mirrored = ["Mcp-Method", method];
  const isCall = method === "tools/call";
  const name = headerValue(headers, "mcp-name");
  if (isCall && name !== undefined) mirrored.push("Mcp-Name", name);
  for (const header of Object.keys(headers)) {
    if (!header.startsWith("mcp-param-")) continue;
    const value = headerValue(headers, header);
    if (!isCall || value === undefined || decodeHeaderValue(value) === undefined) return undefined;
    mirrored.push(header, value);
  }
  return mirrored;
}

function invalid(detail: string): RefusedRequest {
  return { kind: "refused", status: 400, reason: "invalid_request", detail };
}

function notLeased(detail: string): RefusedRequest {
  return { kind: "refused", status: 403, reason: "not_leased", detail };
}
