import { median } from "../support/rounds.js";
import { BarePost } from "./bare-post.js";
import { atMost, expectSame, type Row } from "../support/bar.js";
import { ourClient } from "./clients.js";
import { timeRatio } from "./pairs.js";

const CALL = { name: "first", arguments: {} };

/** From the call to its first notification, beside undici's first bytes. The result comes later. */
export const firstNotification: Row = async ({ url, quick }) => {
  const client = ourClient(url);
  const bare = new BarePost(url);
  const ours = async (): Promise<number> => {
    const startedAt = performance.now();
    let first = Number.NaN;
    await client.callTool(CALL, {
      onProgress: ({ progress }) => {
        expectSame("progress", progress, 1);
        first = performance.now() - startedAt;
      },
    });
    return first;
  };
  const undici = async (): Promise<number> => {
    const startedAt = performance.now();
    let first = Number.NaN;
    const { body } = await bare.send("tools/call", CALL, true);
    for await (const chunk of body) {
      if (Number.isNaN(first) && chunk !== undefined) first = performance.now() - startedAt;
    }
    return first;
  };
  try {
    await client.listAllTools();
    const times: readonly [number[], number[]] = [[], []];
    for (let round = -1; round < (quick ? 9 : 21); round += 1) {
      const mine: number[] = [];
      const bares: number[] = [];
      for (let call = 0; call < 40; call += 1) {
        mine.push(await ours());
        bares.push(await undici());
      }
      if (round < 0) continue;
      times[0].push(median(mine));
      times[1].push(median(bares));
    }
    return [atMost("time to the first notification", timeRatio(times[0], times[1]), "of undici", 1.2)];
  } finally {
    await Promise.all([client.close(), bare.close()]);
  }
};
