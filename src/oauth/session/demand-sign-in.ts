import type { RemoteConnectorError } from "../../errors.js";
import type { AccountSession } from "./account-session.js";
import { type AuthorizationPlan, type AuthorizationWish } from "./authorization-plan.js";
import { prepareVisit } from "./code-visit.js";
import type { AuthorizationReason } from "./decide-refusal.js";
import type { PendingSignIns } from "./pending-sign-ins.js";
import { signInRequired } from "./session-failures.js";
import { waitFor } from "./waiting.js";

/**
 * The error for a person who is not asked here, with the scopes that they would be asked for, and the URL where they would go if there is a
 * client and a place for the browser to come back to: that sign-in is pending then. Nothing is registered for it. Rejects as discovery does, and with the signal's reason.
 */
export async function demandSignIn(
  reason: AuthorizationReason,
  wish: AuthorizationWish,
  session: AccountSession,
  pending: PendingSignIns,
  signal?: AbortSignal,
): Promise<RemoteConnectorError<"sign_in_required">> {
  const plan = await waitFor(session.authorization.plan(wish, { cached: true }), signal);
  const { issuer } = plan.server.metadata;
  const authorizationUrl = await waitFor(urlOf(plan, session, pending), signal);
  const { endpoint } = session.parts.discovery;
  return signInRequired(endpoint, { reason, issuer, scopes: plan.scopes, authorizationUrl });
}

/** The same as last time, while that is young enough: a program that calls again and again does not make one each time. */
async function urlOf(
  plan: AuthorizationPlan,
  { parts }: AccountSession,
  signIns: PendingSignIns,
): Promise<string | undefined> {
  const client = await parts.desk.known(plan.server.metadata);
  const redirectUri = client?.redirectUris[0];
  if (client === undefined || redirectUri === undefined) return undefined;
  const { account, endpoint } = parts.shelf;
  const known = signIns.findDemanded(endpoint, account, { plan, client });
  if (known !== undefined) return known.visit.pending.url;
  const visit = await prepareVisit(plan, client, redirectUri, parts);
  return signIns.add({ endpoint, account, visit, isStarted: false }).visit.pending.url;
}
