import type { JsonObject } from "../../protocol/index.js";
import type { Binding } from "./ports.js";

/** Lists whose changes an agent can listen for. */
export type ListKind = "tools" | "prompts" | "resources";

/** An agent that listens: a modern subscription, or a legacy session with its stream. */
export interface Listener {
  readonly binding: Binding;
  /** The lists of whose changes it is told. */
  readonly lists: ReadonlySet<ListKind>;
  /** Sends it a notification. Must not throw. */
  notify(method: string, params: JsonObject): void;
}

/** Everybody who listens now, of both eras. */
export class Listeners {
  readonly #all = new Set<Listener>();
  readonly #watchers = new Set<() => void>();

  get size(): number {
    return this.#all.size;
  }

  /** Adds one until the returned function is called. */
  add(listener: Listener): () => void {
    this.#all.add(listener);
    this.#changed();
    return () => {
      if (this.#all.delete(listener)) this.#changed();
    };
  }

  /** Calls `run`, which must not throw, whenever one more listens or one fewer, until the returned function is called. */
  onChange(run: () => void): () => void {
    this.#watchers.add(run);
    return () => {
      this.#watchers.delete(run);
    };
  }

  /** The bindings that listen for changes of a list. */
  bindings(kind: ListKind): ReadonlySet<Binding> {
    const bindings = new Set<Binding>();
    for (const { binding, lists } of this.#all) if (lists.has(kind)) bindings.add(binding);
    return bindings;
  }

  countOf(binding: Binding): number {
    let count = 0;
    for (const listener of this.#all) if (listener.binding === binding) count += 1;
    return count;
  }

  /** Tells those of the bindings for which `concerns` holds that a list of theirs changed. */
  tell(kind: ListKind, concerns: (binding: Binding) => boolean): void {
    for (const listener of this.#all) {
      if (!listener.lists.has(kind) || !concerns(listener.binding)) continue;
      listener.notify(`notifications/${kind}/list_changed`, {});
    }
  }

  #changed(): void {
    for (const run of this.#watchers) run();
  }
}
