import type { Binding } from "../local-server/index.js";

/** A list as an agent has it: for each connector in it the digest of its part. */
export type View = ReadonlyMap<string, string>;

/** What a binding was given, and which news were known when it asked. */
export interface GivenView {
  readonly view: View;
  readonly since: number;
}

/** What each binding was given last. It goes with the binding. */
export class GivenViews {
  readonly #views = new WeakMap<Binding, GivenView>();

  /** `undefined` for a binding that was given none. */
  of(binding: Binding): GivenView | undefined {
    return this.#views.get(binding);
  }

  note(binding: Binding, view: View, since: number): void {
    this.#views.set(binding, { view, since });
  }
}

/** The digest of a connector's part in a view; `""` when it has none. */
export function digestIn(view: View, connectorKey: string): string {
  return view.get(connectorKey) ?? "";
}
