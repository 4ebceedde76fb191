import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** Through what the scenarios are run. */
export type Leg = "through" | "generic";

/** Checks of one scenario that must not succeed yet. */
export interface BaselineEntry {
  readonly leg: Leg;
  readonly revision: string;
  readonly scenario: string;
  readonly checks: readonly string[];
  /** Why not. */
  readonly reason: string;
}

/** Reads the baseline, which is committed. Throws for one that says nothing, twice the same, or no reason. */
export function parseBaseline(text: string): readonly BaselineEntry[] {
  const entries: readonly BaselineEntry[] = parse(text) ?? [];
  const seen = new Set<string>();
  for (const { leg, revision, scenario, checks, reason } of entries) {
    const name = `${leg} ${revision} ${scenario}`;
    if (leg !== "through" && leg !== "generic") throw new Error(`${name}: no such leg`);
    if (seen.has(name)) throw new Error(`${name} is there twice`);
    if (!Array.isArray(checks) || checks.length === 0) throw new Error(`${name} names no checks`);
    if (typeof reason !== "string" || reason === "") throw new Error(`${name} has no reason`);
    seen.add(name);
  }
  return entries;
}

export function readBaseline(): readonly BaselineEntry[] {
  return parseBaseline(readFileSync("test/conformance/server-baseline.yaml", "utf8"));
}

/** What is listed for a scenario. */
export function listedFor(
  baseline: readonly BaselineEntry[],
  leg: Leg,
  revision: string,
  scenario: string,
): readonly string[] {
  const entry = baseline.find((one) => one.leg === leg && one.revision === revision && one.scenario === scenario);
  return entry?.checks ?? [];
}
