import { median } from "../support/rounds.js";

/** One way of doing a row's work: `calls` times, each answer checked. */
export interface Worker {
  readonly name: string;
  work(): Promise<void>;
}

/** Milliseconds of a worker in each round. */
export type Times = readonly number[];

export interface PairOptions {
  readonly rounds: number;
  /** How often a worker works in one round. */
  readonly calls: number;
}

/** Times the workers in turn, round after round, the order turned round each time; after a warm-up. */
export async function timeInTurn(workers: readonly Worker[], { rounds, calls }: PairOptions): Promise<Times[]> {
  const times = workers.map((): number[] => []);
  for (const worker of workers) await workFor(worker, calls);
  for (let round = 0; round < rounds; round += 1) {
    const turns = [...workers.entries()];
    if (round % 2 === 1) turns.reverse();
    for (const [index, worker] of turns) times[index]?.push(await workFor(worker, calls));
  }
  return times;
}

async function workFor(worker: Worker, calls: number): Promise<number> {
  const startedAt = performance.now();
  for (let call = 0; call < calls; call += 1) await worker.work();
  return performance.now() - startedAt;
}

/** The time of one over that of the other: the median of the rounds' ratios. */
export function timeRatio(one: Times | undefined, other: Times | undefined): number {
  return median((one ?? []).map((time, round) => time / (other?.[round] ?? Number.NaN)));
}

/** The speed of one over that of the other: the median of the rounds' ratios. */
export function speedRatio(one: Times | undefined, other: Times | undefined): number {
  return timeRatio(other, one);
}
