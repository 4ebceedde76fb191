import { EMPTY_CONTRACT, type JsonObject, type ToolContract, type ToolListCheck } from "../protocol/index.js";

/** What is known of how a tool is called. */
export type KnownContract =
  | { readonly kind: "known"; readonly contract: ToolContract; readonly outputSchema?: JsonObject | undefined }
  /** The tool can't be called. */
  | { readonly kind: "excluded"; readonly path: string; readonly reason: string }
  /** The last whole list does not have it. */
  | { readonly kind: "unlisted" }
  /** Nothing is known: no whole list was seen yet. */
  | { readonly kind: "unknown" };

const PLAIN: KnownContract = { kind: "known", contract: EMPTY_CONTRACT };
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
    this.#known = new Map();
    this.add(check);
    this.#isWhole = true;
  }

  add(check: ToolListCheck): void {
    for (const tool of check.names) {
      const known = metBy(check, tool);
      if (known !== undefined) this.#known.set(tool, known);
    }
  }
}

/** What one walk says of a tool so far; `undefined` while it has not met it. */
export function metBy(check: ToolListCheck, tool: string): KnownContract | undefined {
  const contract = check.contractOf(tool);
  if (contract !== undefined) {
    const outputSchema = check.outputSchemas.get(tool);
    // Most tools are alike, and need no object each.
    return outputSchema === undefined && contract === EMPTY_CONTRACT
      ? PLAIN
      : { kind: "known", contract, outputSchema };
  }
  const fault = check.excluded.get(tool);
  return fault && { kind: "excluded", ...fault };
}
