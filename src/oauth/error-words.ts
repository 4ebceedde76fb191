/** What OAuth and its extensions call their errors. Source: RFC 6749, 7009, 7591, 8707, 9449 and 9470; OpenID Connect Core, Authentication Error Response. */
const ERROR_WORDS: ReadonlySet<string> = new Set([
  "access_denied",
  "account_selection_required",
  "consent_required",
  "interaction_required",
  "invalid_client",
  "invalid_client_metadata",
  "invalid_dpop_proof",
  "invalid_grant",
  "invalid_redirect_uri",
  "invalid_request",
  "invalid_request_object",
  "invalid_request_uri",
  "invalid_scope",
  "invalid_software_statement",
  "invalid_target",
  "login_required",
  "registration_not_supported",
  "request_not_supported",
  "request_uri_not_supported",
  "server_error",
  "slow_down",
  "temporarily_unavailable",
  "unapproved_software_statement",
  "unauthorized_client",
  "unmet_authentication_requirements",
  "unsupported_grant_type",
  "unsupported_response_type",
  "unsupported_token_type",
  "use_dpop_nonce",
]);

/** OAuth's own word for an error; `undefined` for anything else, which is not repeated: it may be a secret that the server was sent. */
export function knownErrorWord(value: unknown): string | undefined {
  return typeof value === "string" && ERROR_WORDS.has(value) ? value : undefined;
}
