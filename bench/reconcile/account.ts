import { randomUUID } from "node:crypto";
import { LoginGuard, parseSnapshot, Readiness, SnapshotSync, type SyncEvent } from "remote-connector/auth-projection";
import { Controller } from "remote-connector/reconcile";
import type { StoreTx } from "remote-connector/store";
import { expectSame } from "../support/bar.js";
import { openBenchStore, type BenchStore, type StoreKind } from "./bench-store.js";
import { schedule } from "./schedule.js";

const ACCOUNT = "ada";
const SCOPE = "account:ada";
/** No two fetches begin within a second: the clock of the bench jumps over it. */
const SPACING_MS = 2_000;

/** An account of many connectors that follows its snapshots: apply, plan, and converge what changed. */
export class FollowedAccount {
  readonly #versions: number[];
  readonly #opened: BenchStore;
  readonly #controller: Controller<StoreTx, string>;
  readonly #sync: SnapshotSync<StoreTx>;
  readonly #published = new Map<string, number>();
  readonly #ran: string[] = [];
  #revision = 0;
  #jumpedMs = 0;
  #fetchedAt = 0;
  #onApplied: (tookMs: number) => void = () => undefined;

  private constructor(size: number, opened: BenchStore) {
    this.#opened = opened;
    this.#versions = Array.from({ length: size }, () => 1);
    const { store } = opened;
    const clock = { now: () => Date.now() + this.#jumpedMs, schedule };
    this.#controller = new Controller<StoreTx, string>({
      store,
      clock,
      random: Math.random,
      mintEpoch: randomUUID,
      planner: {
        keys: async (tx) => (await tx.projections.list(ACCOUNT)).map(({ connectorKey }) => connectorKey),
        facts: async (tx, _scope, key) => String((await tx.projections.get(ACCOUNT, key))?.connectionVersion),
        plan: (identity) => ({ enabled: true, identity, transition: "supersede" }),
      },
      routes: {
        fence: () => undefined,
        holds: (_scope, key, generation) => this.#published.get(key) === generation,
      },
      reconciler: {
        reconcile: async ({ key, generation }) => {
          this.#ran.push(key);
          this.#published.set(key, generation);
          return { kind: "done", readiness: "ready" };
        },
        classifyFault: () => ({ counts: true }),
      },
      limits: { resyncIntervalMs: 3_600_000 },
    });
    const logins = new LoginGuard({ authorize: () => ({}) });
    this.#sync = new SnapshotSync<StoreTx>({
      login: logins.signIn(ACCOUNT),
      logins,
      scopeEpoch: this.#controller.activateScope(SCOPE),
      readiness: new Readiness(),
      source: { fetch: async () => this.#fetch() },
      store,
      onChanged: (tx, keys) => this.#controller.planInTx(tx, SCOPE, keys),
      onEvent: (event) => this.#onEvent(event),
      clock,
    });
  }

  /** `size` connectors, of which nothing is known to the store yet. */
  static async of(size: number, kind: StoreKind): Promise<FollowedAccount> {
    return new FollowedAccount(size, await openBenchStore(kind));
  }

  /** The account's first snapshot, and everything of it converged. Milliseconds from its bytes to the end of its transaction. */
  async first(): Promise<number> {
    const tookMs = await new Promise<number>((resolve) => (this.#onApplied = resolve));
    await this.#controller.idle();
    expectSame("keys that were published", this.#published.size, this.#versions.length);
    return tookMs;
  }

  /** A snapshot in which so many connections have a new version: exactly those converge. Milliseconds as for `first`. */
  async change(count: number): Promise<number> {
    const step = this.#versions.length / count;
    const changed = Array.from({ length: count }, (_, index) => Math.floor(index * step));
    for (const index of changed) this.#versions[index] = (this.#versions[index] ?? 0) + 1;
    this.#ran.length = 0;
    this.#jumpedMs += SPACING_MS;
    const applied = new Promise<number>((resolve) => (this.#onApplied = resolve));
    this.#sync.wake();
    const tookMs = await applied;
    await this.#controller.idle();
    expectSame("keys that ran", this.#ran.sort().join(), changed.map(keyOf).sort().join());
    return tookMs;
  }

  async close(): Promise<void> {
    await this.#sync.close();
    await this.#controller.close();
    await this.#opened.close();
  }

  #fetch() {
    this.#revision += 1;
    const connectors = this.#versions.map((connectionVersion, index) => ({
      connectorId: keyOf(index),
      connectorVersion: "1.0.0",
      state: "connected",
      connectionId: `connection-${String(index)}`,
      connectionVersion,
    }));
    const body = new TextEncoder().encode(JSON.stringify({ revision: this.#revision, connectors }));
    this.#fetchedAt = performance.now();
    return parseSnapshot(body);
  }

  #onEvent(event: SyncEvent): void {
    if (event.kind === "applied") this.#onApplied(performance.now() - this.#fetchedAt);
    else if (event.kind === "failed") throw new Error("A snapshot could not be applied.", { cause: event.error });
  }
}

function keyOf(index: number): string {
  return `connector-${String(index).padStart(5, "0")}`;
}
