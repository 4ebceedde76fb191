export { AggregatedDirectory } from "./aggregated-directory.js";
export type { CatalogReading } from "./catalog-views.js";
export {
  type ApprovalGate,
  type ApprovalQuestion,
  type ApprovalVerdict,
  type CallJournal,
  type CallSubject,
  type CatalogFault,
  type CatalogRows,
  type ConnectorTraits,
  type JournaledCall,
  type JournalEnd,
  type JournalEntry,
  type MissingConnector,
  type Reach,
} from "./ports.js";
