import type { RemoteMcpClient } from "../factories/index.js";
import type { PublicationChange } from "../routes/index.js";

/** A connector's route came, was replaced, or went. */
export interface PublicationEvent {
  readonly kind: "published" | "replaced" | "withdrawn";
  readonly connectorKey: string;
  readonly generation: number;
}

export type PublicationListener = (event: PublicationEvent) => void;

/** Tells listeners what is published, in order, also when a listener causes the next change; and none for another's fault. */
export class PublicationFeed {
  readonly #onListenerFailure: (error: unknown) => void;
  readonly #listeners = new Set<PublicationListener>();
  readonly #waiting: PublicationEvent[] = [];
  #telling = false;

  constructor(onListenerFailure: (error: unknown) => void) {
    this.#onListenerFailure = onListenerFailure;
  }

  subscribe(listener: PublicationListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  announce(changes: readonly PublicationChange<RemoteMcpClient>[]): void {
    for (const { connectorKey, previous, current } of changes) {
      const route = current ?? previous;
      if (route === undefined) continue;
      const kind = current === undefined ? "withdrawn" : previous === undefined ? "published" : "replaced";
      this.#waiting.push({ kind, connectorKey, generation: route.generation });
    }
    if (this.#telling) return;
    this.#telling = true;
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) this.#tell(event);
    this.#telling = false;
  }

  #tell(event: PublicationEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#onListenerFailure(error);
      }
    }
  }
}
