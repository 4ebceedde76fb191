/** The clock port's timer, over the machine's own. */
export function schedule(delayMs: number, run: () => void): () => void {
  const timer = setTimeout(run, delayMs);
  return () => clearTimeout(timer);
}
