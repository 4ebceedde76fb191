import { textOf } from "../support/contenders.js";
import { atMost, expectSame, type Row } from "../support/bar.js";
import { ourClient } from "./clients.js";
import { timeInTurn, timeRatio } from "./pairs.js";
import { MIB } from "./payloads.js";

const SMALLER = 8;
const LARGER = 32;

/** One event of 8 and of 32 MB: the time of each megabyte must not grow with the event. */
export const bigEvent: Row = async ({ url, quick }) => {
  const client = ourClient(url);
  const workOf = (count: number) => ({
    name: `${String(count)} MB`,
    work: async () => {
      const { content } = await client.callTool({ name: "big-event", arguments: { count } });
      expectSame("length of the text", textOf(content).length, count * MIB);
    },
  });
  try {
    await client.listAllTools();
    const [small, large] = await timeInTurn([workOf(SMALLER), workOf(LARGER)], { rounds: quick ? 5 : 11, calls: 1 });
    const aMegabyte = (timeRatio(large, small) * SMALLER) / LARGER;
    return [atMost("one event of 32 MB, time per MB", aMegabyte, "of that at 8 MB", 1.3)];
  } finally {
    await client.close();
  }
};
