import { RemoteConnectorError } from "../../errors.js";
import { checkCodeFlow } from "../discovery/index.js";
import type { SignedInAccount, StartedSignIn } from "../oauth.js";
import type { AccountSession } from "./account-session.js";
import { NO_CHALLENGE } from "./authorization-plan.js";
import { type PreparedVisit, prepareVisit, redeemVisit } from "./code-visit.js";
import type { PendingSignIn } from "./pending-sign-ins.js";
import type { SessionBook } from "./session-book.js";
import { cancelled, signInTimeout } from "./session-failures.js";
import { signedInAccount } from "./signed-in-account.js";
import { waitFor } from "./waiting.js";

/** Of a callback that is only a path, as web servers have it: nothing but its query is looked at. */
const ANY_ORIGIN = "https://callback.invalid";

/**
 * A sign-in whose browser somebody else sends and receives. It can be ended once, within `signInTimeoutMs`. Rejects like `signIn`; the
 * signal ends the beginning alone.
 */
export async function startSignIn(
  book: SessionBook,
  session: AccountSession,
  redirectUri: string,
  scopes: readonly string[],
  signal: AbortSignal | undefined,
): Promise<StartedSignIn> {
  const { clock, signInTimeoutMs: limitMs } = session.parts.config;
  const visit = await waitFor(
    session.during(() => begin(session, redirectUri, scopes)),
    signal,
  );
  const { account, endpoint } = session.parts.shelf;
  const pending = book.pending.add({ endpoint, account, visit, isStarted: true });
  return {
    url: visit.pending.url,
    async finish(callbackUrl): Promise<SignedInAccount> {
      const callback = parseCallback(callbackUrl);
      if (!book.pending.end(pending)) throw cancelled("the sign-in is over");
      if (clock.now() >= pending.dueAt) throw signInTimeout(limitMs);
      return complete(book, pending, callback);
    },
    cancel(): void {
      book.pending.end(pending);
    },
  };
}

/**
 * Ends the sign-in that is pending under the `state` of a callback. Rejects with `oauth_invalid` (`callback`, `state`) when there is
 * none, or none any more, and otherwise as `StartedSignIn.finish` does.
 */
export async function finishSignIn(book: SessionBook, callbackUrl: string | URL): Promise<SignedInAccount> {
  book.assertOpen();
  const callback = parseCallback(callbackUrl);
  const [state, ...others] = callback.searchParams.getAll("state");
  const pending = state === undefined || others.length > 0 ? undefined : book.pending.find(state);
  if (pending === undefined) throw invalidCallback("state", "is of no sign-in that is pending");
  book.pending.end(pending);
  return complete(book, pending, callback);
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

/** In the account's session as it is now: the one that it was begun in may have made room for others. */
function complete(
  book: SessionBook,
  { account, endpoint, visit }: PendingSignIn,
  callback: URL,
): Promise<SignedInAccount> {
  const session = book.get(endpoint, account);
  const { authorization, parts } = session;
  return session.during(async () => {
    const { signOuts } = authorization;
    const made = await redeemVisit(visit, callback, parts, parts.closed);
    const { record } = await authorization.keep({ ...made, refusedScopes: [] }, signOuts);
    session.forgive();
    return signedInAccount(record, account);
  });
}

/** What the URL says is in no error: it has a code. */
function parseCallback(callbackUrl: string | URL): URL {
  const text = String(callbackUrl);
  if (URL.canParse(text, ANY_ORIGIN)) return new URL(text, ANY_ORIGIN);
  throw invalidCallback("(all of it)", "is no URL");
}

function invalidCallback(member: string, reason: string): RemoteConnectorError<"oauth_invalid"> {
  return new RemoteConnectorError("oauth_invalid", {
    message: `The callback can't be used: ${member} ${reason}.`,
    details: { subject: "callback", url: "", member, reason },
  });
}
