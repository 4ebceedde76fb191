import { describe, expect, it } from "vitest";
import { HttpEndpoint } from "../../../src/transport/http-endpoint.js";
import { MAX_DRAINING, StreamDrain } from "../../../src/transport/stream-drain.js";
import { resolveTransportOptions } from "../../../src/transport/transport-options.js";
import { FakeClock } from "../../support/fake-clock.js";

function context() {
  const clock = new FakeClock();
  const endpoint = new HttpEndpoint(new URL("http://127.0.0.1:9/"), resolveTransportOptions({ clock }), undefined);
  const givenUp: number[] = [];
  let made = 0;
  const drain = (): StreamDrain => {
    const number = (made += 1);
    return new StreamDrain(endpoint, () => givenUp.push(number));
  };
  return { clock, endpoint, givenUp, drain };
}

describe("F-10: what is left of a finished stream", () => {
  it("is read for a second", async () => {
    const { clock, endpoint, givenUp, drain } = context();
    drain().begin();
    await clock.advance(999);
    expect(givenUp).toEqual([]);
    await clock.advance(1);
    expect(givenUp).toEqual([1]);
    expect(endpoint.lifetimes.size).toBe(0);
  });

  it("is read up to 64 KiB", () => {
    const { givenUp, drain } = context();
    const one = drain();
    one.begin();
    one.push(new Uint8Array(64 * 1024));
    expect(givenUp).toEqual([]);
    one.push(new Uint8Array(1));
    expect(givenUp).toEqual([1]);
  });

  it("is not read when that many are read already", () => {
    const { endpoint, givenUp, drain } = context();
    const drains = Array.from({ length: MAX_DRAINING + 1 }, () => {
      const one = drain();
      one.begin();
      return one;
    });
    expect(givenUp).toEqual([MAX_DRAINING + 1]);
    for (const one of drains) one.close();
    for (const one of drains) one.close();
    expect(endpoint.draining).toBe(0);
  });

  it("leaves nothing when it ended in the same turn", async () => {
    const { clock, endpoint, givenUp, drain } = context();
    const one = drain();
    one.begin();
    one.close();
    await clock.advance(5_000);
    expect(givenUp).toEqual([]);
    expect(endpoint.draining).toBe(0);
    expect(clock.pending).toBe(0);
  });
});
