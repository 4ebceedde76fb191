import { randomBytes } from "node:crypto";
import { countOption, durationOption, functionOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import { systemTestClock, type TestClock } from "../test-clock.js";
import type { Visit } from "./authorization-request.js";
import type { AuthorizationClient } from "./client.js";

/**
 * What the person at the authorization endpoint does. `wait`: looks at the page and leaves, so that nothing comes of it.
 * A function is asked, and may take its time.
 */
export type Consent = "approve" | "deny" | "wait" | ((visit: Visit) => Decision | Promise<Decision>);

type Decision = "approve" | "deny" | "wait";

export interface AuthorizationServerOptions {
  /** Known clients. None when left out. */
  readonly clients?: readonly AuthorizationClient[] | undefined;
  /** Clients may register themselves. `false` when left out. */
  readonly allowsRegistration?: boolean | undefined;
  /** `"approve"` when left out. Can be changed later. */
  readonly consent?: Consent | undefined;
  /** Whoever consents. `"user"` when left out. */
  readonly subject?: string | undefined;
  /** The issuer's path, such as `/tenant`. Empty when left out. */
  readonly issuerPath?: string | undefined;
  /** Laid over the metadata; a member that is `undefined` is taken away. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Announces `iss` in authorization responses, and sends it. `true` when left out. Source: RFC 9207. */
  readonly announcesIssuer?: boolean | undefined;
  /** `true` when left out. */
  readonly issuesRefreshTokens?: boolean | undefined;
  /** A refresh brings a new refresh token, and the old one may not come again. `true` when left out. */
  readonly rotatesRefreshTokens?: boolean | undefined;
  /** 60,000 when left out. */
  readonly codeLifetimeMs?: number | undefined;
  /** 3,600,000 when left out; with `Infinity` answers don't say when tokens expire. */
  readonly accessTokenLifetimeMs?: number | undefined;
  /** Address to bind. `127.0.0.1` when left out. */
  readonly host?: string | undefined;
  /** `0`, which is also what counts when left out, takes a free port. */
  readonly port?: number | undefined;
  /** The most requests that are served and kept; more get 503. 10,000 when left out. */
  readonly maxRequests?: number | undefined;
  readonly clock?: TestClock | undefined;
  /** Unix time in milliseconds, by which codes and tokens expire. The system's when left out. */
  readonly unixTime?: (() => number) | undefined;
  /** Random bytes, for codes and tokens. The system's when left out. */
  readonly random?: ((size: number) => Uint8Array) | undefined;
}

/** {@link AuthorizationServerOptions} with nothing left open. */
export interface AuthorizationServerConfig {
  readonly clients: readonly AuthorizationClient[];
  readonly allowsRegistration: boolean;
  readonly consent: Consent;
  readonly subject: string;
  readonly issuerPath: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly announcesIssuer: boolean;
  readonly issuesRefreshTokens: boolean;
  readonly rotatesRefreshTokens: boolean;
  readonly codeLifetimeMs: number;
  readonly accessTokenLifetimeMs: number;
  readonly host: string;
  readonly port: number;
  readonly maxRequests: number;
  readonly clock: TestClock;
  readonly unixTime: () => number;
  readonly random: (size: number) => Uint8Array;
}

const KNOWN: readonly (keyof AuthorizationServerOptions)[] = [
  "accessTokenLifetimeMs",
  "allowsRegistration",
  "announcesIssuer",
  "clients",
  "clock",
  "codeLifetimeMs",
  "consent",
  "host",
  "issuerPath",
  "issuesRefreshTokens",
  "maxRequests",
  "metadata",
  "port",
  "random",
  "rotatesRefreshTokens",
  "subject",
  "unixTime",
];

/** Fills in defaults. Throws `invalid_options` for an unknown name or a value out of range. */
export function resolveAuthorizationServerOptions(options: AuthorizationServerOptions): AuthorizationServerConfig {
  refuseUnknownOptions(options, KNOWN);
  const issuerPath = options.issuerPath ?? "";
  if (issuerPath !== "" && !/^(?:\/[\w.~-]+)+$/.test(issuerPath)) {
    refuseOption("issuerPath", "must begin with a slash and not end with one");
  }
  return {
    clients: options.clients ?? [],
    allowsRegistration: options.allowsRegistration ?? false,
    consent: options.consent ?? "approve",
    subject: options.subject ?? "user",
    issuerPath,
    metadata: options.metadata ?? {},
    announcesIssuer: options.announcesIssuer ?? true,
    issuesRefreshTokens: options.issuesRefreshTokens ?? true,
    rotatesRefreshTokens: options.rotatesRefreshTokens ?? true,
    codeLifetimeMs: durationOption("codeLifetimeMs", options.codeLifetimeMs, 60_000),
    accessTokenLifetimeMs: durationOption("accessTokenLifetimeMs", options.accessTokenLifetimeMs, 3_600_000),
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    maxRequests: countOption("maxRequests", options.maxRequests, 10_000),
    clock: options.clock ?? systemTestClock,
    unixTime: functionOption("unixTime", options.unixTime, Date.now),
    random: functionOption("random", options.random, randomBytes),
  };
}
