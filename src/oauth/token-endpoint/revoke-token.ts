import { isSuccess } from "../../transport/index.js";
import type { ServerMetadata } from "../authorization-server.js";
import type { OAuthClient } from "../oauth-client.js";
import { refusalOf } from "../refused-answer.js";
import type { OAuthRequester } from "../requester.js";
import type { AssertionPorts } from "./client-assertion.js";
import { postForm } from "./post-form.js";

/** A token that is given back. */
export interface Revocation extends AssertionPorts {
  readonly server: ServerMetadata;
  /** It belongs to this server. */
  readonly client: OAuthClient;
  readonly token: string;
  readonly hint?: "access_token" | "refresh_token" | undefined;
}

/**
 * Gives a token back. Nothing is sent where the server has no endpoint for it. A server that does not know the token answers like one that did.
 *
 * Rejects with `oauth_refused` (step `token`) for any status but a success, and as {@link OAuthRequester} does. Source: RFC 7009.
 */
export async function revokeToken(
  requester: OAuthRequester,
  revocation: Revocation,
  signal?: AbortSignal,
): Promise<void> {
  const { hint, server, token } = revocation;
  const url = server.revocation_endpoint;
  if (url === undefined) return;
  const parameters = { token, ...(hint === undefined ? {} : { token_type_hint: hint }) };
  const answer = await postForm(requester, { ...revocation, url, parameters }, signal);
  if (!isSuccess(answer.status)) throw refusalOf(answer, { step: "token", issuer: server.issuer });
}
