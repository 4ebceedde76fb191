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
 * The client scenarios of one revision, in the suite's own order: those that it scores, then those that it only reports.
 * All of them count here.
 */
export function clientScenarios(revision: string, scope: Scope): readonly string[] {
  const { client, not_scored } = requirementsOf(revision);
  const names = [...client, ...not_scored.filter(({ leg }) => leg === "client").map(({ scenario }) => scenario)];
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
