import type { SignedInAccount, StartedSignIn } from "../oauth.js";
import type { AccountSession } from "./account-session.js";
import { NO_CHALLENGE } from "./authorization-plan.js";
import { type PreparedVisit, prepareVisit, redeemVisit } from "./code-visit.js";
import { checkCodeFlow } from "../discovery/index.js";
import { cancelled, signInTimeout } from "./session-failures.js";
import { signedInAccount } from "./signed-in-account.js";
import { waitFor } from "./waiting.js";

/**
 * A sign-in whose browser somebody else sends and receives. It can be ended once, within `signInTimeoutMs`. Rejects like `signIn`; the
 * signal ends the beginning alone.
 */
export async function startSignIn(
  session: AccountSession,
  redirectUri: string,
  scopes: readonly string[],
  signal: AbortSignal | undefined,
): Promise<StartedSignIn> {
  const { parts } = session;
  const visit = await waitFor(begin(session, redirectUri, scopes), signal);
  const { clock, signInTimeoutMs: limitMs } = parts.config;
  const dueAt = clock.now() + limitMs;
  let isOver = false;
  return {
    url: visit.pending.url,
    async finish(callbackUrl): Promise<SignedInAccount> {
      if (isOver) throw cancelled("the sign-in is over");
      isOver = true;
      if (clock.now() >= dueAt) throw signInTimeout(limitMs);
      return complete(session, visit, new URL(callbackUrl));
    },
    cancel(): void {
      isOver = true;
    },
  };
}

async function begin(
  { authorization, parts }: AccountSession,
  redirectUri: string,
  scopes: readonly string[],
): Promise<PreparedVisit> {
  const { closed, desk, tell } = parts;
  const plan = await authorization.plan({ challenge: NO_CHALLENGE, scopes }, { cached: false });
  checkCodeFlow(plan.server);
  const { metadata } = plan.server;
  let client = await desk.known(metadata, redirectUri);
  if (client === undefined) {
    client = await desk.register(metadata, redirectUri, plan.scopes, closed);
    tell({ kind: "registered", issuer: metadata.issuer });
  }
  const visit = await prepareVisit(plan, client, redirectUri, parts);
  tell({ kind: "sign_in_started", issuer: metadata.issuer, scopes: plan.scopes });
  return visit;
}

async function complete(session: AccountSession, visit: PreparedVisit, callback: URL): Promise<SignedInAccount> {
  const { parts } = session;
  const made = await redeemVisit(visit, callback, parts, parts.closed);
  const { record } = await session.authorization.keep({ ...made, refusedScopes: [] });
  session.forgive();
  return signedInAccount(record, parts.shelf.account);
}
