export { composerStatusOf, type ComposerStatus } from "./composer-status.js";
export { type ConnectorState, readConnectorState } from "./connector-states.js";
export {
  type ReportedConnector,
  reportStatus,
  type StatusReport,
  type StatusReportOptions,
  type StatusRow,
} from "./status-report.js";
