import { describe, expect, it } from "vitest";
import { StreamDecoder, type StreamEvent } from "../../../src/protocol/index.js";
import { cut, encode } from "./stream-bytes.js";

describe("StreamDecoder limits", () => {
  it.each([
    ["one line", (length: number) => `data: ${"x".repeat(length)}\n\n`],
    ["lines of 100 characters", (length: number) => `${`data: ${"x".repeat(100)}\n`.repeat(length / 100)}\n`],
  ])("F-10: an event of 32 MB in small chunks costs per MB about what one of 8 MB costs (%s)", (_, make) => {
    const measure = (length: number): number => {
      const bytes = encode(make(length));
      const places = Array.from({ length: Math.floor(bytes.length / 1460) }, (_place, index) => (index + 1) * 1460);
      const chunks = cut(bytes, places);
      const events: StreamEvent[] = [];
      const decoder = new StreamDecoder({ maxEventBytes: 2 * length, onEvent: (event) => events.push(event) });
      const before = performance.now();
      for (const chunk of chunks) decoder.push(chunk);
      const took = performance.now() - before;
      expect(events).toHaveLength(1);
      return took / length;
    };
    // What disturbs a measurement only adds to it, so that the least of several is nearest to the truth.
    let small = Infinity;
    let large = Infinity;
    for (let round = 0; round < 10 && !(large < 3 * small); round += 1) {
      small = Math.min(small, measure(8_000_000));
      large = Math.min(large, measure(32_000_000));
    }
    expect(large).toBeLessThan(3 * small);
  });
});
