import { randomBytes } from "node:crypto";
import { functionOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import { answerStatus } from "../answer.js";
import type { IssuedToken, JsonAnswer } from "../authorization-server/index.js";
import type { ReceivedRequest } from "../received-request.js";
import type { Handler } from "../script.js";
import type { ScriptedServerOptions } from "../server-options.js";

/** Who issues tokens and says which are good. An {@link AuthorizationServer} is one. */
export interface TokenSource {
  readonly issuer: string;
  /** The access token, where it is good now. */
  findValid(token: string): IssuedToken | undefined;
}

/** Where the metadata is: below the well-known path for the endpoint's path, at that for the root, or at a path of its own. */
export type MetadataPlace = "path" | "root" | `/${string}`;

/** What can be changed at any time. */
export interface Protection {
  /** Whose tokens are taken, and whom the metadata names, in order. None when left out. */
  readonly authorizationServers?: readonly TokenSource[] | undefined;
  /** What is published as `resource`, and what tokens must have been issued for. The endpoint when left out. */
  readonly resource?: string | undefined;
  /** Whether tokens must have been issued for the resource. `true` when left out. Source: RFC 8707. */
  readonly checksResource?: boolean | undefined;
  /** `["path"]` when left out; empty for a server without metadata. */
  readonly metadataAt?: readonly MetadataPlace[] | undefined;
  /**
   * Whether challenges name the metadata: its first place, another URL, or not at all. `true` when left out.
   */
  readonly namesMetadata?: boolean | string | undefined;
  /** Laid over the metadata; a member that is `undefined` is taken away. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Published in the metadata. Not at all when left out. */
  readonly scopesSupported?: readonly string[] | undefined;
  /** What a challenge for a token asks for. Nothing when left out. */
  readonly challengeScopes?: readonly string[] | undefined;
  /**
   * Scopes that requests need: by method (`tools/call`), by method and name (`tools/call add`), or by `*` for all. Those of each that
   * fits are needed. None when left out.
   */
  readonly requiredScopes?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Methods that need no token. None when left out. */
  readonly openMethods?: readonly string[] | undefined;
  /** Takes nothing but tokens that are bound to a key, which bound ones always are asked for. `false` when left out. Source: RFC 9449. */
  readonly requiresDpop?: boolean | undefined;
  /** Proofs need the nonce that the server gives. `false` when left out. */
  readonly demandsDpopNonce?: boolean | undefined;
  /** Answers requests for other paths than the endpoint and its metadata: without it, 404. */
  readonly otherPaths?: Handler | undefined;
  /** Changes an answer of the server's own, metadata or a refusal, before it goes out; `undefined` ends the connection without one. */
  readonly rewrite?: Rewrite | undefined;
}

export type Rewrite = (
  answer: JsonAnswer,
  request: ReceivedRequest,
) => JsonAnswer | undefined | Promise<JsonAnswer | undefined>;

export interface ProtectedServerOptions extends Protection {
  /** Of the socket. */
  readonly server?: Omit<ScriptedServerOptions, "order"> | undefined;
  /** Unix time in milliseconds, for proofs of possession. The system's when left out. */
  readonly unixTime?: (() => number) | undefined;
  /** Random bytes, for nonces. The system's when left out. */
  readonly random?: ((size: number) => Uint8Array) | undefined;
}

/** {@link Protection} with nothing left open. */
export interface ProtectionConfig {
  readonly authorizationServers: readonly TokenSource[];
  readonly resource: string | undefined;
  readonly checksResource: boolean;
  readonly metadataAt: readonly MetadataPlace[];
  readonly namesMetadata: boolean | string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly scopesSupported: readonly string[] | undefined;
  readonly challengeScopes: readonly string[];
  readonly requiredScopes: Readonly<Record<string, readonly string[]>>;
  readonly openMethods: readonly string[];
  readonly requiresDpop: boolean;
  readonly demandsDpopNonce: boolean;
  readonly otherPaths: Handler;
  readonly rewrite: Rewrite;
}

/** {@link ProtectedServerOptions} with nothing left open. */
export interface ProtectedServerConfig {
  readonly protection: ProtectionConfig;
  readonly server: ScriptedServerOptions;
  readonly unixTime: () => number;
  readonly random: (size: number) => Uint8Array;
}

const PROTECTION: readonly (keyof Protection)[] = [
  "authorizationServers",
  "challengeScopes",
  "checksResource",
  "demandsDpopNonce",
  "metadata",
  "metadataAt",
  "namesMetadata",
  "openMethods",
  "otherPaths",
  "requiredScopes",
  "requiresDpop",
  "resource",
  "rewrite",
  "scopesSupported",
];

/** Fills in defaults. Throws `invalid_options` for an unknown name. */
export function resolveProtectedServerOptions(options: ProtectedServerOptions): ProtectedServerConfig {
  refuseUnknownOptions(options, [...PROTECTION, "random", "server", "unixTime"]);
  const { random, server, unixTime, ...protection } = options;
  return {
    protection: resolveProtection(protection),
    server: server ?? {},
    unixTime: functionOption("unixTime", unixTime, Date.now),
    random: functionOption("random", random, randomBytes),
  };
}

/** The same for what can be changed. */
export function resolveProtection(options: Protection): ProtectionConfig {
  refuseUnknownOptions(options, PROTECTION);
  const metadataAt = options.metadataAt ?? ["path"];
  if (!metadataAt.every(isPlace)) refuseOption("metadataAt", 'must be a list of "path", "root" and paths');
  return {
    authorizationServers: options.authorizationServers ?? [],
    resource: options.resource,
    checksResource: options.checksResource ?? true,
    metadataAt,
    namesMetadata: options.namesMetadata ?? true,
    metadata: options.metadata ?? {},
    scopesSupported: options.scopesSupported,
    challengeScopes: options.challengeScopes ?? [],
    requiredScopes: options.requiredScopes ?? {},
    openMethods: options.openMethods ?? [],
    requiresDpop: options.requiresDpop ?? false,
    demandsDpopNonce: options.demandsDpopNonce ?? false,
    otherPaths: functionOption<Handler>("otherPaths", options.otherPaths, () => answerStatus(404)),
    rewrite: functionOption("rewrite", options.rewrite, (answer) => answer),
  };
}

function isPlace(value: string): boolean {
  return value === "path" || value === "root" || value.startsWith("/");
}
