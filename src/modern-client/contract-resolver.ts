import { isRemoteConnectorError } from "../errors.js";
import { RpcCode, type ToolListCheck, type ToolWalkResult } from "../protocol/index.js";
import { ContractBook, type KnownContract, metBy } from "./contract-book.js";

/** Begins a walk through the tools; `onPage` sees what is known after each page. */
export type ToolWalk = (onPage: (check: ToolListCheck) => void) => Promise<ToolWalkResult>;

interface Waiter {
  readonly tool: string;
  readonly resolve: (known: KnownContract) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Finds the contract that a call is made with, by listing the tools when it is not known.
 *
 * Calls that wait share one walk, and each goes on as soon as the walk has met its tool. A walk is nobody's own: a caller
 * who gives up does not end it.
 */
export class ContractResolver {
  readonly book = new ContractBook();
  readonly #walk: ToolWalk;
  /** Who waits for the walk under way. */
  #waiting: Set<Waiter> | undefined;
  /** Who waits for a walk that must begin later than the one under way. */
  #later = new Set<Waiter>();
  /** Walks begun, and the number of the one that the book has: a slow walk must not undo a later one. */
  #begun = 0;
  #inBook = 0;

  constructor(walk: ToolWalk) {
    this.#walk = walk;
  }

  /**
   * What a walk says of the tool: one under way, or a new one. Rejects with what the walk rejects with. The signal fires when
   * nobody waits for it any more.
   */
  find(tool: string, signal?: AbortSignal): Promise<KnownContract> {
    return new Promise((resolve, reject) => {
      const waiter = { tool, resolve, reject };
      // One that nobody waits for any more may be one that hangs.
      if (this.#waiting === undefined || this.#waiting.size === 0) this.#begin(new Set([waiter]));
      else this.#waiting.add(waiter);
      const waiting = this.#waiting;
      signal?.addEventListener("abort", () => waiting?.delete(waiter), { once: true });
    });
  }

  /** What a walk says of the tool that begins after this moment. */
  findAnew(tool: string, signal?: AbortSignal): Promise<KnownContract> {
    // A walk that nobody waits for any more must hold nobody up.
    if (this.#waiting === undefined || this.#waiting.size === 0) {
      this.#waiting = undefined;
      return this.find(tool, signal);
    }
    return new Promise((resolve, reject) => {
      const waiter = { tool, resolve, reject };
      this.#later.add(waiter);
      signal?.addEventListener("abort", () => this.#later.delete(waiter), { once: true });
    });
  }

  #begin(waiting: Set<Waiter>): void {
    this.#waiting = waiting;
    this.#begun += 1;
    const number = this.#begun;
    this.#walk((check) => serve(waiting, check)).then(
      ({ check }) => {
        if (number > this.#inBook) {
          this.#inBook = number;
          this.book.replace(check);
        }
        this.#conclude(waiting, (waiter) => waiter.resolve(this.book.find(waiter.tool)));
      },
      (error: unknown) => this.#conclude(waiting, (waiter) => concludeFailed(waiter, error)),
    );
  }

  #conclude(waiting: ReadonlySet<Waiter>, conclude: (waiter: Waiter) => void): void {
    for (const waiter of waiting) conclude(waiter);
    if (this.#waiting !== waiting) return;
    this.#waiting = undefined;
    if (this.#later.size === 0) return;
    const later = this.#later;
    this.#later = new Set();
    this.#begin(later);
  }
}

function serve(waiting: Set<Waiter>, check: ToolListCheck): void {
  for (const waiter of waiting) {
    const known = metBy(check, waiter.tool);
    if (known === undefined) continue;
    waiting.delete(waiter);
    waiter.resolve(known);
  }
}

/** A server without `tools/list` can still have tools; they have no contract then. */
function concludeFailed(waiter: Waiter, error: unknown): void {
  const hasNoList = isRemoteConnectorError(error, "peer_error") && error.details.rpcCode === RpcCode.methodNotFound;
  if (hasNoList) waiter.resolve({ kind: "unknown" });
  else waiter.reject(error);
}
