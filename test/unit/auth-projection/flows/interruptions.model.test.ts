import { describe, expect, it } from "vitest";
import {
  type AuthorizationFlows,
  type FlowSessions,
  type ProjectionTx,
} from "../../../../src/auth-projection/index.js";
import { isFinished } from "../../../../src/auth-projection/flows/decide-flow.js";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import type { StoreTx } from "../../../../src/store/index.js";
import { settle } from "../../../support/fake-clock.js";
import { session, succeeded, track, wantsSecret, World } from "./world.js";

const MINUTE = 60_000;
const options = { connectorVersion: "1.0.0" };

type Story = (flows: AuthorizationFlows<ProjectionTx>) => Promise<unknown>;
type Interruption = (flows: AuthorizationFlows<ProjectionTx>) => unknown;

/** Flows as callers have them, each to its result. */
const stories: Readonly<Record<string, Story>> = {
  async page(flows) {
    world.sessions.onBegin = session();
    return (await flows.start("github", options)).result;
  },
  async secret(flows) {
    world.sessions.onBegin = wantsSecret();
    return (await flows.start("github", { ...options, secret: new TextEncoder().encode("key") })).result;
  },
  async "secret that is typed"(flows) {
    world.sessions.onBegin = wantsSecret();
    const { result } = await flows.start("github", options);
    await flows.submitSecret("github", new TextEncoder().encode("key"));
    return result;
  },
};

const interruptions: Readonly<Record<string, Interruption>> = {
  "the login ends": () => world.logins.signOut(),
  "the flows are closed": (flows) => void flows.close(),
  "it is cancelled": (flows) => keep(flows.cancel("github")),
  "it is replaced": (flows) => keep(flows.start("github", { ...options, replace: true })),
  "it is disconnected": (flows) => keep(flows.disconnect("github")),
  "the account signs in again": () => void world.login(),
  "the store fails": () => "fails before",
  "the store fails when it has written": () => "fails after",
};

let world: World;
let promises: ReturnType<typeof track>[];

function keep(promise: Promise<unknown>): void {
  promises.push(track(promise.then((value) => value ?? "resolved")));
}

/** Flows of a new login which `act` interrupts at their step of this number: before or after a request or a transaction. */
function interrupted(
  target: number,
  act: Interruption,
): { readonly flows: AuthorizationFlows<ProjectionTx>; readonly steps: () => number } {
  let count = 0;
  const step = (): unknown => {
    count += 1;
    return count === target ? act(flows) : undefined;
  };
  const asked = async <T>(ask: () => Promise<T>): Promise<T> => {
    step();
    const answer = await ask();
    step();
    return answer;
  };
  const inStore = async <T>(run: () => Promise<T>): Promise<T> => {
    const before = step();
    if (before === "fails before") throw new Error("full");
    const result = await run();
    if (before === "fails after" || step() === "fails after") throw new Error("full");
    return result;
  };
  const { sessions, store } = world;
  const watched: FlowSessions = {
    begin: (...request) => asked(() => sessions.begin(...request)),
    complete: (...request) => asked(() => sessions.complete(...request)),
    observe: (...request) => asked(() => sessions.observe(...request)),
    end: (...request) => asked(() => sessions.end(...request)),
    disconnect: (...request) => asked(() => sessions.disconnect(...request)),
  };
  const flows = world.login({
    sessions: watched,
    store: {
      read: (work: (tx: StoreTx) => Promise<never>) => inStore(() => store.read(work)),
      write: (work: (tx: StoreTx) => Promise<never>) => inStore(() => store.write(work)),
    },
  });
  return { flows, steps: () => count };
}

/** Tells one story, interrupted at one step, and what an account's next login makes of it. Answers how many steps it had. */
async function play(story: Story, act: Interruption, target: number): Promise<number> {
  world = new World();
  promises = [];
  world.sessions.onObserve = succeeded();
  const { flows, steps } = interrupted(target, act);
  await world.clock.advance(0);
  world.show("c-1");
  keep(story(flows));
  await world.clock.advance(25 * MINUTE);
  for (const { value, error } of promises) {
    expect(value ?? error).toBeDefined();
    if (error instanceof Error && error.message !== "full") expect(isRemoteConnectorError(error)).toBe(true);
  }
  if (target === 0) expect(promises).toMatchObject([{ value: { authorized: true, published: true } }]);
  // A secret is given once, and nothing is left of it.
  expect(world.sessions.secrets.length).toBeLessThanOrEqual(1);
  for (const bytes of world.sessions.given) expect([...bytes]).toEqual([0, 0, 0]);
  await flows.close();
  world.login();
  await world.clock.advance(25 * MINUTE);
  const rows = await world.store.read((tx) => tx.flows.list("acc"));
  expect(rows.filter((row) => !isFinished(row))).toEqual([]);
  await world.close();
  await settle();
  expect(world.clock.pending).toBe(0);
  return steps();
}

describe.each(Object.entries(stories))("a flow with a %s", (_what, story) => {
  it.each(Object.entries(interruptions))(
    "P-10, P-11: everything comes to an end at whichever step %s",
    async (what, act) => {
      const steps = await play(story, () => undefined, 0);
      expect(steps).toBeGreaterThan(10);
      for (let target = 1; target <= steps; target += 1) {
        await play(story, act, target).catch((error: unknown) => {
          throw new Error(`${what}, at step ${String(target)} of ${String(steps)}`, { cause: error });
        });
      }
    },
  );
});
