import { textOf } from "../support/contenders.js";
import { BarePost } from "./bare-post.js";
import { atLeast, type Bar, expectSame, type Row } from "../support/bar.js";
import { officialClient, ourClient } from "./clients.js";
import { speedRatio, timeInTurn } from "./pairs.js";

const CASES = [
  { count: 1, ofOfficial: 5, calls: 100 },
  { count: 100, ofOfficial: 5, calls: 20 },
  { count: 10_000, ofOfficial: 20, calls: 1 },
];

/** Streams of progress, each delivered to a handler, then the result. */
export const progressEvents: Row = async ({ url, quick }) => {
  const client = ourClient(url);
  const bare = new BarePost(url);
  const official = await officialClient(url);
  const bars: Bar[] = [];
  try {
    await client.listAllTools();
    for (const { count, ofOfficial, calls } of CASES) {
      const call = { name: "progress", arguments: { count } };
      const counted = async (run: (onProgress: (progress: number) => void) => Promise<unknown>): Promise<void> => {
        let events = 0;
        let last = 0;
        const content = await run((progress) => {
          events += 1;
          last = progress;
        });
        expectSame("events", events, count);
        expectSame("last progress", last, count);
        expectSame("result", textOf(content), "done");
      };
      const workers = [
        {
          name: "remote-connector",
          work: () =>
            counted(async (on) => {
              return (await client.callTool(call, { onProgress: ({ progress }) => on(progress) })).content;
            }),
        },
        {
          name: "undici.request",
          work: () => counted(async (on) => (await bare.stream(call, on)).content),
        },
        {
          name: "official client",
          work: () =>
            counted(async (on) => {
              return (await official.callTool(call, { onprogress: ({ progress }) => on(progress) })).content;
            }),
        },
      ];
      const [mine, undici, other] = await timeInTurn(workers, {
        rounds: quick ? 7 : 11,
        calls: quick ? calls : calls * 2,
      });
      const row = `progress events, ${String(count)}`;
      bars.push(
        atLeast(row, speedRatio(mine, undici), "of undici", 0.85),
        atLeast(row, speedRatio(mine, other), "of official client", ofOfficial),
      );
    }
  } finally {
    await Promise.all([client.close(), bare.close(), official.close()]);
  }
  return bars;
};
