import { median } from "../support/rounds.js";
import type { Child } from "./child.js";
import type { Path } from "./path.js";

/** One path in one round. */
export interface PathRound {
  readonly callsPerSecond: number;
  /** The median call. */
  readonly p50Ms: number;
  /** CPU of a call in this process, with the client, in microseconds. */
  readonly clientUs: number;
  /** CPU of a call in the path's own process, in microseconds. */
  readonly processUs: number;
  /** CPU of a call in the server's process, in microseconds. */
  readonly serverUs: number;
}

export interface RunOptions {
  readonly inFlight: number;
  readonly rounds: number;
  /** Short ones, and many: the least CPU of a round is then that of one in which nothing else ran. */
  readonly roundMs: number;
  /** What all paths lead to. */
  readonly server: Child;
}

/**
 * Calls of each path before anything is measured. A program that is new runs for thousands of calls before its code is what it will
 * be; without them, whatever is in the middle would be measured cold, beside a client and a server that all paths have warmed.
 */
const WARM_UP_CALLS = 8_000;
const WARM_UP_MS = 4_000;
const WARM_UP_IN_FLIGHT = 16;

/** Runs the paths in turn, round after round, after a warm-up. The rounds of each path, in the order of `paths`. */
export async function runPaths(paths: readonly Path[], options: RunOptions): Promise<readonly PathRound[][]> {
  const rounds = paths.map((): PathRound[] => []);
  for (const path of paths) await warmUp(path);
  for (let round = 0; round < options.rounds; round += 1) {
    const turns = [...paths.entries()];
    if (round % 2 === 1) turns.reverse();
    for (const [index, path] of turns) rounds[index]?.push(await runRound(path, options));
  }
  return rounds;
}

/** The median, over the rounds, of something that two paths make together. */
export function compare(
  one: readonly PathRound[] | undefined,
  other: readonly PathRound[] | undefined,
  of: (one: PathRound, other: PathRound) => number,
): number {
  const figures = (one ?? []).flatMap((round, index) => {
    const beside = other?.[index];
    return beside === undefined ? [] : [of(round, beside)];
  });
  return median(figures);
}

/** The least of a figure over the rounds. For CPU times: whatever else happens on a machine only ever adds to them. */
export function leastOf(rounds: readonly PathRound[] | undefined, of: (round: PathRound) => number): number {
  return Math.min(...(rounds ?? []).map(of));
}

async function warmUp(path: Path): Promise<void> {
  const endAt = performance.now() + WARM_UP_MS;
  let calls = 0;
  const lane = async (): Promise<void> => {
    for (; calls < WARM_UP_CALLS && performance.now() < endAt; calls += 1) await path.call("warm");
  };
  await Promise.all(Array.from({ length: WARM_UP_IN_FLIGHT }, lane));
}

async function runRound(path: Path, { inFlight, roundMs, server }: RunOptions): Promise<PathRound> {
  const times: number[] = [];
  const processBefore = await path.process.cpuUs();
  const serverBefore = await server.cpuUs();
  const before = process.cpuUsage();
  const startedAt = performance.now();
  const endAt = startedAt + roundMs;
  const lane = async (number: number): Promise<void> => {
    for (let i = 0; ; i += 1) {
      const begunAt = performance.now();
      if (begunAt >= endAt) return;
      const text = `text ${String(number)}.${String(i)}`;
      const back = await path.call(text);
      if (back !== text) throw new Error(`${path.name} gave ${JSON.stringify(back)} back for ${JSON.stringify(text)}`);
      times.push(performance.now() - begunAt);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, number) => lane(number)));
  const elapsedMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(before);
  const processUs = (await path.process.cpuUs()) - processBefore;
  const serverUs = (await server.cpuUs()) - serverBefore;
  const calls = times.length;
  return {
    callsPerSecond: (calls / elapsedMs) * 1_000,
    p50Ms: median(times),
    clientUs: (user + system) / calls,
    processUs: processUs / calls,
    serverUs: serverUs / calls,
  };
}
