import { atLeast, atMost, type Bar } from "../support/bar.js";
import { median } from "../support/rounds.js";
import { type Child, startChild } from "./child.js";
import { directPath, type Path, pathOver } from "./path.js";
import { compare, leastOf, type PathRound, runPaths } from "./run-paths.js";

export interface HostContext {
  readonly quick: boolean;
  /** Told of what is measured beside the bars. */
  readonly note: (text: string) => void;
}

/**
 * The local server in the middle of small calls, one at a time: what it adds to calls that are made directly.
 *
 * What is noted of the ends says how much of that is the machine's: in direct calls either end waits only as long as the other works,
 * and a core that waits so briefly is not put to sleep. With a third process in between they wait longer, and who writes pays for
 * waking who reads: the very same client and server cost more then, and so does everything in the middle.
 */
export async function oneAtATime(context: HostContext): Promise<readonly Bar[]> {
  return withUpstream(async (origin, upstream) => {
    const paths = [
      directPath(origin, upstream),
      await pathOver("last_list", origin),
      await pathOver("reread", origin),
      await pathOver("bare", origin),
      await pathOver("journaled", origin),
    ];
    const [direct, listed, reread, bare, journaled] = await run(paths, { inFlight: 1, server: upstream }, context);
    const directUs = leastOf(direct, endsUs);
    const cpu = (through: readonly PathRound[] | undefined): number => leastOf(through, processUs) / directUs;
    const added = (through: readonly PathRound[] | undefined): number =>
      compare(through, direct, (one, beside) => (one.p50Ms - beside.p50Ms) / beside.p50Ms);
    const note = (what: string, through: readonly PathRound[] | undefined): void =>
      context.note(
        `c1 ${what}: CPU ${cpu(through).toFixed(2)}, added p50 ${added(through).toFixed(2)} of a direct call's`,
      );
    note("with the contract re-read", reread);
    note("over a bare hop", bare);
    note("with the journal", journaled);
    const ends = [listed, bare].map((through) => (leastOf(through, endsUs) / directUs).toFixed(2));
    context.note(`c1: the ends cost ${ends.join(", over a bare hop ")} of what they cost in direct calls`);
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
      await pathOver("journaled", origin),
    ];
    const [direct, listed, reread, official, bare, journaled] = await run(
      paths,
      { inFlight: 16, server: upstream },
      context,
    );
    const speed = (one: readonly PathRound[] | undefined, other: readonly PathRound[] | undefined): number =>
      compare(one, other, (mine, beside) => mine.callsPerSecond / beside.callsPerSecond);
    const cpu = leastOf(listed, processUs) / leastOf(direct, endsUs);
    context.note(`c16: CPU of the local server ${cpu.toFixed(2)} of a direct call's`);
    context.note(`c16 with the journal: ${speed(journaled, listed).toFixed(2)} of the local server without it`);
    context.note(`c16 with the contract re-read: ${speed(reread, bare).toFixed(2)} of a bare hop`);
    return [
      atLeast("middle c16", speed(listed, official), "of official hop", 8),
      atMost("middle c16, CPU", leastOf(listed, processUs) / leastOf(official, processUs), "of official hop", 1 / 8),
      atLeast("middle c16", speed(listed, bare), "of a bare hop", 0.7),
    ];
  });
}

async function run(
  paths: readonly Path[],
  { inFlight, server }: { readonly inFlight: number; readonly server: Child },
  { quick, note }: HostContext,
): Promise<readonly PathRound[][]> {
  try {
    const rounds = await runPaths(paths, { inFlight, server, rounds: quick ? 11 : 41, roundMs: quick ? 100 : 150 });
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

function processUs(round: PathRound): number {
  return round.processUs;
}

/** What a call costs at its two ends: the client's and the server's. */
function endsUs({ clientUs, serverUs }: PathRound): number {
  return clientUs + serverUs;
}

function describe(inFlight: number, name: string, rounds: readonly PathRound[]): string {
  const of = (figure: (round: PathRound) => number): number => median(rounds.map(figure));
  const rate = of(({ callsPerSecond }) => callsPerSecond).toFixed(0);
  const p50 = of(({ p50Ms }) => p50Ms).toFixed(2);
  const client = leastOf(rounds, ({ clientUs }) => clientUs).toFixed(0);
  const process = leastOf(rounds, processUs).toFixed(0);
  return [
    `c${String(inFlight).padEnd(3)} ${name.padEnd(32)} ${rate.padStart(6)} calls/s`,
    `p50 ${p50.padStart(6)} ms`,
    `CPU at least ${client.padStart(4)} µs client, ${process.padStart(4)} µs ${name === "direct" ? "server" : "middle"}`,
  ].join("  ");
}
