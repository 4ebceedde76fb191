/** Run by `node --test`: hours of retries in milliseconds, with nothing of the machine's own time or chance. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { StepClock } from "remote-connector/testing";
import { type Site, Sites } from "./reconcile/sites.js";

void test("a site that can't be opened for three hours is tried ever more seldom, and comes up by itself", async () => {
  const clock = new StepClock();
  const hours = 3 * 3_600_000;
  const tries: number[] = [];
  const open = async (): Promise<Site> => {
    tries.push(clock.now());
    if (clock.now() < 1_000_000 + hours) throw new Error("No port is free.");
    return { url: "site:home", gone: new Promise(() => undefined), close: () => undefined };
  };
  // The longest pause each time: what chance would take away, it takes away in a test of its own.
  const sites = new Sites({ clock, random: () => 0.999_999, open });

  await sites.set("home", "welcome");
  sites.start();
  await clock.advance(hours);
  assert.equal(sites.url("home"), undefined);
  const [status] = await sites.controller.status("sites");
  assert.equal(status?.activity, "parked");
  const pauses = tries.slice(1).map((at, index) => Math.round((at - (tries[index] ?? 0)) / 1_000));
  assert.deepEqual(pauses.slice(0, 7), [1, 2, 4, 8, 16, 300, 300]);

  await clock.advance(300_000);
  assert.equal(sites.url("home"), "site:home");
  await sites.close();
  assert.equal(clock.pending, 0);
});
