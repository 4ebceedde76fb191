import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../src/errors.js";
import { patiently } from "../../../src/store/patience.js";
import { FakeClock } from "../../support/fake-clock.js";

const busy = (): RemoteConnectorError =>
  new RemoteConnectorError("store_in_use", { message: "busy", details: { path: "p" } });

describe("patience with others", () => {
  it("R-9: tries again at growing pauses, and answers what comes of it", async () => {
    const clock = new FakeClock(0);
    const tries: number[] = [];
    const answer = patiently(clock, 1_000, () => {
      tries.push(clock.now());
      if (tries.length < 9) throw busy();
      return "done";
    });
    await clock.advance(1_000);
    expect(await answer).toBe("done");
    expect(tries).toEqual([0, 1, 3, 7, 15, 31, 63, 113, 163]);
    expect(clock.pending).toBe(0);
  });

  it("R-9: ends with the last failure when it has waited long enough", async () => {
    const clock = new FakeClock(0);
    let tries = 0;
    const failing = patiently(clock, 100, () => {
      tries += 1;
      throw busy();
    });
    const ended = expect(failing).rejects.toMatchObject({ code: "store_in_use" });
    await clock.advance(10_000);
    await ended;
    expect(tries).toBe(8);
  });

  it("R-9: does not wait when it is something else", async () => {
    const clock = new FakeClock(0);
    const full = new RemoteConnectorError("store_full", { message: "full", details: { path: "p" } });
    await expect(
      patiently(clock, 100, () => {
        throw full;
      }),
    ).rejects.toBe(full);
    expect(clock.pending).toBe(0);
  });
});
