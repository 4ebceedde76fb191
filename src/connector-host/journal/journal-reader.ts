import { type Delivery, RemoteConnectorError } from "../../errors.js";
import { countOption, refuseUnknownOptions } from "../../options.js";
import type { JournalRow, JournalRows, RequestKind } from "./journal-rows.js";
import { MAX_UNKNOWNS } from "./plan-retention.js";
import { decodeRowId, encodeRowId } from "./row-id.js";

/** Rows that are looked at in one turn of the loop. */
const BLOCK_ROWS = 200;
const LARGEST_LIMIT = 1_000;

/** One attempt of a request. */
export interface JournaledRequest {
  /** Ids of later attempts are greater texts. */
  readonly id: string;
  /** The id of the first attempt of the same request. */
  readonly requestId: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** Of the process that wrote it. */
  readonly epoch: string;
  readonly kind: RequestKind;
  readonly connectorKey: string;
  readonly scope: string;
  /** Of the connector's route. */
  readonly generation: number;
  /** The name that its server has for it; of a resource, its URI without userinfo and query values. Long ones are cut. */
  readonly nativeName: string;
  /** The name that the agent knows it by. */
  readonly exposedName: string;
  readonly workspaceId: string | undefined;
  readonly agentSessionId: string | undefined;
  /** The name of a durable binding. */
  readonly durableName: string | undefined;
  readonly accountId: string | undefined;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Epoch milliseconds; `undefined` when nobody saw it end. */
  readonly endedAt: number | undefined;
  /** By a clock that never goes back. */
  readonly durationMs: number | undefined;
  /** `superseded`: it was refused, not sent, or only reads, and another attempt took its place. */
  readonly state: "running" | "superseded" | "ended";
  /** How far it got; `undefined` unless it has ended. One that its process did not live to see the end of is `unknown`. */
  readonly verdict: Delivery | undefined;
  /** Of the error that it failed with. */
  readonly errorCode: string | undefined;
  /** `isError` of its result. */
  readonly isError: boolean | undefined;
  readonly resultType: string | undefined;
  readonly argumentBytes: number;
  /** HMAC-SHA-256 with the journal's own key, in base64url; of a resource, that of its URI. */
  readonly argumentHmac: string | undefined;
  /** Redacted and cut; `undefined` unless bodies are kept. */
  readonly argumentBody: string | undefined;
  readonly resultBytes: number | undefined;
  readonly resultHmac: string | undefined;
  readonly resultBody: string | undefined;
  /** When somebody took note that nobody knows what became of it, in epoch milliseconds. */
  readonly acknowledgedAt: number | undefined;
}

/** Which attempts are wanted. */
export interface JournalFilter {
  readonly connectorKey?: string | undefined;
  readonly verdict?: Delivery | undefined;
}

export interface JournalQuery extends JournalFilter {
  /** Only what is older than this id. */
  readonly before?: string | undefined;
  /** At most so many: up to 1,000. Default 100. */
  readonly limit?: number | undefined;
}

export interface JournalCounts {
  /** Rows in the journal. */
  readonly rows: number;
  /** Of them, those that ended as `unknown` and that nobody acknowledged. */
  readonly unknowns: number;
  /** Requests that have not ended. */
  readonly running: number;
  /** Verdicts that wait to be written. */
  readonly unwritten: number;
}

export interface JournalReaderOptions {
  readonly rows: JournalRows;
  readonly epoch: string;
  readonly wallClock: { now(): number };
  readonly defer: (run: () => void) => void;
  /** Has written what waits to be. */
  readonly flush: () => void;
  readonly pending: () => Pick<JournalCounts, "running" | "unwritten">;
}

/** What happened to requests. Everything throws or rejects with `store_*` when it can't be read, and when the host is closed. */
export class JournalReader {
  readonly #options: JournalReaderOptions;

  constructor(options: JournalReaderOptions) {
    this.#options = options;
  }

  /**
   * Attempts, the latest first. The id of the last one is where the next page begins (`before`). Rejects with `invalid_options`, and with
   * `invalid_argument` for what is no id.
   */
  async list(query: JournalQuery = {}): Promise<readonly JournaledRequest[]> {
    refuseUnknownOptions(query, ["before", "connectorKey", "limit", "verdict"]);
    const limit = Math.min(countOption("limit", query.limit, 100), LARGEST_LIMIT);
    const found: JournaledRequest[] = [];
    const isFiltered = query.connectorKey !== undefined || query.verdict !== undefined;
    const blockRows = isFiltered ? BLOCK_ROWS : Math.min(limit, BLOCK_ROWS);
    for await (const request of this.#walk(query, blockRows)) if (found.push(request) === limit) break;
    return found;
  }

  /** All attempts, the latest first, read bit by bit. What is written meanwhile is not among them. Rejects as `list` does. */
  entries(filter: JournalFilter = {}): AsyncIterableIterator<JournaledRequest> {
    refuseUnknownOptions(filter, ["connectorKey", "verdict"]);
    return this.#walk(filter, BLOCK_ROWS);
  }

  /** Attempts of which nobody knows what became, and which nobody acknowledged, the latest first: 1,000 are kept. */
  async unknowns(): Promise<readonly JournaledRequest[]> {
    this.#options.flush();
    return this.#options.rows.unknowns(MAX_UNKNOWNS).map(requestOf);
  }

  /**
   * Takes note that nobody knows what became of these: they are no longer among `unknowns`, and go with their age. Resolves to how many
   * of them were; others are left alone. Rejects with `invalid_argument` for what is no id.
   */
  async acknowledge(ids: string | readonly string[]): Promise<number> {
    const { flush, rows, wallClock } = this.#options;
    const seqs = (typeof ids === "string" ? [ids] : ids).map(seqOf);
    flush();
    return rows.acknowledge(seqs, Math.round(wallClock.now()));
  }

  get counts(): JournalCounts {
    return { ...this.#options.rows.counts(), ...this.#options.pending() };
  }

  async *#walk(
    { before, connectorKey, verdict }: JournalQuery,
    blockRows: number,
  ): AsyncGenerator<JournaledRequest, undefined> {
    const { rows, flush, defer } = this.#options;
    let next = before === undefined ? undefined : seqOf(before);
    flush();
    for (;;) {
      const page = rows.page(next, blockRows);
      for (const row of page) {
        const isWanted =
          (connectorKey === undefined || row.connectorKey === connectorKey) &&
          (verdict === undefined || row.end?.verdict === verdict);
        if (isWanted) yield requestOf(row);
      }
      next = page.at(-1)?.seq;
      if (next === undefined || page.length < blockRows) return undefined;
      await new Promise<void>((resolve) => defer(resolve));
    }
  }
}

function requestOf(row: JournalRow): JournaledRequest {
  const { end } = row;
  return {
    id: encodeRowId(row.seq),
    requestId: encodeRowId(row.firstSeq),
    attempt: row.attempt,
    epoch: row.epoch,
    kind: row.kind,
    connectorKey: row.connectorKey,
    scope: row.scope,
    generation: row.generation,
    nativeName: row.nativeName,
    exposedName: row.exposedName,
    workspaceId: row.workspaceId,
    agentSessionId: row.agentSessionId,
    durableName: row.durableName,
    accountId: row.accountId,
    startedAt: row.startedAt,
    endedAt: end?.endedAt,
    durationMs: end?.durationMs,
    state: end !== undefined ? "ended" : row.isSuperseded ? "superseded" : "running",
    verdict: end?.verdict,
    errorCode: end?.errorCode,
    isError: end?.isError,
    resultType: end?.resultType,
    argumentBytes: row.argumentBytes,
    argumentHmac: row.argumentHmac,
    argumentBody: row.argumentBody,
    resultBytes: end?.resultBytes,
    resultHmac: end?.resultHmac,
    resultBody: end?.resultBody,
    acknowledgedAt: row.acknowledgedAt,
  };
}

function seqOf(id: string): number {
  const seq = typeof id === "string" ? decodeRowId(id) : undefined;
  if (seq !== undefined) return seq;
  throw new RemoteConnectorError("invalid_argument", {
    message: "That is no id of a journaled request.",
    details: { argument: "id", reason: "is none" },
  });
}
