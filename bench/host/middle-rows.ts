import { atLeast, atMost, type Bar } from "../client/bar.js";
import { median } from "../support/rounds.js";
import { type Child, startChild } from "./child.js";
import { directPath, type Path, pathOver } from "./path.js";
import { compare, type PathRound, runPaths } from "./run-paths.js";

export interface HostContext {
  readonly quick: boolean;
  /** Told of what is measured beside the bars. */
  readonly note: (text: string) => void;
}

/** The local server in the middle of small calls, one at a time: what it adds to calls that are made directly. */
export async function oneAtATime(context: HostContext): Promise<readonly Bar[]> {
  return withUpstream(async (origin, upstream) => {
    const paths = [
      directPath(origin, upstream),
      await pathOver("last_list", origin),
      await pathOver("reread", origin),
      await pathOver("bare", origin),
    ];
    const [direct, listed, reread, bare] = await run(paths, 1, context);
    const cpu = (through: readonly PathRound[] | undefined): number =>
      compare(through, direct, (one, beside) => one.processUs / (beside.clientUs + beside.processUs));
    const added = (through: readonly PathRound[] | undefined): number =>
      compare(through, direct, (one, beside) => (one.p50Ms - beside.p50Ms) / beside.p50Ms);
    const note = (what: string, through: readonly PathRound[] | undefined): void =>
      context.note(
        `c1 ${what}: CPU ${cpu(through).toFixed(2)}, added p50 ${added(through).toFixed(2)} of a direct call's`,
      );
    note("with the contract re-read", reread);
    note("over a bare hop", bare);
    return [
      atMost("middle c1, CPU", cpu(listed), "of a direct call's", 1.3),
      atMost("middle c1, added p50", added(listed), "of a direct call's", 1),
    ];
  });
}

/** The same with 16 in flight, beside other things that could be in the middle. */
export async function sixteenAtATime(context: HostContext): Promise<readonly Bar[]> {
  return withUpstream(async (origin, upstream) => {
    const paths = [
      directPath(origin, upstream),
      await pathOver("last_list", origin),
      await pathOver("reread", origin),
      await pathOver("official", origin),
      await pathOver("bare", origin),
    ];
    const [direct, listed, reread, official, bare] = await run(paths, 16, context);
    const speed = (one: readonly PathRound[] | undefined, other: readonly PathRound[] | undefined): number =>
      compare(one, other, (mine, beside) => mine.callsPerSecond / beside.callsPerSecond);
    const cpu = compare(listed, direct, (one, beside) => one.processUs / (beside.clientUs + beside.processUs));
    context.note(`c16: CPU of the local server ${cpu.toFixed(2)} of a direct call's`);
    context.note(`c16 with the contract re-read: ${speed(reread, bare).toFixed(2)} of a bare hop`);
    return [
      atLeast("middle c16", speed(listed, official), "of official hop", 8),
      atMost(
        "middle c16, CPU",
        compare(listed, official, (one, beside) => one.processUs / beside.processUs),
        "of official hop",
        1 / 8,
      ),
      atLeast("middle c16", speed(listed, bare), "of a bare hop", 0.7),
    ];
  });
}

async function run(
  paths: readonly Path[],
  inFlight: number,
  { quick, note }: HostContext,
): Promise<readonly PathRound[][]> {
  try {
    const rounds = await runPaths(paths, { inFlight, rounds: quick ? 3 : 7, roundMs: quick ? 400 : 1_000 });
    for (const [index, { name }] of paths.entries()) note(describe(inFlight, name, rounds[index] ?? []));
    return rounds;
  } finally {
    await Promise.all(paths.map((path) => path.close()));
  }
}

async function withUpstream<T>(work: (origin: string, upstream: Child) => Promise<T>): Promise<T> {
  const upstream = await startChild(new URL("./upstream.js", import.meta.url), []);
  try {
    return await work(`http://127.0.0.1:${String(upstream.hello)}`, upstream);
  } finally {
    await upstream.stop();
  }
}

function describe(inFlight: number, name: string, rounds: readonly PathRound[]): string {
  const of = (figure: (round: PathRound) => number): number => median(rounds.map(figure));
  const rate = of(({ callsPerSecond }) => callsPerSecond).toFixed(0);
  const p50 = of(({ p50Ms }) => p50Ms).toFixed(2);
  const client = of(({ clientUs }) => clientUs).toFixed(0);
  const process = of(({ processUs }) => processUs).toFixed(0);
  return [
    `c${String(inFlight).padEnd(3)} ${name.padEnd(32)} ${rate.padStart(6)} calls/s`,
    `p50 ${p50.padStart(6)} ms`,
    `CPU ${client.padStart(4)} µs client, ${process.padStart(4)} µs ${name === "direct" ? "server" : "middle"}`,
  ].join("  ");
}
