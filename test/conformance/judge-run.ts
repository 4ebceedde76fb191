/** One check of the official suite, as its `checks.json` has it. */
export interface Check {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly errorMessage?: string | undefined;
}

/** What is known when the harness of one scenario has ended. */
export interface ScenarioRun {
  readonly scenario: string;
  /** Null when a signal ended it. */
  readonly harnessExit: number | null;
  /** Absent when the client did not end by itself. */
  readonly clientExit: number | undefined;
  readonly checks: readonly Check[];
}

/** What the suite itself can't do otherwise: a modern client never sends these two methods, so their headers are not seen. */
const ALLOWED_SKIPS: Readonly<Record<string, readonly string[]>> = {
  "http-standard-headers": ["ClientMcpMethodHeader_initialize", "ClientMcpMethodHeader_notifications_initialized"],
};

/**
 * Why a run is not a pass; empty for a pass.
 *
 * Stricter than the suite, which forgives exit codes, timeouts, warnings and checks that never ran: both processes end with
 * 0, something succeeded, and nothing failed, warned or was skipped but what {@link ALLOWED_SKIPS} names.
 */
export function judgeRun({ scenario, harnessExit, clientExit, checks }: ScenarioRun): readonly string[] {
  const reasons: string[] = [];
  if (clientExit === undefined) reasons.push("the client did not end by itself");
  else if (clientExit !== 0) reasons.push(`the client ended with exit code ${String(clientExit)}`);
  if (harnessExit !== 0) reasons.push(`the harness ended with exit code ${String(harnessExit)}`);
  if (!checks.some(({ status }) => status === "SUCCESS")) reasons.push("no check succeeded");
  const allowed = ALLOWED_SKIPS[scenario] ?? [];
  for (const { id, name, status, errorMessage } of checks) {
    if (status === "SUCCESS" || status === "INFO" || (status === "SKIPPED" && allowed.includes(name))) continue;
    reasons.push(`${status} ${id} (${name})${errorMessage === undefined ? "" : `: ${errorMessage}`}`);
  }
  return reasons;
}
