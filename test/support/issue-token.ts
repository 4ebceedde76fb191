import { createHash } from "node:crypto";
import type { AuthorizationServer } from "../../src/testing/index.js";

const REDIRECT = "http://127.0.0.1/back";
const VERIFIER = "verifier".repeat(8);

/** A public client that {@link issueToken} acts as, for the option `clients`. */
export const TOKEN_CLIENT = { clientId: "token-client", redirectUris: [REDIRECT] };

/** What is asked for. */
export interface TokenWish {
  readonly scope?: string;
  readonly resource?: string;
  /** The `DPoP` header of the token request. */
  readonly proof?: string;
}

/** Goes through the code flow by hand, as {@link TOKEN_CLIENT}; gives the members of the token answer. */
export async function issueToken(server: AuthorizationServer, wish: TokenWish = {}): Promise<Record<string, unknown>> {
  const { proof, ...asked } = wish;
  const shared = { client_id: TOKEN_CLIENT.clientId, redirect_uri: REDIRECT, ...asked };
  const challenge = createHash("sha256").update(VERIFIER).digest("base64url");
  const query = { ...shared, response_type: "code", code_challenge: challenge, code_challenge_method: "S256" };
  const visit = await fetch(`${server.issuer}/authorize?${String(new URLSearchParams(query))}`, { redirect: "manual" });
  const code = new URL(visit.headers.get("location") ?? "about:blank").searchParams.get("code") ?? "";
  return postForm(
    `${server.issuer}/token`,
    { ...shared, grant_type: "authorization_code", code, code_verifier: VERIFIER },
    proof,
  );
}

/** Posts a form; gives the members of the answer, whatever its status. */
export async function postForm(
  url: string,
  form: Record<string, string>,
  proof?: string,
): Promise<Record<string, unknown>> {
  const headers: Record<string, string> = proof === undefined ? {} : { DPoP: proof };
  const answer = await fetch(url, { method: "POST", body: new URLSearchParams(form), headers });
  const text = await answer.text();
  return text === "" ? {} : JSON.parse(text);
}
