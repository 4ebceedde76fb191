import type { RefusalProgress } from "./decide-refusal.js";

const NOTHING: RefusalProgress = {
  adoptions: 0,
  refreshes: 0,
  authorizations: 0,
  lastAuthorizations: 0,
  repeatedForNonce: false,
};

/** What was done for each operation that is under way. It is forgotten with the operation. */
export class Operations {
  readonly #progress = new WeakMap<object, RefusalProgress>();

  of(operation: object): RefusalProgress {
    return this.#progress.get(operation) ?? NOTHING;
  }

  /** One more of what was done. Anything else than a repetition for a nonce makes another one possible. */
  count(operation: object, what: "adoptions" | "refreshes" | "authorizations" | "nonce"): void {
    this.#progress.set(operation, counted(this.of(operation), what));
  }

  /**
   * A request of the operation was taken: what was tried for it is over, so that one of a later round can be helped as it was.
   * Authorizations count on.
   */
  settle(operation: object): void {
    const before = this.#progress.get(operation);
    if (before !== undefined) this.#progress.set(operation, { ...NOTHING, authorizations: before.authorizations });
  }
}

function counted(before: RefusalProgress, what: Parameters<Operations["count"]>[1]): RefusalProgress {
  if (what === "nonce") return { ...before, repeatedForNonce: true };
  const next = { ...before, [what]: before[what] + 1, repeatedForNonce: false };
  return what === "authorizations" ? { ...next, lastAuthorizations: before.lastAuthorizations + 1 } : next;
}
