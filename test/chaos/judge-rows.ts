import type { Rows } from "./committed-rows.js";
import type { Find, Sayings } from "./finding.js";
import { member, textOf } from "./generations.js";
import { type AppliedNote, rowName } from "./journal.js";

const STATES = { connected: "connected", reauth_required: "expired", disconnected: "disconnected" } as const;

/** The rows of an account are what the control plane said under the revision that they are said to come from. */
export function judgeSnapshot(
  rows: Rows,
  { account, epoch, revision }: AppliedNote,
  sayings: Sayings,
  find: Find,
): void {
  const said = sayings(account, epoch.slice(1), revision);
  if (said === undefined) {
    find("snapshots", `${account} is at ${epoch} ${revision}, which was never said`);
    return;
  }
  for (const [name, row] of rows) {
    const [table, of, key = ""]: readonly string[] = JSON.parse(name);
    if (table !== "projection" || of !== account) continue;
    const entry = said.get(key);
    const isSame =
      entry === undefined
        ? textOf(row, "state") === "disconnected"
        : textOf(row, "state") === STATES[entry.state] &&
          textOf(row, "connectionId") === entry.connectionId &&
          textOf(row, "connectionVersion") === `${String(entry.connectionVersion)}n`;
    if (!isSame) find("snapshots", `${name} is not what ${epoch} ${revision} said`);
  }
  for (const key of said.keys()) {
    if (!rows.has(rowName("projection", account, key))) find("snapshots", `${key} of ${account} has no row`);
  }
}

/** What failed is remembered for as long as the same is desired and was not reached, over restarts too. */
export function judgeAttempts(name: string, before: unknown, after: unknown, find: Find): void {
  const generation = member(member(before, "desired"), "generation");
  if (generation === undefined || generation !== member(member(after, "desired"), "generation")) return;
  const [was, is] = [Number(member(before, "attempts")), Number(member(after, "attempts"))];
  if (is >= was || member(member(after, "observed"), "generation") === generation) return;
  find("attempts", `${name} had ${String(was)} attempts, and has ${String(is)}`);
}
