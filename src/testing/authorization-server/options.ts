import { randomBytes } from "node:crypto";
import {
  choiceOption,
  countOption,
  durationOption,
  functionOption,
  refuseOption,
  refuseUnknownOptions,
} from "../../options.js";
import { systemTestClock, type TestClock } from "../test-clock.js";
import type { ExchangeToken, JudgeAssertion } from "./assertion.js";
import type { Visit } from "./authorization-request.js";
import type { FindClientDocument } from "./client-document.js";
import { type AuthorizationClient, CLIENT_AUTHENTICATIONS, type ClientAuthentication } from "./client.js";
import type { JsonAnswer } from "./json-answer.js";
import type { MetadataForm } from "./metadata-place.js";
import type { AuthorizationServerRequest } from "./received.js";

/**
 * What the person at the authorization endpoint does. `wait`: looks at the page and leaves, so that nothing comes of it.
 * A function is asked, and may take its time.
 */
export type Consent = "approve" | "deny" | "wait" | ((visit: Visit) => Decision | Promise<Decision>);

type Decision = "approve" | "deny" | "wait";

/** Changes an answer in JSON before it goes out. */
export type RewriteAnswer = (
  answer: JsonAnswer,
  request: AuthorizationServerRequest,
) => JsonAnswer | Promise<JsonAnswer>;

/** What can be changed at any time. */
export interface AuthorizationRules {
  /** Clients may register themselves. `false` when left out. */
  readonly allowsRegistration?: boolean | undefined;
  /**
   * Takes the URL of a client's metadata document as its id, and asks this function for the document. Left out, it doesn't. Source: OAuth
   * Client ID Metadata Document.
   */
  readonly findClientDocument?: FindClientDocument | undefined;
  /** How clients may authenticate. All ways when left out. */
  readonly authenticationMethods?: readonly ClientAuthentication[] | undefined;
  /** Gives tokens to clients that have a secret or a key, for themselves. `false` when left out. */
  readonly allowsClientCredentials?: boolean | undefined;
  /** Gives tokens for assertions that this function takes. Left out, for none. Source: RFC 7523. */
  readonly judgeAssertion?: JudgeAssertion | undefined;
  /** Exchanges tokens as this function says. Left out, none. Source: RFC 8693. */
  readonly exchangeToken?: ExchangeToken | undefined;
  /** Whether tokens are bound to the key of a proof. `"ignored"` when left out; with `"required"` nothing is issued without. Source: RFC 9449. */
  readonly dpop?: "ignored" | "supported" | "required" | undefined;
  /** Proofs need the nonce that the server gives. `false` when left out. */
  readonly demandsDpopNonce?: boolean | undefined;
  /** Whoever consents. `"user"` when left out. */
  readonly subject?: string | undefined;
  /** Who the server says it is, where that is not where it listens. */
  readonly issuer?: string | undefined;
  /** Where the metadata is. `["oauth"]` when left out; empty for a server without metadata. */
  readonly metadataAt?: readonly MetadataForm[] | undefined;
  /** Published in the metadata. Not at all when left out. */
  readonly scopesSupported?: readonly string[] | undefined;
  /** Laid over the metadata; a member that is `undefined` is taken away. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Changes answers in JSON: metadata, registrations, tokens, refusals. What faults answer is left alone. */
  readonly rewrite?: RewriteAnswer | undefined;
  /** Announces `iss` in authorization responses, and sends it. `true` when left out. Source: RFC 9207. */
  readonly announcesIssuer?: boolean | undefined;
  /** `true` when left out. `"offline_access"`: only to a client that asks for that scope. */
  readonly issuesRefreshTokens?: boolean | "offline_access" | undefined;
  /** A refresh brings a new refresh token, and the old one may not come again. `true` when left out. */
  readonly rotatesRefreshTokens?: boolean | undefined;
  /** 60,000 when left out. */
  readonly codeLifetimeMs?: number | undefined;
  /** 3,600,000 when left out; with `Infinity` answers don't say when tokens expire. */
  readonly accessTokenLifetimeMs?: number | undefined;
}

export interface AuthorizationServerOptions extends AuthorizationRules {
  /** Known clients. None when left out. */
  readonly clients?: readonly AuthorizationClient[] | undefined;
  /** `"approve"` when left out. Can be changed later. */
  readonly consent?: Consent | undefined;
  /** The issuer's path, such as `/tenant`. Empty when left out. */
  readonly issuerPath?: string | undefined;
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
  readonly findClientDocument: FindClientDocument | undefined;
  readonly authenticationMethods: readonly ClientAuthentication[];
  readonly allowsClientCredentials: boolean;
  readonly judgeAssertion: JudgeAssertion | undefined;
  readonly exchangeToken: ExchangeToken | undefined;
  readonly dpop: "ignored" | "supported" | "required";
  readonly demandsDpopNonce: boolean;
  readonly issuer: string | undefined;
  readonly metadataAt: readonly MetadataForm[];
  readonly scopesSupported: readonly string[] | undefined;
  readonly rewrite: RewriteAnswer;
  readonly consent: Consent;
  readonly subject: string;
  readonly issuerPath: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly announcesIssuer: boolean;
  readonly issuesRefreshTokens: boolean | "offline_access";
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

const RULES: readonly (keyof AuthorizationRules)[] = [
  "accessTokenLifetimeMs",
  "allowsClientCredentials",
  "allowsRegistration",
  "announcesIssuer",
  "authenticationMethods",
  "codeLifetimeMs",
  "demandsDpopNonce",
  "dpop",
  "exchangeToken",
  "findClientDocument",
  "issuer",
  "issuesRefreshTokens",
  "judgeAssertion",
  "metadata",
  "metadataAt",
  "rewrite",
  "rotatesRefreshTokens",
  "scopesSupported",
  "subject",
];

const KNOWN: readonly (keyof AuthorizationServerOptions)[] = [
  ...RULES,
  "clients",
  "clock",
  "consent",
  "host",
  "issuerPath",
  "maxRequests",
  "port",
  "random",
  "unixTime",
];

/** Throws `invalid_options` for a name that is none of a rule. */
export function refuseUnknownRules(rules: AuthorizationRules): void {
  refuseUnknownOptions(rules, RULES);
}

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
    findClientDocument: options.findClientDocument,
    authenticationMethods: options.authenticationMethods ?? CLIENT_AUTHENTICATIONS,
    allowsClientCredentials: options.allowsClientCredentials ?? false,
    judgeAssertion: options.judgeAssertion,
    exchangeToken: options.exchangeToken,
    dpop: choiceOption("dpop", options.dpop, ["ignored", "supported", "required"]),
    demandsDpopNonce: options.demandsDpopNonce ?? false,
    issuer: options.issuer,
    metadataAt: options.metadataAt ?? ["oauth"],
    scopesSupported: options.scopesSupported,
    rewrite: functionOption("rewrite", options.rewrite, (answer) => answer),
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
