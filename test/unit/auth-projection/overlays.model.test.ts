import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  effectiveRow,
  type Login,
  LoginGuard,
  Readiness,
  type Snapshot,
  SnapshotSync,
} from "../../../src/auth-projection/index.js";
import type { StoreTx } from "../../../src/store/index.js";
import { FakeClock, settle } from "../../support/fake-clock.js";
import { AccountStore } from "./account-store.js";
import { entry, snapshot } from "./bodies.js";

const ACCOUNTS = ["ada", "bob"] as const;
type Account = (typeof ACCOUNTS)[number];

/** What is so, told without looking at how it is brought about. One connector; `version` 0: not granted. */
class Model {
  readonly server = { ada: { revision: 1, version: 1 }, bob: { revision: 1, version: 1 } };
  readonly known = { ada: 0, bob: 0 };
  /** What was observed last: for which version, after how many starts of a fetch, how long it is held, and what clears it. */
  readonly lowered: Partial<
    Record<Account, { version: number; starts: number; step: number; until: number; cleared: boolean }>
  > = {};
  readonly starts = { ada: 0, bob: 0 };
  current: Account | undefined;
  ready = false;

  observe(version: number, now: number): void {
    const { current } = this;
    if (current === undefined || version === 0 || this.known[current] !== version) return;
    const before = this.lowered[current];
    const same = before?.version === version;
    const back = same && before.cleared && now >= before.until;
    const step = back ? Math.min(before.step * 2 || 1_000, 300_000) : same ? before.step : 0;
    const until = back ? now + step : same ? before.until : now;
    this.lowered[current] = { version, starts: this.starts[current], step, until, cleared: false };
  }

  answer(account: Account, version: number, start: number): void {
    this.known[account] = version;
    this.ready = true;
    const lowered = this.lowered[account];
    if (lowered?.version !== version) delete this.lowered[account];
    else if (start > lowered.starts) lowered.cleared = true;
  }

  allows(account: Account, now: number): boolean {
    const lowered = this.lowered[account];
    return this.known[account] !== 0 && (lowered === undefined || (lowered.cleared && now >= lowered.until));
  }
}

/** The real thing: one process at a time, on rows that outlive it. */
class Host {
  readonly #model: Model;
  readonly clock = new FakeClock();
  readonly store = new AccountStore();
  readonly planned = new Map<string, string>();
  /** Answers that were not given yet, when they are slow. */
  readonly waiting: (() => void)[] = [];
  slow = false;
  #logins = new LoginGuard({ authorize: () => ({}) });
  #readiness = new Readiness();
  #epochs = 0;
  sync: SnapshotSync<StoreTx> | undefined;

  constructor(model: Model) {
    this.#model = model;
  }

  async login(accountId: Account): Promise<void> {
    await this.logout();
    const login = this.#logins.signIn(accountId);
    this.#epochs += 1;
    this.sync = new SnapshotSync<StoreTx>({
      login,
      logins: this.#logins,
      readiness: this.#readiness,
      scopeEpoch: String(this.#epochs),
      store: this.store,
      clock: this.clock,
      random: () => 0.5,
      source: { fetch: (signal) => this.#fetch(login, accountId, signal) },
      onChanged: (tx, keys) => this.#plan(tx, accountId, keys),
    });
    await this.clock.advance(0);
  }

  async logout(): Promise<void> {
    this.#logins.signOut();
    await this.sync?.close();
    this.sync = undefined;
    this.waiting.length = 0;
  }

  async restart(): Promise<void> {
    await this.logout();
    this.#logins = new LoginGuard({ authorize: () => ({}) });
    this.#readiness = new Readiness();
  }

  isReady(accountId: string): boolean {
    return this.#readiness.isReady(accountId, String(this.#epochs));
  }

  async stateOf(accountId: string): Promise<string> {
    return this.store.read((tx) => this.#read(tx, accountId));
  }

  async #plan(tx: StoreTx, accountId: string, keys: readonly string[]): Promise<void> {
    expect(keys).toEqual(["github"]);
    this.planned.set(accountId, await this.#read(tx, accountId));
  }

  async #read(tx: StoreTx, accountId: string): Promise<string> {
    const row = await tx.projections.get(accountId, "github");
    return row === undefined ? "disconnected" : effectiveRow(row, await tx.overlays.get(accountId, "github")).state;
  }

  #fetch(login: Login, accountId: Account, signal: AbortSignal): Promise<Snapshot> {
    const start = (this.#model.starts[accountId] += 1);
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      const answer = (): void => {
        if (!this.#logins.isCurrent(login)) return;
        const { revision, version } = this.#model.server[accountId];
        this.#model.answer(accountId, version, start);
        resolve(snapshot(revision, version === 0 ? [] : [entry("github", { connectionVersion: version })]));
      };
      if (this.slow) this.waiting.push(answer);
      else answer();
    });
  }
}

type Command = fc.AsyncCommand<Model, Host>;

/** How often the interesting things came up. */
const reached = { lowered: 0, held: 0, dropped: 0, early: 0 };

async function compare(model: Model, host: Host): Promise<void> {
  await settle();
  const now = host.clock.now();
  for (const account of ACCOUNTS) {
    const state = await host.stateOf(account);
    // The plan is never behind what counts, whoever is signed in.
    expect(host.planned.get(account) ?? "disconnected").toBe(state);
    if (account !== model.current) continue;
    expect(host.isReady(account)).toBe(model.ready);
    // Before the first snapshot of a login nothing is published, and what was recorded waits for it.
    if (!model.ready) continue;
    expect(state).toBe(model.allows(account, now) ? "connected" : "disconnected");
    const lowered = model.lowered[account];
    if (state === "connected" || lowered === undefined || model.known[account] === 0) continue;
    reached.lowered += 1;
    if (lowered.cleared) reached.held += 1;
  }
}

function command(
  name: string,
  run: (model: Model, host: Host) => Promise<void> | void,
  check?: (model: Model) => boolean,
): Command {
  return {
    check: (model) => check?.(model) ?? true,
    async run(model, host) {
      await run(model, host);
      await compare(model, host);
    },
    toString: () => name,
  };
}

const account = fc.constantFrom(...ACCOUNTS);
const signedIn = (model: Model): boolean => model.current !== undefined;
const commands: fc.Arbitrary<Command>[] = [
  fc.record({ account, revoke: fc.boolean() }).map(({ account: of, revoke }) =>
    command(`${revoke ? "revoke" : "grant"} ${of}`, ({ server }) => {
      const revision = server[of].revision + 1;
      server[of] = { revision, version: revoke ? 0 : revision };
    }),
  ),
  account.map((of) =>
    command(`login ${of}`, async (model, host) => {
      model.current = of;
      model.ready = false;
      await host.login(of);
    }),
  ),
  fc.constantFrom(true, false).map((restart) =>
    command(restart ? "restart" : "logout", async (model, host) => {
      model.current = undefined;
      await (restart ? host.restart() : host.logout());
    }),
  ),
  fc
    .constantFrom(500, 1_000, 1_000, 5_000, 60_000)
    .map((ms) => command(`wait ${String(ms)}`, (_model, { clock }) => clock.advance(ms), signedIn)),
  fc
    .boolean()
    .map((slow) => command(slow ? "slow answers" : "quick answers", (_model, host) => void (host.slow = slow))),
  fc.constant(
    command(
      "answer",
      async (_model, host) => {
        host.waiting.shift()?.();
        await settle();
      },
      signedIn,
    ),
  ),
  fc.constant(command("wake", (_model, host) => host.sync?.wake(), signedIn)),
  ...[0, 0, 0, 0, 0, 0, -1].map((off) =>
    fc.constant(
      command(
        `observe ${String(off)}`,
        async (model, host) => {
          const of = model.current;
          if (of === undefined) return;
          const version = Math.max(0, model.known[of] + off);
          const observation = { connectorKey: "github", connectionId: "conn-github", state: "disconnected" } as const;
          if (off !== 0) reached.dropped += 1;
          if (host.waiting.length > 0) reached.early += 1;
          model.observe(version, host.clock.now());
          await host.sync?.observe({ ...observation, connectionVersion: BigInt(version) });
        },
        signedIn,
      ),
    ),
  ),
];

describe("P-6: against a model", () => {
  it("P-4, P-6, P-8: snapshots, observations, logins, switches and restarts", async () => {
    const property = fc.asyncProperty(fc.commands(commands, { maxCommands: 60, size: "max" }), (run) =>
      fc.asyncModelRun(async () => {
        const model = new Model();
        const real = new Host(model);
        model.current = "ada";
        await real.login("ada");
        return { model, real };
      }, run),
    );
    await fc.assert(property, { seed: 606, numRuns: 2_000 });
    // A model that never gets anywhere proves nothing.
    for (const count of Object.values(reached)) expect(count).toBeGreaterThan(200);
  }, 60_000);
});
