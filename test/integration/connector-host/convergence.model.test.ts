import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Login,
  LoginGuard,
  parseSnapshot,
  Readiness,
  type Snapshot,
  SnapshotSync,
} from "../../../src/auth-projection/index.js";
import { ConnectorCatalog } from "../../../src/connector-host/catalog/index.js";
import { accountScope } from "../../../src/connector-host/host/account-scope.js";
import { FactsReader } from "../../../src/connector-host/host/facts-reader.js";
import { type ConnectorFacts, planConnector, readConnection } from "../../../src/connector-host/host/plan-connector.js";
import { UnwrittenNews } from "../../../src/connector-host/host/unwritten-news.js";
import { Route, type RouteClient, RouteTable } from "../../../src/connector-host/routes/index.js";
import { Controller, type Outcome, type RunContext } from "../../../src/reconcile/index.js";
import { createMemoryStore, type StoreTx } from "../../../src/store/index.js";
import { FakeClock, settle } from "../../support/fake-clock.js";
import { releaseEntryOf } from "../../support/release-entries.js";
import { connected } from "../../support/scripted-gateway.js";

/** Another run of the same kind: `CONVERGENCE_SEED=7 npx vitest run …`. A failure prints the seed and its path. */
const SEED = Number(process.env["CONVERGENCE_SEED"] ?? 20_261_201);
const RUNS = 2_000;

const ACCOUNTS = ["ada", "bob"] as const;
type Account = (typeof ACCOUNTS)[number];
/** What a server may say of a connector. */
type Word = { readonly version: number; readonly connection: string } | "malformed" | "nothing";
const KEYS = ["a", "b"] as const;
type Key = (typeof KEYS)[number];
type Words = Record<Key, Word>;
/** A connector that needs a login, and no authorization. */
const OPEN = "open";

interface Lowered {
  readonly word: Word;
  readonly starts: number;
  readonly step: number;
  readonly until: number;
  cleared: boolean;
}

/** What should be published, told without looking at how it comes about. */
class Model {
  current: Account | undefined;
  ready = false;
  /** What each server would say now, and at which revision; what was applied of it last; and what was observed against that. */
  readonly server = { ada: atFirst(), bob: atFirst() };
  readonly known: Record<Account, Words> = { ada: { a: "nothing", b: "nothing" }, bob: { a: "nothing", b: "nothing" } };
  readonly lowered = { ada: new Map<Key, Lowered>(), bob: new Map<Key, Lowered>() };
  /** Fetches that were started, and snapshots in a row that went backwards. */
  readonly starts = { ada: 0, bob: 0 };
  readonly stale = { ada: 0, bob: 0 };

  published(now: number): string[] {
    const { current } = this;
    if (current === undefined) return [];
    const granted = KEYS.flatMap((key) => {
      const word = this.known[current][key];
      const lowered = this.lowered[current].get(key);
      const isFree = lowered === undefined || (lowered.cleared && now >= lowered.until);
      return this.ready && isFree && typeof word === "object" ? [`${key} ${word.connection}@${word.version}`] : [];
    });
    return [...granted, OPEN];
  }

  applied(account: Account, words: Words, start: number): void {
    this.known[account] = words;
    this.ready = true;
    for (const [key, lowered] of this.lowered[account]) {
      if (!isSame(lowered.word, words[key])) this.lowered[account].delete(key);
      else if (start > lowered.starts) lowered.cleared = true;
    }
  }

  observed(key: Key, word: Word, now: number): void {
    const { current } = this;
    if (current === undefined || typeof word !== "object" || !isSame(this.known[current][key], word)) return;
    const before = this.lowered[current].get(key);
    const isBack = before !== undefined && before.cleared && now >= before.until;
    const step = isBack ? Math.min(before.step * 2 || 1_000, 300_000) : (before?.step ?? 0);
    const until = isBack ? now + step : (before?.until ?? now);
    this.lowered[current].set(key, { word, starts: this.starts[current], step, until, cleared: false });
  }
}

function atFirst(): { revision: number; words: Words } {
  return { revision: 1, words: { a: { version: 1, connection: "x" }, b: "nothing" } };
}

function isSame(one: Word, other: Word): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

const catalog = new ConnectorCatalog([
  ...KEYS.map((key) => releaseEntryOf(key)),
  releaseEntryOf(OPEN, { authorization: { kind: "none" } }),
]);

/** A client of the login that was the present one when it was made. */
interface LoginClient extends RouteClient {
  readonly login: Login | undefined;
}

/** The parts of a host that live in a process, wired as the host wires them. */
class Process {
  readonly logins = new LoginGuard({ authorize: () => ({}) });
  readonly readiness = new Readiness();
  readonly routes: RouteTable<LoginClient>;
  readonly controller: Controller<StoreTx, ConnectorFacts>;
  sync: SnapshotSync<StoreTx> | undefined;
  #scope: string | undefined;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    const { clock, store } = world;
    this.routes = new RouteTable({ clock });
    const facts = new FactsReader({
      catalog,
      readiness: this.readiness,
      news: new UnwrittenNews(),
      epochOf: (scope) => this.controller.epochOf(scope),
      isRefused: () => false,
    });
    this.controller = new Controller<StoreTx, ConnectorFacts>({
      store,
      clock,
      random: () => 0.5,
      mintEpoch: () => world.mintEpoch(),
      planner: {
        keys: async () => catalog.keys,
        facts: (tx, scope, key) => facts.read(tx, scope, key),
        plan: planConnector,
      },
      routes: {
        fence: (scope, key, generation) => this.routes.fence(scope, key, generation),
        holds: (scope, key, generation) => this.routes.holds(scope, key, generation),
      },
      reconciler: { reconcile: (context) => this.#reconcile(context), classifyFault: () => ({ counts: true }) },
    });
  }

  signIn(account: Account): void {
    this.signOut();
    const login = this.logins.signIn(account);
    const scope = accountScope(account);
    const scopeEpoch = this.controller.activateScope(scope);
    this.routes.openScope(scope, scopeEpoch);
    this.#scope = scope;
    this.sync = new SnapshotSync<StoreTx>({
      login,
      logins: this.logins,
      scopeEpoch,
      readiness: this.readiness,
      store: this.#world.store,
      clock: this.#world.clock,
      random: () => 0.5,
      source: { fetch: () => this.#world.fetch(login, account, () => this.logins.isCurrent(login)) },
      onChanged: (tx, keys) => this.controller.planInTx(tx, scope, keys),
      onEvent: (event) => {
        if ((event.kind === "applied" || event.kind === "confirmed") && event.becameReady) this.controller.wake(scope);
      },
    });
  }

  signOut(): void {
    const { sync } = this;
    if (this.#scope === undefined || sync === undefined) return;
    this.logins.signOut();
    this.controller.shutScope(this.#scope);
    this.routes.fenceAll(this.#scope);
    this.sync = undefined;
    this.#scope = undefined;
  }

  /** Nothing of it acts any more; what it had asked the store for is done or isn't. */
  async die(): Promise<void> {
    this.signOut();
    await this.controller.close();
  }

  async #reconcile({ scope, key, generation, epoch, enabled, identity }: RunContext): Promise<Outcome> {
    const connection = readConnection(identity);
    if (!enabled) await this.routes.remove(scope, key, generation);
    else if (!this.routes.holds(scope, key, generation)) {
      const client: LoginClient = { login: this.logins.current, close: () => Promise.resolve() };
      // One that hangs does not listen to its signal.
      if (this.#world.hangs) await new Promise<void>((resolve) => this.#world.hanging.push(resolve));
      const route = new Route<LoginClient>({
        connectorKey: key,
        scope,
        scopeEpoch: epoch,
        generation,
        releaseDigest: connection?.digest ?? "",
        connectionId: connection?.connectionId ?? undefined,
        connectionVersion: connection?.connectionVersion ?? 0n,
        client,
        tools: new Map(),
      });
      const committed = await this.routes.commit(route);
      if (!committed.published) throw new Error(committed.refusal);
    }
    return { kind: "done", readiness: "ready" };
  }
}

/** Everything that outlives a process, and the process that there is. */
class World {
  readonly clock = new FakeClock();
  readonly store = createMemoryStore();
  readonly model: Model;
  process: Process;
  /** Answers that were not given yet; those of a login that has ended are given all the same. */
  readonly waiting: (() => void)[] = [];
  isSlow = false;
  /** Whether activations that begin hang, and those that do. */
  hangs = false;
  readonly hanging: (() => void)[] = [];
  /** The next answer is of a revision that was before. */
  goesBack = false;
  #epochs = 0;

  constructor(model: Model) {
    this.model = model;
    this.process = new Process(this);
  }

  mintEpoch(): string {
    this.#epochs += 1;
    return `e${String(this.#epochs)}`;
  }

  fetch(_login: Login, account: Account, isCurrent: () => boolean): Promise<Snapshot> {
    const { model } = this;
    const start = (model.starts[account] += 1);
    return new Promise((resolve) => {
      const answer = (): void => {
        const { revision, words } = model.server[account];
        const goesBack = this.goesBack && revision > 1;
        this.goesBack = false;
        if (goesBack) reached.held += 1;
        if (!isCurrent()) reached.late += 1;
        else if (goesBack) model.stale[account] += 1;
        else {
          model.stale[account] = 0;
          model.applied(account, words, start);
        }
        resolve(bodyOf(goesBack ? 0 : revision, goesBack ? { a: "nothing", b: "nothing" } : words));
      };
      if (this.isSlow) this.waiting.push(answer);
      else answer();
    });
  }

  /** Everything that hangs goes on, whosever it is. */
  goOn(): void {
    this.hangs = false;
    for (const goOn of this.hanging.splice(0)) goOn();
  }

  async restart(): Promise<void> {
    const dying = this.process;
    await dying.die();
    this.process = new Process(this);
  }

  /** Everything has happened that can happen now; then what is there is what the model says. */
  async compare(): Promise<void> {
    const { model, clock, process, store } = this;
    await settle();
    await process.controller.idle();
    await settle();
    const routes = process.routes.list();
    const seen = routes.map(({ connectorKey, connectionId, connectionVersion }) =>
      connectorKey === OPEN ? OPEN : `${connectorKey} ${String(connectionId)}@${String(connectionVersion)}`,
    );
    expect(seen).toEqual(model.published(clock.now()));
    const scope = model.current === undefined ? undefined : accountScope(model.current);
    const epoch = scope === undefined ? undefined : process.controller.epochOf(scope);
    const rows = scope === undefined ? [] : await store.read((tx) => tx.convergence.listScope(scope));
    const byKey = new Map(rows.map((row) => [row.key, row]));
    for (const route of routes) {
      expect(route).toMatchObject({ scope, scopeEpoch: epoch, state: "open" });
      expect(route.client.login).toBe(process.logins.current);
      expect(byKey.get(route.connectorKey)?.desired).toMatchObject({ enabled: true, generation: route.generation });
    }
    for (const { desired, observed } of rows) {
      const { readiness, since: _since, ...rest } = observed ?? { readiness: undefined, since: 0 };
      expect(rest).toEqual({ ...desired, epoch });
      expect(readiness).toBe(desired.enabled ? "ready" : "off");
    }
    expect(process.routes.counts.retiring).toBe(0);
    for (const word of seen) if (word !== OPEN) reached.published += 1;
    if (model.current !== undefined && model.lowered[model.current].size > 0) reached.lowered += 1;
  }
}

function bodyOf(revision: number, words: Words): Snapshot {
  const connectors = KEYS.flatMap((key) => {
    const word = words[key];
    if (word === "nothing") return [];
    if (word === "malformed") return [{ connectorId: key, connectorVersion: "1.0.0", state: "sideways" }];
    return [connected(key, word.version, { connectionId: word.connection })];
  });
  return parseSnapshot(new TextEncoder().encode(JSON.stringify({ revision, connectors })));
}

/** How often the interesting things came up. */
const reached = { published: 0, held: 0, late: 0, lowered: 0, stale: 0, restarts: 0, switches: 0, interrupted: 0 };

type Command = fc.AsyncCommand<Model, World>;

function command(
  name: string,
  run: (model: Model, world: World) => Promise<void> | void,
  check: (model: Model) => boolean = () => true,
): Command {
  return {
    check,
    async run(model, world) {
      await run(model, world);
      await world.compare();
    },
    toString: () => name,
  };
}

const account = fc.constantFrom(...ACCOUNTS);
const key = fc.constantFrom(...KEYS);
const word: fc.Arbitrary<Word> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ version: fc.integer({ min: 1, max: 4 }), connection: fc.constantFrom("x", "y") }),
  },
  { weight: 1, arbitrary: fc.constant("nothing" as const) },
  { weight: 1, arbitrary: fc.constant("malformed" as const) },
);
const isSignedIn = ({ current }: Model): boolean => current !== undefined;

const says = fc.tuple(account, key, word).map(([of, about, what]) =>
  command(`server of ${of} says ${about} ${JSON.stringify(what)}`, ({ server }) => {
    const { revision, words } = server[of];
    server[of] = { revision: revision + 1, words: { ...words, [about]: what } };
  }),
);
const fetches = fc.constant(
  command(
    "fetch",
    async (_model, { process, clock }) => {
      process.sync?.wake();
      await clock.advance(1_000);
    },
    isSignedIn,
  ),
);
const goesBack = fc.constant(
  command(
    "a snapshot that goes backwards",
    async (_model, world) => {
      world.goesBack = true;
      world.process.sync?.wake();
      await world.clock.advance(1_000);
    },
    // The third in a row may be believed, which is another test's matter.
    ({ current, stale }) => current !== undefined && stale[current] < 2,
  ),
);
const observes = fc.tuple(key, fc.integer({ min: 0, max: 3 })).map(([about, chance]) =>
  command(
    `observe ${about}${chance === 0 ? ", of a connection that was before" : ""}`,
    async (model, { process, clock }) => {
      const of = model.current;
      const current = of === undefined ? "nothing" : model.known[of][about];
      if (typeof current !== "object") return;
      const used = chance === 0 ? { ...current, version: current.version + 1 } : current;
      if (chance === 0) reached.stale += 1;
      model.observed(about, used, clock.now());
      await process.sync?.observe({
        connectorKey: about,
        connectionId: used.connection,
        connectionVersion: BigInt(used.version),
        state: chance % 2 === 0 ? "expired" : "disconnected",
      });
    },
    isSignedIn,
  ),
);
const logsIn = account.map((of) =>
  command(`login ${of}`, async (model, { process, clock }) => {
    if (model.current !== undefined && model.current !== of) reached.switches += 1;
    model.current = of;
    model.ready = false;
    process.signIn(of);
    await clock.advance(0);
  }),
);
const logsOut = fc.constant(
  command("logout", (model, { process }) => {
    model.current = undefined;
    process.signOut();
  }),
);
const restarts = fc.constant(
  command("restart", async (model, world) => {
    reached.restarts += 1;
    model.current = undefined;
    await world.restart();
  }),
);
const interrupted = fc.tuple(key, fc.constantFrom(...ACCOUNTS, "nobody", "restart")).map(([about, then]) =>
  command(
    `${then} while ${about} is activated`,
    async (model, world) => {
      const of = model.current;
      if (of === undefined) return;
      const { revision, words } = model.server[of];
      model.server[of] = {
        revision: revision + 1,
        words: { ...words, [about]: { version: revision, connection: "z" } },
      };
      world.hangs = true;
      world.process.sync?.wake();
      await world.clock.advance(1_000);
      reached.interrupted += world.hanging.length;
      const dying = world.process;
      model.current = then === "ada" || then === "bob" ? then : undefined;
      model.ready = false;
      if (model.current !== undefined) dying.signIn(model.current);
      else dying.signOut();
      if (then === "restart") world.process = new Process(world);
      world.goOn();
      await world.clock.advance(0);
      if (then === "restart") await dying.die();
    },
    isSignedIn,
  ),
);
const waits = fc
  .constantFrom(500, 1_000, 5_000, 60_000)
  .map((ms) => command(`wait ${String(ms)}`, (_model, { clock }) => clock.advance(ms)));
const speeds = fc
  .boolean()
  .map((isSlow) => command(isSlow ? "slow answers" : "quick answers", (_model, world) => void (world.isSlow = isSlow)));
const answers = fc.constant(
  command("answer", (_model, { waiting }) => {
    waiting.shift()?.();
  }),
);

describe("P-3, P-4, P-6, P-7, P-8, R-1, R-2: authorization and convergence against a model", () => {
  it(`R-2, P-8: what is published is what the model says, after each of any commands (seed ${String(SEED)})`, async () => {
    const often = [
      says,
      says,
      says,
      fetches,
      fetches,
      fetches,
      observes,
      observes,
      observes,
      observes,
      logsIn,
      interrupted,
    ];
    const commands = [...often, goesBack, logsOut, restarts, waits, waits, speeds, answers];
    const property = fc.asyncProperty(fc.commands(commands, { maxCommands: 40, size: "max" }), (run) =>
      fc.asyncModelRun(async () => {
        const model = new Model();
        const real = new World(model);
        model.current = "ada";
        real.process.signIn("ada");
        await real.clock.advance(0);
        return { model, real };
      }, run),
    );
    await fc.assert(property, { seed: SEED, numRuns: RUNS });
    // A model that never gets anywhere proves nothing.
    for (const [what, count] of Object.entries(reached)) expect(count, what).toBeGreaterThan(100);
  }, 120_000);
});
