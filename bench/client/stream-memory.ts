import { median } from "../support/rounds.js";
import { atMost, type Row } from "../support/bar.js";
import { numberFrom } from "./child.js";
import { MIB } from "./payloads.js";

const PROGRAM = new URL("./stream-memory-child.js", import.meta.url);
const MEGABYTES = 100;

/** 100 MB through one call in a process of its own: how far its resident memory grows over idle. */
export const streamMemory: Row = async ({ url }) => {
  const growths: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    growths.push(await numberFrom(PROGRAM, [url, String(MEGABYTES)], ["--expose-gc"]));
  }
  return [atMost("100 MB stream, peak RSS growth", median(growths) / MIB, "MB over idle", 32)];
};
