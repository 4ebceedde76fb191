import type { Implementation } from "../protocol/index.js";
import type { Clock, DeadlineOptions, Deadlines } from "../transport/index.js";
import type { AuthorizationState } from "./authorization-state.js";

/** An account, and the sessions that speak for it. */
export interface GatewayAccount {
  readonly accountId: string;
  /** Values of the session cookie. Kept only as hashes. */
  readonly sessions: readonly string[];
}

/** A program that speaks MCP over its standard streams; one process for each account and connector. */
export interface StdioUpstream {
  readonly kind: "stdio";
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  /** Environment variable that carries the account's credential. Needed where {@link GatewayConnector.authorizing} is. */
  readonly credentialVariable?: string | undefined;
}

/** A server of revision 2026-07-28 over HTTP. */
export interface HttpUpstream {
  readonly kind: "http";
  readonly url: string;
  /** Further headers of every request, such as the provider's credential. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Header that carries the account's credential. Default `Authorization`. */
  readonly credentialHeader?: string | undefined;
  /** What stands before the credential in its header. Default `Bearer `. */
  readonly credentialPrefix?: string | undefined;
}

/** Accounts authorize the connector by a secret of theirs, such as a key that the provider gave them. */
export interface SecretAuthorizing {
  readonly kind: "secret";
  /** Whether the provider takes the secret. Default: any is taken, and the upstream will tell. */
  readonly verify?: ((secret: string) => boolean | Promise<boolean>) | undefined;
}

/** Accounts authorize the connector in a browser, at the provider's authorization server. */
export interface OAuthAuthorizing {
  readonly kind: "oauth";
  /** The issuer identifier; https, or http on loopback. Its metadata is looked up when it is first needed. */
  readonly issuer: string;
  /** Both endpoints, for a server without metadata (RFC 8414), or whose metadata do not announce PKCE. */
  readonly endpoints?: { readonly authorization: string; readonly token: string } | undefined;
  readonly clientId: string;
  /** Without one the client is public. */
  readonly clientSecret?: string | undefined;
  /** How the secret is presented. Default `client_secret_basic`. */
  readonly clientAuthentication?: "client_secret_basic" | "client_secret_post" | undefined;
  /** Default none, which leaves them to the server. */
  readonly scopes?: readonly string[] | undefined;
}

/** A connector, in the one version that the gateway serves. */
export interface GatewayConnector {
  /** At most 128 of `a-z 0-9 . _ -`, beginning and ending with a letter or digit. */
  readonly connectorId: string;
  readonly connectorVersion: string;
  /** `account`: each account has to authorize it first. `none`: a session is enough. */
  readonly authorization: "account" | "none";
  /**
   * How accounts authorize it by themselves, in an authorization session; the credential that comes of it goes with the
   * account's requests to the upstream. Only with `account`. Without it accounts are granted by the operator alone.
   */
  readonly authorizing?: SecretAuthorizing | OAuthAuthorizing | undefined;
  /** What callers reach of the upstream beside its tools. Default nothing: such methods are not found. */
  readonly offers?: readonly ConnectorOffer[] | undefined;
  readonly upstream: StdioUpstream | HttpUpstream;
}

/** `subscriptions`: changes of the lists that are offered and, with `resources`, of single resources. */
export type ConnectorOffer = "completions" | "prompts" | "resources" | "subscriptions";

/** How {@link createGateway} is set up. */
export interface GatewayOptions {
  readonly accounts: readonly GatewayAccount[];
  readonly connectors: readonly GatewayConnector[];
  /** Address of the public side. Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Port of the public side. Default a free one. */
  readonly port?: number | undefined;
  /** Browser origins that are allowed besides loopback. Default none. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Opens the admin side, on loopback, to whoever presents this. Without it there is none. */
  readonly adminBearer?: string | undefined;
  /** Port of the admin side. Default a free one. */
  readonly adminPort?: number | undefined;
  /** Name of the session cookie. Default `session`. */
  readonly sessionCookie?: string | undefined;
  /** Header that pins the connector version. Default `Tutti-Connector-Version`. */
  readonly versionHeader?: string | undefined;
  /** Key of `_meta` that pins the connector version. Default `sh.tutti/connectorVersion`. */
  readonly versionMetaKey?: string | undefined;
  /** Who the gateway says it is, to callers and to upstreams. */
  readonly serverInfo?: Implementation | undefined;
  /** Largest request body, in bytes. Default 4 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Unsent bytes of one stream beyond which progress is dropped and a caller that does not read is cut. Default 8 MiB. */
  readonly maxBufferedBytes?: number | undefined;
  /** Deadlines of one upstream request. Defaults as the clients have them. */
  readonly upstreamDeadlines?: DeadlineOptions | undefined;
  /** How long an upstream that nobody uses is kept. Default 600,000. */
  readonly upstreamIdleMs?: number | undefined;
  /** How long a call may be silent before its answer becomes a stream with signs of life. Default 15,000. */
  readonly keepAliveMs?: number | undefined;
  /** Pause between pings on a hint connection; one that did not answer the last is ended. Default 30,000. */
  readonly hintPingMs?: number | undefined;
  /** Where authorizations are kept. Default in memory, with nothing authorized. Credentials are always in memory. */
  readonly state?: AuthorizationState | undefined;
  /**
   * Where browsers reach the public side: an origin, and a path if a proxy has put one before; https, or http on loopback.
   * Default `origin`. The redirect URI at the authorization server of a connector is
   * `/v1/connector-authorizations/callback/{id}` below it.
   */
  readonly publicUrl?: string | undefined;
  /** How long an authorization session may take. Default 600,000. */
  readonly authorizationSessionMs?: number | undefined;
  /** How long a session that is over can still be read. Default 600,000. */
  readonly authorizationSessionKeepMs?: number | undefined;
  /** The most sessions at a time; those that are over make room. Default 1,000. */
  readonly maxAuthorizationSessions?: number | undefined;
  /** How long one request to an authorization server may take, and `verify`. Default 10,000. */
  readonly providerTimeoutMs?: number | undefined;
  readonly clock?: Clock | undefined;
  /** Unix time in milliseconds, for the dates of `Retry-After`. Default the system's. */
  readonly unixTime?: (() => number) | undefined;
  /** Random bytes, for session ids and what protects redirects. Default the system's. */
  readonly random?: ((size: number) => Uint8Array) | undefined;
  /** Told of faults of the gateway's own that no answer carries. */
  readonly onFault?: ((error: unknown) => void) | undefined;
}

/** {@link GatewayOptions} with nothing left open. */
export interface GatewayConfig {
  readonly accounts: readonly GatewayAccount[];
  readonly connectors: ReadonlyMap<string, GatewayConnector>;
  readonly host: string;
  readonly port: number;
  /** With that of `publicUrl`. */
  readonly allowedOrigins: readonly string[];
  /** That of `publicUrl`: what a proxy in front may pass on. */
  readonly allowedHosts: readonly string[];
  readonly adminBearer: string | undefined;
  readonly adminPort: number;
  readonly sessionCookie: string;
  readonly versionHeader: string;
  readonly versionMetaKey: string;
  readonly serverInfo: Implementation;
  readonly maxBodyBytes: number;
  readonly maxBufferedBytes: number;
  readonly upstreamDeadlines: Deadlines;
  readonly upstreamIdleMs: number;
  readonly keepAliveMs: number;
  readonly hintPingMs: number;
  readonly state: AuthorizationState;
  readonly publicUrl: string | undefined;
  readonly authorizationSessionMs: number;
  readonly authorizationSessionKeepMs: number;
  readonly maxAuthorizationSessions: number;
  readonly providerTimeoutMs: number;
  readonly random: (size: number) => Uint8Array;
  readonly clock: Clock;
  readonly unixTime: () => number;
  readonly onFault: (error: unknown) => void;
}
