import { z } from "zod";
import { type DocumentTx, parseDocument } from "../documents/index.js";
import { type RuleOverride, ruleOverride } from "../registration/index.js";
import type { CatalogEntry } from "./catalog-entry.js";

const RULES = "rules";

const rulesSchema = z.strictObject({ formatVersion: z.literal(1), subject: z.string(), ...ruleOverride });

/** What a person decided about the tools of a connector otherwise than its definition says. */
export interface KeptRules extends RuleOverride {
  /** What they decided it about, as `ruledSubject` has it: what was allowed of another asks. */
  readonly subject: string;
}

/** What is kept of rules, by connector key; `undefined` for what can't be read. Those of connectors that are not there are among them. */
export async function readRules({ documents }: DocumentTx): Promise<ReadonlyMap<string, KeptRules | undefined>> {
  const kept = new Map<string, KeptRules | undefined>();
  for (const row of await documents.list(RULES)) {
    const rules = parseDocument(rulesSchema, row);
    kept.set(row.key, rules && { subject: rules.subject, newTools: rules.newTools, permissions: rules.permissions });
  }
  return kept;
}

/** Keeps what was decided about a connector's tools; `undefined` removes what is kept of the key. */
export async function writeRules(
  { documents }: DocumentTx,
  key: string,
  rules: KeptRules | undefined,
  now: number,
): Promise<void> {
  if (rules === undefined) {
    await documents.remove(RULES, key);
    return;
  }
  const { subject, newTools, permissions } = rules;
  const text = JSON.stringify({ formatVersion: 1, subject, newTools, permissions });
  await documents.put({ kind: RULES, key, text, updatedAt: now });
}

/** What a decision about a connector's tools is about: at another origin, or of another kind, it is another server. Pure. */
export function ruledSubject(entry: CatalogEntry): string {
  if (entry.kind === "release") return "release";
  const { connector } = entry;
  if (connector.kind === "stdio") return "program";
  return `server ${new URL(connector.registration.settings.endpoint).origin}`;
}
