import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../../src/errors.js";
import {
  dueAt,
  type Machine,
  type MachineConfig,
  type MachineEvent,
  nextState,
  stateOf,
  SWITCHED_OFF,
} from "../../../../src/connect/supervision/next-state.js";
import type { SupervisedState } from "../../../../src/connect/supervision/supervised-state.js";

const SEED = 20_260_728;
const CONFIG: MachineConfig = {
  restart: true,
  firstRestartDelayMs: 500,
  longestRestartDelayMs: 8_000,
  maxRestarts: 3,
  restartWindowMs: 60_000,
  probeIntervalMs: 600_000,
  listIntervalMs: 1_000,
};
const GONE = new RemoteConnectorError("process_exited", {
  message: "gone",
  details: { exitCode: 1, signal: undefined, stderrTail: "" },
});
const FAILED = new RemoteConnectorError("timeout", {
  message: "late",
  details: { phase: "total", option: "totalTimeoutMs", limitMs: 1 },
});

/** What should be so. It knows nothing of pauses and paces. */
interface Model {
  isOn: boolean;
  isClosed: boolean;
  /** The process, as the world has it. */
  process: "none" | "starting" | "runs";
  /** Why there is none although it is on. */
  isDown: boolean;
  /** The outcome of the newest list of this process. */
  lastList: number | "failed" | undefined;
  /** A list is under way. */
  isListing: boolean;
  /** Changed since the newest list was begun. */
  isStale: boolean;
  /** When it was started by itself since its budget was last whole, and whether that is used up. */
  restartedAt: number[];
  isSpent: boolean;
}

/** The machine, and a world that does as it says. */
class World {
  machine: Machine = SWITCHED_OFF;
  now = 1_000;
  /** The life whose process is there or being started. */
  open: number | undefined;
  listing: number | undefined;
  opens = 0;
  openedAt = 0;
  closes = 0;
  lists = 0;
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  get state(): SupervisedState {
    return stateOf(this.machine);
  }

  give(event: MachineEvent): void {
    const { machine, effects } = nextState(this.machine, event, { now: this.now, random: this.#random() }, CONFIG);
    this.machine = machine;
    for (const { kind, life } of effects) {
      if (kind === "open") {
        // Two processes of one server are never there at once.
        expect(this.open).toBeUndefined();
        this.open = life;
        this.opens += 1;
        this.openedAt = this.now;
      } else if (kind === "close") {
        expect(life).toBe(this.open);
        this.open = undefined;
        this.listing = undefined;
        this.closes += 1;
      } else {
        expect(life).toBe(this.open);
        expect(this.listing).toBeUndefined();
        this.listing = life;
        this.lists += 1;
      }
    }
    const at = dueAt(this.machine);
    if (at !== undefined) expect(at).toBeGreaterThanOrEqual(this.now);
  }

  /** Lets time pass, with everything that falls due. */
  pass(ms: number): void {
    const end = this.now + ms;
    for (let at = dueAt(this.machine); at !== undefined && at <= end; at = dueAt(this.machine)) {
      this.now = at;
      this.give({ kind: "due" });
    }
    this.now = end;
  }
}

/** The life that the world has, or one that never was. */
function lifeOf(world: World): number {
  return world.open ?? -1;
}

function check(model: Model, world: World): void {
  expect(world.open !== undefined).toBe(model.process !== "none");
  expect(world.listing !== undefined).toBe(model.isListing);
  expect(world.state).toMatchObject(expected(model));
  // A change is never left without a list: one is under way or due.
  if (model.isStale) expect(world.listing !== undefined || dueAt(world.machine) !== undefined).toBe(true);
  // Whoever waits for nothing has no timer.
  if (!model.isOn || model.process === "starting") expect(dueAt(world.machine)).toBeUndefined();
}

function expected(model: Model): object {
  if (!model.isOn) return { kind: "disabled" };
  if (model.isDown) return { kind: "offline", error: GONE };
  const { lastList } = model;
  if (model.process === "starting" || lastList === undefined) return { kind: "starting" };
  if (lastList === "failed") return { kind: "degraded", reason: "list_failed", error: FAILED };
  return lastList === 0 ? { kind: "degraded", reason: "empty_list" } : { kind: "ready", tools: lastList };
}

function renew(model: Model): void {
  model.restartedAt = [];
  model.isSpent = false;
}

const FRESH = { isDown: false, lastList: undefined, isListing: false, isStale: false };

function starts(model: Model): void {
  Object.assign(model, FRESH, { process: "starting" });
}

function stops(model: Model): void {
  Object.assign(model, FRESH, { process: "none" });
}

type Act = (model: Model, world: World) => void;

class Command implements fc.Command<Model, World> {
  readonly #name: string;
  readonly #act: Act;
  readonly #can: (model: Readonly<Model>) => boolean;

  constructor(name: string, act: Act, can: (model: Readonly<Model>) => boolean = () => true) {
    this.#name = name;
    this.#act = act;
    this.#can = can;
  }

  check(model: Readonly<Model>): boolean {
    return this.#can(model);
  }

  run(model: Model, world: World): void {
    this.#act(model, world);
    check(model, world);
  }

  toString(): string {
    return this.#name;
  }
}

const runs = (model: Readonly<Model>): boolean => model.process === "runs";
const isThere = (model: Readonly<Model>): boolean => model.process !== "none";

const COMMANDS: readonly fc.Arbitrary<Command>[] = [
  fc.constant(
    new Command("enable", (model, world) => {
      world.give({ kind: "enable" });
      if (model.isOn || model.isClosed) return;
      model.isOn = true;
      renew(model);
      starts(model);
    }),
  ),
  fc.constant(
    new Command("disable", (model, world) => {
      world.give({ kind: "disable" });
      model.isOn = false;
      stops(model);
    }),
  ),
  fc.constant(
    new Command("restart", (model, world) => {
      const { opens } = world;
      world.give({ kind: "restart" });
      expect(world.opens - opens).toBe(model.isOn ? 1 : 0);
      if (!model.isOn) return;
      renew(model);
      starts(model);
    }),
  ),
  fc.constant(
    new Command("wanted", (model, world) => {
      const isSpent = world.state.kind === "offline" && world.state.next === "probe";
      world.give({ kind: "wanted" });
      // A call renews a budget that is used up, and nothing else: it doesn't cut a pause short.
      if (!isSpent) return;
      renew(model);
      starts(model);
    }),
  ),
  fc.constant(
    new Command(
      "opened",
      (model, world) => {
        world.give({ kind: "opened", life: lifeOf(world) });
        model.process = "runs";
        model.isListing = true;
      },
      (model) => model.process === "starting",
    ),
  ),
  fc.constant(
    new Command(
      "ended",
      (model, world) => {
        world.give({ kind: "ended", life: lifeOf(world), error: GONE, isLasting: false });
        stops(model);
        model.isDown = true;
        const recent = model.restartedAt.filter((at) => at > world.now - CONFIG.restartWindowMs);
        model.isSpent ||= recent.length >= CONFIG.maxRestarts;
        const { state } = world;
        expect(state).toMatchObject({ kind: "offline", next: model.isSpent ? "probe" : "restart" });
        if (state.kind !== "offline" || model.isSpent) return;
        // A restart within the budget comes within the longest pause.
        expect(state.delayMs).toBeLessThanOrEqual(CONFIG.longestRestartDelayMs);
        expect(state.delayMs).toBeGreaterThanOrEqual(CONFIG.firstRestartDelayMs / 2);
      },
      isThere,
    ),
  ),
  fc.constant(
    new Command("changed", (model, world) => {
      world.give({ kind: "changed", life: lifeOf(world) });
      // What starts is listed later than this.
      if (model.process === "runs") model.isStale = true;
    }),
  ),
  fc.constantFrom<number | "failed">(0, 1, 7, "failed").map(
    (result) =>
      new Command(
        `listed ${String(result)}`,
        (model, world) => {
          const life = lifeOf(world);
          world.listing = undefined;
          const outcome =
            result === "failed"
              ? ({ kind: "failed", error: FAILED } as const)
              : ({ kind: "listed", tools: result } as const);
          world.give({ kind: "listed", life, outcome });
          model.lastList = result;
          model.isListing = false;
          // A try that gets ready vouches for the server.
          if (model.isSpent && typeof result === "number" && result > 0) renew(model);
        },
        (model) => model.isListing,
      ),
  ),
  fc.constantFrom(1, 400, 1_000, 9_000, 700_000).map(
    (ms) =>
      new Command(`pass ${String(ms)}`, (model, world) => {
        const { opens, closes, lists } = world;
        world.pass(ms);
        // Time alone ends nothing: neither what is slow to start nor what has no tools.
        expect(world.closes).toBe(closes);
        // Nothing ends meanwhile, so that there is one start at most, and one list.
        expect(world.opens - opens).toBeLessThanOrEqual(1);
        expect(world.lists - lists).toBeLessThanOrEqual(1);
        if (world.opens > opens) {
          expect(model.isDown).toBe(true);
          if (!model.isSpent) model.restartedAt.push(world.openedAt);
          starts(model);
        }
        if (world.lists > lists) {
          expect(runs(model) && !model.isListing).toBe(true);
          // Nobody is asked again without a reason.
          expect(model.isStale || model.lastList === 0 || model.lastList === "failed").toBe(true);
          model.isListing = true;
          model.isStale = false;
        }
        if (ms >= CONFIG.longestRestartDelayMs && world.state.kind === "offline")
          expect(world.state.next).toBe("probe");
        if (ms >= CONFIG.listIntervalMs && model.isStale) expect(model.isListing).toBe(true);
        if (ms >= CONFIG.probeIntervalMs) expect(world.state.kind).not.toBe("offline");
      }),
  ),
  // What comes late from a life that is over changes nothing.
  fc
    .constantFrom<(life: number) => MachineEvent>(
      (life) => ({ kind: "opened", life }),
      (life) => ({ kind: "ended", life, error: GONE, isLasting: false }),
      (life) => ({ kind: "changed", life }),
      (life) => ({ kind: "listed", life, outcome: { kind: "listed", tools: 3 } }),
    )
    .map(
      (late) =>
        new Command(`late ${late(0).kind}`, (_model, world) => {
          const before = world.machine;
          world.give(late(before.lives - 1));
          expect(world.machine).toBe(before);
        }),
    ),
];

function freshModel(): Model {
  return { isOn: false, isClosed: false, process: "none", restartedAt: [], isSpent: false, ...FRESH };
}

describe("nextState", () => {
  it("L-16: does what a model of it says, whatever happens in whatever order", () => {
    const runsOf = fc.property(
      fc.commands([...COMMANDS], { maxCommands: 120 }),
      fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
      (commands, chance) => {
        const world = new World(() => chance.next().value);
        fc.modelRun(() => {
          const start = freshModel();
          world.give({ kind: "enable" });
          start.isOn = true;
          starts(start);
          return { model: start, real: world };
        }, commands);
        world.give({ kind: "close" });
        check({ ...freshModel(), isClosed: true }, world);
        // Nothing brings it back.
        for (const kind of ["enable", "restart", "wanted", "due"] as const) world.give({ kind });
        check({ ...freshModel(), isClosed: true }, world);
      },
    );
    fc.assert(runsOf, { seed: SEED, numRuns: 500 });
  });

  it("L-16: a server that dies whenever it is up is started as often as its budget has it, and then now and then", () => {
    const world = new World(() => 0.5);
    world.give({ kind: "enable" });
    const startedAt: number[] = [];
    for (let n = 0; n < 12; n += 1) {
      startedAt.push(world.now);
      world.give({ kind: "opened", life: lifeOf(world) });
      world.give({ kind: "ended", life: lifeOf(world), error: GONE, isLasting: false });
      world.pass((dueAt(world.machine) ?? NaN) - world.now);
    }
    const pauses = startedAt.slice(1).map((at, n) => at - (startedAt[n] ?? NaN));
    expect(pauses).toEqual([375, 750, 1_500, ...Array.from({ length: 8 }, () => 600_000)]);
  });

  it("L-16: a try that gets ready renews the budget; one that is only initialized does not", () => {
    const world = new World(() => 0);
    const end = (): void => world.give({ kind: "ended", life: lifeOf(world), error: GONE, isLasting: false });
    world.give({ kind: "enable" });
    for (let n = 0; n < 3; n += 1) {
      end();
      world.pass(CONFIG.longestRestartDelayMs);
    }
    end();
    expect(world.state).toMatchObject({ kind: "offline", next: "probe", delayMs: 600_000 });
    world.pass(600_000);
    world.give({ kind: "opened", life: lifeOf(world) });
    end();
    expect(world.state).toMatchObject({ kind: "offline", next: "probe" });
    world.pass(600_000);
    world.give({ kind: "opened", life: lifeOf(world) });
    world.give({ kind: "listed", life: lifeOf(world), outcome: { kind: "listed", tools: 1 } });
    end();
    expect(world.state).toMatchObject({ kind: "offline", next: "restart" });
  });

  it("L-16: a storm of 200 changes brings about two lists at most, the last of them after all of it", () => {
    const world = new World(() => 0);
    world.give({ kind: "enable" });
    const life = lifeOf(world);
    world.give({ kind: "opened", life });
    const listed = (): void => {
      if (world.listing === undefined) return;
      world.listing = undefined;
      world.give({ kind: "listed", life, outcome: { kind: "listed", tools: 1 } });
    };
    listed();
    let lastChangeAt = 0;
    const listsAt: number[] = [];
    for (let n = 0; n < 200; n += 1) {
      const { lists } = world;
      world.give({ kind: "changed", life });
      lastChangeAt = world.now;
      world.pass(4);
      listed();
      if (world.lists > lists) listsAt.push(world.now);
    }
    const { lists } = world;
    world.pass(60_000);
    if (world.lists > lists) listsAt.push(world.now);
    expect(listsAt).toHaveLength(2);
    expect(listsAt[1]).toBeGreaterThan(lastChangeAt);
  });
});
