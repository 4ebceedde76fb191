import { describe, expect, it } from "vitest";
import {
  isLegacyRevision,
  isModernRevision,
  LEGACY_REVISIONS,
  MODERN_REVISION,
  MODERN_REVISIONS,
} from "../../../src/protocol/index.js";

describe("revisions", () => {
  it("W-27: are told apart by era, newest first", () => {
    expect(MODERN_REVISIONS).toEqual(["2026-07-28"]);
    expect(LEGACY_REVISIONS).toEqual(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
    expect(MODERN_REVISIONS[0]).toBe(MODERN_REVISION);
    expect(LEGACY_REVISIONS).toEqual(LEGACY_REVISIONS.toSorted().toReversed());
    expect(MODERN_REVISIONS.every((revision) => isModernRevision(revision) && !isLegacyRevision(revision))).toBe(true);
    expect(LEGACY_REVISIONS.every((revision) => isLegacyRevision(revision) && !isModernRevision(revision))).toBe(true);
  });

  it.each(["2026-07-29", "2024-10-07", "draft", "", " 2026-07-28", undefined, null, 20260728, ["2026-07-28"], {}])(
    "W-27: %j is none of ours",
    (value) => {
      expect(isModernRevision(value)).toBe(false);
      expect(isLegacyRevision(value)).toBe(false);
    },
  );
});
