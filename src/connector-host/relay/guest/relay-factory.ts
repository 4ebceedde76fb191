import { ModernStreamableHTTPClient } from "../../../modern-client/index.js";
import { encodeHeaderValue } from "../../../protocol/index.js";
import { createUndiciExchange, type Exchange } from "../../../transport/index.js";
import type { RemoteMcpClient, RemoteMcpClientFactory, RemoteMcpClientRequest } from "../../factories/index.js";
import { RELAY_PATH, RelayHeader } from "../wire.js";
import { RelayExchange } from "./relay-exchange.js";
import {
  type RelayFactoryConfig,
  type RelayFactoryOptions,
  resolveRelayFactoryOptions,
} from "./relay-factory-options.js";

/**
 * The guest half of the relay: its clients reach their connectors over the desktop, which makes the requests in the account's
 * name. The guest knows where the desktop is and the bearer of its lease; it knows no gateway and no credential, and when the
 * relay fails there is nowhere else to go.
 */
export class RelayFactory implements RemoteMcpClientFactory {
  readonly #config: RelayFactoryConfig;

  /** Throws `invalid_options` or `invalid_url`. */
  constructor(options: RelayFactoryOptions) {
    this.#config = resolveRelayFactoryOptions(options);
  }

  /**
   * Whether the account is signed in, and the connector leased, is the desktop's to say, to each request: `relay_refused`
   * (`not_sent`). Throws `invalid_argument` (`not_sent`) for an identity that can't be written down.
   */
  create({ accountId, connectorKey, releaseDigest, version }: RemoteMcpClientRequest): RemoteMcpClient {
    const { origin, bearer, client, clientInfo, versionMetaKey, allowInsecureHttp } = this.#config;
    return new ModernStreamableHTTPClient({
      // As over the direct path: the host tries again by itself.
      maxReadRetries: 0,
      ...client,
      endpoint: origin + RELAY_PATH,
      allowInsecureHttp,
      clientInfo,
      capabilities: {},
      headers: {
        [RelayHeader.account]: encodeHeaderValue(accountId),
        [RelayHeader.connector]: encodeHeaderValue(connectorKey),
        [RelayHeader.release]: encodeHeaderValue(releaseDigest),
      },
      meta: { [versionMetaKey]: version },
      exchange: new RelayExchange(this.#open()),
      authorize: async () => ({ Authorization: `Bearer ${await bearer()}` }),
    });
  }

  #open(): Exchange {
    const { origin, socketPath, createExchange } = this.#config;
    if (createExchange !== undefined) return createExchange(origin);
    // A client's turns have a number, and its connections therefore need none.
    return createUndiciExchange({ origin, socketPath, maxConnections: Infinity });
  }
}
