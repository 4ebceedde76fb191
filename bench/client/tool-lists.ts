import { BarePost } from "./bare-post.js";
import { atLeast, atMost, type Bar, expectSame, type Row } from "../support/bar.js";
import { ourClient } from "./clients.js";
import { speedRatio, timeInTurn, type Times, timeRatio } from "./pairs.js";

const CASES = [
  { count: 10, calls: 100 },
  { count: 1_000, calls: 10 },
  { count: 10_000, calls: 2 },
];

/** Lists of tools, every definition checked by ours. */
export const toolLists: Row = async ({ origin, quick }) => {
  const bars: Bar[] = [];
  const oursByCount = new Map<number, Times>();
  const clients = CASES.map(({ count, calls }) => {
    const url = `${origin}/lists/${String(count)}`;
    return { count, calls, client: ourClient(url), bare: new BarePost(url) };
  });
  const rounds = quick ? 7 : 11;
  try {
    for (const { count, calls, client, bare } of clients) {
      const expectTools = (tools: readonly { readonly name: string }[] = []): void => {
        expectSame("number of tools", tools.length, count);
        expectSame("last tool", tools.at(-1)?.name, `tool_${String(count - 1)}`);
      };
      const [mine, undici] = await timeInTurn(
        [
          { name: "remote-connector", work: async () => expectTools((await client.listTools()).tools) },
          { name: "undici.request", work: async () => expectTools((await bare.json("tools/list", {})).tools) },
        ],
        { rounds, calls },
      );
      bars.push(atLeast(`tools/list of ${String(count)}`, speedRatio(mine, undici), "of undici", 0.7));
    }
    const [, middle, largest] = clients;
    if (middle === undefined || largest === undefined) throw new Error("a list is missing");
    for (const [count, times] of await timeLists([middle, largest], rounds)) oursByCount.set(count, times);
    const growth = timeRatio(oursByCount.get(largest.count), oursByCount.get(middle.count));
    bars.push(
      atMost("tools/list of 10000, time per tool", (growth * middle.count) / largest.count, "of that at 1000", 1.3),
    );
  } finally {
    await Promise.all(clients.flatMap(({ client, bare }) => [client.close(), bare.close()]));
  }
  return bars;
};

async function timeLists(
  lists: readonly { readonly count: number; readonly client: ReturnType<typeof ourClient> }[],
  rounds: number,
): Promise<readonly (readonly [number, Times])[]> {
  const workers = lists.map(({ count, client }) => ({
    name: String(count),
    work: async () => expectSame("number of tools", (await client.listTools()).tools.length, count),
  }));
  const times = await timeInTurn(workers, { rounds, calls: 2 });
  return lists.map(({ count }, index) => [count, times[index] ?? []]);
}
