import { serviceToken } from "../grants/index.js";
import type { GrantRecord } from "../grant-record.js";
import type { OAuthClient } from "../oauth-client.js";
import type { ServiceGrant } from "../oauth-options.js";
import { type AuthorizationPlan, proverFor, recordOf } from "./authorization-plan.js";
import type { SessionParts } from "./session-parts.js";

/** Gets a token by a grant that needs no person, and makes a record of it. Rejects as `serviceToken` does. */
export async function authorizeService(
  plan: AuthorizationPlan,
  grant: ServiceGrant,
  parts: SessionParts,
  signal: AbortSignal,
): Promise<GrantRecord> {
  const { config, desk, discovery } = parts;
  const { randomBytes, wallNow } = config;
  const { resource, scopes, server } = plan;
  const { endpoint } = discovery;
  const client = await desk.forService(server.metadata, grant);
  const dpop = await proverFor(plan, parts);
  const context = { server, client, resource, endpoint, scopes, dpop, wallNow, randomBytes };
  const tokens = await serviceToken(await discovery.requester(), grant, context, signal);
  return recordOf(plan, client ?? nobody(server.metadata.issuer), tokens, dpop, endpoint);
}

/** A workload is its own assertion. */
function nobody(issuer: string): OAuthClient {
  return {
    kind: "pre_registered",
    issuer,
    clientId: "",
    clientSecret: undefined,
    secretExpiresAt: undefined,
    authMethod: "none",
    signingKey: undefined,
    redirectUris: [],
  };
}
