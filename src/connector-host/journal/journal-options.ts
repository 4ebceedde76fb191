import { choiceOption, countOption, durationOption, functionOption, refuseUnknownOptions } from "../../options.js";
import { type RedactBody, redactJson } from "./redact-body.js";

/** What the journal of requests keeps, and for how long. */
export interface JournalOptions {
  /** Rows beyond which the oldest go; unacknowledged unknowns last. Default 100,000. */
  readonly maxRows?: number | undefined;
  /** Rows that are older go, but for unacknowledged unknowns. Default 30 days. */
  readonly maxAgeMs?: number | undefined;
  /** Whether arguments and results are kept, redacted, beside their sizes and digests. Default `none`. */
  readonly bodies?: "none" | "redacted" | undefined;
  /** What makes of a body what is kept of it. Default: masks what is called or looks like a secret, and keeps JSON alone. */
  readonly redact?: RedactBody | undefined;
  /** Bytes that are kept of one body; the rest is cut. Default 4,096. */
  readonly maxBodyBytes?: number | undefined;
  /**
   * What becomes of a request that can't be written down: it is refused (`journal_unavailable`, `not_sent`), or sent all the same. Also
   * whether a host starts when its journal can't be opened. Default `refuse`.
   */
  readonly onUnavailable?: "refuse" | "go_on" | undefined;
  /** Verdicts that wait until they can be written; the oldest go, and read `unknown` after a restart. Default 10,000. */
  readonly maxUnwritten?: number | undefined;
}

/** {@link JournalOptions} with nothing left open. */
export interface JournalConfig {
  readonly maxRows: number;
  readonly maxAgeMs: number;
  /** `undefined`: nothing is kept of bodies. */
  readonly redact: RedactBody | undefined;
  readonly maxBodyBytes: number;
  readonly mayGoOn: boolean;
  readonly maxUnwritten: number;
}

const DAY_MS = 24 * 60 * 60_000;

/** Applies the defaults. Throws `invalid_options`. */
export function resolveJournalOptions(options: JournalOptions): JournalConfig {
  refuseUnknownOptions(options, [
    "bodies",
    "maxAgeMs",
    "maxBodyBytes",
    "maxRows",
    "maxUnwritten",
    "onUnavailable",
    "redact",
  ]);
  const bodies = choiceOption("bodies", options.bodies, ["none", "redacted"]);
  const redact = functionOption("redact", options.redact, redactJson);
  return {
    maxRows: countOption("maxRows", options.maxRows, 100_000),
    maxAgeMs: durationOption("maxAgeMs", options.maxAgeMs, 30 * DAY_MS),
    redact: bodies === "redacted" ? redact : undefined,
    maxBodyBytes: countOption("maxBodyBytes", options.maxBodyBytes, 4_096),
    mayGoOn: choiceOption("onUnavailable", options.onUnavailable, ["refuse", "go_on"]) === "go_on",
    maxUnwritten: countOption("maxUnwritten", options.maxUnwritten, 10_000),
  };
}
