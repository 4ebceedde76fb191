import { type RoundOptions, type RoundResult, KILLS_PER_ROUND, runRound } from "./run-round.js";

/** Hosts that live at the same time. More would only wait for each other. */
const AT_ONCE = 2;

export interface RunOptions extends Omit<RoundOptions, "round" | "kills"> {
  readonly kills: number;
  /** Only this round. */
  readonly only: number | undefined;
  /** Told of each round when it is over. */
  readonly onRound: (result: RoundResult) => void;
}

/** Plays the rounds that so many kills need, or one of them. Resolves with their results in order. */
export async function runRounds({ kills, only, onRound, ...options }: RunOptions): Promise<readonly RoundResult[]> {
  const rounds = Array.from({ length: Math.ceil(kills / KILLS_PER_ROUND) }, (_, round) => ({
    round,
    kills: Math.min(KILLS_PER_ROUND, kills - round * KILLS_PER_ROUND),
  }));
  const wanted = only === undefined ? rounds : [{ round: only, kills: KILLS_PER_ROUND }];
  const results = new Map<number, RoundResult>();
  const waiting = wanted.values();
  const work = async (): Promise<void> => {
    for (const one of waiting) {
      const result = await runRound({ ...options, ...one });
      results.set(one.round, result);
      onRound(result);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return wanted.flatMap(({ round }) => results.get(round) ?? []);
}
