import type { Group } from "./rule-book.mjs";

/** One test of a run, by its full name. */
export interface Test {
  readonly name: string;
  readonly state: "passed" | "failed" | "skipped" | "pending";
}

export interface Score {
  readonly letter: string;
  readonly claimed: boolean;
  readonly shown: number;
  readonly total: number;
}

export interface RulesVerdict {
  readonly scores: readonly Score[];
  /** Claims that the tests don't bear out. */
  readonly unshown: readonly string[];
  /** Cited by tests that pass, and yet not claimed. */
  readonly unclaimed: readonly string[];
}

export function judgeRules(book: readonly Group[], tests: readonly Test[]): RulesVerdict;
export function rulesLine(scores: readonly Score[]): string;
