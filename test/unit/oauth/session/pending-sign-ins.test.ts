import { describe, expect, it } from "vitest";
import type { PreparedVisit } from "../../../../src/oauth/session/code-visit.js";
import { PendingSignIns } from "../../../../src/oauth/session/pending-sign-ins.js";
import { FakeClock } from "../../../support/fake-clock.js";

function visit(state: string, scopes: readonly string[] = ["read"]): PreparedVisit {
  const issuer = "https://as.test";
  return {
    plan: {
      server: { metadata: { issuer }, source: "document" },
      resource: undefined,
      scopes,
      bindsTokens: false,
      before: undefined,
    },
    client: {
      kind: "pre_registered",
      issuer,
      clientId: "client",
      clientSecret: undefined,
      secretExpiresAt: undefined,
      authMethod: "none",
      signingKey: undefined,
      redirectUris: [],
    },
    pending: {
      url: `https://as.test/authorize?state=${state}`,
      state,
      codeVerifier: "v",
      issuer,
      redirectUri: "https://app.test/",
      scopes,
      expectsIssuer: true,
    },
  };
}

function open() {
  const clock = new FakeClock();
  const signIns = new PendingSignIns(clock, 1_000);
  const add = (state: string, isStarted = true, scopes?: readonly string[]) =>
    signIns.add({ endpoint: "e", account: "a", isStarted, visit: visit(state, scopes) });
  return { add, clock, signIns };
}

describe("PendingSignIns", () => {
  it("A-5: keeps 64, and forgets the oldest first, those of errors before those of people", () => {
    const { add, signIns } = open();
    add("started");
    add("error", false);
    for (let each = 0; each < 62; each += 1) add(`s${String(each)}`);
    expect(signIns.size).toBe(64);
    add("one more");
    expect(signIns.find("error")).toBeUndefined();
    expect(signIns.find("started")).toBeDefined();
    add("another", false);
    expect(signIns.find("started")).toBeUndefined();
    expect(signIns.find("another")).toBeDefined();
    expect(signIns.size).toBe(64);
  });

  it("A-5: each ends once, and by itself", () => {
    const { add, clock, signIns } = open();
    const first = add("first");
    expect(signIns.end(first)).toBe(true);
    expect(signIns.end(first)).toBe(false);
    expect(signIns.find("first")).toBeUndefined();
    add("second");
    clock.step(999);
    expect(signIns.find("second")).toBeDefined();
    clock.step(1);
    expect(signIns.find("second")).toBeUndefined();
    expect(signIns.size).toBe(0);
  });

  it("A-8: the URL of an error is told again for the same, for half of its time", () => {
    const { add, clock, signIns } = open();
    add("started");
    expect(signIns.findDemanded("e", "a", visit("x"))).toBeUndefined();
    const demanded = add("demanded", false);
    expect(signIns.findDemanded("e", "a", visit("x"))).toBe(demanded);
    expect(signIns.findDemanded("e", "b", visit("x"))).toBeUndefined();
    expect(signIns.findDemanded("f", "a", visit("x"))).toBeUndefined();
    expect(signIns.findDemanded("e", "a", visit("x", ["read", "write"]))).toBeUndefined();
    clock.step(501);
    expect(signIns.findDemanded("e", "a", visit("x"))).toBeUndefined();
  });
});
