import type { Revision } from "remote-connector/protocol";
import type { Column } from "./column.js";
import type { Profile } from "./profile.js";

/** What a server says of itself. */
export interface Declared {
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Names of the tools that it lists. */
  readonly tools: readonly string[];
}

const ELICITATION_SINCE = "2025-06-18";

/** Why no server can do what a column is about in a revision; `undefined` when the revision has it. */
export function beyondRevision(column: Column, revision: Revision): string | undefined {
  if (column === "elicit" && revision < ELICITATION_SINCE) {
    return `Elicitation is new in revision ${ELICITATION_SINCE}.`;
  }
  return undefined;
}

/**
 * Why a server can't do what a column is about, by what it declares and by nothing else; `undefined` when it can. Where no
 * capability tells, the tools do that the profile names.
 */
export function cannot(column: Column, profile: Profile, { capabilities, tools }: Declared): string | undefined {
  const resources = capabilities["resources"];
  const needs = (tool: string | undefined, what: string): string | undefined =>
    tool !== undefined && tools.includes(tool) ? undefined : `The server lists no tool that ${what}.`;
  switch (column) {
    case "connect":
    case "tools":
    case "call":
    case "close":
      return undefined;
    case "resources":
    case "read":
      return isObject(resources) ? undefined : "The server declares no resources.";
    case "prompts":
      return isObject(capabilities["prompts"]) ? undefined : "The server declares no prompts.";
    case "progress":
      return needs(profile.progress?.call.name, "reports progress");
    case "cancel":
      return needs(profile.cancel?.wait, "tells what it heard of a call that was given up");
    case "notify":
      return isObject(resources) && resources["subscribe"] === true
        ? needs(profile.notify?.touch.name, "changes a resource")
        : "The server declares no subscriptions to resources.";
    case "elicit":
      return needs(profile.elicit?.call.name, "asks for input");
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
