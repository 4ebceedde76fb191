import { RemoteConnectorError } from "../errors.js";
import type { TxOutcome } from "../reconcile/index.js";

/** Whether a transaction may write. */
export type TransactionMode = "read" | "write";

/** The life of one transaction: whether it may still be used, and who waits for its end. */
export class Transaction {
  readonly mode: TransactionMode;
  readonly #hooks: ((outcome: TxOutcome) => void)[] = [];
  #open = true;

  constructor(mode: TransactionMode) {
    this.mode = mode;
  }

  /** Throws `invalid_argument` when the transaction has ended. */
  assertOpen(): void {
    if (!this.#open) throw misuse("is used after its end");
  }

  /** Throws `invalid_argument` when the transaction has ended, or is only for reading. */
  assertWritable(): void {
    this.assertOpen();
    if (this.mode !== "write") throw misuse("is only for reading");
  }

  /** Throws like {@link assertWritable}: only what is written can be committed. */
  onSettled(run: (outcome: TxOutcome) => void): void {
    this.assertWritable();
    this.#hooks.push(run);
  }

  /** From now on the transaction can't be used. What it was used for may still fail to be committed. */
  seal(): void {
    this.#open = false;
  }

  /**
   * Tells everyone of the end, in the order in which they asked for it. One who throws keeps nobody else from being told; the
   * first error is thrown afterwards.
   */
  settle(outcome: TxOutcome): void {
    const errors: unknown[] = [];
    for (const hook of this.#hooks.splice(0)) {
      try {
        hook(outcome);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}

function misuse(reason: string): RemoteConnectorError<"invalid_argument"> {
  return new RemoteConnectorError("invalid_argument", {
    message: `The transaction ${reason}.`,
    details: { argument: "tx", reason },
  });
}
