import type { Contender } from "./contenders.js";

export interface Measured {
  readonly name: string;
  /** Median over the rounds. */
  readonly callsPerSecond: number;
  /** Median over the rounds, user and system, in microseconds. */
  readonly cpuPerCallUs: number;
  /** Calls per second in each round. */
  readonly rates: readonly number[];
}

export interface RoundOptions {
  readonly inFlight: number;
  readonly rounds: number;
  readonly roundMs: number;
}

/** Runs the contenders in turn, round after round, so that a machine whose speed drifts drifts for all of them. */
export async function runRounds(contenders: readonly Contender[], options: RoundOptions): Promise<Measured[]> {
  const samples = contenders.map(() => ({ rate: [] as number[], cpu: [] as number[] }));
  for (const contender of contenders) await runFor(contender, options.inFlight, options.roundMs / 2);
  for (let round = 0; round < options.rounds; round += 1) {
    for (const [index, contender] of contenders.entries()) {
      const { calls, elapsedMs, cpuUs } = await runFor(contender, options.inFlight, options.roundMs);
      samples[index]?.rate.push((calls / elapsedMs) * 1000);
      samples[index]?.cpu.push(cpuUs / calls);
    }
  }
  return contenders.map(({ name }, index) => ({
    name,
    callsPerSecond: median(samples[index]?.rate ?? []),
    rates: samples[index]?.rate ?? [],
    cpuPerCallUs: median(samples[index]?.cpu ?? []),
  }));
}

async function runFor(contender: Contender, inFlight: number, ms: number) {
  let calls = 0;
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const endAt = startedAt + ms;
  const worker = async (lane: number): Promise<void> => {
    for (let i = 0; performance.now() < endAt; i += 1) {
      const text = `text ${String(lane)}.${String(i)}`;
      const back = await contender.call(text);
      if (back !== text)
        throw new Error(`${contender.name} gave ${JSON.stringify(back)} back for ${JSON.stringify(text)}`);
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, lane) => worker(lane)));
  const used = process.cpuUsage(cpu);
  return { calls, elapsedMs: performance.now() - startedAt, cpuUs: used.user + used.system };
}

/** Throughput of one beside another: the median of the ratios round by round, since the machine's speed drifts. */
export function ratioOf(one: Measured, other: Measured): number {
  return median(one.rates.map((rate, round) => rate / (other.rates[round] ?? Number.NaN)));
}

/** `NaN` of nothing. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
