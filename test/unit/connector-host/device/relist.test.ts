import { describe, expect, it } from "vitest";
import { Relist } from "../../../../src/connector-host/device/relist.js";
import { Gate } from "../../../../src/testing/gate.js";
import { FakeClock } from "../../../support/fake-clock.js";

describe("Relist", () => {
  it("H-9: asks after pauses that double up to five minutes", async () => {
    const clock = new FakeClock(0);
    const asked: number[] = [];
    const relist = new Relist(clock, async () => void asked.push(clock.now() / 1_000));
    await clock.advance(1_500_000);
    expect(asked).toEqual([30, 90, 210, 450, 750, 1_050, 1_350]);
    relist.end();
    expect(clock.pending).toBe(0);
  });

  it("H-9: news is asked after within a second, however much of it there is, and never while it is being asked", async () => {
    const clock = new FakeClock(0);
    const gate = new Gate();
    const asked: number[] = [];
    const relist = new Relist(clock, async () => {
      asked.push(clock.now());
      if (asked.length === 1) await gate.opened;
      else relist.soon();
    });
    for (let n = 0; n < 200; n += 1) relist.soon();
    await clock.advance(1_000);
    for (let n = 0; n < 200; n += 1) relist.soon();
    await clock.advance(10_000);
    expect(asked).toEqual([1_000]);
    gate.open();
    await clock.advance(2_500);
    // News that each list brings about is one list a second.
    expect(asked).toEqual([1_000, 12_000, 13_000]);
    relist.end();
    relist.soon();
    expect(clock.pending).toBe(0);
  });
});
