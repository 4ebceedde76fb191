import { refuseOption, refuseUnknownOptions } from "../../options.js";
import type { ModernStreamableHTTPClientOptions } from "../../modern-client/index.js";
import { type Implementation, isMetaKey, isReservedMetaKey } from "../../protocol/index.js";
import { type Authorize, addHeaders, type Exchange, parseEndpoint } from "../../transport/index.js";

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

export interface DirectFactoryOptions {
  /** The gateway: https, or http on loopback; a path is kept; no userinfo, query or fragment. */
  readonly baseUrl: string | URL;
  readonly logins: AccountLogins;
  /** Who the host says it is. */
  readonly clientInfo: Implementation;
  /** The header that pins the release's version. `Tutti-Connector-Version` when left out. */
  readonly versionHeader?: string | undefined;
  /** The `_meta` key that does. `sh.tutti/connectorVersion` when left out. */
  readonly versionMetaKey?: string | undefined;
  readonly client?: DirectClientOptions | undefined;
  /** Makes the exchange of each client, for hosts that must use an HTTP library of their own. undici's when left out. */
  readonly createExchange?: ((origin: string) => Exchange) | undefined;
}

/** {@link DirectFactoryOptions} with nothing left open. */
export interface DirectFactoryConfig {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly logins: AccountLogins;
  readonly clientInfo: Implementation;
  readonly versionHeader: string;
  readonly versionMetaKey: string;
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
  const baseUrl = parseBaseUrl(options.baseUrl);
  const { createExchange } = options;
  return {
    baseUrl,
    logins: options.logins,
    clientInfo: options.clientInfo,
    versionHeader: parseHeaderName(options.versionHeader ?? "Tutti-Connector-Version"),
    versionMetaKey: parseMetaKey(options.versionMetaKey ?? "sh.tutti/connectorVersion"),
    client: options.client ?? {},
    createExchange: createExchange && (() => createExchange(new URL(baseUrl).origin)),
  };
}

function parseBaseUrl(baseUrl: string | URL): string {
  const url = parseEndpoint(baseUrl, { allowInsecureHttp: false });
  // The parsed URL no longer tells an empty query or fragment from none.
  if (/[?#]/.test(String(baseUrl))) refuseOption("baseUrl", "must have no query and no fragment");
  return url.href.replace(/\/+$/, "");
}

function parseHeaderName(name: string): string {
  addHeaders([], { [name]: "" });
  return name;
}

function parseMetaKey(key: string): string {
  if (isMetaKey(key) && !isReservedMetaKey(key)) return key;
  return refuseOption("versionMetaKey", "must be a _meta key that MCP has not reserved");
}
