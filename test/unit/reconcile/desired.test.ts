import { describe, expect, it } from "vitest";
import { decideDesired, withDesired } from "../../../src/reconcile/desired.js";
import { observedOf, rowOf } from "./rows.js";

const ON = { generation: 5, enabled: true, identity: "i" };
const OFF = { generation: 5, enabled: false, identity: "i" };

describe("decideDesired", () => {
  it("R-1: gives a key that is planned for the first time its first generation", () => {
    expect(decideDesired(undefined, { enabled: true, identity: "i", transition: "revoke" }, undefined)).toEqual({
      kind: "replace",
      revokes: undefined,
      fresh: true,
    });
  });

  it.each(["none", "supersede", "revoke"] as const)("R-2: keeps what is planned already, with %s", (transition) => {
    expect(decideDesired(ON, { enabled: true, identity: "i", transition }, undefined)).toEqual({ kind: "keep" });
    expect(decideDesired(ON, { enabled: true, identity: "i", transition }, 4)).toEqual({ kind: "keep" });
  });

  it("R-2: gives a new generation when a fence has reached the desired one", () => {
    const again = { kind: "replace", revokes: undefined, fresh: false };
    expect(decideDesired(ON, { enabled: true, identity: "i", transition: "none" }, 5)).toEqual(again);
    expect(decideDesired(ON, { enabled: true, identity: "i", transition: "none" }, 6)).toEqual(again);
  });

  it.each([
    ["another identity", ON, { enabled: true, identity: "j", transition: "supersede" }, undefined],
    ["another identity without a transition", ON, { enabled: true, identity: "j", transition: "none" }, undefined],
    ["another connection", ON, { enabled: true, identity: "j", transition: "revoke" }, 5],
    ["disabling", ON, { enabled: false, identity: "i", transition: "revoke" }, 5],
    ["disabling, whatever the plan calls it", ON, { enabled: false, identity: "i", transition: "supersede" }, 5],
    ["enabling", OFF, { enabled: true, identity: "i", transition: "none" }, undefined],
  ] as const)("R-3: for %s says what is revoked", (_what, current, plan, revokes) => {
    expect(decideDesired(current, plan, undefined)).toEqual({ kind: "replace", revokes, fresh: true });
  });
});

describe("withDesired", () => {
  const failed = rowOf({
    observed: observedOf(),
    attempts: 7,
    failures: 6,
    nextAttemptAt: 99,
    notBefore: 98,
    runToken: 3,
    lastError: { code: "timeout", message: "" },
  });
  const desired = { generation: 8, enabled: true, identity: "j" };
  const change = { scope: "s", key: "k", desired, now: 50 };

  it("R-4: forgets failures of something else, and takes the right to write from its run", () => {
    expect(withDesired(failed, { ...change, fresh: true })).toEqual(
      rowOf({ desired, observed: observedOf(), updatedAt: 50 }),
    );
  });

  it("R-4: keeps failures when it is the same thing again", () => {
    expect(withDesired(failed, { ...change, fresh: false })).toEqual({
      ...failed,
      desired,
      runToken: undefined,
      updatedAt: 50,
    });
  });

  it("makes the first row of a key", () => {
    expect(withDesired(undefined, { ...change, fresh: true })).toEqual(rowOf({ desired, updatedAt: 50 }));
  });
});
