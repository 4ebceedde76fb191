/** A story is told in steps: each prints one line with what it saw and how long it took. */
export class Story {
  readonly #startedAt = performance.now();
  #steps = 0;
  #failed = 0;

  get failed(): number {
    return this.#failed;
  }

  /** Runs one step. `work` gives back what was seen, and throws when it is not what the story says. */
  async step(title: string, work: () => Promise<string>): Promise<void> {
    this.#steps += 1;
    const startedAt = performance.now();
    let line: string;
    try {
      line = `ok      ${title}: ${await work()}`;
    } catch (error) {
      this.#failed += 1;
      line = `FAILED  ${title}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
    }
    console.log(`${(performance.now() - startedAt).toFixed(0).padStart(6)} ms  ${line}`);
  }

  /** The line that says how it went. */
  summary(): string {
    const seconds = ((performance.now() - this.#startedAt) / 1_000).toFixed(1);
    return `story: ${String(this.#steps)} steps, ${String(this.#failed)} failed, ${seconds} s`;
  }
}

/** Fails the step unless `condition` holds. */
export function expect(condition: boolean, message: string): void {
  if (!condition) throw new Error(message);
}

/** Asks again and again until the answer is right, or the time is up. */
export async function eventually<T>(ask: () => Promise<T>, isRight: (answer: T) => boolean, ms = 15_000): Promise<T> {
  const endAt = performance.now() + ms;
  for (;;) {
    const answer = await ask();
    if (isRight(answer)) return answer;
    if (performance.now() > endAt) throw new Error(`still ${JSON.stringify(answer)} after ${String(ms)} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
