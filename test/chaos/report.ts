import { KILL_POINTS } from "./kill-points.js";
import type { RoundResult, Violation } from "./run-round.js";

/** What a run found, as people read it. The last line is what scripts read. */
export function report(seed: number, results: readonly RoundResult[]): string {
  const kills = results.flatMap((result) => result.kills);
  const violations = results.flatMap((result) => result.violations);
  const rows = [...KILL_POINTS, "time", "unreached"].flatMap((place) => {
    const here = kills.filter((kill) => kill.place === place);
    const inside = here.filter(({ isInsideWrite }) => isInsideWrite).length;
    return here.length === 0 ? [] : [[place, String(here.length), String(inside)]];
  });
  const table = align([["killed at", "times", "inside a write"], ...rows]);
  const found = violations.flatMap((violation) => describe(seed, violation));
  return [...table, "", counts(results), ...found, "", summary(seed, results)].join("\n");
}

/** What the hosts did before they were killed: a run in which nothing happens shows nothing. */
function counts(results: readonly RoundResult[]): string {
  const sum = (count: (result: RoundResult) => number): string =>
    String(results.reduce((total, result) => total + count(result), 0));
  const parts = [
    `converged ${sum(({ convergences }) => convergences)} times after a start`,
    `${sum(({ tally }) => tally.logins)} logins`,
    `${sum(({ tally }) => tally.snapshots)} snapshots taken in`,
    `${sum(({ tally }) => tally.commits)} transactions`,
    `${sum(({ tally }) => tally.rollbacks)} rolled back`,
    `${sum(({ tally }) => tally.publications)} publications`,
    `${sum(({ tally }) => tally.withdrawals)} withdrawals`,
    `${sum(({ tally }) => tally.events)} events`,
  ];
  return parts.join(", ");
}

function describe(seed: number, { check, says, round, kill }: Violation): readonly string[] {
  return [
    "",
    `VIOLATION of ${check}, seed ${String(seed)}, kill ${String(kill)}: ${says}`,
    `  again: npm run chaos -- --seed ${String(seed)} --round ${String(round)}`,
  ];
}

function summary(seed: number, results: readonly RoundResult[]): string {
  const kills = results.flatMap((result) => result.kills);
  const inside = kills.filter(({ isInsideWrite }) => isInsideWrite).length;
  const violations = results.reduce((sum, result) => sum + result.violations.length, 0);
  return `chaos: ${String(kills.length)} kills, ${String(inside)} inside a write, ${String(violations)} violations, seed ${String(seed)}`;
}

function align(lines: readonly (readonly string[])[]): readonly string[] {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) =>
    line
      .map((word, column) => (column === 0 ? word.padEnd(widths[column] ?? 0) : word.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}
