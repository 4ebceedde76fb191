import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

/** The folder of the official suite as installed. */
export const SUITE = dirname(fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/package.json")));

/** Which scenarios: those without authorization, those about it, or all. */
export type Scope = "transport" | "auth" | "all";

interface Requirements {
  readonly server: readonly string[];
  readonly client: readonly string[];
  readonly not_scored: readonly { readonly scenario: string; readonly leg: string }[];
}

/** The revisions for which the suite has a frozen set of requirements. */
export function revisions(): readonly string[] {
  return readdirSync(join(SUITE, "requirements")).map((file) => basename(file, ".yaml"));
}

/**
 * Scenarios about servers of revision 2025-03-26, which are in no set: the suite has them under `backcompat`. They are run with that
 * revision.
 */
export const BACK_COMPATIBLE_SCENARIOS: readonly string[] = [
  "auth/2025-03-26-oauth-metadata-backcompat",
  "auth/2025-03-26-oauth-endpoint-fallback",
];

/** The client scenarios that one revision requires, in the suite's own order. */
export function requiredScenarios(revision: string): readonly string[] {
  return requirementsOf(revision).client;
}

/** Those that the suite only reports: of extensions, and newer than the revision. */
export function unscoredScenarios(revision: string): readonly string[] {
  return requirementsOf(revision)
    .not_scored.filter(({ leg }) => leg === "client")
    .map(({ scenario }) => scenario);
}

/** All of these, required first, as far as they are of the scope. */
export function clientScenarios(revision: string, scope: Scope): readonly string[] {
  const names = [...requiredScenarios(revision), ...unscoredScenarios(revision)];
  return names.filter((name) => scope === "all" || name.startsWith("auth/") === (scope === "auth"));
}

/** The server scenarios that one revision requires, in the suite's own order. */
export function serverScenarios(revision: string): readonly string[] {
  return requirementsOf(revision).server;
}

function requirementsOf(revision: string): Requirements {
  const path = join(SUITE, "requirements", `${revision}.yaml`);
  if (!existsSync(path)) throw new Error(`the suite has no requirements for ${revision}`);
  const requirements: Requirements = parse(readFileSync(path, "utf8"));
  return requirements;
}
