import { RemoteConnectorError } from "../../errors.js";
import type { Clock } from "../../transport/index.js";

/** Something that waits for a decision. */
export interface PendingApproval {
  readonly id: string;
  readonly bindingId: number;
  readonly connectorKey: string;
  /** How long it may wait, in milliseconds. */
  readonly waitMs: number;
  /** Called once, when it was taken out by none of its own doing. */
  readonly onDenied: (reason: "expired" | "withdrawn") => void;
}

interface Entry<P extends PendingApproval> {
  readonly pending: P;
  readonly cancel: () => void;
}

export interface PendingApprovalsOptions {
  readonly clock: Clock;
  readonly maxPending: number;
  readonly maxAllPending: number;
}

/** What waits for a decision, each until it is taken out, once. In the order in which it came. */
export class PendingApprovals<P extends PendingApproval> {
  readonly #options: PendingApprovalsOptions;
  readonly #entries = new Map<string, Entry<P>>();
  /** How many of each binding. No number is 0. */
  readonly #counts = new Map<number, number>();

  constructor(options: PendingApprovalsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Throws `limit_exceeded` (`not_sent`) when one more of its binding, or one more at all, would be too many. */
  add(pending: P): void {
    const { clock, maxPending, maxAllPending } = this.#options;
    const { id, bindingId, waitMs } = pending;
    const count = this.#counts.get(bindingId) ?? 0;
    if (count >= maxPending) throw tooMany("maxPendingApprovals", maxPending);
    if (this.size >= maxAllPending) throw tooMany("maxAllPendingApprovals", maxAllPending);
    const cancel = clock.schedule(waitMs, () => this.#deny(id, "expired"));
    this.#entries.set(id, { pending, cancel });
    this.#counts.set(bindingId, count + 1);
  }

  get(id: string): P | undefined {
    return this.#entries.get(id)?.pending;
  }

  /** Takes one out; `undefined` when it is out already. */
  take(id: string): P | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    entry.cancel();
    this.#entries.delete(id);
    const { bindingId } = entry.pending;
    const count = (this.#counts.get(bindingId) ?? 0) - 1;
    if (count > 0) this.#counts.set(bindingId, count);
    else this.#counts.delete(bindingId);
    return entry.pending;
  }

  *list(): Generator<P, void, undefined> {
    for (const { pending } of this.#entries.values()) yield pending;
  }

  /** Takes out, and tells, whatever this holds for. */
  withdraw(isOver: (pending: P) => boolean): void {
    for (const pending of this.list()) if (isOver(pending)) this.#deny(pending.id, "withdrawn");
  }

  #deny(id: string, reason: "expired" | "withdrawn"): void {
    this.take(id)?.onDenied(reason);
  }
}

function tooMany(option: string, limit: number): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message: `${String(limit)} calls wait for an approval; decide on one, or raise ${option}.`,
    details: { option, limit },
  });
}
