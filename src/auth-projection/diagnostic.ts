import type { QuarantineReason } from "./ports.js";

/** Something about a snapshot that was tolerated, and that somebody should know. */
export type ProjectionDiagnostic =
  /** An entry can't be used. `connectorKey` is `undefined` when it does not even say whose it is. */
  | {
      readonly kind: "entry_quarantined";
      readonly connectorKey: string | undefined;
      /** Its place in `connectors`. */
      readonly index: number;
      readonly reason: QuarantineReason;
      readonly member: string;
    }
  /** A snapshot that goes backwards was not applied, for the `count`th time in a row. */
  | {
      readonly kind: "snapshot_held";
      readonly reason: HoldReason;
      readonly revision: bigint;
      readonly count: number;
    }
  /** A snapshot that goes backwards was applied, because the server insisted. */
  | { readonly kind: "hold_accepted"; readonly reason: HoldReason; readonly revision: bigint }
  /** A connection's version fell though its connection is the same. The row has the smaller one. */
  | {
      readonly kind: "connection_version_decreased";
      readonly connectorKey: string;
      readonly from: bigint;
      readonly to: bigint;
    }
  /** There were more of them than are kept. */
  | { readonly kind: "diagnostics_omitted"; readonly count: number };

/** How a snapshot goes backwards: to an epoch that was left behind, or to a smaller revision of its own. */
export type HoldReason = "past_epoch" | "smaller_revision";

const KEPT = 100;

/** The first hundred, and how many there were besides. */
export function boundDiagnostics(all: readonly ProjectionDiagnostic[]): readonly ProjectionDiagnostic[] {
  if (all.length <= KEPT) return all;
  return [...all.slice(0, KEPT), { kind: "diagnostics_omitted", count: all.length - KEPT }];
}
