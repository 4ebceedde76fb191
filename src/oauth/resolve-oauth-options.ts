import { randomBytes as systemRandomBytes } from "node:crypto";
import {
  choiceOption,
  countOption,
  durationOption,
  functionOption,
  refuseOption,
  refuseUnknownOptions,
} from "../options.js";
import { systemClock } from "../transport/index.js";
import { loopbackReceiver, systemOpener } from "./code-flow/index.js";
import { resolveIdentity } from "./identity/index.js";
import type { OAuthConfig } from "./oauth-config.js";
import type { OAuthEvent, OAuthOptions, ServiceGrant } from "./oauth-options.js";
import { memoryOAuthStore } from "./vault/index.js";
import { isScope } from "./scope-set.js";

const NAMES = [
  "callback",
  "clientName",
  "clientUri",
  "clock",
  "dpop",
  "grant",
  "identity",
  "onEvent",
  "openUrl",
  "randomBytes",
  "scopes",
  "sendsResource",
  "signInTimeoutMs",
  "store",
  "transport",
  "wallNow",
] as const satisfies readonly (keyof OAuthOptions)[];

const REQUEST_TIMEOUT_MS = 30_000;

/** A lease is for one request and half as much again; without a deadline for requests, it is renewed all the more often. */
const LEASE_PER_REQUEST = 1.5;
const LONGEST_LEASE_MS = 120_000;

/** Applies the defaults. Throws `invalid_options`. */
export function resolveOAuthOptions(options: OAuthOptions): OAuthConfig {
  refuseUnknownOptions(options, NAMES);
  const { callback, clientName, clientUri, clock = systemClock, grant, onEvent, scopes = [], transport = {} } = options;
  if (typeof clientName !== "string" || clientName === "")
    refuseOption("clientName", "must be a text that is not empty");
  if (clientUri !== undefined && !URL.canParse(clientUri)) refuseOption("clientUri", "must be a URL");
  if (!Array.isArray(scopes) || !scopes.every(isScope)) refuseOption("scopes", "must be a list of scopes");
  const identity = resolveIdentity(options.identity);
  if (grant !== undefined) checkGrant(grant, identity.preRegistered.length);
  const givenNow = functionOption("wallNow", options.wallNow, Date.now);
  // Stores keep whole milliseconds.
  const wallNow = (): number => Math.floor(givenNow());
  const tell = functionOption<(event: OAuthEvent) => void>("onEvent", onEvent, () => undefined);
  const requestMs = durationOption("transport.requestTimeoutMs", transport.requestTimeoutMs, REQUEST_TIMEOUT_MS);
  countOption("transport.maxAnswerBytes", transport.maxAnswerBytes, 1);
  return {
    clientName,
    clientUri,
    identity,
    openUrl: options.openUrl === false ? false : functionOption("openUrl", options.openUrl, systemOpener({ clock })),
    callback: callback ?? loopbackReceiver({ clock }),
    signInTimeoutMs: durationOption("signInTimeoutMs", options.signInTimeoutMs, 300_000),
    grant,
    scopes,
    dpop: flag("dpop", options.dpop, false),
    sendsResource: flag("sendsResource", options.sendsResource, true),
    store: options.store ?? memoryOAuthStore(),
    transport,
    requestTimeoutMs: requestMs,
    leaseMs: Math.ceil(Math.min(LONGEST_LEASE_MS, requestMs * LEASE_PER_REQUEST)),
    onEvent(event) {
      try {
        tell(event);
      } catch {
        // Whoever listens has no say in what happens.
      }
    },
    clock,
    wallNow,
    randomBytes: functionOption("randomBytes", options.randomBytes, systemRandomBytes),
  };
}

function flag(option: string, value: boolean | undefined, fallback: boolean): boolean {
  if (value === undefined || typeof value === "boolean") return value ?? fallback;
  return refuseOption(option, "must be true or false");
}

function checkGrant(grant: ServiceGrant, clients: number): void {
  switch (grant.kind) {
    case "client_credentials":
      refuseUnknownOptions(grant, ["kind"]);
      if (clients === 0) refuseOption("grant", "needs a client in identity.preRegistered");
      return;
    case "enterprise_managed":
      refuseUnknownOptions(grant, ["authMethod", "clientId", "clientSecret", "idToken", "kind", "tokenEndpoint"]);
      if (!URL.canParse(grant.tokenEndpoint)) refuseOption("grant.tokenEndpoint", "must be a URL");
      if (grant.clientSecret !== undefined && grant.clientId === undefined) {
        refuseOption("grant.clientSecret", "needs grant.clientId");
      }
      choiceOption("grant.authMethod", grant.authMethod, ["client_secret_post", "client_secret_basic"]);
      if (typeof grant.idToken !== "function") refuseOption("grant.idToken", "must be a function");
      return;
    case "workload_identity":
      refuseUnknownOptions(grant, ["assertion", "issuer", "kind"]);
      if (grant.issuer !== undefined && !URL.canParse(grant.issuer)) refuseOption("grant.issuer", "must be a URL");
      if (typeof grant.assertion !== "function") refuseOption("grant.assertion", "must be a function");
      return;
    default:
      refuseOption("grant.kind", "must be one of client_credentials, enterprise_managed, workload_identity");
  }
}
