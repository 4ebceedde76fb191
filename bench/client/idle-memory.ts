import { median } from "../support/rounds.js";
import { atMost, type Bar, type Row } from "../support/bar.js";
import { numberFrom } from "./child.js";

const PROGRAM = new URL("./idle-memory-child.js", import.meta.url);

/** What a connected client holds while it is idle, over what its socket alone would, in a process of its own each time. */
export const idleMemory: Row = async ({ origin, quick }) => {
  const bars: Bar[] = [];
  for (const count of quick ? [1, 100] : [1, 100, 1_000]) {
    const beyond: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const held = (who: string): Promise<number> => numberFrom(PROGRAM, [who, origin, String(count)], ["--expose-gc"]);
      beyond.push((await held("remote-connector")) - (await held("socket")));
    }
    bars.push(atMost(`memory of ${String(count)} idle`, median(beyond) / 1024, "KB each", 40));
  }
  return bars;
};
