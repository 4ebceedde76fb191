import { isJsonObject, type JsonObject } from "../../protocol/index.js";
import type { LegacyHttpRevision } from "./classify-surface.js";

/**
 * What of a modern agent's capabilities says that it can be asked for something: `elicitation`, `sampling` and `roots`, as it wrote
 * them. `undefined` when nothing does. Pure. Source: 2026-07-28, Client Capabilities.
 */
export function askableOf({ elicitation, sampling, roots }: JsonObject): JsonObject | undefined {
  if (elicitation === undefined && sampling === undefined && roots === undefined) return undefined;
  return present({ elicitation, sampling, roots });
}

/**
 * The same of what a legacy agent declared in its `initialize`, as its revision has it and in the form of the newest one. Pure.
 *
 * - `elicitation` came with 2025-06-18, where it means forms; modes came with 2025-11-25, where none means forms too;
 * - `sampling` with tools came with 2025-11-25, and so did a capability for `includeContext`, which was a part of sampling before.
 *
 * Source: 2025-11-25, Elicitation, Capabilities; Sampling, Capabilities; Roots, Capabilities; the same of earlier revisions.
 */
export function legacyAskableOf(declared: unknown, revision: LegacyHttpRevision): JsonObject | undefined {
  if (!isJsonObject(declared)) return undefined;
  const { elicitation, sampling, roots } = declared;
  return present({
    elicitation: isJsonObject(elicitation) ? elicitationOf(elicitation, revision) : undefined,
    sampling: isJsonObject(sampling) ? samplingOf(sampling, revision) : undefined,
    roots: declaredAs(roots),
  });
}

function elicitationOf({ form, url }: JsonObject, revision: LegacyHttpRevision): JsonObject | undefined {
  switch (revision) {
    case "2025-11-25":
      return present({ form: declaredAs(form), url: declaredAs(url) }) ?? { form: {} };
    case "2025-06-18":
      return { form: {} };
    case "2025-03-26":
      return undefined;
  }
}

function samplingOf({ tools, context }: JsonObject, revision: LegacyHttpRevision): JsonObject {
  if (revision !== "2025-11-25") return { context: {} };
  return present({ tools: declaredAs(tools), context: declaredAs(context) }) ?? {};
}

/** What is in it means nothing in these revisions, and would be kept with the session. */
function declaredAs(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? {} : undefined;
}

/** The members that are objects; `undefined` for none. */
function present(members: Readonly<Record<string, unknown>>): JsonObject | undefined {
  const kept = Object.entries(members).filter(([, value]) => isJsonObject(value));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
