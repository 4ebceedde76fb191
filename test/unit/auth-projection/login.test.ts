import { describe, expect, it } from "vitest";
import { LoginGuard } from "../../../src/auth-projection/index.js";

/** An authorizer that answers when it is told to. */
class SlowAuthorizer {
  readonly asked: string[] = [];
  #answers: ((headers: Record<string, string> | undefined) => void)[] = [];

  authorize({ accountId }: { accountId: string }): Promise<Record<string, string> | undefined> {
    this.asked.push(accountId);
    return new Promise((resolve) => this.#answers.push(resolve));
  }

  answer(headers: Record<string, string> | undefined): void {
    this.#answers.shift()?.(headers);
  }
}

describe("P-8: logins", () => {
  it("P-8: credentials are read for each request of the current login", async () => {
    const authorizer = new SlowAuthorizer();
    const guard = new LoginGuard(authorizer);
    const authorize = guard.authorizerFor(guard.signIn("acc"));
    for (const cookie of ["c=1", "c=2"]) {
      const headers = authorize();
      authorizer.answer({ cookie });
      expect(await headers).toEqual({ cookie });
    }
    expect(authorizer.asked).toEqual(["acc", "acc"]);
  });

  it.each([
    ["the account signs out", (guard: LoginGuard) => guard.signOut()],
    ["another account signs in", (guard: LoginGuard) => void guard.signIn("other")],
    ["the same account signs in again", (guard: LoginGuard) => void guard.signIn("acc")],
  ])("P-8: no credential is given when %s, before or during the wait", async (_, change) => {
    const authorizer = new SlowAuthorizer();
    const guard = new LoginGuard(authorizer);
    const authorize = guard.authorizerFor(guard.signIn("acc"));
    const during = authorize();
    change(guard);
    authorizer.answer({ cookie: "c=1" });
    await expect(during).rejects.toMatchObject({ code: "cancelled", delivery: "not_sent" });
    await expect(authorize()).rejects.toMatchObject({ code: "cancelled", delivery: "not_sent" });
    expect(authorizer.asked).toEqual(["acc"]);
  });

  it("P-8: an account without a session is not ready, and nothing is sent", async () => {
    const guard = new LoginGuard({ authorize: () => undefined });
    const authorize = guard.authorizerFor(guard.signIn("acc"));
    await expect(authorize()).rejects.toMatchObject({ code: "account_not_ready", delivery: "not_sent" });
  });

  it("P-8: ending a login aborts its signal at once, and only its own", () => {
    const guard = new LoginGuard({ authorize: () => ({}) });
    const first = guard.signIn("acc");
    const firstSignal = guard.signalOf(first);
    expect([guard.isCurrent(first), firstSignal.aborted]).toEqual([true, false]);
    const second = guard.signIn("acc");
    expect([guard.isCurrent(first), firstSignal.aborted]).toEqual([false, true]);
    expect(firstSignal.reason).toMatchObject({ code: "cancelled" });
    expect([guard.signalOf(first).aborted, guard.signalOf(second).aborted]).toEqual([true, false]);
    expect(second.generation).toBeGreaterThan(first.generation);
    guard.signOut();
    guard.signOut();
    expect([guard.current, guard.isCurrent(second)]).toEqual([undefined, false]);
  });

  it("P-8: when a login is told of its end, nobody is signed in any more or yet", () => {
    const guard = new LoginGuard({ authorize: () => ({}) });
    const seen: unknown[] = [];
    guard.signalOf(guard.signIn("acc")).addEventListener("abort", () => seen.push(guard.current));
    guard.signIn("other");
    expect(seen).toEqual([undefined]);
  });

  it("P-8: a login is frozen", () => {
    expect(Object.isFrozen(new LoginGuard({ authorize: () => ({}) }).signIn("acc"))).toBe(true);
  });
});
