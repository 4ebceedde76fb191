import { describe, expect, it } from "vitest";
import { withinLimit } from "../../../../src/oauth/session/discovery-limit.js";
import { FakeClock } from "../../../support/fake-clock.js";

describe("withinLimit", () => {
  it("A-11: ends what takes longer than two requests may, and tells it so", async () => {
    const clock = new FakeClock();
    let given: AbortSignal | undefined;
    const looking = withinLimit(clock, 1_000, new AbortController().signal, (signal) => {
      given = signal;
      return new Promise(() => undefined);
    }).catch((error: unknown) => error);
    await clock.advance(1_999);
    expect(given?.aborted).toBe(false);
    await clock.advance(1);
    expect(await looking).toMatchObject({
      code: "timeout",
      details: { option: "transport.requestTimeoutMs", limitMs: 2_000 },
    });
    expect(given?.aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it("A-11: ends with the signal, and leaves no timer", async () => {
    const clock = new FakeClock();
    const abort = new AbortController();
    const looking = withinLimit(clock, 1_000, abort.signal, () => new Promise(() => undefined));
    abort.abort("closed");
    await expect(looking).rejects.toBe("closed");
    expect(await withinLimit(clock, 1_000, new AbortController().signal, async () => 1)).toBe(1);
    expect(clock.pending).toBe(0);
  });
});
