import { median } from "../support/rounds.js";
import { atMost, type Row } from "../support/bar.js";
import { numberFrom } from "./child.js";

const PROGRAM = new URL("./cold-start-child.js", import.meta.url);

/** Import, list and first call in a fresh process each time. */
export const coldStart: Row = async ({ url, quick }) => {
  const ofUndici: number[] = [];
  const ofOfficial: number[] = [];
  for (let round = -1; round < (quick ? 5 : 15); round += 1) {
    const mine = await numberFrom(PROGRAM, ["remote-connector", url]);
    const undici = await numberFrom(PROGRAM, ["undici.request", url]);
    const official = await numberFrom(PROGRAM, ["official client", url]);
    if (round < 0) continue;
    ofUndici.push(mine / undici);
    ofOfficial.push(mine / official);
  }
  return [
    atMost("cold start", median(ofUndici), "of undici", 1.15),
    atMost("cold start", median(ofOfficial), "of official client", 1),
  ];
};
