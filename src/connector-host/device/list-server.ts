import type { McpClient } from "../../connect/index.js";
import { type ErrorCode, isRemoteConnectorError } from "../../errors.js";
import type { DiscoverResult } from "../../protocol/index.js";
import type { SchemaCheck } from "../../protocol/json-schema/index.js";
import { type CheckedToolList, checkToolList } from "../activation/index.js";
import type { DeviceConnector } from "./device-connector.js";

/** What a server that was opened is published with. */
export interface ServerListing extends CheckedToolList {
  /** `degraded`: it lives, and has no list of tools, or an empty one. */
  readonly readiness: "ready" | "degraded";
  /** Why the list failed, if it did. */
  readonly error: unknown;
}

const MAX_TOOLS = 512;
const LIST_TIMEOUT_MS = 30_000;

/** What calls fail with when nobody is there to answer. */
const GONE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "authorize_failed",
  "client_identity_required",
  "connect_failed",
  "connection_broken",
  "oauth_discovery_failed",
  "oauth_invalid",
  "oauth_refused",
  "process_exited",
  "spawn_failed",
]);

const NOTHING: CheckedToolList = { tools: new Map(), diagnostics: [] };

/**
 * Lists the tools of a server that was opened: 512 at most, each checked. A connector that is not opened for tools is not asked.
 *
 * Resolves also when a living server gives no list. Rejects with the signal's reason, with the error of a refusal that a sign-in can
 * mend, and with that of a server which is not there any more.
 */
export async function listServer(
  client: Pick<McpClient, "listAllTools">,
  connector: DeviceConnector,
  signal: AbortSignal,
  checkSchema?: SchemaCheck,
): Promise<ServerListing> {
  const { capabilities, deadlines } = connector.kind === "stdio" ? connector.connector : connector.registration;
  if (!capabilities.includes("tools")) return { ...NOTHING, readiness: "ready", error: undefined };
  const { listTimeoutMs: totalTimeoutMs = LIST_TIMEOUT_MS } = deadlines;
  try {
    const listed = await client.listAllTools({ signal, totalTimeoutMs, definitions: true });
    const list = checkToolList(listed, MAX_TOOLS, checkSchema);
    return { ...list, readiness: list.tools.size > 0 ? "ready" : "degraded", error: undefined };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!isOfLiving(error)) throw error;
    return { ...NOTHING, readiness: "degraded", error };
  }
}

/** What a server says of itself; `undefined` when it lives and does not say. Rejects as {@link listServer} does. */
export async function discoverServer(
  client: Pick<McpClient, "discover">,
  signal: AbortSignal,
): Promise<DiscoverResult | undefined> {
  try {
    return await client.discover({ signal, totalTimeoutMs: LIST_TIMEOUT_MS });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!isOfLiving(error)) throw error;
    return undefined;
  }
}

function isOfLiving(error: unknown): boolean {
  return isRemoteConnectorError(error) && !GONE.has(error.code) && !needsSignIn(error);
}

/** Whether a server can't even be asked what it has before a person has signed in, or has authorized more than was. Pure. */
export function needsSignIn(error: unknown): boolean {
  return isRemoteConnectorError(error, "sign_in_required") || isUnauthorized(error);
}

/** Whether a server over HTTP refuses whoever asks, by status 401, so that a person has to sign in. Pure. */
export function isUnauthorized(error: unknown): boolean {
  // One call of many may need more than was authorized.
  if (isRemoteConnectorError(error, "sign_in_required")) return error.details.reason !== "insufficient_scope";
  if (isRemoteConnectorError(error, "token_refused")) return error.details.status === 401;
  if (isRemoteConnectorError(error, "unexpected_answer")) return error.details.status === 401;
  return isRemoteConnectorError(error, "peer_error") && error.details.httpStatus === 401;
}
