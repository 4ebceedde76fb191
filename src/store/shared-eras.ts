import type { EraMemory, EraRecord } from "../connect/index.js";
import { ColumnReader, integerColumn, textColumn, type Words } from "./columns.js";
import type { ColumnRow, RowTable, TableSpec } from "./row-table.js";
import type { SharedEngine } from "./shared-engine.js";
import type { SharedStoreBounds } from "./shared-options.js";

/** Where the eras of servers are kept. */
export const ERA_TABLE: TableSpec = {
  name: "era",
  keyLength: 1,
  columns: ["key", "era", "decided_at", "used_at"],
};

const ERAS: Words<EraRecord["era"]> = { modern: true, legacy: true };

/** That a server was asked about is noted this often: reading must not write each time. */
const NOTED_EVERY_MS = 60 * 60_000;

interface EraRow extends EraRecord {
  readonly key: string;
  /** When somebody last asked for it, to the hour. */
  readonly usedAt: number;
}

/** The eras of a shared store. */
export function sharedEras(engine: SharedEngine, bounds: SharedStoreBounds): EraMemory {
  const { clock, forgetErasAfterMs, maxServers } = bounds;
  const isOld = ({ usedAt }: EraRow): boolean => clock.now() - usedAt >= forgetErasAfterMs;
  const note = (key: string): Promise<void> =>
    engine.transact(({ eras }) => {
      const row = find(eras, key);
      if (row !== undefined) eras.put(encode({ ...row, usedAt: clock.now() }));
    });
  return {
    async read(key) {
      const row = await engine.transact(({ eras }) => find(eras, key));
      if (row === undefined || isOld(row)) return undefined;
      // By itself: what is known can be told also when nothing can be written.
      if (clock.now() - row.usedAt >= NOTED_EVERY_MS) await note(key).catch(() => undefined);
      return { era: row.era, decidedAt: row.decidedAt };
    },
    write: (key, { era, decidedAt }) =>
      engine.transact(({ eras }) => {
        eras.put(encode({ key, era, decidedAt, usedAt: clock.now() }));
        if (eras.count() > maxServers) makeRoom(eras, key, maxServers, isOld);
      }),
    forget: (key) => engine.transact(({ eras }) => eras.remove(textColumn(key))),
  };
}

function find(eras: RowTable, key: string): EraRow | undefined {
  const row = eras.get(textColumn(key));
  return row && decode(row);
}

/** Removes those that are too old, and then those not asked about for the longest time, but not the newest. */
function makeRoom(eras: RowTable, newest: string, maxServers: number, isOld: (row: EraRow) => boolean): void {
  const rows = eras.all().map(decode);
  rows.sort((a, b) => a.usedAt - b.usedAt);
  let left = rows.length;
  for (const row of rows) {
    if (row.key === newest || (left <= maxServers && !isOld(row))) continue;
    eras.remove(textColumn(row.key));
    left -= 1;
  }
}

function encode({ key, era, decidedAt, usedAt }: EraRow): ColumnRow {
  return [textColumn(key), era, integerColumn("decidedAt", decidedAt), integerColumn("usedAt", usedAt)];
}

function decode(columns: ColumnRow): EraRow {
  const read = new ColumnReader(ERA_TABLE.name, columns);
  return { key: read.text(), era: read.word(ERAS), decidedAt: read.integer(), usedAt: read.integer() };
}
