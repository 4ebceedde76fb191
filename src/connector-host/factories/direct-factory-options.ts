import { refuseUnknownOptions } from "../../options.js";
import type { ModernStreamableHTTPClientOptions } from "../../modern-client/index.js";
import type { Implementation } from "../../protocol/index.js";
import type { Authorize, Exchange } from "../../transport/index.js";
import { parseGatewayBase, resolveVersionPin, type VersionPin, type VersionPinOptions } from "../gateway-route.js";

/** The accounts that are signed in, and what authorizes their requests. */
export interface AccountLogins {
  /** The generation of the account's login; `undefined` while it is signed out. The same account signed in again has another. */
  loginGeneration(accountId: string): number | undefined;
  /**
   * What authorizes each request of exactly this login. It throws once that login has ended, also when it ended while the
   * headers were fetched: a request without its credentials is never made.
   */
  authorizerFor(accountId: string, loginGeneration: number): Authorize;
}

/** Options of the clients that are passed on to each of them. */
export type DirectClientOptions = Pick<
  ModernStreamableHTTPClientOptions,
  | "clock"
  | "connectTimeoutMs"
  | "idleTimeoutMs"
  | "maxBodyBytes"
  | "maxConcurrentRequests"
  | "maxErrorBodyBytes"
  | "maxEventBytes"
  | "maxItems"
  | "maxListBytes"
  | "maxPages"
  | "maxQueuedRequests"
  | "maxStreamBytes"
  | "onDiagnostic"
  | "totalTimeoutMs"
>;

export interface DirectFactoryOptions extends VersionPinOptions {
  /** The gateway: https, or http on loopback; a path is kept; no userinfo, query or fragment. */
  readonly baseUrl: string | URL;
  readonly logins: AccountLogins;
  /** Who the host says it is. */
  readonly clientInfo: Implementation;
  readonly client?: DirectClientOptions | undefined;
  /** Makes the exchange of each client, for hosts that must use an HTTP library of their own. undici's when left out. */
  readonly createExchange?: ((origin: string) => Exchange) | undefined;
}

/** {@link DirectFactoryOptions} with nothing left open. */
export interface DirectFactoryConfig extends VersionPin {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly logins: AccountLogins;
  readonly clientInfo: Implementation;
  readonly client: DirectClientOptions;
  readonly createExchange: (() => Exchange) | undefined;
}

const OPTION_NAMES: readonly (keyof DirectFactoryOptions)[] = [
  "baseUrl",
  "client",
  "clientInfo",
  "createExchange",
  "logins",
  "versionHeader",
  "versionMetaKey",
];

/** Fills in defaults. Throws `invalid_options` or `invalid_url`. */
export function resolveDirectFactoryOptions(options: DirectFactoryOptions): DirectFactoryConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const baseUrl = parseGatewayBase(options.baseUrl);
  const { createExchange } = options;
  return {
    baseUrl,
    logins: options.logins,
    clientInfo: options.clientInfo,
    ...resolveVersionPin(options),
    client: options.client ?? {},
    createExchange: createExchange && (() => createExchange(new URL(baseUrl).origin)),
  };
}
