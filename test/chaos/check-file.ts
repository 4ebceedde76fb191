import type { Rows } from "./committed-rows.js";
import type { Finding } from "./finding.js";
import { member, textOf } from "./generations.js";
import { rowName } from "./journal.js";
import { effectiveConnection, readIdentity } from "./rows.js";

/** What the rows of a file have to agree with. */
export interface FileFacts {
  /** The rows that were written down as committed, and with those that may have been. */
  readonly rows: Rows;
  readonly rowsIfCommitted: Rows;
  readonly wasPublished: (epoch: string, key: string, generation: number) => boolean;
  /** The flows that the control plane was asked for. */
  readonly flows: readonly { readonly account: string; readonly id: string }[];
}

/** Judges the rows that a dead process left behind. Pure. */
export function checkFile(file: Rows, facts: FileFacts): readonly Finding[] {
  return [
    ...compare(file, facts),
    ...checkPlans(file),
    ...checkObservations(file, facts.wasPublished),
    ...checkFlows(file, facts.flows),
  ];
}

/** What was committed is there, what was not is not, and the last transaction is there as a whole or not at all. */
function compare(file: Rows, { rows, rowsIfCommitted }: FileFacts): readonly Finding[] {
  const without = differences(file, rows);
  if (without.length === 0 || differences(file, rowsIfCommitted).length === 0) return [];
  return [{ check: "rows", says: `the file is not what was committed: ${without.join("; ")}` }];
}

function differences(file: Rows, expected: Rows): readonly string[] {
  const found: string[] = [];
  for (const name of new Set([...file.keys(), ...expected.keys()])) {
    const [there, wanted] = [JSON.stringify(file.get(name)), JSON.stringify(expected.get(name))];
    if (there !== wanted) found.push(`${name} is ${there ?? "missing"}, not ${wanted ?? "missing"}`);
  }
  return found;
}

/** A plan to publish is one for what the facts say: both come in one transaction. */
function checkPlans(file: Rows): readonly Finding[] {
  return convergenceRows(file).flatMap(({ account, key, row }) => {
    const desired = member(row, "desired");
    if (member(desired, "enabled") !== true) return [];
    const planned = readIdentity(textOf(desired, "identity"));
    if (planned?.connectionId === null) return [];
    const connection = effectiveConnection(file, account, key);
    const isSame =
      connection?.connectionId === planned?.connectionId &&
      connection?.connectionVersion === planned?.connectionVersion;
    return isSame ? [] : [{ check: "plans", says: `${key} of ${account} is planned for other facts than there are` }];
  });
}

/** What is said to have been observed was published. */
function checkObservations(file: Rows, wasPublished: FileFacts["wasPublished"]): readonly Finding[] {
  return convergenceRows(file).flatMap(({ account, key, row }) => {
    const observed = member(row, "observed");
    const generation = member(observed, "generation");
    const isRunning = member(observed, "enabled") === true && textOf(observed, "readiness") !== "failed";
    if (!isRunning || typeof generation !== "number" || wasPublished(textOf(observed, "epoch"), key, generation))
      return [];
    return [
      {
        check: "observations",
        says: `${key} of ${account} is observed, and generation ${String(generation)} was never published`,
      },
    ];
  });
}

/** A flow is a row before anyone is asked for it. */
function checkFlows(file: Rows, flows: FileFacts["flows"]): readonly Finding[] {
  const lost = flows.filter(({ account, id }) => !file.has(rowName("flow", account, id)));
  return lost.map(({ account, id }) => ({ check: "flows", says: `${id} of ${account} was asked for, and has no row` }));
}

function convergenceRows(file: Rows): readonly { account: string; key: string; row: unknown }[] {
  return Array.from(file).flatMap(([name, row]) => {
    const [table, scope = "", key = ""]: readonly string[] = JSON.parse(name);
    return table === "convergence" ? [{ account: scope.replace(/^account:/, ""), key, row }] : [];
  });
}
