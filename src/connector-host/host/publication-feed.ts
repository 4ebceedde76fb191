import type { RemoteMcpClient } from "../factories/index.js";
import type { PublicationChange } from "../routes/index.js";
import { EventTeller } from "./event-teller.js";

/** A connector's route came, was replaced, or went. */
export interface PublicationEvent {
  readonly kind: "published" | "replaced" | "withdrawn";
  readonly connectorKey: string;
  readonly generation: number;
}

export type PublicationListener = (event: PublicationEvent) => void;

/** Tells listeners what is published, in order, also when a listener causes the next change; and none for another's fault. */
export class PublicationFeed {
  readonly #teller: EventTeller<PublicationEvent>;

  constructor(onListenerFailure: (error: unknown) => void) {
    this.#teller = new EventTeller(onListenerFailure);
  }

  subscribe(listener: PublicationListener): () => void {
    return this.#teller.subscribe(listener);
  }

  announce(changes: readonly PublicationChange<RemoteMcpClient>[]): void {
    const events: PublicationEvent[] = [];
    for (const { connectorKey, previous, current } of changes) {
      const route = current ?? previous;
      if (route === undefined) continue;
      const kind = current === undefined ? "withdrawn" : previous === undefined ? "published" : "replaced";
      events.push({ kind, connectorKey, generation: route.generation });
    }
    this.#teller.tell(...events);
  }
}
