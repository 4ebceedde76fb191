import type { GrantRecord } from "../grant-record.js";
import type { SignedInAccount } from "../oauth.js";

/** What may be shown of a record. Pure. */
export function signedInAccount(record: GrantRecord, account: string): SignedInAccount {
  const { client, endpoint, issuer, requestedScopes, tokens } = record;
  return {
    endpoint,
    account,
    issuer,
    clientId: client.clientId,
    scopes: tokens?.scopes ?? requestedScopes,
    expiresAt: tokens?.expiresAt,
    canRefresh: tokens?.refreshToken !== undefined,
  };
}
