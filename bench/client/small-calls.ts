import { bareUndici, official, ours } from "../support/contenders.js";
import { ratioOf, runRounds } from "../support/rounds.js";
import { atLeast, atMost, type Bar, type Row } from "../support/bar.js";

const REACH_OF_OFFICIAL = { 1: 5, 16: 8, 64: 8, 256: 5 };

/** Small calls whose answers are JSON, beside both others. */
export const smallCalls: Row = async ({ url, quick }) => {
  const contenders = [ours(url), bareUndici(url), await official(url)];
  const bars: Bar[] = [];
  try {
    for (const inFlight of quick ? ([16] as const) : ([1, 16, 64, 256] as const)) {
      const measured = await runRounds(contenders, { inFlight, rounds: quick ? 5 : 7, roundMs: quick ? 400 : 500 });
      const [mine, undici, other] = measured;
      if (mine === undefined || undici === undefined || other === undefined) throw new Error("a contender is missing");
      const row = `small call c${String(inFlight)}`;
      bars.push(
        atLeast(row, ratioOf(mine, undici), "of undici", 0.9),
        atMost(`${row}, CPU`, mine.cpuPerCallUs / undici.cpuPerCallUs, "of undici", 1.25),
        atLeast(row, ratioOf(mine, other), "of official client", REACH_OF_OFFICIAL[inFlight]),
        atMost(`${row}, CPU`, mine.cpuPerCallUs / other.cpuPerCallUs, "of official client", 0.125),
      );
    }
  } finally {
    await Promise.all(contenders.map((contender) => contender.close()));
  }
  return bars;
};
