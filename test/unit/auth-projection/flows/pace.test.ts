import { expect, it } from "vitest";
import { Pace } from "../../../../src/auth-projection/flows/pace.js";
import { FakeClock, settle } from "../../../support/fake-clock.js";
import { track } from "./world.js";

it("a step is due after its delay; a nudge ends the wait and makes nothing due", async () => {
  const clock = new FakeClock();
  const pace = new Pace(clock);
  expect(pace.isDue).toBe(true);
  pace.later(1_000);
  const first = track(pace.wait().then(() => "over"));
  await clock.advance(400);
  expect(first.value).toBeUndefined();
  pace.nudge();
  await settle();
  expect([first.value, pace.isDue, clock.pending]).toEqual(["over", false, 0]);
  const second = track(pace.wait().then(() => "over"));
  await clock.advance(599);
  expect(second.value).toBeUndefined();
  await clock.advance(1);
  expect([second.value, pace.isDue]).toEqual(["over", true]);
});

it("a nudge before the wait is not lost, and counts once", async () => {
  const clock = new FakeClock();
  const pace = new Pace(clock);
  pace.later(1_000);
  pace.nudge();
  await pace.wait();
  const next = track(pace.wait().then(() => "over"));
  await settle();
  expect(next.value).toBeUndefined();
  pace.hurry();
  await settle();
  expect([next.value, pace.isDue, clock.pending]).toEqual(["over", true, 0]);
});

it("a wall that jumps moves nothing beyond the delay", async () => {
  const clock = new FakeClock();
  let aheadMs = 0;
  const pace = new Pace({ now: () => clock.now() + aheadMs, schedule: (ms, run) => clock.schedule(ms, run) });
  pace.later(1_000);
  aheadMs = -86_400_000;
  const waited = track(pace.wait().then(() => "over"));
  await clock.advance(1_000);
  expect([waited.value, pace.isDue]).toEqual(["over", true]);
});
