import type { Group } from "./group.js";
import { versionOf } from "./installed.js";
import type { Row } from "./report.js";
import { allFailed, runRow } from "./run-row.js";
import { wordsFor } from "./subject.js";

/** More would measure the machine: each row is a client and a server. */
const AT_ONCE = 2;

/** Runs the groups, two at a time. Resolves with all rows in the order of the groups. Nothing is left running. */
export async function runGroups(groups: readonly Group[]): Promise<readonly Row[]> {
  const rows = new Map<Group, readonly Row[]>();
  const waiting = groups.values();
  const work = async (): Promise<void> => {
    for (const group of waiting) rows.set(group, await runGroup(group));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return groups.flatMap((group) => rows.get(group) ?? []);
}

async function runGroup(group: Group): Promise<readonly Row[]> {
  const { transport } = group;
  const server = `${group.server} ${versionOf(group.server)}`;
  let running;
  try {
    running = await group.start();
  } catch (error) {
    const cells = allFailed(`the server did not start: ${wordsFor(error)}`);
    return group.rows.map((plan) => ({ ...plan, server, transport, cells }));
  }
  const rows: Row[] = [];
  try {
    for (const plan of group.rows) {
      const cells = await runRow(plan, running.place, running.profile(plan.revision));
      rows.push({ ...plan, server, transport, cells });
    }
  } finally {
    await running.stop();
  }
  return rows;
}
