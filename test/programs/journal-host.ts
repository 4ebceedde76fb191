/**
 * A host with a journal, to be killed: `journal-host STATE_DIRECTORY ENDPOINT AFTER [CRASH]`. Publishes the server at the endpoint as
 * its only connector, says in one line where it is and what its journal holds that is later than the id AFTER, and acknowledges what
 * is unknown. CRASH is where it ends itself: `before_row`, `after_row`, `before_verdict`, `after_verdict`.
 */
import { type JournalRows, openConnectorHost } from "remote-connector/connector-host";
import { openSqliteJournalRows } from "remote-connector/store";

const [directory = "", endpoint = "", after = "", crash = ""] = process.argv.slice(2);

function crashAt(point: string): void {
  if (point === crash) process.kill(process.pid, "SIGKILL");
}

/** Commits as the rows of a file do, and may end the process before or after. */
function crashing(rows: JournalRows): JournalRows {
  const write: JournalRows["write"] = (changes) => {
    if (changes.begun.length > 0) crashAt("before_row");
    if (changes.ended.length > 0) crashAt("before_verdict");
    rows.write(changes);
    if (changes.begun.length > 0) crashAt("after_row");
    if (changes.ended.length > 0) crashAt("after_verdict");
  };
  return {
    key: rows.key,
    lastSeq: () => rows.lastSeq(),
    write,
    endLost: (epoch) => rows.endLost(epoch),
    page: (before, limit) => rows.page(before, limit),
    unknowns: (limit) => rows.unknowns(limit),
    acknowledge: (seqs, at) => rows.acknowledge(seqs, at),
    counts: () => rows.counts(),
    prune: (step) => rows.prune(step),
    close: () => rows.close(),
  };
}

const host = await openConnectorHost({
  stateDirectory: directory,
  controlSocket: false,
  agentSocket: false,
  registrations: [{ slug: "docs", displayName: "Docs", settings: { endpoint } }],
  contracts: "last_list",
  hostInfo: { name: "journal-host", version: "1.0.0" },
  journal: { bodies: "redacted" },
  journalRows: crash === "" ? undefined : crashing(await openSqliteJournalRows({ directory })),
});
const { journal } = host;
if (journal === undefined) throw new Error("The host has no journal.");
const rows = [];
for await (const row of journal.entries()) {
  if (row.id <= after) break;
  rows.push(row);
}
const unknowns = (await journal.unknowns()).map(({ id }) => id);
await journal.acknowledge(unknowns);
while ((await host.status())[0]?.state !== "ready") await new Promise((go) => setTimeout(go, 2));
const { url, headers } = host.bind({ workspaceId: "w", agentSessionId: "s" });
console.log(JSON.stringify({ url, headers, rows, unknowns }));
process.once("SIGTERM", () => void host.close());
