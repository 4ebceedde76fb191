import { median } from "../support/rounds.js";
import { BarePost } from "./bare-post.js";
import { atMost, type Bar, expectSame, type Row } from "../support/bar.js";
import { ourClient } from "./clients.js";

/** What is connected, each of them to a server that nothing else is connected to. */
interface Connecting {
  connect(url: string): { readonly done: Promise<void>; close(): Promise<void> };
}

const OURS: Connecting = {
  connect(url) {
    const client = ourClient(url);
    const done = client
      .discover()
      .then(({ supportedVersions }) => expectSame("version", supportedVersions[0], VERSION));
    return { done, close: () => client.close() };
  },
};

const UNDICI: Connecting = {
  connect(url) {
    const bare = new BarePost(url);
    const done = bare
      .json("server/discover", {})
      .then((found) => expectSame("version", found.supportedVersions?.[0], VERSION));
    return { done, close: () => bare.close() };
  },
};

const VERSION = "2026-07-28";
const COUNTS = [1, 10, 100];

/** A client for each of many servers, made and connected all at once, beside one exchange of undici with each. */
export const connectMany: Row = async ({ origin, quick }) => {
  const bars: Bar[] = [];
  for (const count of COUNTS) {
    const urls = Array.from({ length: count }, (_, nth) => `${origin}/servers/${String(nth)}`);
    const ratios: number[] = [];
    for (let round = -1; round < (quick ? 15 : 31); round += 1) {
      // Few connections take no time that could be measured once.
      const repeats = Math.ceil(20 / count);
      const isTurned = round % 2 === 0;
      const first = await timeOf(isTurned ? OURS : UNDICI, urls, repeats);
      const second = await timeOf(isTurned ? UNDICI : OURS, urls, repeats);
      if (round >= 0) ratios.push(isTurned ? first / second : second / first);
    }
    bars.push(atMost(`connecting ${String(count)} at once`, median(ratios), "of undici", 1.5));
  }
  return bars;
};

/** Milliseconds until all are connected, the repeats together; closing them is not counted. */
async function timeOf(connecting: Connecting, urls: readonly string[], repeats: number): Promise<number> {
  let elapsedMs = 0;
  for (let nth = 0; nth < repeats; nth += 1) {
    const startedAt = performance.now();
    const all = urls.map((url) => connecting.connect(url));
    await Promise.all(all.map(({ done }) => done));
    elapsedMs += performance.now() - startedAt;
    await Promise.all(all.map((one) => one.close()));
  }
  return elapsedMs;
}
