import { setTimeout as sleep } from "node:timers/promises";
import type { Chance } from "./chance.js";
import type { ControlPlane } from "./control-plane.js";
import { bind, toolOf } from "./converge.js";
import type { HostProcess } from "./host-process.js";
import { callTool } from "./local-agent.js";
import { applyStep, pickWish, type Step } from "./script.js";
import { AUTHORIZED_KEYS, type World } from "./world.js";

const PAUSE_MS = 24;

/** Who plays a script to whom. */
export interface Stage {
  readonly host: HostProcess;
  readonly world: World;
  readonly plane: ControlPlane;
}

export interface Business {
  readonly forMs: number;
  /** There is hardly room on the disk. */
  readonly isSmall: boolean;
}

/** Plays a script until it is over or the host is. The world becomes what the whole script makes it, either way. */
export async function play(stage: Stage, script: readonly Step[]): Promise<void> {
  const { host, world, plane } = stage;
  for (const step of script) {
    applyStep(world, step);
    if (host.exit !== undefined) continue;
    plane.hint();
    await act(stage, step);
    await sleep(PAUSE_MS);
  }
}

/** What a user or an agent has to do with a step. */
async function act({ host, world }: Stage, step: Step): Promise<void> {
  if (step.do === "sign_in" || step.do === "sign_out") await settleLogin(host, world);
  const isBySelf = (step.do === "authorize" || step.do === "disconnect") && step.account === world.wanted;
  if (isBySelf) await host.send({ do: step.do, key: step.key });
  if (step.do === "wish") await world.wishes.ask(host, step);
  // Who works behind a route is only seen when the route is used.
  if (step.do === "call" || step.do === "behave") await call(host, step.key);
}

/** Signs in who is wanted, or out. */
export async function settleLogin(host: HostProcess, { wanted }: World): Promise<void> {
  await host.send(wanted === undefined ? { do: "sign_out" } : { do: "sign_in", account: wanted });
}

/**
 * Goes on with what keeps a host busy until it is dead, or for so long. Changes nothing that outlives it, but for wishes, which the
 * next host is asked to put right.
 */
export async function keepBusy(stage: Stage, chance: Chance, { forMs, isSmall }: Business): Promise<void> {
  const { host, world, plane } = stage;
  const until = Date.now() + forMs;
  for (let turn = 0; host.exit === undefined && Date.now() < until; turn += 1) {
    const key = chance.pick(AUTHORIZED_KEYS);
    if (!isSmall && turn % 2 === 1) await world.wishes.ask(host, pickWish(chance));
    if (turn % 4 === 3) {
      await host.send({ do: "authorize", key });
    } else if (turn % 4 === 0) {
      world.behave(key, turn % 8 === 0 ? "demanding" : "working");
      await call(host, key);
    } else if (turn % 4 === 1) {
      await host.send({ do: "sign_in", account: world.wanted ?? "ada" });
    } else {
      plane.hint();
      await host.send({ do: "refresh" });
    }
    await sleep(2 * PAUSE_MS);
  }
}

/** Lets an agent call; nobody waits for what comes of it. */
async function call(host: HostProcess, key: string): Promise<void> {
  const access = await bind(host);
  if (access !== undefined) void callTool(access, toolOf(key));
}
