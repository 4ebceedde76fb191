import { headerValue, type HeaderFields } from "../../serving/index.js";

/** How a client proves at the token endpoint who it is. Source: RFC 7591, Client Metadata. */
export type ClientAuthentication = "client_secret_basic" | "client_secret_post" | "none";

/** A client that the authorization server knows. */
export interface AuthorizationClient {
  readonly clientId: string;
  /** A client without one is public, and authenticates by `none`. */
  readonly clientSecret?: string | undefined;
  /** Compared as they are; of one on loopback the port may differ. Source: RFC 8252, Loopback Interface Redirection. */
  readonly redirectUris: readonly string[];
  /** The one way that is accepted. Left out, both ways of presenting a secret are. */
  readonly authentication?: ClientAuthentication | undefined;
}

/** Who sent a request to the token or revocation endpoint. */
export type ClientVerdict =
  | { readonly kind: "known"; readonly client: AuthorizationClient; readonly by: ClientAuthentication }
  | { readonly kind: "refused"; readonly reason: string };

/** Finds the client behind a request, and checks its proof. Pure. Source: RFC 6749, Client Password. */
export function authenticateClient(
  headers: HeaderFields,
  form: URLSearchParams,
  clients: ReadonlyMap<string, AuthorizationClient>,
): ClientVerdict {
  const presented = readCredentials(headers, form);
  if (presented === undefined) return { kind: "refused", reason: "no client is named" };
  const { by, clientId, clientSecret } = presented;
  const client = clients.get(clientId);
  if (client === undefined) return { kind: "refused", reason: "the client is unknown" };
  if (client.clientSecret !== clientSecret) return { kind: "refused", reason: "the secret is missing or wrong" };
  const accepted = client.authentication ?? (client.clientSecret === undefined ? "none" : by);
  return accepted === by ? { kind: "known", client, by } : { kind: "refused", reason: `only ${accepted} is accepted` };
}

interface PresentedCredentials {
  readonly by: ClientAuthentication;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
}

function readCredentials(headers: HeaderFields, form: URLSearchParams): PresentedCredentials | undefined {
  const basic = /^Basic +([\w+/=-]+) *$/i.exec(headerValue(headers, "authorization") ?? "")?.[1];
  if (basic !== undefined) {
    const pair = Buffer.from(basic, "base64").toString("utf8");
    const colon = pair.indexOf(":");
    if (colon === -1) return undefined;
    const [clientId, clientSecret] = [formDecode(pair.slice(0, colon)), formDecode(pair.slice(colon + 1))];
    return { by: "client_secret_basic", clientId, clientSecret };
  }
  const clientId = form.get("client_id");
  if (clientId === null) return undefined;
  const clientSecret = form.get("client_secret") ?? undefined;
  return { by: clientSecret === undefined ? "none" : "client_secret_post", clientId, clientSecret };
}

/** Both halves of the pair are form-encoded first. Source: RFC 6749, Client Password. */
function formDecode(text: string): string {
  return new URLSearchParams(`v=${text.replaceAll("&", "%26")}`).get("v") ?? "";
}

/** Whether a client may be sent to this address. Pure. */
export function allowsRedirect(client: AuthorizationClient, redirectUri: string): boolean {
  return client.redirectUris.some((known) => known === redirectUri || sameOnLoopback(known, redirectUri));
}

/** Letter by letter but for the port. */
function sameOnLoopback(known: string, redirectUri: string): boolean {
  const portless = withoutPort(known);
  return portless !== undefined && portless === withoutPort(redirectUri);
}

/** `undefined` for an address that is not on loopback. */
function withoutPort(uri: string): string | undefined {
  const parts = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::\d{1,5})?(\/.*)?$/.exec(uri);
  return parts === null ? undefined : `${parts[1] ?? ""}${parts[2] ?? ""}`;
}
