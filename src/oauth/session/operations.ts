import type { RefusalProgress } from "./decide-refusal.js";

const NOTHING: RefusalProgress = { adoptions: 0, refreshes: 0, authorizations: 0, repeatedForNonce: false };

/** What was done for each operation that is under way. It is forgotten with the operation. */
export class Operations {
  readonly #progress = new WeakMap<object, RefusalProgress>();

  of(operation: object): RefusalProgress {
    return this.#progress.get(operation) ?? NOTHING;
  }

  /** One more of what was done. Anything else than a repetition for a nonce makes another one possible. */
  count(operation: object, what: "adoptions" | "refreshes" | "authorizations" | "nonce"): void {
    const before = this.of(operation);
    const next =
      what === "nonce"
        ? { ...before, repeatedForNonce: true }
        : { ...before, [what]: before[what] + 1, repeatedForNonce: false };
    this.#progress.set(operation, next);
  }
}
