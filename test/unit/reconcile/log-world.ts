import type { EventGap, NoticeEvent, ReconcileEvent, TransitionEvent } from "../../../src/reconcile/index.js";
import type { EventRetention } from "../../../src/reconcile/event-retention.js";
import { EventLog } from "../../../src/reconcile/events.js";
import type { UnitOfWork } from "../../../src/reconcile/index.js";
import { createMemoryStore, type Store, type StoreTx } from "../../../src/store/index.js";
import { FakeClock, settle } from "../../support/fake-clock.js";
import { CONFIG } from "./rows.js";

/** What a reader was given. */
export type Read = TransitionEvent | EventGap;

export const LOST: { readonly kind: "superseded"; readonly scope: string; readonly key: string; generation: number } = {
  kind: "superseded",
  scope: "s",
  key: "k",
  generation: 1,
};

export function removed(key: string): { readonly kind: "removed"; readonly scope: string; readonly key: string } {
  return { kind: "removed", scope: "s", key };
}

/** A log over a store, on a clock. */
export class LogWorld {
  readonly clock = new FakeClock(7);
  readonly store = createMemoryStore();
  readonly #limits: EventRetention;
  readonly #wrap: (store: Store) => UnitOfWork<StoreTx>;
  log: EventLog<StoreTx>;

  constructor(limits: Partial<EventRetention> = {}, wrap: (store: Store) => UnitOfWork<StoreTx> = (store) => store) {
    this.#limits = { ...CONFIG, ...limits };
    this.#wrap = wrap;
    this.log = this.#open();
  }

  #open(): EventLog<StoreTx> {
    return new EventLog(this.#wrap(this.store), this.clock, this.#limits);
  }

  /** The process has died, and another one begins on the same store. */
  restart(): void {
    this.log.end();
    this.log = this.#open();
  }

  /** One transaction that removes these keys, and may be rolled back after that. */
  async remove(keys: readonly string[], fails = false): Promise<void> {
    const write = this.store.write(async (tx) => {
      for (const key of keys) await this.log.record(tx, removed(key));
      if (fails) throw new Error("mine");
    });
    await write.catch((error: unknown) => {
      if (!fails) throw error;
    });
  }

  /** Everything that subscribers hear from now on. */
  listen(): (TransitionEvent | NoticeEvent)[] {
    const heard: ReconcileEvent[] = [];
    this.log.subscribe((event) => heard.push(event));
    return heard;
  }

  /** Reads until there is nothing more to read for now. */
  async read(options: { readonly after?: number } = {}): Promise<Read[]> {
    const heard: Read[] = [];
    const controller = new AbortController();
    const { ended } = readInto(heard, this.log.follow({ ...options, signal: controller.signal }));
    await settle();
    controller.abort();
    await ended;
    return heard;
  }

  /** The numbers of the rows that there are, whether they are to be seen or not. */
  async rows(): Promise<readonly number[]> {
    return (await this.store.read((tx) => tx.events.list(0, 100_000))).map(({ seq }) => seq);
  }
}

/** Reads until the reader ends. */
export function readInto(heard: Read[], reader: AsyncIterable<Read>): { readonly ended: Promise<void> } {
  const read = async (): Promise<void> => {
    for await (const each of reader) heard.push(each);
  };
  return { ended: read() };
}
