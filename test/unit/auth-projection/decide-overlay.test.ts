import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decideClearing,
  decideOverlay,
  effectiveRow,
  type Observation,
} from "../../../src/auth-projection/decide-overlay.js";
import type { OverlayRow, ProjectionRow } from "../../../src/auth-projection/index.js";

const NOW = 1_000_000;

function row(members: Partial<ProjectionRow> = {}): ProjectionRow {
  return {
    accountId: "acc",
    connectorKey: "github",
    connectorVersion: "1.0.0",
    state: "connected",
    connectionId: "c-1",
    connectionVersion: 4n,
    epoch: "-",
    revision: 9n,
    quarantined: undefined,
    updatedAt: 0,
    ...members,
  };
}

function overlay(members: Partial<OverlayRow> = {}): OverlayRow {
  return {
    accountId: "acc",
    connectorKey: "github",
    connectionId: "c-1",
    connectionVersion: 4n,
    state: "disconnected",
    syncSeq: 3,
    phase: "standing",
    stepMs: 0,
    heldUntil: undefined,
    ...members,
  };
}

function observation(members: Partial<Observation> = {}): Observation {
  return { connectorKey: "github", connectionId: "c-1", connectionVersion: 4n, state: "disconnected", ...members };
}

const facts = { row: row(), overlay: undefined, accountId: "acc", syncSeq: 3, now: NOW };

describe("P-6: writing an observation", () => {
  it.each([
    ["no row", undefined, {}],
    ["a row that is expired", row({ state: "expired" }), {}],
    ["a row that is disconnected", row({ state: "disconnected" }), {}],
    ["a later connection version ★", row({ connectionVersion: 5n }), {}],
    ["an earlier connection version", row({ connectionVersion: 3n }), {}],
    ["another connection of the same version", row({ connectionId: "c-2" }), {}],
    ["a request without a connection", row(), { connectionId: undefined }],
  ])("P-6: is dropped where it meets %s", (_what, met, members) => {
    expect(decideOverlay(observation(members), { ...facts, row: met })).toEqual({ kind: "drop" });
  });

  it("P-6: the first one for a connection lowers it, and is not held", () => {
    const verdict = decideOverlay(observation({ state: "expired" }), facts);
    expect(verdict).toEqual({ kind: "put", overlay: overlay({ state: "expired" }) });
  });

  it("P-6: one of an earlier connection is forgotten, steps included", () => {
    const old = overlay({ connectionVersion: 3n, phase: "cleared", stepMs: 8_000, heldUntil: NOW });
    expect(decideOverlay(observation(), { ...facts, overlay: old })).toEqual({ kind: "put", overlay: overlay() });
  });

  it("P-6: one that comes back after a clearing is held for a second, doubling to five minutes", () => {
    const steps: number[] = [];
    let present = overlay({ phase: "cleared" });
    for (let i = 0; i < 12; i += 1) {
      const verdict = decideOverlay(observation(), { ...facts, overlay: present });
      if (verdict.kind !== "put") throw new Error(verdict.kind);
      expect(verdict.overlay.heldUntil).toBe(NOW + verdict.overlay.stepMs);
      expect(verdict.overlay.phase).toBe("standing");
      steps.push(verdict.overlay.stepMs / 1_000);
      present = { ...verdict.overlay, phase: "cleared" };
    }
    expect(steps).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
  });

  it.each([
    ["nothing when it is known", overlay(), 3, { kind: "keep" }],
    [
      "counts as later when a fetch started in between",
      overlay(),
      4,
      { kind: "put", overlay: overlay({ syncSeq: 4 }) },
    ],
    [
      "takes a recorded clearing back, and is held no longer",
      overlay({ phase: "clearing", stepMs: 2_000, heldUntil: NOW + 500 }),
      4,
      { kind: "put", overlay: overlay({ syncSeq: 4, stepMs: 2_000, heldUntil: NOW + 500 }) },
    ],
    ["takes the place of another state", overlay({ state: "expired" }), 3, { kind: "put", overlay: overlay() }],
  ])("P-6: a second one while the first stands: %s", (_what, present, syncSeq, expected) => {
    expect(decideOverlay(observation(), { ...facts, overlay: present, syncSeq })).toEqual(expected);
  });
});

describe("P-6: clearing", () => {
  const held = { stepMs: 4_000, heldUntil: NOW + 3_000 };
  it.each<[string, OverlayRow, ProjectionRow | undefined, number | undefined, string]>([
    ["a fetch that started before it", overlay(), row(), 3, "keep"],
    ["a fetch that started after it", overlay(), row(), 4, "cleared"],
    ["a fetch that nobody could count", overlay(), row(), undefined, "keep"],
    ["a fetch while it is held", overlay(held), row(), 4, "clearing"],
    ["another fetch while a clearing is recorded", overlay({ ...held, phase: "clearing" }), row(), 5, "keep"],
    ["time alone, nothing recorded", overlay({ ...held, heldUntil: NOW }), row(), undefined, "keep"],
    [
      "time, after a recorded clearing",
      overlay({ ...held, phase: "clearing", heldUntil: NOW }),
      row(),
      undefined,
      "cleared",
    ],
    ["time, before its end", overlay({ ...held, phase: "clearing" }), row(), undefined, "keep"],
    [
      "a wall that was set back",
      overlay({ ...held, phase: "clearing", heldUntil: NOW + 4_001 }),
      row(),
      undefined,
      "cleared",
    ],
    ["an earlier fetch with a new version, held", overlay(held), row({ connectionVersion: 5n }), 1, "remove"],
    ["another connection", overlay(held), row({ connectionId: "c-2" }), 1, "remove"],
    ["no row any more", overlay(held), undefined, 1, "remove"],
    ["what is cleared already", overlay({ phase: "cleared" }), row(), 9, "keep"],
    ["the same connection, lower by the server", overlay(), row({ state: "expired" }), 4, "cleared"],
  ])("P-6: %s", (_what, present, met, fetchSeq, expected) => {
    const verdict = decideClearing(present, met, { fetchSeq, now: NOW });
    if (verdict.kind !== "put") expect(verdict.kind).toBe(expected);
    else expect(verdict.overlay).toEqual({ ...present, phase: expected });
  });
});

describe("P-6: properties", () => {
  const rows = fc
    .record({
      state: fc.constantFrom("connected" as const, "expired" as const, "disconnected" as const),
      connectionId: fc.constantFrom("c-1", "c-2", undefined),
      connectionVersion: fc.constantFrom(3n, 4n, 5n),
    })
    .map(row);
  const overlays = fc
    .record({
      connectionId: fc.constantFrom("c-1", "c-2"),
      connectionVersion: fc.constantFrom(3n, 4n, 5n),
      state: fc.constantFrom("expired" as const, "disconnected" as const),
      syncSeq: fc.nat(6),
      phase: fc.constantFrom("standing" as const, "clearing" as const, "cleared" as const),
      step: fc.constantFrom(0, 1_000, 64_000, 300_000),
      ahead: fc.integer({ min: -400_000, max: 400_000 }),
    })
    .map(({ step, ahead, ...members }) =>
      overlay({ ...members, stepMs: step, heldUntil: step === 0 ? undefined : NOW + ahead }),
    );

  it("P-6: an overlay can only lower what is connected, and leaves everything else of the row alone", () => {
    fc.assert(
      fc.property(rows, overlays, (met, present) => {
        const effective = effectiveRow(met, present);
        expect({ ...effective, state: met.state }).toEqual(met);
        if (effective.state !== met.state) {
          expect(met.state).toBe("connected");
          expect(effective.state).toBe(present.state);
          expect(met.connectionVersion).toBe(present.connectionVersion);
          expect(met.connectionId).toBe(present.connectionId);
        }
      }),
      { seed: 11, numRuns: 500 },
    );
  });

  it("P-6: no clearing raises before the hold is over, and no hold lasts longer than its step", () => {
    fc.assert(
      fc.property(rows, overlays, fc.option(fc.nat(8), { nil: undefined }), (met, present, fetchSeq) => {
        const verdict = decideClearing(present, met, { fetchSeq, now: NOW });
        const after = verdict.kind === "put" ? verdict.overlay : verdict.kind === "keep" ? present : undefined;
        const raised = effectiveRow(met, present).state !== effectiveRow(met, after).state;
        if (raised) {
          const aheadMs = (present.heldUntil ?? NOW) - NOW;
          expect(aheadMs <= 0 || aheadMs > present.stepMs).toBe(true);
          expect(present.phase === "clearing" || (fetchSeq ?? -1) > present.syncSeq).toBe(true);
        }
        // Nothing is left to do the second time.
        if (after !== undefined) expect(decideClearing(after, met, { fetchSeq, now: NOW }).kind).toBe("keep");
      }),
      { seed: 12, numRuns: 1_000 },
    );
  });
});
