import type { AuthorizationRefusal, HeaderMap } from "../../transport/index.js";
import { readChallenges } from "../challenge/index.js";
import type { AuthorizationChallenge } from "../protected-resource.js";
import type { AccountSession } from "./account-session.js";
import {
  type AuthorizationReason,
  decideRefusal,
  MAX_AUTHORIZATIONS,
  type RefusalFacts,
  type RefusalVerdict,
} from "./decide-refusal.js";
import type { Operations } from "./operations.js";
import type { PendingSignIns } from "./pending-sign-ins.js";
import { splitScopes, uniteScopes } from "../scope-set.js";
import { tokenRefused } from "./session-failures.js";
import { demandSignIn } from "./demand-sign-in.js";
import { waitFor } from "./waiting.js";

/** What goes by one refusal. */
interface Hearing {
  readonly refusal: AuthorizationRefusal;
  readonly challenge: AuthorizationChallenge;
  readonly challenged: readonly string[];
  /** The token that the request went out with. */
  readonly sent: string | undefined;
  readonly newNonce: boolean;
}

/**
 * Does what a refusal comes to, and says whether the request is to be made again. Whoever asks for the same at the same time waits for
 * the same work; the refusal's signal ends its waiting, and nothing else.
 *
 * Rejects with `sign_in_required`, `token_refused`, and as refreshing, discovering and authorizing do.
 */
export async function handleRefusal(
  refusal: AuthorizationRefusal,
  session: AccountSession,
  operations: Operations,
  asks: boolean,
  pending: PendingSignIns,
): Promise<boolean> {
  const challenge = readChallenges(refusal.challenges);
  const { request, sent: headers } = refusal;
  const hearing: Hearing = {
    refusal,
    challenge,
    challenged: splitScopes(challenge.scope),
    sent: tokenOf(headers),
    newNonce: session.learn(request.url, refusal.headers, headerOf(headers, "dpop")),
  };
  let issuer: RefusalFacts["issuer"] = "unread";
  for (;;) {
    await waitFor(session.parts.memory.read(), refusal.signal);
    const verdict = decideRefusal({
      ...factsOf(hearing, session, asks),
      issuer,
      progress: operations.of(request.operation),
    });
    if (verdict.kind === "look") {
      issuer = await waitFor(session.authorization.lookAtIssuer(challenge), refusal.signal);
      continue;
    }
    const answer = await follow(verdict, hearing, session, operations, pending);
    if (answer !== undefined) return answer;
  }
}

/** `undefined`: it changed nothing for the request, and has to be decided again. */
async function follow(
  verdict: Exclude<RefusalVerdict, { kind: "look" }>,
  hearing: Hearing,
  session: AccountSession,
  operations: Operations,
  pending: PendingSignIns,
): Promise<boolean | undefined> {
  const { operation } = hearing.refusal.request;
  switch (verdict.kind) {
    case "leave":
      return false;
    case "repeat":
      operations.count(operation, "nonce");
      return true;
    case "adopt":
      operations.count(operation, "adoptions");
      tellOfAdoption(session);
      return true;
    case "refresh":
      operations.count(operation, "refreshes");
      return refresh(hearing, session);
    case "authorize":
      return authorize(verdict, hearing, session, operations);
    case "sign_in_required":
      throw await demandSignIn(verdict.reason, wishOf(hearing), session, pending, hearing.refusal.signal);
    case "token_refused":
      throw await refuse(verdict.reason, hearing, session);
  }
}

async function refresh({ refusal, sent }: Hearing, session: AccountSession): Promise<true | undefined> {
  if (sent === undefined) return undefined;
  const renewal = await waitFor(session.renew(sent), refusal.signal);
  if (renewal.kind === "failed") throw renewal.error;
  return renewal.kind === "renewed" ? true : undefined;
}

async function authorize(
  { addsScope, reason }: { readonly addsScope: boolean; readonly reason: AuthorizationReason },
  hearing: Hearing,
  session: AccountSession,
  operations: Operations,
): Promise<true | undefined> {
  const { refusal, sent } = hearing;
  const { operation } = refusal.request;
  const wish = wishOf(hearing);
  // What others are asking for may do, but nothing says so: it is no request of this operation.
  const other = session.authorization.forLess(wish, session.parts.memory.last.grant?.record.requestedScopes ?? []);
  if (other !== undefined) {
    await waitFor(other, refusal.signal);
    return undefined;
  }
  operations.count(operation, "authorizations");
  const most = MAX_AUTHORIZATIONS - operations.of(operation).authorizations + 1;
  const cause = { ...wish, refusedToken: sent, isExplicit: false, most };
  const { requests } = await session.authorization.obtain(cause, refusal.signal);
  // Of a registration that was not known any more: the person was asked twice.
  if (requests > 1) operations.count(operation, "authorizations");
  if (reason === "insufficient_scope" && !addsScope) session.rememberRepeated(namedBy(hearing));
  return true;
}

async function refuse(
  reason: "refused_again" | "too_many_authorizations" | "scope_not_enough",
  hearing: Hearing,
  session: AccountSession,
): Promise<Error> {
  const { discovery, memory, tell } = session.parts;
  const { challenged, refusal } = hearing;
  const { grant } = memory.last;
  if (reason === "scope_not_enough") await rememberRefused(namedBy(hearing), session);
  else session.restAsking();
  if (grant !== undefined) tell({ kind: "token_refused", issuer: grant.record.issuer, code: reason });
  return tokenRefused(discovery.endpoint, { status: refusal.status, reason, scopes: challenged });
}

/** So that other processes, and this one after a new start, ask nobody again. Somebody who wrote meanwhile will come to the same. */
async function rememberRefused(scopes: readonly string[], { parts }: AccountSession): Promise<void> {
  const { grant } = parts.memory.last;
  if (grant === undefined) return;
  const { generation, record } = grant;
  const refusedScopes = uniteScopes(record.refusedScopes, scopes);
  if (refusedScopes.length === record.refusedScopes.length) return;
  const put = await parts.shelf.write({ ...record, refusedScopes }, generation);
  parts.memory.take(put.kind === "written" ? put.grant : put.current);
}

function factsOf(
  { challenge, challenged, newNonce, refusal, sent }: Hearing,
  session: AccountSession,
  asks: boolean,
): Omit<RefusalFacts, "issuer" | "progress"> {
  const { grant } = session.parts.memory.last;
  const record = grant?.record;
  return {
    status: refusal.status,
    error: challenge.error,
    challenged,
    carried: sent !== undefined,
    current: currentOf(grant === undefined ? undefined : { token: record?.tokens?.accessToken }, sent),
    canRefresh: record !== undefined && session.canRefresh(record),
    requested: record?.requestedScopes ?? [],
    refused: uniteScopes(record?.refusedScopes ?? [], session.repeatedScopes),
    asks: whoIsAsked(refusal, session, asks),
    newNonce,
  };
}

function currentOf(
  stored: { readonly token: string | undefined } | undefined,
  sent: string | undefined,
): RefusalFacts["current"] {
  if (stored === undefined) return "none";
  if (stored.token === undefined) return "cleared";
  return stored.token === sent ? "same" : "another";
}

function whoIsAsked({ request }: AuthorizationRefusal, session: AccountSession, asks: boolean): RefusalFacts["asks"] {
  const { grant, openUrl } = session.parts.config;
  if (grant !== undefined) return "service";
  if (request.httpMethod !== "POST" && request.isAwaited !== true) return "not_here";
  if (!asks || openUrl === false) return "nobody";
  return session.isAskingResting ? "later" : "person";
}

function tellOfAdoption({ parts }: AccountSession): void {
  const { grant } = parts.memory.last;
  if (grant === undefined) return;
  const { issuer, tokens } = grant.record;
  parts.tell({ kind: "token_adopted", issuer, expiresAt: tokens?.expiresAt });
}

function wishOf({ challenge }: Hearing) {
  return { challenge, scopes: [] };
}

function namedBy({ challenged }: Hearing): readonly string[] {
  return challenged.length === 0 ? [""] : challenged;
}

function tokenOf(headers: HeaderMap | undefined): string | undefined {
  return /^(?:Bearer|DPoP) (.+)$/i.exec(headerOf(headers, "authorization") ?? "")?.[1];
}

/** A header that was given, by its name in lower case. */
function headerOf(headers: HeaderMap | undefined, name: string): string | undefined {
  return Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name)?.[1];
}
