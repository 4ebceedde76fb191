import { type Contender, textOf } from "../support/contenders.js";
import { ratioOf, runRounds } from "../support/rounds.js";
import { BarePost } from "./bare-post.js";
import { atLeast, type Row } from "../support/bar.js";
import { ourClient } from "./clients.js";
import { MIRRORED_ARGUMENTS, MIRRORED_HEADERS, MIRRORING_TOOL } from "./payloads.js";

const IN_FLIGHT = 16;

/** Calls of a tool with three mirrored parameters; undici's headers are made beforehand, and the server looks at them. */
export const parameterHeaders: Row = async ({ url, quick }) => {
  const client = ourClient(url);
  const bare = new BarePost(url, MIRRORED_HEADERS);
  const callOf = (text: string) => ({ name: MIRRORING_TOOL.name, arguments: { text, ...MIRRORED_ARGUMENTS } });
  const contenders: readonly Contender[] = [
    {
      name: "remote-connector",
      call: async (text) => textOf((await client.callTool(callOf(text))).content),
      close: () => client.close(),
    },
    {
      name: "undici.request",
      call: async (text) => textOf((await bare.json("tools/call", callOf(text))).content),
      close: () => bare.close(),
    },
  ];
  try {
    await client.listAllTools();
    const pace = { inFlight: IN_FLIGHT, rounds: quick ? 5 : 9, roundMs: quick ? 250 : 700 };
    const [mine, undici] = await runRounds(contenders, pace);
    if (mine === undefined || undici === undefined) throw new Error("a contender is missing");
    return [atLeast("parameter headers", ratioOf(mine, undici), "of undici", 0.75)];
  } finally {
    await Promise.all(contenders.map((contender) => contender.close()));
  }
};
