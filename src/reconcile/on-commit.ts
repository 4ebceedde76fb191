import type { ConvergenceTx } from "./ports.js";

/** Runs `run` synchronously when the transaction has committed, and not when it was rolled back. */
export function onCommit(tx: ConvergenceTx, run: () => void): void {
  tx.onSettled((outcome) => {
    if (outcome === "committed") run();
  });
}
