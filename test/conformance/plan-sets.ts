import {
  BACK_COMPATIBLE_SCENARIOS,
  clientScenarios,
  requiredScenarios,
  revisions,
  type Scope,
  unscoredScenarios,
} from "./scenarios.js";

/** Scenarios that are run and counted together. */
export interface ScenarioSet {
  readonly revision: string;
  /** How the line of its numbers begins. */
  readonly title: string;
  /** What the line calls those that it counts; empty for nothing. */
  readonly counted: string;
  readonly scenarios: readonly string[];
}

/**
 * What `what` asks for. A revision: what it requires; with a scope, everything of that scope, required or not. `all`: what each revision
 * requires, what the suite has beside it, and what servers of revision 2025-03-26 need. Throws for anything else.
 */
export function planSets(what: string | undefined, scope: Scope): readonly ScenarioSet[] {
  if (what === "all" && scope === "all") return [...revisions().flatMap(wholeRevision), backCompatible()];
  if (what === undefined || !revisions().includes(what)) {
    throw new Error(`name one of ${revisions().join(", ")}, or all of them without a scope: all`);
  }
  if (scope === "all") return [required(what)];
  return [{ revision: what, title: `${what} ${scope}`, counted: "", scenarios: clientScenarios(what, scope) }];
}

/** The line of numbers of a set. */
export function summaryLine({ counted, scenarios, title }: ScenarioSet, passes: number, emptyPasses: number): string {
  const total = String(scenarios.length);
  const kind = counted === "" ? "" : ` ${counted}`;
  return `conformance ${title}: ${String(passes)} of ${total}${kind}, empty client ${String(emptyPasses)} of ${total}`;
}

function wholeRevision(revision: string): readonly ScenarioSet[] {
  const scenarios = unscoredScenarios(revision);
  return [required(revision), { revision, title: revision, counted: "unscored", scenarios }];
}

function required(revision: string): ScenarioSet {
  return { revision, title: revision, counted: "required", scenarios: requiredScenarios(revision) };
}

function backCompatible(): ScenarioSet {
  const revision = "2025-03-26";
  return { revision, title: revision, counted: "back-compatible", scenarios: BACK_COMPATIBLE_SCENARIOS };
}
