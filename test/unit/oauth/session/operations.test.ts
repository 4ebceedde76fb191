import { describe, expect, it } from "vitest";
import { Operations } from "../../../../src/oauth/session/operations.js";

describe("A-8: what was done for an operation", () => {
  it("counts authorizations over all its rounds, and everything else since its last answer", () => {
    const operations = new Operations();
    const [one, other] = [{}, {}];
    for (const what of ["adoptions", "refreshes", "authorizations", "nonce"] as const) operations.count(one, what);
    expect(operations.of(one)).toEqual({
      adoptions: 1,
      refreshes: 1,
      authorizations: 1,
      lastAuthorizations: 1,
      repeatedForNonce: true,
    });

    operations.settle(one);
    operations.settle(other);
    const settled = { adoptions: 0, refreshes: 0, authorizations: 1, lastAuthorizations: 0, repeatedForNonce: false };
    expect(operations.of(one)).toEqual(settled);
    operations.count(one, "authorizations");
    expect(operations.of(one)).toEqual({ ...settled, authorizations: 2, lastAuthorizations: 1 });
    expect(operations.of(other)).toEqual({ ...settled, authorizations: 0 });
  });

  it("a nonce may be repeated again once something else was done", () => {
    const operations = new Operations();
    const one = {};
    operations.count(one, "nonce");
    operations.count(one, "refreshes");
    expect(operations.of(one).repeatedForNonce).toBe(false);
  });
});
