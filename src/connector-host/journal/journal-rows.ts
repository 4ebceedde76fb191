import type { Delivery } from "../../errors.js";

/** What a request is. `test`: a person's own call of a tool. */
export type RequestKind = "tool" | "prompt" | "resource" | "completion" | "test";

/** One attempt of a request, as it is written before it is sent. */
export interface BegunRow {
  /** Greater than that of every row before it. */
  readonly seq: number;
  /** The number of the request's first row. */
  readonly firstSeq: number;
  /** 1 for the first. */
  readonly attempt: number;
  /** Of the process that wrote it. */
  readonly epoch: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly kind: RequestKind;
  readonly connectorKey: string;
  readonly scope: string;
  /** Of the route. */
  readonly generation: number;
  readonly nativeName: string;
  readonly exposedName: string;
  readonly workspaceId: string | undefined;
  readonly agentSessionId: string | undefined;
  readonly durableName: string | undefined;
  readonly accountId: string | undefined;
  /** In UTF-8. */
  readonly argumentBytes: number;
  /** Base64url; `undefined` when there were no arguments. */
  readonly argumentHmac: string | undefined;
  readonly argumentBody: string | undefined;
}

/** What became of an attempt. */
export interface RowEnd {
  readonly verdict: Delivery;
  /** Epoch milliseconds; `undefined`: nobody was there to see it. */
  readonly endedAt: number | undefined;
  /** Whole milliseconds, by a clock that never goes back. */
  readonly durationMs: number | undefined;
  readonly errorCode: string | undefined;
  /** `undefined` when there is no result. */
  readonly isError: boolean | undefined;
  readonly resultType: string | undefined;
  readonly resultBytes: number | undefined;
  readonly resultHmac: string | undefined;
  readonly resultBody: string | undefined;
}

/** A row as it is read. */
export interface JournalRow extends BegunRow {
  /** `undefined`: it has not ended, or another attempt took its place. */
  readonly end: RowEnd | undefined;
  /** Another attempt took its place. */
  readonly isSuperseded: boolean;
  /** Epoch milliseconds. */
  readonly acknowledgedAt: number | undefined;
}

/** What is written in one transaction, in this order. */
export interface RowChanges {
  readonly begun: readonly BegunRow[];
  /** Numbers of rows that another attempt took the place of. */
  readonly superseded: readonly number[];
  /** A row that has ended already stays as it is. */
  readonly ended: readonly { readonly seq: number; readonly end: RowEnd }[];
}

export interface RowCounts {
  readonly rows: number;
  /** Of them, those of which nobody knows what became, and which nobody acknowledged. */
  readonly unknowns: number;
}

/** Which rows go. */
export interface PruneStep {
  /** At most so many of those that have ended and are no unacknowledged unknowns, the oldest first. */
  readonly settled: number;
  /** And, of the same, at most so many that began before this, in epoch milliseconds. */
  readonly old: { readonly before: number; readonly count: number };
  /** At most so many unacknowledged unknowns, the oldest first. */
  readonly unknowns: number;
}

/**
 * Where rows are kept. Everything but `close` is synchronous and whole: it happens, or throws `store_*` and nothing of it did. One
 * process has them, for as long as they are open.
 */
export interface JournalRows {
  /** The secret that this journal makes digests with. 32 bytes. */
  readonly key: Uint8Array;
  /** The greatest number that a row has; 0 when there is none. */
  lastSeq(): number;
  write(changes: RowChanges): void;
  /** Rows of other epochs that have not ended end as `unknown`. Answers how many. */
  endLost(epoch: string): number;
  /** Rows with a number below `before` (left out: all), the greatest first. */
  page(before: number | undefined, limit: number): readonly JournalRow[];
  /** Rows that ended as `unknown` and that nobody acknowledged, the latest first. */
  unknowns(limit: number): readonly JournalRow[];
  /** Answers how many of them were unacknowledged unknowns. */
  acknowledge(seqs: readonly number[], at: number): number;
  counts(): RowCounts;
  /** Answers how many rows went. */
  prune(step: PruneStep): number;
  /** Never rejects. What is asked afterwards is `store_unavailable`. */
  close(): Promise<void>;
}
