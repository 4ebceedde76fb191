import {
  checkListPage,
  EntryCheck,
  entriesIn,
  type EntryList,
  type ListKind,
  ListWalk,
  walkEntries,
} from "../protocol/index.js";
import { Settlement } from "../transport/index.js";
import { type CallOptions, checkCallOptions } from "./call-options.js";
import { PageSource, settleFailedWalk } from "./page-source.js";
import { type DetailableOptions, rejected, type RequestStarter } from "./request-starter.js";

/** One page, checked; the rest of the result is as it came. */
export function readPage<Entry>(
  starter: RequestStarter,
  kind: ListKind<Entry>,
  cursor: string | undefined,
  options: DetailableOptions,
): Promise<unknown> {
  return starter.callSoonOver(kind.method, cursor === undefined ? {} : { cursor }, options, (result, outcome) => {
    const page = checkListPage(kind, result);
    starter.report(page.diagnostics, outcome);
    return page.result;
  });
}

/** All pages in one walk. */
export function readAll<Entry>(
  starter: RequestStarter,
  kind: ListKind<Entry>,
  options: CallOptions,
): Promise<EntryList<Entry>> {
  try {
    checkCallOptions(options);
  } catch (error) {
    return rejected(error, options);
  }
  const settlement = new Settlement<EntryList<Entry>>(options.onSettled);
  const source = new PageSource(starter, kind.method, (result) => entriesIn(kind, result), options);
  const { walk: limits, onDiagnostic } = starter.config;
  walkEntries((cursor) => source.fetch(cursor), kind, { limits }).then(
    ({ entries, duplicates, diagnostics }) => {
      for (const diagnostic of diagnostics) onDiagnostic(diagnostic);
      settlement.resolve({ entries, duplicates, diagnostics });
    },
    (reason: unknown) => settleFailedWalk(settlement, reason, source),
  );
  return settlement.promise;
}

/**
 * Page after page, each asked for when the one before was taken. A refused cursor ends it: what was handed out can't be
 * taken back.
 */
export async function* readPages<Entry>(
  starter: RequestStarter,
  kind: ListKind<Entry>,
  options: CallOptions,
): AsyncGenerator<readonly Entry[], void, undefined> {
  checkCallOptions(options);
  const { walk: limits, onDiagnostic } = starter.config;
  const source = new PageSource(starter, kind.method, (result) => entriesIn(kind, result), options);
  const walk = new ListWalk(kind.method, limits);
  const check = new EntryCheck(kind.rules);
  let cursor: string | undefined;
  do {
    const page = await source.fetch(cursor);
    walk.received(page.entries.length, page.message.length);
    const reported = check.diagnostics.length;
    const { entries, fresh } = check.page(page.entries);
    for (const diagnostic of check.diagnostics.slice(reported)) onDiagnostic(diagnostic);
    yield entries;
    source.beginAnew();
    cursor = walk.next(fresh, page.nextCursor);
  } while (cursor !== undefined);
}
