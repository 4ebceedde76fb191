import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { idIn, startHost, startNotingServer } from "./killed-host.js";

const opened: { close(): Promise<void> | void }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

/** Has one call made by a host that ends itself at `crash`, and tells what is left of it, and what a second life makes of that. */
async function crashAt(crash: string) {
  const directory = await mkdtemp(join(tmpdir(), "journal-crash-"));
  opened.push({ close: () => rm(directory, { recursive: true, force: true }) });
  const upstream = await startNotingServer(async () => undefined);
  opened.push(upstream);
  const first = await startHost(directory, upstream.url, "", crash);
  opened.push({ close: () => first.kill() });
  await Promise.all([first.call("once"), first.ended]);
  const second = await startHost(directory, upstream.url, "");
  opened.push({ close: () => second.kill() });
  // The life after it says how it is with a call that is made now, and repeats nothing.
  expect(await second.call("later")).toBe(true);
  await second.kill();
  const third = await startHost(directory, upstream.url, second.rows[0]?.id ?? "");
  opened.push({ close: () => third.kill() });
  return {
    rows: second.rows.map(({ argumentBody, state, verdict }) => [idIn(argumentBody), state, verdict]),
    unknowns: second.unknowns.length,
    arrived: upstream.calls,
    // It has acknowledged what was unknown.
    later: third.unknowns.filter((id) => second.unknowns.includes(id)),
  };
}

it.each([
  ["before the row is committed", "before_row", [], []],
  ["between its row and its sending", "after_row", [["once", "ended", "unknown"]], []],
  ["between its answer and its verdict", "before_verdict", [["once", "ended", "unknown"]], ["once"]],
  ["after its verdict is committed", "after_verdict", [["once", "ended", "answered"]], ["once"]],
] as const)("H-35: of a call of a host that is killed %s is left what is true", async (_when, crash, rows, arrived) => {
  const left = await crashAt(crash);
  expect(left.rows).toEqual(rows);
  expect(left.unknowns).toBe(rows.filter(([, , verdict]) => verdict === "unknown").length);
  expect(left.arrived).toEqual([...arrived, "later"]);
  expect(left.later).toEqual([]);
});
