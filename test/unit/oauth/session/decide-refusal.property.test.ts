import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideRefusal, type RefusalFacts } from "../../../../src/oauth/session/decide-refusal.js";
import { Operations } from "../../../../src/oauth/session/operations.js";
import { uniteScopes } from "../../../../src/oauth/scope-set.js";

/** What a server answers with, and what happens beside it. Everything that can go against the client. */
const answer = fc.record({
  status: fc.constantFrom(401 as const, 403 as const),
  error: fc.constantFrom(undefined, "invalid_token", "insufficient_scope", "use_dpop_nonce"),
  challenged: fc.subarray(["a", "b", "c", "d"]),
  newNonce: fc.boolean(),
  replacedByOthers: fc.boolean(),
  refreshes: fc.constantFrom("renewed" as const, "refused" as const, "none" as const),
  issuer: fc.constantFrom("unchanged" as const, "changed" as const),
});

const world = fc.record({
  answers: fc.array(answer, { minLength: 60, maxLength: 60 }),
  asks: fc.constantFrom<RefusalFacts["asks"]>("person", "service", "nobody", "later", "not_here"),
  token: fc.constantFrom<number | undefined>(undefined, 1),
  requested: fc.subarray(["a", "b"]),
});

describe("decideRefusal against a server that goes on refusing", () => {
  it("A-8: ends, with 3 authorizations at most, one refresh, and none for scopes", () => {
    fc.assert(
      fc.property(world, ({ answers, asks, requested: before, token }) => {
        const operations = new Operations();
        const operation = {};
        let stored: { token: number | undefined } | undefined = token === undefined ? undefined : { token };
        let sent = token;
        let next = 2;
        let requested: readonly string[] = before;
        let repeated: readonly string[] = [];
        let requests = 1;
        let ended = false;
        for (const { challenged, error, issuer, newNonce, refreshes, replacedByOthers, status } of answers) {
          if (replacedByOthers) stored = { token: (next += 1) };
          let seen: RefusalFacts["issuer"] = "unread";
          let again: boolean | undefined;
          for (let steps = 0; again === undefined; steps += 1) {
            expect(steps).toBeLessThan(5);
            const progress = operations.of(operation);
            const current =
              stored === undefined
                ? "none"
                : stored.token === undefined
                  ? "cleared"
                  : stored.token === sent
                    ? "same"
                    : "another";
            const said = {
              asks,
              challenged,
              current,
              error,
              issuer: seen,
              newNonce,
              progress,
              requested,
              status,
            } as const;
            const verdict = decideRefusal({
              ...said,
              refused: repeated,
              carried: sent !== undefined,
              canRefresh: current === "same" || current === "another",
            });
            if (verdict.kind === "look") seen = issuer;
            else if (verdict.kind === "repeat") {
              operations.count(operation, "nonce");
              again = true;
            } else if (verdict.kind === "adopt") {
              operations.count(operation, "adoptions");
              again = true;
            } else if (verdict.kind === "refresh") {
              expect(error).not.toBe("insufficient_scope");
              expect(seen).toBe("unchanged");
              operations.count(operation, "refreshes");
              if (refreshes === "renewed") {
                stored = { token: (next += 1) };
                again = true;
              } else if (refreshes === "refused") stored = { token: undefined };
            } else if (verdict.kind === "authorize") {
              expect(["person", "service"]).toContain(asks);
              operations.count(operation, "authorizations");
              if (verdict.reason === "insufficient_scope" && !verdict.addsScope) {
                repeated = uniteScopes(repeated, challenged.length === 0 ? [""] : challenged);
              }
              requested = uniteScopes(requested, challenged);
              stored = { token: (next += 1) };
              again = true;
            } else again = false;
          }
          const { authorizations, refreshes: refreshed } = operations.of(operation);
          expect(authorizations).toBeLessThanOrEqual(3);
          expect(refreshed).toBeLessThanOrEqual(1);
          if (!again) {
            ended = true;
            break;
          }
          sent = stored?.token;
          requests += 1;
        }
        expect(ended).toBe(true);
        // Each of 3 adoptions, a refresh and 3 authorizations may be followed by a repetition for a nonce, and so may the first.
        expect(requests).toBeLessThanOrEqual(16);
      }),
      { numRuns: 400 },
    );
  });
});
