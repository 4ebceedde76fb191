import { countOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import { compareUrgency, type ConnectorState, readConnectorState } from "./connector-states.js";
import { elapsedText } from "./elapsed-text.js";
import { cutText, shownText } from "./shown-text.js";

/** What a connector is at, as a host of any version says it: a `ConnectorStatus`, or a `ControlledConnector`. */
export interface StatusRow {
  readonly connectorKey: string;
  readonly state: string;
  readonly reason?: string | undefined;
  /** Epoch milliseconds. */
  readonly since?: number | undefined;
  /** Epoch milliseconds. */
  readonly nextAttemptAt?: number | undefined;
}

export interface StatusReportOptions {
  /** What is now, in epoch milliseconds. */
  readonly now: number;
  /** How many connectors are shown. 20 when left out, `Infinity` for all. */
  readonly maxConnectors?: number | undefined;
  /** Longest line, in characters. 120 when left out, at least 60. */
  readonly maxLineLength?: number | undefined;
}

/** One connector. Its text is plain, on one line and bounded, and not escaped for HTML. */
export interface ReportedConnector {
  readonly connectorKey: string;
  readonly state: ConnectorState;
  readonly reason: string | undefined;
  /** Epoch milliseconds. */
  readonly since: number | undefined;
  /** Epoch milliseconds. */
  readonly nextAttemptAt: number | undefined;
  /** All of that, as one line. */
  readonly line: string;
}

/** What connectors are at, ready to be shown: a log takes the fields, a command line the lines, a page both. */
export interface StatusReport {
  /** In the order of the rows. */
  readonly connectors: readonly ReportedConnector[];
  /** How many are not shown. */
  readonly more: number;
  /** A line for each shown connector, and `+N more` when there are others. */
  readonly lines: readonly string[];
}

const LONGEST_KEY = 128;
const LONGEST_REASON = 64;
/** Of a line: the longest state beside half a line of key. */
const LEAST_LINE_LENGTH = 60;

interface StatusReportConfig {
  readonly now: number;
  readonly maxConnectors: number;
  readonly maxLineLength: number;
}

/**
 * The one renderer of what connectors are at. Pure.
 *
 * When there are more than are shown, those that somebody should hear of are shown before those that are well. A state that this
 * version doesn't know reads `offline`. Throws `invalid_options`.
 */
export function reportStatus(rows: Iterable<StatusRow>, options: StatusReportOptions): StatusReport {
  const config = resolveStatusReportOptions(options);
  const all = Array.from(rows, (row, index) => ({ row, index, state: readConnectorState(row.state) }));
  const shown = all
    .toSorted((a, b) => compareUrgency(a.state, b.state) || a.index - b.index)
    .slice(0, config.maxConnectors)
    .sort((a, b) => a.index - b.index);
  const connectors = shown.map(({ row, state }) => report(row, state, config));
  const more = all.length - shown.length;
  const lines = connectors.map(({ line }) => line);
  return { connectors, more, lines: more === 0 ? lines : [...lines, `+${String(more)} more`] };
}

function resolveStatusReportOptions(options: StatusReportOptions): StatusReportConfig {
  refuseUnknownOptions(options, ["now", "maxConnectors", "maxLineLength"]);
  const { now } = options;
  if (!Number.isFinite(now)) refuseOption("now", "must be a time in epoch milliseconds");
  return {
    now,
    maxConnectors: countOption("maxConnectors", options.maxConnectors, 20),
    maxLineLength: countOption("maxLineLength", options.maxLineLength, 120, LEAST_LINE_LENGTH),
  };
}

function report(row: StatusRow, state: ConnectorState, config: StatusReportConfig): ReportedConnector {
  const reason = row.reason === undefined ? "" : shownText(row.reason, LONGEST_REASON);
  const fields = {
    connectorKey: shownText(row.connectorKey, LONGEST_KEY),
    state,
    reason: reason === "" ? undefined : reason,
    since: timeIn(row.since),
    nextAttemptAt: timeIn(row.nextAttemptAt),
  };
  return { ...fields, line: lineOf(fields, config) };
}

function lineOf(
  { connectorKey, state, reason, since, nextAttemptAt }: Omit<ReportedConnector, "line">,
  { now, maxLineLength }: StatusReportConfig,
): string {
  let line = `${cutText(connectorKey, Math.floor(maxLineLength / 2))}: ${state}`;
  if (reason !== undefined) line += ` (${reason})`;
  if (since !== undefined) line += ` for ${elapsedText(now - since)}`;
  if (nextAttemptAt !== undefined) {
    line += nextAttemptAt <= now ? ", next attempt now" : `, next attempt in ${elapsedText(nextAttemptAt - now)}`;
  }
  return cutText(line, maxLineLength);
}

/** What is no time is not shown as one. */
function timeIn(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}
