import { randomUUID } from "node:crypto";
import { Controller, type Outcome, type RouteToken, type RunContext } from "remote-connector/reconcile";
import type { StoreTx } from "remote-connector/store";
import { expectSame } from "../support/bar.js";
import { type BenchStore, openBenchStore, type StoreKind } from "./bench-store.js";
import { schedule } from "./schedule.js";

/** What one transaction plans at most, like a sweep does. */
const KEYS_PER_TRANSACTION = 64;
/** Keys that have not converged by then are held up by something. */
const LONGEST_MS = 120_000;
const SCOPE = "account:a";

/** Many keys that take no time to converge: what is left is what the controller and the store cost. */
export class Fleet {
  /** What should be: the identity of each key. */
  readonly #wanted = new Map<string, string>();
  /** What is: by key, the identity that was last published. */
  readonly #published = new Map<string, { readonly token: RouteToken; readonly identity: string }>();
  /** Keys whose runs never end, whatever they are told. */
  readonly #stuck = new Set<string>();
  readonly #opened: BenchStore;
  readonly #controller: Controller<StoreTx, string>;
  /** Keys that ran since this was last emptied, each as often as it ran. */
  readonly #ran: string[] = [];
  #observed = 0;
  #onObserved: (() => void) | undefined;

  private constructor(size: number, opened: BenchStore) {
    this.#opened = opened;
    for (let i = 0; i < size; i += 1) this.#wanted.set(`connector-${String(i).padStart(5, "0")}`, "v1");
    this.#controller = new Controller<StoreTx, string>({
      store: opened.store,
      clock: { now: Date.now, schedule },
      random: Math.random,
      mintEpoch: randomUUID,
      planner: {
        keys: async () => [...this.#wanted.keys()],
        facts: async (_tx, _scope, key) => this.#wanted.get(key),
        plan: (identity) => ({ enabled: true, identity, transition: "supersede" }),
      },
      routes: {
        fence: () => undefined,
        holds: (_scope, key, generation) => this.#published.get(key)?.token.generation === generation,
      },
      reconciler: { reconcile: (context) => this.#reconcile(context), classifyFault: () => ({ counts: true }) },
      limits: { abandonAfterMs: 20, resyncIntervalMs: 3_600_000 },
    });
    this.#controller.events.subscribe((event) => {
      if (event.kind === "trouble" || event.kind === "failed") {
        // Nothing fails here. What a listener throws would end only the listener.
        queueMicrotask(() => {
          throw new Error("Something failed.", { cause: event.error });
        });
      }
      if (event.kind !== "observed") return;
      this.#observed += 1;
      this.#onObserved?.();
    });
  }

  /** `size` keys, of which nothing is known to the store yet. */
  static async of(size: number, kind: StoreKind): Promise<Fleet> {
    return new Fleet(size, await openBenchStore(kind));
  }

  get size(): number {
    return this.#wanted.size;
  }

  /** Plans every key for the first time. Milliseconds. */
  plan(): Promise<number> {
    return timed(() => this.#plan([...this.#wanted.keys()]));
  }

  /** Makes the scope active and waits until every key but those that are stuck was observed. Milliseconds. */
  async converge(): Promise<number> {
    const expected = this.size - this.#stuck.size;
    const tookMs = await timed(async () => {
      this.#controller.activateScope(SCOPE);
      await this.#whenObserved(expected);
    });
    expectSame("keys that ran", new Set(this.#ran).size, this.size);
    expectSame("keys that were published", this.#published.size, expected);
    return tookMs;
  }

  /** One key in the middle never ends its run. */
  stick(): void {
    this.#stuck.add([...this.#wanted.keys()][Math.floor(this.size / 2)] ?? "");
  }

  /** Changes so many keys, all over the fleet, and waits until nothing is left to do. Milliseconds. */
  async change(count: number, identity: string): Promise<number> {
    const step = this.size / count;
    const keys = [...this.#wanted.keys()];
    const changed = Array.from({ length: count }, (_, i) => keys[Math.floor(i * step)] ?? "");
    this.#ran.length = 0;
    const tookMs = await timed(async () => {
      for (const key of changed) this.#wanted.set(key, identity);
      await this.#plan(changed);
      await this.#controller.idle();
    });
    expectSame("keys that ran", this.#ran.sort().join(), changed.sort().join());
    await this.#expectConverged();
    return tookMs;
  }

  /** Looks at every key, of which none has anything to do. Milliseconds. */
  async resync(): Promise<number> {
    this.#ran.length = 0;
    const tookMs = await timed(async () => {
      this.#controller.wake(SCOPE);
      await this.#controller.idle();
    });
    expectSame("keys that ran", this.#ran.length, 0);
    return tookMs;
  }

  async close(): Promise<void> {
    await this.#controller.close();
    await this.#opened.close();
  }

  async #plan(keys: readonly string[]): Promise<void> {
    for (let start = 0; start < keys.length; start += KEYS_PER_TRANSACTION) {
      const some = keys.slice(start, start + KEYS_PER_TRANSACTION);
      await this.#opened.store.write((tx) => this.#controller.planInTx(tx, SCOPE, some));
    }
  }

  async #reconcile(context: RunContext): Promise<Outcome> {
    this.#ran.push(context.key);
    if (this.#stuck.has(context.key)) return new Promise(() => undefined);
    this.#published.set(context.key, { token: context, identity: context.identity });
    return { kind: "done", readiness: "ready" };
  }

  #whenObserved(count: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = schedule(LONGEST_MS, () =>
        reject(new Error(`${String(this.#observed)} of ${String(count)} keys`)),
      );
      this.#onObserved = () => {
        if (this.#observed < count) return;
        giveUp();
        resolve();
      };
      this.#onObserved();
    });
  }

  /** Everything is as it should be, by the rows and by what is published. */
  async #expectConverged(): Promise<void> {
    const statuses = await this.#controller.status(SCOPE);
    expectSame("rows", statuses.length, this.size);
    for (const { key, activity, readiness, identity } of statuses) {
      expectSame(`${key} is`, `${activity} ${String(readiness)}`, "converged ready");
      expectSame(`${key} desires`, identity, this.#wanted.get(key));
      expectSame(`${key} is published as`, this.#published.get(key)?.identity, identity);
    }
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begunAt = performance.now();
  await work();
  return performance.now() - begunAt;
}
