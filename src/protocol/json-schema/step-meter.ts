import { overLimit } from "./verdict.js";

/**
 * Counts the work that one value costs. A schema of a few lines can ask for more work than there is time: subschemas
 * that apply each other twice, or a list of alternatives for each of a million items. One meter serves one schema, since
 * judging is synchronous.
 */
export class StepMeter {
  readonly #limit: number;
  #left = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Begins again for the next value. */
  reset(): void {
    this.#left = this.#limit;
  }

  /** Throws a refusal when the work done passes the limit. */
  charge(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw overLimit("", "maxValidationSteps", this.#limit);
  }
}
