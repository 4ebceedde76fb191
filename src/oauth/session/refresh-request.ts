import { RemoteConnectorError } from "../../errors.js";
import type { GrantRecord } from "../grant-record.js";
import { isClientRefusal, isLastingRefusal, isTransient, requestToken, revokeToken } from "../token-endpoint/index.js";
import type { TokenSet } from "../token-set.js";
import type { ProofMaker } from "./proof-maker.js";
import type { RefreshFailure } from "./refresher.js";
import type { SessionParts } from "./session-parts.js";

/**
 * Asks the token endpoint of the tokens themselves for new ones: nothing is discovered or registered, and nobody is asked. Rejects as
 * `requestToken` does, and with `client_identity_required` when the options don't have the client any more that the tokens were issued to.
 */
export async function requestRefresh(
  record: GrantRecord,
  refreshToken: string,
  parts: SessionParts,
  proofs: ProofMaker,
): Promise<TokenSet> {
  const { config, desk, discovery } = parts;
  const { randomBytes, wallNow } = config;
  const { issuer, resource, tokenEndpoint } = record;
  const client = desk.rejoin(record.client);
  if (client === undefined) {
    throw new RemoteConnectorError("client_identity_required", {
      message: `The client that the tokens of ${issuer} were issued to is not configured any more.`,
      details: { issuer, reason: "none" },
    });
  }
  const parameters = {
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    ...(resource === undefined || !config.sendsResource ? {} : { resource }),
  };
  const server = { issuer, token_endpoint: tokenEndpoint };
  const dpop = await proofs.proverOf(record);
  const request = { server, client, step: "refresh", parameters, dpop, wallNow, randomBytes } as const;
  // Nobody's leaving ends it: the refresh token may be used up by now. Its own deadline does.
  return requestToken(await discovery.requester(), request);
}

/** What a failed refresh means for the tokens. Pure. */
export function classifyRefreshFailure(error: unknown): RefreshFailure {
  if (isTransient(error)) return "transient";
  if (isLastingRefusal(error)) return "lasting";
  return isClientRefusal(error) ? "client" : "other";
}

/** Gives tokens back where the authorization server takes them. Never rejects: they are forgotten in any case. */
export async function giveBack({ client: kept, issuer, ...record }: GrantRecord, parts: SessionParts): Promise<void> {
  const { closed, config, desk, discovery } = parts;
  const { tokens } = record;
  const client = desk.rejoin(kept);
  if (tokens === undefined || client === undefined) return;
  try {
    const server = await discovery.serverOf(issuer);
    const { randomBytes, wallNow } = config;
    const request = { server, client, wallNow, randomBytes } as const;
    const requester = await discovery.requester();
    if (tokens.refreshToken !== undefined) {
      await revokeToken(requester, { ...request, token: tokens.refreshToken, hint: "refresh_token" }, closed);
    }
    await revokeToken(requester, { ...request, token: tokens.accessToken, hint: "access_token" }, closed);
  } catch {
    // Whatever the authorization server says of it.
  }
}
