import { headerValue, type HeaderFields } from "../../serving/index.js";
import { isSignedBy, readJws } from "../jws.js";
import { type AuthorizationClient, type ClientAuthentication, isPublicClient } from "./client.js";

/** Who sent a request to the token or revocation endpoint. */
export type ClientVerdict =
  | { readonly kind: "known"; readonly client: AuthorizationClient; readonly by: ClientAuthentication }
  /** No client is named at all. */
  | { readonly kind: "nobody" }
  | { readonly kind: "refused"; readonly reason: string };

/** What clients are known and what is taken of them. */
export interface ClientContext {
  readonly clients: ReadonlyMap<string, AuthorizationClient>;
  /** The ways that the server takes. */
  readonly methods: readonly ClientAuthentication[];
  /** The audience that an assertion must have. */
  readonly issuer: string;
  /** Unix time in milliseconds. */
  readonly nowMs: number;
}

type Presented =
  | { readonly by: "none"; readonly clientId: string }
  | {
      readonly by: "client_secret_basic" | "client_secret_post";
      readonly clientId: string;
      readonly clientSecret: string;
    }
  | { readonly by: "private_key_jwt"; readonly clientId: string; readonly assertion: string };

const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** Finds the client behind a request, and checks its proof. Pure. Source: RFC 6749, Client Password; RFC 7523. */
export function authenticateClient(
  headers: HeaderFields,
  form: URLSearchParams,
  context: ClientContext,
): ClientVerdict {
  const presented = readPresented(headers, form);
  if (presented === undefined) return { kind: "nobody" };
  const { by, clientId } = presented;
  const client = context.clients.get(clientId);
  if (client === undefined) return { kind: "refused", reason: "the client is unknown" };
  const fault = findFault(client, presented, context);
  if (fault !== undefined) return { kind: "refused", reason: fault };
  if (client.authentication !== undefined && client.authentication !== by) {
    return { kind: "refused", reason: `only ${client.authentication} is accepted` };
  }
  if (!context.methods.includes(by)) return { kind: "refused", reason: `${by} is not accepted` };
  return { kind: "known", client, by };
}

function findFault(client: AuthorizationClient, presented: Presented, context: ClientContext): string | undefined {
  switch (presented.by) {
    case "none":
      return isPublicClient(client) ? undefined : "the proof is missing";
    case "client_secret_basic":
    case "client_secret_post":
      return client.clientSecret === presented.clientSecret ? undefined : "the secret is wrong";
    case "private_key_jwt":
      return findAssertionFault(client, presented.assertion, context);
  }
}

/** What is wrong with a client's assertion. Source: RFC 7523, JWT Format and Processing Requirements. */
function findAssertionFault(
  { clientId, publicKey }: AuthorizationClient,
  assertion: string,
  { issuer, nowMs }: ClientContext,
): string | undefined {
  const jws = readJws(assertion);
  if (jws === undefined) return "the assertion can't be read";
  if (publicKey === undefined || !isSignedBy(jws, publicKey)) return "the assertion's signature is wrong";
  const { aud, exp, iss, jti, sub } = jws.claims;
  if (iss !== clientId || sub !== clientId) return "iss or sub is not the client";
  if (aud !== issuer && !(Array.isArray(aud) && aud.length === 1 && aud[0] === issuer)) return "aud is not the issuer";
  if (typeof exp !== "number" || exp * 1_000 <= nowMs) return "exp is over or missing";
  return typeof jti === "string" && jti !== "" ? undefined : "jti is missing";
}

function readPresented(headers: HeaderFields, form: URLSearchParams): Presented | undefined {
  const basic = /^Basic +([\w+/=-]+) *$/i.exec(headerValue(headers, "authorization") ?? "")?.[1];
  if (basic !== undefined) return readBasic(basic);
  const assertion = form.get("client_assertion");
  if (assertion !== null && form.get("client_assertion_type") === ASSERTION_TYPE) {
    const subject = readJws(assertion)?.claims["sub"];
    const clientId = form.get("client_id") ?? (typeof subject === "string" ? subject : "");
    return { by: "private_key_jwt", clientId, assertion };
  }
  const clientId = form.get("client_id");
  if (clientId === null) return undefined;
  const clientSecret = form.get("client_secret");
  return clientSecret === null ? { by: "none", clientId } : { by: "client_secret_post", clientId, clientSecret };
}

/** Both halves of the pair are form-encoded first. Source: RFC 6749, Client Password. */
function readBasic(encoded: string): Presented | undefined {
  const pair = Buffer.from(encoded, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  if (colon === -1) return undefined;
  const [clientId, clientSecret] = [formDecode(pair.slice(0, colon)), formDecode(pair.slice(colon + 1))];
  return { by: "client_secret_basic", clientId, clientSecret };
}

function formDecode(text: string): string {
  return new URLSearchParams(`v=${text.replaceAll("&", "%26")}`).get("v") ?? "";
}
