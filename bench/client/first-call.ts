import { median } from "../support/rounds.js";
import { atMost, type Row } from "../support/bar.js";
import { numberFrom } from "./child.js";

const PROGRAM = new URL("./first-call-child.js", import.meta.url);
const COUNT = 1_000;

/** The first call after a list of tools that all have output schemas, in a fresh process each time. */
export const firstCall: Row = async ({ origin, quick }) => {
  const firstMs = (how: string, lists: string): Promise<number> =>
    numberFrom(PROGRAM, [how, `${origin}/${lists}/${String(COUNT)}`, String(COUNT)]);
  const unjudged: number[] = [];
  const loaded: number[] = [];
  const judged: number[] = [];
  for (let round = -1; round < (quick ? 5 : 15); round += 1) {
    const plain = await firstMs("plain", "lists");
    const times = [
      await firstMs("plain", "typed-lists"),
      await firstMs("loaded", "typed-lists"),
      await firstMs("judged", "typed-lists"),
    ];
    if (round < 0) continue;
    for (const [index, beyond] of [unjudged, loaded, judged].entries()) beyond.push((times[index] ?? NaN) - plain);
  }
  const row = `first call, ${String(COUNT)} typed`;
  return [
    atMost(row, median(unjudged), "ms beyond plain", 10),
    atMost(`${row}, judged`, median(loaded), "ms beyond plain", 10),
    atMost(`${row}, judged, cold`, median(judged), "ms beyond plain", 10),
  ];
};
