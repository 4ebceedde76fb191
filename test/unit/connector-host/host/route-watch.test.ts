import { expect, it } from "vitest";
import {
  judgePublished,
  judgeWithdrawn,
  type RouteFacts,
  RouteWatch,
} from "../../../../src/connector-host/host/route-watch.js";
import type { ConnectorState } from "../../../../src/connector-host/index.js";
import { FakeClock, settle } from "../../../support/fake-clock.js";

function factsOf(
  state: ConnectorState | undefined,
  members: Partial<RouteFacts> & { reason?: string } = {},
): RouteFacts {
  const { reason, ...facts } = members;
  const status =
    state === undefined ? undefined : { connectorKey: "a", state, reason, since: undefined, nextAttemptAt: undefined };
  return { status, route: undefined, isOff: false, ...facts };
}

it.each([
  ["there is", factsOf("ready", { route: { connectionId: "c-1", isDesired: true } }), false, true, undefined],
  [
    "another connection's is",
    factsOf("ready", { route: { connectionId: "c-0", isDesired: true } }),
    true,
    false,
    "not_converged",
  ],
  [
    "an older version's is",
    factsOf("ready", { route: { connectionId: "c-1", isDesired: false } }),
    true,
    false,
    "not_converged",
  ],
  ["it starts", factsOf("starting"), true, false, "starting"],
  ["it can't be reached", factsOf("offline", { reason: "timeout" }), true, false, "timeout"],
  ["its row is not applied", factsOf("authorization_required"), true, false, "authorization_required"],
  ["it is for another release", factsOf("disabled", { reason: "release_mismatch" }), false, false, "release_mismatch"],
  ["it failed", factsOf("failed", { reason: "process_exited" }), false, false, "process_exited"],
  ["it is not installed", factsOf(undefined), false, false, "not_installed"],
])("P-11: the route of a connection: %s", (_what, facts, wait, reached, reason) => {
  expect(judgePublished(facts, "c-1")).toEqual({ wait, reached, reason });
});

it.each([
  ["observed off", factsOf("authorization_required", { isOff: true }), false, true, undefined],
  [
    "observed off, but there is a route",
    factsOf("ready", { isOff: true, route: { connectionId: "c", isDesired: false } }),
    true,
    false,
    "still_published",
  ],
  ["no route, and not observed", factsOf("authorization_required"), true, false, "not_observed"],
  ["not installed", factsOf(undefined), false, true, undefined],
])("P-12: a connector that is to go: %s", (_what, facts, wait, reached, reason) => {
  expect(judgeWithdrawn(facts)).toEqual({ wait, reached, reason });
});

function setUp() {
  const clock = new FakeClock();
  const world = { facts: factsOf("starting"), reads: 0, failures: 0, tell: (): void => undefined, listeners: 0 };
  const watch = new RouteWatch({
    clock,
    read: async () => {
      world.reads += 1;
      if (world.failures > 0) {
        world.failures -= 1;
        throw new Error("busy");
      }
      return world.facts;
    },
    onNews: (_key, callback) => {
      world.tell = callback;
      world.listeners += 1;
      return () => {
        world.listeners -= 1;
      };
    },
  });
  return { clock, watch, world };
}

it("P-11: looks at every news, and once in a while without any", async () => {
  const { clock, watch, world } = setUp();
  const watching = watch.published("a", "c-1", new AbortController().signal);
  await clock.advance(0);
  expect(world.reads).toBe(1);
  world.tell();
  await settle();
  expect(world.reads).toBe(2);
  await clock.advance(5_000);
  expect(world.reads).toBe(3);
  world.facts = factsOf("ready", { route: { connectionId: "c-1", isDesired: true } });
  world.tell();
  expect(await watching).toEqual({ reached: true, reason: undefined });
  expect([world.listeners, clock.pending]).toEqual([0, 0]);
});

it("P-11: news that come while it looks are not lost", async () => {
  const { clock, watch, world } = setUp();
  const watching = watch.published("a", "c-1", new AbortController().signal);
  // The first look has begun, and has not ended.
  world.tell();
  await settle();
  expect(world.reads).toBe(2);
  world.facts = factsOf("failed");
  await clock.advance(5_000);
  expect(await watching).toEqual({ reached: false, reason: "failed" });
});

it("P-11: a store that fails for a moment is looked at again", async () => {
  const { clock, watch, world } = setUp();
  world.failures = 2;
  const watching = watch.published("a", "c-1", new AbortController().signal);
  watching.catch(() => undefined);
  await clock.advance(5_000);
  expect(world.reads).toBe(2);
  world.facts = factsOf("ready", { route: { connectionId: "c-1", isDesired: true } });
  await clock.advance(5_000);
  expect(await watching).toEqual({ reached: true, reason: undefined });
});

it("P-12: one that fails when the time is over leaves nothing to say", async () => {
  const { watch, world } = setUp();
  world.failures = 1;
  const watching = watch.withdrawn("a", AbortSignal.abort());
  expect(await watching).toEqual({ reached: false, reason: undefined });
  expect(world.listeners).toBe(0);
});

it("P-11, P-12: when the time is over it says what is known then", async () => {
  const { clock, watch, world } = setUp();
  const over = new AbortController();
  const both = [watch.published("a", "c-1", over.signal), watch.withdrawn("a", over.signal)];
  await clock.advance(0);
  world.facts = factsOf("offline", { reason: "timeout" });
  over.abort();
  expect(await Promise.all(both)).toEqual([
    { reached: false, reason: "timeout" },
    { reached: false, reason: "not_observed" },
  ]);
  expect([world.listeners, clock.pending]).toEqual([0, 0]);
});
