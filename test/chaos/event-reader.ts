import type { ReconcileEvents } from "remote-connector/reconcile";
import { member, textOf } from "./generations.js";
import type { Journal } from "./journal.js";
import type { KillPoint } from "./kill-points.js";
import type { Sabotage } from "./orders.js";

/** Every so many events, one is not written down. */
const SKIP_EVERY = 7;

/** Follows the host's events over its restarts, and writes every one of them down. */
export class EventReader {
  readonly #journal: Journal;
  readonly #at: (point: KillPoint) => void;
  readonly #sabotage: Sabotage | null;
  #last: number;
  #wake: () => void = () => undefined;

  /** `after`: the number of the last event that is written down. */
  constructor(journal: Journal, at: (point: KillPoint) => void, sabotage: Sabotage | null, after: number) {
    this.#journal = journal;
    this.#at = at;
    this.#sabotage = sabotage;
    this.#last = after;
  }

  /** Resolves when there are no more events: the host was closed. Rejects with what following rejects with. */
  async follow(events: ReconcileEvents): Promise<void> {
    for await (const event of events.follow({ after: this.#last })) {
      this.#at("event");
      this.#hear(event.seq, event);
      this.#at("heard");
    }
  }

  /** Resolves when everything up to this event is written down. */
  async reached(seq: number): Promise<void> {
    while (this.#last < seq) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  #hear(seq: number, event: unknown): void {
    this.#last = seq;
    this.#wake();
    if (this.#sabotage === "skip_events" && seq % SKIP_EVERY === 0) return;
    const key = member(event, "key");
    const generation = member(event, "generation");
    this.#journal.write({
      t: "event",
      seq,
      kind: textOf(event, "kind"),
      key: typeof key === "string" ? key : null,
      generation: typeof generation === "number" ? generation : null,
    });
  }
}
