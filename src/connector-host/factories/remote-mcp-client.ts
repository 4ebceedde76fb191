import type { McpClient } from "../../connect/index.js";
import type { BindingContract } from "../release/index.js";
import type { CallLeases } from "./call-leases.js";

/**
 * Which connector a client is for, and in whose name. There is no member for a credential, a cookie or a URL, and there
 * will be none: how a connector is reached and what authorizes a request is the factory's own knowledge.
 */
export interface RemoteMcpClientRequest {
  /** Names the operation that asked, for traces. */
  readonly operationId: string;
  /** The local connection id, stable for account and connector. */
  readonly connectionId: string;
  readonly connectorKey: string;
  readonly accountId: string;
  readonly releaseDigest: string;
  /** The release's version. */
  readonly version: string;
  readonly generation: number;
  readonly binding: BindingContract;
}

/**
 * A client for one connector, as far as the host needs one. Every call takes a `signal`, and an `admit` that has the last
 * word before the first byte leaves. `close` is bounded and may be called again.
 */
export interface RemoteMcpClient extends Pick<
  McpClient,
  | "callTool"
  | "close"
  | "complete"
  | "discover"
  | "getPrompt"
  | "listAllTools"
  | "listen"
  | "listPrompts"
  | "listResources"
  | "listResourceTemplates"
  | "readResource"
  | "request"
> {
  /** The era that its server speaks; left out, the modern one. */
  readonly era?: McpClient["era"] | undefined;
  /** Connections over which a legacy server may ask the agent of a call. Left out: it can't ask over this client. */
  readonly leases?: CallLeases<RemoteMcpClient> | undefined;
}

/** The physical path to remote connectors: the one place that knows where they are and what authorizes a request. */
export interface RemoteMcpClientFactory {
  /**
   * Makes a client. Synchronous, and opens nothing: whatever takes time, a lease included, belongs to the first request,
   * where its signal and deadlines apply. A new client each time; its owner closes it.
   *
   * Throws a `RemoteConnectorError` (`not_sent`) for a connector that can't be reached in this account's name now.
   */
  create(request: RemoteMcpClientRequest): RemoteMcpClient;
}
