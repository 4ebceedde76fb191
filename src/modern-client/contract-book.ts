import type { ToolContract, ToolListCheck } from "../protocol/index.js";

/** What is known of how a tool is called. */
export type KnownContract =
  | { readonly kind: "known"; readonly contract: ToolContract }
  /** The tool can't be called. */
  | { readonly kind: "excluded"; readonly path: string; readonly reason: string }
  | { readonly kind: "unknown" };

const UNKNOWN: KnownContract = { kind: "unknown" };

/** The contracts of the tools as they were last listed. A whole walk replaces them; a single page adds to them. */
export class ContractBook {
  #known: ReadonlyMap<string, KnownContract> = new Map();

  find(tool: string): KnownContract {
    return this.#known.get(tool) ?? UNKNOWN;
  }

  /** Tools that are gone must not keep a contract. */
  replace(check: ToolListCheck): void {
    this.#known = new Map(entriesOf(check));
  }

  add(check: ToolListCheck): void {
    this.#known = new Map([...this.#known, ...entriesOf(check)]);
  }
}

function* entriesOf(check: ToolListCheck): Generator<[string, KnownContract]> {
  for (const [tool, contract] of check.contracts) yield [tool, { kind: "known", contract }];
  for (const [tool, fault] of check.excluded) yield [tool, { kind: "excluded", ...fault }];
}

/** What one walk says of a tool so far. */
export function knownIn(check: ToolListCheck, tool: string): KnownContract {
  const contract = check.contracts.get(tool);
  if (contract !== undefined) return { kind: "known", contract };
  const fault = check.excluded.get(tool);
  return fault === undefined ? UNKNOWN : { kind: "excluded", ...fault };
}
