import { isRemoteConnectorError } from "../errors.js";
import {
  LegacySSEClient,
  type LegacySSEClientOptions,
  LegacyStreamableHTTPClient,
  type LegacyStreamableHTTPClientOptions,
} from "../legacy-client/index.js";
import { isAuthorizationFailure, RpcCode } from "../protocol/index.js";
import type { OpenLegacy } from "./era-factories.js";
import { withCause } from "./with-cause.js";

/** What both transports of legacy servers take, and what Streamable HTTP alone does. */
export interface LegacyHttpOpening {
  /** `auto`: Streamable HTTP, and HTTP+SSE when that is refused. */
  readonly transport: "auto" | "sse";
  readonly common: LegacySSEClientOptions;
  readonly streamable: Omit<Partial<LegacyStreamableHTTPClientOptions>, keyof LegacySSEClientOptions>;
}

/**
 * Opens a client for a legacy server over Streamable HTTP, or over HTTP+SSE when its refusal of `initialize` is that of a server
 * that knows nothing else, or at once when nothing else is wanted. Rejects with the first failure, the second one as its cause,
 * or with that of authorizing.
 *
 * Source: 2025-11-25, Transports, Backwards Compatibility.
 */
export async function openLegacyHttp({ transport, common, streamable }: LegacyHttpOpening): Promise<OpenLegacy> {
  if (transport === "sse") return openSse(common);
  try {
    const client = await LegacyStreamableHTTPClient.connect({ ...common, ...streamable });
    return { client, ended: undefined };
  } catch (refusal) {
    if (!mayBeSse(refusal)) throw refusal;
    try {
      return await openSse(common);
    } catch (error) {
      throw common.signal?.aborted === true || isAuthorizationFailure(error) ? error : withCause(refusal, error);
    }
  }
}

async function openSse(common: LegacySSEClientOptions): Promise<OpenLegacy> {
  const client = await LegacySSEClient.connect(common);
  return { client, ended: client.ended };
}

const SSE_STATUSES: ReadonlySet<number | undefined> = new Set([400, 404, 405]);
const MODERN_CODES: ReadonlySet<number> = new Set([
  RpcCode.headerMismatch,
  RpcCode.missingRequiredClientCapability,
  RpcCode.unsupportedProtocolVersion,
]);

/** Whether a server refused the POST of `initialize` as one does that only takes what is posted to the place it names on a stream. */
function mayBeSse(error: unknown): boolean {
  if (isRemoteConnectorError(error, "unexpected_answer")) return SSE_STATUSES.has(error.details.status);
  if (!isRemoteConnectorError(error, "peer_error")) return false;
  return SSE_STATUSES.has(error.details.httpStatus) && !MODERN_CODES.has(error.details.rpcCode);
}
