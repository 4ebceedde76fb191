/** Why a route was not published. */
export type CommitRefusal =
  | "table_closed"
  /** The scope is shut, or has another epoch by now. */
  | "stale_epoch"
  /** Its generation is at or behind the connector's fence. */
  | "fenced"
  /** A newer generation is published. */
  | "older_generation"
  /** The key is published for another scope. */
  | "key_in_use"
  /** It was in a table before, or was fenced before it came. */
  | "not_open"
  /** It is not wanted any more: `mayPublish` says so. */
  | "not_wanted"
  /** The gate of its scope is closed: the table keeps it, and publishes it when the gate opens. */
  | "staged";

export type CommitResult =
  /** Readers see it. `cleanupPending`: routes of the connector from before are not closed yet, which is no failure. */
  | { readonly published: true; readonly cleanupPending: boolean }
  /** Nothing changed for readers. */
  | { readonly published: false; readonly refusal: CommitRefusal; readonly cleanupPending: boolean };

export interface RemoveResult {
  /** A published route was taken away by this call. */
  readonly removed: boolean;
  /** Routes of the connector are not closed yet. */
  readonly cleanupPending: boolean;
}

/** Sizes of all that a table holds, for status pages and for tests of growth. */
export interface RouteTableCounts {
  readonly published: number;
  readonly retiring: number;
  readonly staged: number;
  readonly scopes: number;
  readonly fences: number;
}
