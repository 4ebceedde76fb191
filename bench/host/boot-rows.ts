import { atMost, type Bar } from "../support/bar.js";
import { median } from "../support/rounds.js";
import type { Boot } from "./boot-child.js";
import { startChild } from "./child.js";
import type { HostContext } from "./middle-rows.js";

/** Many connectors at boot: nobody waits for the one that is slow nor for the one that is dead, and what each holds afterwards. */
export async function boot({ quick, note }: HostContext): Promise<readonly Bar[]> {
  const count = quick ? 200 : 1_000;
  const boots: Boot[] = [];
  for (let round = 0; round < (quick ? 1 : 3); round += 1) boots.push(await bootOnce(count));
  const of = (figure: (boot: Boot) => number): number => median(boots.map(figure));
  const times = [of(({ othersMs }) => othersMs), of(({ slowMs }) => slowMs)].map((ms) => ms.toFixed(0));
  note(`${String(count)} connectors: the last of the others after ${times.join(" ms, the slow one after ")} ms`);
  return [
    atMost(
      `boot of ${String(count)}, the others`,
      of(({ othersMs, slowMs }) => othersMs / slowMs),
      "of the slow one",
      1,
    ),
    atMost(`${String(count)} idle routes`, of(({ idleBytes }) => idleBytes) / 1024, "KB each", 60),
  ];
}

async function bootOnce(count: number): Promise<Boot> {
  const fleet = await startChild(new URL("./fleet-server.js", import.meta.url), []);
  try {
    const program = new URL("./boot-child.js", import.meta.url);
    const child = await startChild(program, [String(fleet.hello), String(count)], ["--expose-gc"]);
    const { othersMs, slowMs, idleBytes }: Boot = Object(child.hello);
    await child.stop();
    return { othersMs, slowMs, idleBytes };
  } finally {
    await fleet.stop();
  }
}
