import type { Check } from "./judge-run.js";

/** How a scenario with a server went. */
export interface ServerVerdict {
  readonly revision: string;
  readonly scenario: string;
  /**
   * `waits`: nothing is wrong but what is listed, and nothing else is judged: it is part of no score. A scenario that passes may
   * have listed checks beside those that succeeded.
   */
  readonly kind: "passed" | "waits" | "failed";
  /** Why it failed. */
  readonly reasons: readonly string[];
  /** Checks that did not succeed, as the baseline says. */
  readonly listed: readonly string[];
}

/** A check that looks at all messages of a scenario, whatever that is about. */
const ABOUT_EVERYTHING = "wire-schema-valid";

/**
 * Judges a scenario by its checks; `listed` are those that must not succeed yet.
 *
 * Stricter than the suite: everything but a success, or a mere note, counts against it, and so does a listed check that succeeds or
 * is gone.
 */
export function judgeServer(
  revision: string,
  scenario: string,
  checks: readonly Check[],
  listed: readonly string[] = [],
): ServerVerdict {
  const reasons: string[] = [];
  const fallen = new Set<string>();
  const succeeded = new Set<string>();
  for (const { id, name, status, errorMessage } of checks) {
    if (status === "SUCCESS") succeeded.add(id);
    else if (status !== "INFO") {
      fallen.add(id);
      const told = errorMessage === undefined ? "" : `: ${errorMessage}`;
      if (!listed.includes(id)) reasons.push(`${status} ${id} (${name})${told}`);
    }
  }
  for (const id of listed) if (!fallen.has(id)) reasons.push(`${id} is listed, and does not fail`);
  const isJudged = [...succeeded].some((id) => id !== ABOUT_EVERYTHING && !listed.includes(id));
  if (!isJudged && listed.length === 0) reasons.push("no check succeeded");
  const kind = reasons.length > 0 ? "failed" : isJudged ? "passed" : "waits";
  return { revision, scenario, kind, reasons, listed };
}
