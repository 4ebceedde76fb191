import type { ErrorDetails } from "../../errors.js";
import type { AuthorizationRefusal } from "../../transport/index.js";
import { coversScopes } from "../scope-set.js";

/** What was done for one operation so far, all its requests together. */
export interface RefusalProgress {
  readonly adoptions: number;
  readonly refreshes: number;
  readonly authorizations: number;
  /** Those since a request of the operation was taken last. */
  readonly lastAuthorizations: number;
  /** The last thing that was done is a repetition with a nonce. */
  readonly repeatedForNonce: boolean;
}

/** What {@link decideRefusal} goes by. */
export interface RefusalFacts {
  readonly status: AuthorizationRefusal["status"];
  /** The challenge's own word. */
  readonly error: string | undefined;
  /** The scopes that the challenge names. */
  readonly challenged: readonly string[];
  /** Whether the request went out with a token. */
  readonly carried: boolean;
  /** What is stored now, beside the token that was sent. `cleared`: there was one whose renewal was refused. */
  readonly current: "none" | "cleared" | "same" | "another";
  /** Whether what is stored now can be renewed without a person: by a refresh token, or by a grant that needs none. */
  readonly canRefresh: boolean;
  /** All scopes that were asked for so far. */
  readonly requested: readonly string[];
  /** Scopes (`""`: none was named) that the server went on asking for although they had been authorized. */
  readonly refused: readonly string[];
  /** What the resource's metadata, read again, says of the token's issuer. `unread`: they were not read for this refusal. */
  readonly issuer: "unread" | "unchanged" | "changed";
  /** Who can authorize. `later`: the last one was of no use, and it is not tried again so soon. `not_here`: nobody waits for this request. */
  readonly asks: "person" | "service" | "nobody" | "later" | "not_here";
  /** Whether the answer brought a nonce that was not known. */
  readonly newNonce: boolean;
  readonly progress: RefusalProgress;
}

/** Why a new authorization is needed. */
export type AuthorizationReason = ErrorDetails["sign_in_required"]["reason"];

/** What is to be done about a refusal. */
export type RefusalVerdict =
  /** The refusal is the answer. */
  | { readonly kind: "leave" }
  /** Once more: with the newer token, or with the nonce. */
  | { readonly kind: "adopt" | "repeat" }
  /** Read the resource's metadata without cache, and decide again. */
  | { readonly kind: "look" }
  | { readonly kind: "refresh" }
  /** A new authorization. `addsScope`: it asks for more than was asked for before, or is none of a step-up. */
  | { readonly kind: "authorize"; readonly reason: AuthorizationReason; readonly addsScope: boolean }
  | { readonly kind: "sign_in_required"; readonly reason: AuthorizationReason }
  | { readonly kind: "token_refused"; readonly reason: ErrorDetails["token_refused"]["reason"] };

/** Authorization requests for one operation, the first included. */
export const MAX_AUTHORIZATIONS = 3;

/** Others who go on replacing the token faster than it can be used keep no request going. */
const MAX_ADOPTIONS = 3;

/**
 * What a refusal comes to, at most one step at a time: whoever follows it asks again when the step changed nothing for the request.
 * Pure. Source: 2026-07-28, Authorization, Error Handling and Step-Up Authorization Flow; RFC 9449, Resource Server-Provided Nonce.
 */
export function decideRefusal(facts: RefusalFacts): RefusalVerdict {
  const { carried, current, error, newNonce, progress, status } = facts;
  if (error === "use_dpop_nonce" && newNonce && !progress.repeatedForNonce) return { kind: "repeat" };
  const wantsScope = error === "insufficient_scope";
  if (status === 403 && !wantsScope) return { kind: "leave" };
  if (current === "another" && progress.adoptions < MAX_ADOPTIONS) return { kind: "adopt" };
  if (wantsScope && carried) return stepUp(facts);
  return carried ? replace(facts) : ask(facts, absence(facts), true);
}

/** A token that is refused as such: one refresh, then one authorization. */
function replace(facts: RefusalFacts): RefusalVerdict {
  const { canRefresh, current, issuer, progress } = facts;
  // What was authorized for this very operation is refused as well: another one would be, too.
  if (progress.lastAuthorizations > 0) return { kind: "token_refused", reason: "refused_again" };
  if (current === "same" && canRefresh && progress.refreshes === 0) {
    if (issuer === "unread") return { kind: "look" };
    if (issuer === "unchanged") return { kind: "refresh" };
  }
  if (facts.asks === "later") return { kind: "token_refused", reason: "refused_again" };
  return ask(facts, current === "same" || current === "another" ? "token_refused" : absence(facts), true);
}

/** More scope is wanted: a new authorization, since a refresh gives no more than was authorized. */
function stepUp(facts: RefusalFacts): RefusalVerdict {
  const { challenged, refused, requested } = facts;
  const named = challenged.length === 0 ? [""] : challenged;
  const addsScope = challenged.length > 0 && !coversScopes(requested, challenged);
  if (!addsScope && coversScopes(refused, named)) return { kind: "token_refused", reason: "scope_not_enough" };
  return ask(facts, "insufficient_scope", addsScope);
}

function ask({ asks, progress }: RefusalFacts, reason: AuthorizationReason, addsScope: boolean): RefusalVerdict {
  if (asks === "not_here") return { kind: "leave" };
  if (progress.authorizations >= MAX_AUTHORIZATIONS) {
    return { kind: "token_refused", reason: "too_many_authorizations" };
  }
  if (asks === "nobody" || asks === "later") return { kind: "sign_in_required", reason };
  return { kind: "authorize", reason, addsScope };
}

function absence({ current }: RefusalFacts): AuthorizationReason {
  return current === "cleared" ? "refresh_refused" : "no_token";
}
