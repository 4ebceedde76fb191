import { describe, expect, it } from "vitest";
import { decideRefusal, type RefusalFacts, type RefusalVerdict } from "../../../../src/oauth/session/decide-refusal.js";

const FRESH = { adoptions: 0, refreshes: 0, authorizations: 0, lastAuthorizations: 0, repeatedForNonce: false };

const FACTS: RefusalFacts = {
  status: 401,
  error: "invalid_token",
  challenged: [],
  carried: true,
  current: "same",
  canRefresh: true,
  requested: ["read"],
  refused: [],
  issuer: "unread",
  asks: "person",
  newNonce: false,
  progress: FRESH,
};

const WITHOUT_TOKEN = { carried: false, current: "none", canRefresh: false, error: undefined, requested: [] } as const;
const WANTS_SCOPE = { status: 403, error: "insufficient_scope", challenged: ["write"] } as const;

function authorize(reason: "no_token" | "token_refused" | "refresh_refused" | "insufficient_scope", addsScope = true) {
  return { kind: "authorize", reason, addsScope } as const;
}

const CASES: readonly (readonly [string, Partial<RefusalFacts>, RefusalVerdict])[] = [
  ["A-8: no token was sent, and none is there", WITHOUT_TOKEN, authorize("no_token")],
  ["A-8: no token was sent, and one is there now", { ...WITHOUT_TOKEN, current: "another" }, { kind: "adopt" }],
  ["A-8: a refresh was refused before", { ...WITHOUT_TOKEN, current: "cleared" }, authorize("refresh_refused")],
  ["A-8: a newer token is adopted before anything else", { current: "another" }, { kind: "adopt" }],
  [
    "A-8: newer tokens without end",
    { current: "another", progress: { ...FRESH, adoptions: 3 } },
    authorize("token_refused"),
  ],
  ["A-8: a token is refused: the metadata are read first", {}, { kind: "look" }],
  ["A-8: the issuer is the same: one refresh", { issuer: "unchanged" }, { kind: "refresh" }],
  ["A-8: the issuer is another: no refresh", { issuer: "changed" }, authorize("token_refused")],
  ["A-8: nothing to refresh with", { canRefresh: false }, authorize("token_refused")],
  ["A-8: the second refresh is an authorization", { progress: { ...FRESH, refreshes: 1 } }, authorize("token_refused")],
  [
    "A-8: what was authorized for it is refused as well",
    { progress: { ...FRESH, authorizations: 1, lastAuthorizations: 1 } },
    { kind: "token_refused", reason: "refused_again" },
  ],
  [
    "A-8: what was authorized for an earlier round was taken: this one is helped as that was",
    { issuer: "unchanged", progress: { ...FRESH, authorizations: 1 } },
    { kind: "refresh" },
  ],
  ["A-8: somebody signed out meanwhile", { current: "none", canRefresh: false }, authorize("no_token")],
  [
    "A-8: a refresh that was refused for this request",
    { current: "cleared", canRefresh: false },
    authorize("refresh_refused"),
  ],
  ["A-8: more scope is wanted", WANTS_SCOPE, authorize("insufficient_scope")],
  ["A-8: more scope is wanted with 401", { ...WANTS_SCOPE, status: 401 }, authorize("insufficient_scope")],
  [
    "A-8: the scope was authorized: once more",
    { ...WANTS_SCOPE, requested: ["write"] },
    authorize("insufficient_scope", false),
  ],
  [
    "A-8: the scope was authorized once more: never again",
    { ...WANTS_SCOPE, requested: ["write"], refused: ["write"] },
    { kind: "token_refused", reason: "scope_not_enough" },
  ],
  [
    "A-8: a further scope beside it is asked for",
    { ...WANTS_SCOPE, refused: ["write"] },
    authorize("insufficient_scope"),
  ],
  ["A-8: no scope is named", { ...WANTS_SCOPE, challenged: [] }, authorize("insufficient_scope", false)],
  [
    "A-8: no scope is named again",
    { ...WANTS_SCOPE, challenged: [], refused: [""] },
    { kind: "token_refused", reason: "scope_not_enough" },
  ],
  [
    "A-8: the fourth authorization of an operation",
    { ...WANTS_SCOPE, progress: { ...FRESH, authorizations: 3 } },
    { kind: "token_refused", reason: "too_many_authorizations" },
  ],
  ["A-8: another 403 is the answer", { status: 403, error: undefined }, { kind: "leave" }],
  [
    "A-8: another 403 is the answer also when a newer token is there",
    { status: 403, current: "another" },
    { kind: "leave" },
  ],
  ["A-8: nobody waits for a GET", { ...WITHOUT_TOKEN, asks: "not_here" }, { kind: "leave" }],
  ["A-8: a GET refreshes", { issuer: "unchanged", asks: "not_here" }, { kind: "refresh" }],
  ["A-8: a GET adopts", { current: "another", asks: "not_here" }, { kind: "adopt" }],
  ["A-8: nobody can be asked", { ...WITHOUT_TOKEN, asks: "nobody" }, { kind: "sign_in_required", reason: "no_token" }],
  [
    "A-8: nobody can be asked for a scope",
    { ...WANTS_SCOPE, asks: "nobody" },
    { kind: "sign_in_required", reason: "insufficient_scope" },
  ],
  ["A-8: without a person it is still refreshed", { issuer: "unchanged", asks: "nobody" }, { kind: "refresh" }],
  ["A-8: asking rests", { ...WITHOUT_TOKEN, asks: "later" }, { kind: "sign_in_required", reason: "no_token" }],
  [
    "A-8: asking rests, and the token is refused again",
    { canRefresh: false, asks: "later" },
    { kind: "token_refused", reason: "refused_again" },
  ],
  ["A-8: a grant without a person", { ...WITHOUT_TOKEN, asks: "service" }, authorize("no_token")],
  ["A-9: a nonce is asked for", { error: "use_dpop_nonce", newNonce: true }, { kind: "repeat" }],
  [
    "A-9: a nonce after everything else",
    { error: "use_dpop_nonce", newNonce: true, progress: { ...FRESH, authorizations: 3 } },
    { kind: "repeat" },
  ],
  ["A-9: a nonce is asked for and none is given", { error: "use_dpop_nonce" }, { kind: "look" }],
  [
    "A-9: a nonce is asked for twice in a row",
    { error: "use_dpop_nonce", newNonce: true, progress: { ...FRESH, repeatedForNonce: true } },
    { kind: "look" },
  ],
];

describe("decideRefusal", () => {
  it.each(CASES)("%s", (_name, changes, verdict) => {
    expect(decideRefusal({ ...FACTS, ...changes })).toEqual(verdict);
  });
});
