import { refuseOption, refuseUnknownOptions } from "../../options.js";
import type { ClientAuthMethod, SigningKey } from "../oauth-client.js";
import type { ClientIdentityOptions, PreRegisteredClient } from "../oauth-options.js";
import { readSigningKey } from "../signing-key.js";
import { documentUrlFault, isIssuer, isRedirectUri } from "./client-urls.js";

/** A client that was registered by hand. */
export interface PreRegisteredConfig {
  /** `undefined`: of the first authorization server that is met. */
  readonly issuer: string | undefined;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** `undefined`: whatever the server and the client can do. */
  readonly authMethod: ClientAuthMethod | undefined;
  readonly signingKey: SigningKey | undefined;
  /** `undefined`: those of the callback receiver. */
  readonly redirectUris: readonly string[] | undefined;
}

export interface IdentityConfig {
  /** No two of one issuer, and at most one without. */
  readonly preRegistered: readonly PreRegisteredConfig[];
  readonly metadataDocument: string | undefined;
  readonly registers: boolean;
}

const IDENTITY_NAMES: readonly (keyof ClientIdentityOptions)[] = ["metadataDocument", "preRegistered", "registers"];
const CLIENT_NAMES: readonly (keyof PreRegisteredClient)[] = [
  "authMethod",
  "clientId",
  "clientSecret",
  "issuer",
  "redirectUris",
  "signingKey",
];
const KEY_NAMES: readonly (keyof SigningKey)[] = ["algorithm", "key", "keyId"];
const METHODS: ReadonlySet<unknown> = new Set<ClientAuthMethod>([
  "client_secret_basic",
  "client_secret_post",
  "none",
  "private_key_jwt",
]);

/** Applies the defaults. Throws `invalid_options`, by a name such as `identity.preRegistered[0].clientId`; no value is shown. */
export function resolveIdentity(options: ClientIdentityOptions | undefined): IdentityConfig {
  const given = objectOption("identity", options ?? {});
  refuseUnknownOptions(given, IDENTITY_NAMES);
  const { metadataDocument, preRegistered = [], registers = true } = given;
  if (metadataDocument !== undefined) {
    const fault = documentUrlFault(metadataDocument);
    if (fault !== undefined) refuseOption("identity.metadataDocument", fault);
  }
  if (typeof registers !== "boolean") refuseOption("identity.registers", "must be true or false");
  if (!Array.isArray(preRegistered)) refuseOption("identity.preRegistered", "must be a list of clients");
  const clients = preRegistered.map((client, index) =>
    resolveClient(client, `identity.preRegistered[${String(index)}]`),
  );
  const issuers = clients.map(({ issuer }) => issuer);
  const twice = issuers.findIndex((issuer, index) => issuers.indexOf(issuer) !== index);
  if (twice !== -1) {
    const reason =
      issuers[twice] === undefined ? "must name its issuer: another does not" : "is of the issuer of another";
    refuseOption(`identity.preRegistered[${String(twice)}]`, reason);
  }
  return { preRegistered: clients, metadataDocument, registers };
}

function resolveClient(client: PreRegisteredClient, at: string): PreRegisteredConfig {
  refuseUnknownOptions(objectOption(at, client), CLIENT_NAMES);
  const { authMethod, clientId, clientSecret, issuer, redirectUris, signingKey } = client;
  if (typeof clientId !== "string" || clientId === "")
    refuseOption(`${at}.clientId`, "must be a text that is not empty");
  if (clientSecret !== undefined && (typeof clientSecret !== "string" || clientSecret === "")) {
    refuseOption(`${at}.clientSecret`, "must be a text that is not empty");
  }
  if (issuer !== undefined && !isIssuer(issuer)) {
    refuseOption(`${at}.issuer`, "must be a URL of https, or of http on loopback, without a query and a fragment");
  }
  if (signingKey !== undefined) checkKey(signingKey, `${at}.signingKey`);
  if (authMethod !== undefined) checkMethod(client, authMethod, at);
  if (redirectUris !== undefined) checkRedirectUris(redirectUris, at);
  return { issuer, clientId, clientSecret, authMethod, signingKey, redirectUris };
}

function checkKey(signingKey: SigningKey, at: string): void {
  refuseUnknownOptions(objectOption(at, signingKey), KEY_NAMES);
  const { algorithm, key, keyId } = signingKey;
  if (typeof key !== "string") objectOption(`${at}.key`, key);
  if (algorithm !== undefined && typeof algorithm !== "string") refuseOption(`${at}.algorithm`, "must be a text");
  if (keyId !== undefined && typeof keyId !== "string") refuseOption(`${at}.keyId`, "must be a text");
  const read = readSigningKey(signingKey);
  if (typeof read === "string") refuseOption(at, read);
}

function checkMethod({ clientSecret, signingKey }: PreRegisteredClient, method: ClientAuthMethod, at: string): void {
  if (!METHODS.has(method)) refuseOption(`${at}.authMethod`, `must be one of ${[...METHODS].join(", ")}`);
  if (method === "private_key_jwt" && signingKey === undefined) refuseOption(`${at}.authMethod`, "needs signingKey");
  if (method.startsWith("client_secret_") && clientSecret === undefined) {
    refuseOption(`${at}.authMethod`, "needs clientSecret");
  }
}

function checkRedirectUris(uris: readonly string[], at: string): void {
  if (Array.isArray(uris) && uris.every(isRedirectUri)) return;
  refuseOption(`${at}.redirectUris`, "must be a list of absolute URLs without a fragment, http only on loopback");
}

function objectOption<T extends object>(option: string, value: T): T {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  return refuseOption(option, "must be an object");
}
