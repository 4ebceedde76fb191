/** The revision that conveys version, identity and capabilities with every request. */
export const MODERN_REVISION = "2026-07-28";

/** Modern revisions that this package speaks, newest first. */
export const MODERN_REVISIONS = [MODERN_REVISION] as const;

/** Revisions that begin with an `initialize` handshake, newest first. */
export const LEGACY_REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

export type ModernRevision = (typeof MODERN_REVISIONS)[number];
export type LegacyRevision = (typeof LEGACY_REVISIONS)[number];
export type Revision = ModernRevision | LegacyRevision;

export function isModernRevision(value: unknown): value is ModernRevision {
  return MODERN_REVISIONS.some((revision) => revision === value);
}

export function isLegacyRevision(value: unknown): value is LegacyRevision {
  return LEGACY_REVISIONS.some((revision) => revision === value);
}
