import { RemoteConnectorError } from "../../errors.js";
import { ModernStreamableHTTPClient } from "../../modern-client/index.js";
import { connectorUrl } from "../gateway-route.js";
import { isConnectorKey } from "../release/index.js";
import {
  type DirectFactoryConfig,
  type DirectFactoryOptions,
  resolveDirectFactoryOptions,
} from "./direct-factory-options.js";
import type { RemoteMcpClient, RemoteMcpClientFactory, RemoteMcpClientRequest } from "./remote-mcp-client.js";

/**
 * Reaches connectors straight over the gateway. A connector's endpoint is always `{base}/v1/connectors/{key}/mcp`, whatever
 * its release says. Every request carries the release's version in a header and, equal, in `_meta`, and the credentials of
 * the login that was there when the client was made: they are asked for request by request and kept nowhere.
 */
export class DirectFactory implements RemoteMcpClientFactory {
  readonly #config: DirectFactoryConfig;

  /** Throws `invalid_options`, `invalid_url` or `invalid_header`. */
  constructor(options: DirectFactoryOptions) {
    this.#config = resolveDirectFactoryOptions(options);
  }

  /**
   * Throws `invalid_argument` for what is no connector key, and `account_not_ready` when the account is signed out (both
   * `not_sent`).
   */
  create(request: RemoteMcpClientRequest): RemoteMcpClient {
    const { baseUrl, client, clientInfo, createExchange, logins, versionHeader, versionMetaKey } = this.#config;
    const { accountId, connectorKey, version } = request;
    // A dot segment would survive encoding and be resolved away: the key decides where the request goes.
    if (!isConnectorKey(connectorKey)) throw notAKey();
    const login = logins.loginGeneration(accountId);
    if (login === undefined) throw signedOut();
    return new ModernStreamableHTTPClient({
      // The host tries again by itself, with pauses that outlive its restarts.
      maxReadRetries: 0,
      ...client,
      endpoint: connectorUrl(baseUrl, connectorKey),
      clientInfo,
      capabilities: {},
      headers: { [versionHeader]: version },
      meta: { [versionMetaKey]: version },
      exchange: createExchange?.(),
      authorize: logins.authorizerFor(accountId, login),
    });
  }
}

/**
 * Whether a client takes whatever has the shape of a signal, as those of this factory do. Another may hand its signal to what takes
 * nothing but one of the platform.
 */
export function takesQuickSignals(client: RemoteMcpClient): boolean {
  return client instanceof ModernStreamableHTTPClient;
}

function notAKey(): RemoteConnectorError<"invalid_argument"> {
  return new RemoteConnectorError("invalid_argument", {
    message: "The connector key can't name a connector.",
    details: { argument: "connectorKey", reason: "not a connector key" },
  });
}

function signedOut(): RemoteConnectorError<"account_not_ready"> {
  return new RemoteConnectorError("account_not_ready", {
    message: "The account of the connector is signed out.",
    details: {},
  });
}
