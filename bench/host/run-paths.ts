import { median } from "../support/rounds.js";
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
}

export interface RunOptions {
  readonly inFlight: number;
  readonly rounds: number;
  readonly roundMs: number;
}

/** Runs the paths in turn, round after round, after a warm-up. The rounds of each path, in the order of `paths`. */
export async function runPaths(paths: readonly Path[], options: RunOptions): Promise<readonly PathRound[][]> {
  const rounds = paths.map((): PathRound[] => []);
  for (const path of paths) await runRound(path, options);
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

async function runRound(path: Path, { inFlight, roundMs }: RunOptions): Promise<PathRound> {
  const times: number[] = [];
  const processBefore = await path.process.cpuUs();
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
  const calls = times.length;
  return {
    callsPerSecond: (calls / elapsedMs) * 1_000,
    p50Ms: median(times),
    clientUs: (user + system) / calls,
    processUs: processUs / calls,
  };
}
