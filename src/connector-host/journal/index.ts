/** Writes every request down before it is sent, and what became of it. */
export { RequestJournal } from "./call-journal.js";
export { type JournalConfig, type JournalOptions, resolveJournalOptions } from "./journal-options.js";
export {
  type JournalCounts,
  type JournaledRequest,
  type JournalFilter,
  type JournalQuery,
  JournalReader,
} from "./journal-reader.js";
export type {
  BegunRow,
  JournalRow,
  JournalRows,
  PruneStep,
  RequestKind,
  RowChanges,
  RowCounts,
  RowEnd,
} from "./journal-rows.js";
export { redactJson, type RedactBody } from "./redact-body.js";
export type { JournalIncident } from "./row-commits.js";
