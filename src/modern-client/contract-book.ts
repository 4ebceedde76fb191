import type { JsonObject, ToolContract, ToolListCheck } from "../protocol/index.js";

/** What is known of how a tool is called. */
export type KnownContract =
  | { readonly kind: "known"; readonly contract: ToolContract; readonly outputSchema?: JsonObject | undefined }
  /** The tool can't be called. */
  | { readonly kind: "excluded"; readonly path: string; readonly reason: string }
  /** The last whole list does not have it. */
  | { readonly kind: "unlisted" }
  /** Nothing is known: no whole list was seen yet. */
  | { readonly kind: "unknown" };

const UNLISTED: KnownContract = { kind: "unlisted" };
const UNKNOWN: KnownContract = { kind: "unknown" };

/** The contracts of the tools as they were last listed. A whole walk replaces them; a single page adds to them. */
export class ContractBook {
  #known = new Map<string, KnownContract>();
  #isWhole = false;

  find(tool: string): KnownContract {
    return this.#known.get(tool) ?? (this.#isWhole ? UNLISTED : UNKNOWN);
  }

  /** Tools that are gone must not keep a contract. */
  replace(check: ToolListCheck): void {
    this.#known = new Map(entriesOf(check));
    this.#isWhole = true;
  }

  add(check: ToolListCheck): void {
    for (const [tool, known] of entriesOf(check)) this.#known.set(tool, known);
  }
}

function* entriesOf(check: ToolListCheck): Generator<[string, KnownContract]> {
  for (const [tool, contract] of check.contracts) yield [tool, knownOf(check, tool, contract)];
  for (const [tool, fault] of check.excluded) yield [tool, { kind: "excluded", ...fault }];
}

/** What one walk says of a tool so far; `undefined` while it has not met it. */
export function metBy(check: ToolListCheck, tool: string): KnownContract | undefined {
  const contract = check.contracts.get(tool);
  if (contract !== undefined) return knownOf(check, tool, contract);
  const fault = check.excluded.get(tool);
  return fault && { kind: "excluded", ...fault };
}

function knownOf(check: ToolListCheck, tool: string, contract: ToolContract): KnownContract {
  return { kind: "known", contract, outputSchema: check.outputSchemas.get(tool) };
}
