import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Examiner } from "./examiner.js";
import { Chance } from "./chance.js";
import { ControlPlane } from "./control-plane.js";
import { converge } from "./converge.js";
import type { Finding } from "./finding.js";
import { HostProcess } from "./host-process.js";
import { type Ending, planEndings } from "./kill-points.js";
import type { Tally } from "./ledger.js";
import { type HostOrder, killFromStart, type Sabotage } from "./orders.js";
import { keepBusy, play, settleLogin, type Stage } from "./play.js";
import { greet, writeScript } from "./script.js";
import { AUTHORIZED_KEYS, OPEN_KEY, World } from "./world.js";

/** Kills of one control plane and one state directory. */
export const KILLS_PER_ROUND = 5;

/** Every so many rounds, there is hardly room on the disk. */
const SMALL_EVERY = 4;
/** So little that events have to give way; but no file is smaller than the other number. */
const ROOM_BYTES = 8 * 1024;
const LEAST_FILE_BYTES = 64 * 1024;

/** How much faster than ours the hosts' time is. */
const SPEED = 30;
const BUSY_MS = 2_000;
const LOOK_EVERY_MS = 20;

/** Where a flow may not stay. One that is authorized waits until the snapshot shows it, for ten minutes. */
const UNDER_WAY: ReadonlySet<string> = new Set(["starting", "waiting", "cancelling"]);

export interface RoundOptions {
  readonly seed: number;
  readonly round: number;
  readonly kills: number;
  readonly sabotage: Sabotage | null;
  /** The path of the compiled host program. */
  readonly program: string;
  /** How long a host may take to converge after it was started. */
  readonly boundMs: number;
}

/** One kill, as it came. */
export interface Kill {
  /** From 1, over all rounds. */
  readonly number: number;
  /** Where it was: a point, `time` when its parent did it, or `unreached` when it had to because the point did not come. */
  readonly place: string;
  readonly nth: number;
  readonly isInsideWrite: boolean;
  /** Where it should have been. */
  readonly ending: Ending;
}

export interface Violation extends Finding {
  readonly round: number;
  /** After which kill it was found; that which was to come next when it was found in a life. */
  readonly kill: number;
}

export interface RoundResult {
  readonly kills: readonly Kill[];
  readonly violations: readonly Violation[];
  /** How often a host had become what it should be, after a start. */
  readonly convergences: number;
  readonly tally: Tally;
}

/** Plays one round: lives of a host on one directory, each but the last ended by a kill. Nothing is left of it. */
export async function runRound(options: RoundOptions): Promise<RoundResult> {
  const folder = await mkdtemp(join(tmpdir(), "chaos-"));
  const world = new World();
  const plane = await ControlPlane.listen(world);
  try {
    return await new Round(options, folder, world, plane).run();
  } finally {
    await plane.close();
    await rm(folder, { recursive: true, force: true });
  }
}

class Round {
  readonly #options: RoundOptions;
  readonly #directory: string;
  readonly #journal: string;
  readonly #world: World;
  readonly #plane: ControlPlane;
  readonly #examiner: Examiner;
  readonly #isSmall: boolean;
  readonly #startedAt = Date.now();
  readonly #kills: Kill[] = [];
  readonly #violations: Violation[] = [];
  #convergences = 0;

  constructor(options: RoundOptions, folder: string, world: World, plane: ControlPlane) {
    this.#options = options;
    this.#directory = join(folder, "state");
    this.#journal = join(folder, "journal");
    this.#world = world;
    this.#plane = plane;
    const { flows } = plane;
    this.#examiner = new Examiner({ directory: this.#directory, journal: this.#journal, world, flows });
    this.#isSmall = options.round % SMALL_EVERY === SMALL_EVERY - 1;
  }

  async run(): Promise<RoundResult> {
    const { seed, round, kills } = this.#options;
    await writeFile(this.#journal, "");
    const endings = planEndings(seed, round * KILLS_PER_ROUND, kills);
    for (const [life, ending] of endings.entries()) {
      const goesOn = await this.#live(life, ending);
      if (!goesOn) break;
    }
    if (this.#kills.length === kills) await this.#lastLife(kills);
    return {
      kills: this.#kills,
      violations: this.#violations,
      convergences: this.#convergences,
      tally: this.#examiner.ledger.tally,
    };
  }

  /** A life that ends with a kill. Answers whether there can be another one. */
  async #live(life: number, ending: Ending): Promise<boolean> {
    const { seed, round } = this.#options;
    const host = this.#start(life, ending);
    const stage: Stage = { host, world: this.#world, plane: this.#plane };
    const chance = new Chance("script", seed, round, life);
    const script = writeScript(chance, this.#isSmall);
    const alarm = new AbortController();
    if (ending.by === "time" && ending.ms < 0) void killAfter(host, -ending.ms, alarm.signal);
    if (await this.#begin(host)) {
      if (ending.by === "time" && ending.ms >= 0) void killAfter(host, ending.ms, alarm.signal);
      if (ending.by === "point" && ending.from === "converged") await host.send({ do: "arm", kill: ending });
    }
    await play(stage, script);
    await keepBusy(stage, chance, { forMs: BUSY_MS, isSmall: this.#isSmall });
    host.kill();
    const exit = await host.exited;
    alarm.abort();
    const isKilled = exit.signal === "SIGKILL";
    if (!isKilled)
      this.#find({ check: "process", says: `the host ended by itself: ${String(exit.code)}, ${exit.stderr}` });
    await this.#examine(ending);
    return isKilled;
  }

  /** A life in which nothing happens: it converges, and ends in order. */
  async #lastLife(life: number): Promise<void> {
    const host = this.#start(life, undefined);
    await this.#begin(host);
    if (!(await this.#flowsEnd(host))) this.#find({ check: "flows", says: "a flow did not go on after a restart" });
    const alarm = new AbortController();
    void killAfter(host, this.#options.boundMs, alarm.signal);
    await host.send({ do: "read_on" });
    await host.send({ do: "close" });
    const exit = await host.exited;
    alarm.abort();
    if (exit.code !== 0) this.#find({ check: "process", says: `the host did not end in order: ${exit.stderr}` });
    await this.#examine(undefined);
  }

  #start(life: number, ending: Ending | undefined): HostProcess {
    const { program, seed, round, sabotage } = this.#options;
    const order: HostOrder = {
      directory: this.#directory,
      journal: this.#journal,
      baseUrl: this.#plane.url,
      keys: [...AUTHORIZED_KEYS, OPEN_KEY],
      openKey: OPEN_KEY,
      seed: seed + round,
      life,
      lastEvent: this.#examiner.ledger.events.last,
      clock: { origin: this.#startedAt, speed: SPEED },
      maxFileBytes: this.#isSmall ? Math.max(LEAST_FILE_BYTES, this.#examiner.fileBytes + ROOM_BYTES) : null,
      sabotage,
      kill: killFromStart(ending),
    };
    this.#world.calm();
    greet(this.#world, new Chance("greeting", seed, round, life));
    return new HostProcess(program, order);
  }

  /** Waits until the host is what it should be. Answers whether it is, and lives. */
  async #begin(host: HostProcess): Promise<boolean> {
    if (!(await host.ready())) return false;
    for (const finding of await this.#world.wishes.settle(host)) this.#find(finding);
    await settleLogin(host, this.#world);
    const convergence = await converge(host, this.#world, this.#options.boundMs);
    if (convergence === "converged") this.#convergences += 1;
    else if (convergence !== "dead") this.#find(convergence);
    return convergence === "converged";
  }

  /** Whether every flow of the account that is signed in goes on to its end, or waits for nothing but a snapshot. */
  async #flowsEnd(host: HostProcess): Promise<boolean> {
    if (this.#world.wanted === undefined) return true;
    const until = Date.now() + this.#options.boundMs;
    while (Date.now() < until) {
      const reply = await host.send({ do: "flows" });
      if (reply?.kind !== "flows") return true;
      if (!reply.states.some((state) => UNDER_WAY.has(state))) return true;
      await sleep(LOOK_EVERY_MS);
    }
    return false;
  }

  async #examine(ending: Ending | undefined): Promise<void> {
    const { order, isInsideWrite, findings } = await this.#examiner.examine(ending === undefined);
    if (ending !== undefined) {
      const number = this.#options.round * KILLS_PER_ROUND + this.#kills.length + 1;
      this.#kills.push({ number, place: order?.point ?? placeOf(ending), nth: order?.nth ?? 0, isInsideWrite, ending });
    }
    for (const finding of findings) this.#find(finding);
  }

  #find(finding: Finding): void {
    const { round } = this.#options;
    const kill = round * KILLS_PER_ROUND + Math.max(1, this.#kills.length);
    this.#violations.push({ ...finding, round, kill });
  }
}

function placeOf(ending: Ending): string {
  return ending.by === "time" ? "time" : "unreached";
}

async function killAfter(host: HostProcess, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
    host.kill();
  } catch {
    // It has ended before.
  }
}
