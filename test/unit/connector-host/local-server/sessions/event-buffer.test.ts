import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventBuffer } from "../../../../../src/connector-host/local-server/sessions/event-buffer.js";

const bytes = (length: number): Uint8Array => new Uint8Array(length);

/** What a buffer is to be: everything that was handed out, cut down to the limits on each question. */
class Model {
  readonly all: { position: number; length: number | undefined }[] = [];
  #cleared = 0;

  add(length: number | undefined): number {
    this.all.push({ position: this.all.length + 1, length });
    return this.all.length;
  }

  clear(): void {
    this.#cleared = this.all.length;
  }

  kept(maxEvents: number, maxBytes: number): number[] {
    let left = maxBytes;
    const kept: number[] = [];
    // The limits hold at every moment, so that an event that went once never comes back.
    let floor = this.#cleared;
    for (let end = this.#cleared + 1; end <= this.all.length; end += 1) {
      const seen = this.all.slice(floor, end).filter(({ length }) => length !== undefined);
      let count = seen.length;
      let total = seen.reduce((sum, { length = 0 }) => sum + length, 0);
      for (const { position, length = 0 } of seen) {
        if (count <= maxEvents && total <= maxBytes) break;
        count -= 1;
        total -= length;
        floor = position;
      }
    }
    for (const { position, length } of this.all) {
      if (position <= floor || length === undefined) continue;
      left -= length;
      kept.push(position);
    }
    expect(left).toBeGreaterThanOrEqual(0);
    return kept;
  }
}

describe("H-16: the events of a stream that are kept", () => {
  it("are the newest within both limits, for every reader alike, and what went stays gone", () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant("append" as const), length: fc.nat(12) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant("mark" as const) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("clear" as const) }) },
    );
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 30 }),
        (steps, maxEvents, maxBytes) => {
          const buffer = new EventBuffer({ maxEvents, maxBytes });
          const model = new Model();
          for (const one of steps) {
            if (one.kind === "append") expect(buffer.append(bytes(one.length))).toBe(model.add(one.length));
            else if (one.kind === "mark") expect(buffer.mark()).toBe(model.add(undefined));
            else {
              buffer.clear();
              model.clear();
            }
            const kept = model.kept(maxEvents, maxBytes);
            const last = model.all.length;
            expect(buffer.bytes).toBe(kept.reduce((sum, at) => sum + (model.all[at - 1]?.length ?? 0), 0));
            for (let position = 0; position <= last; position += 1) {
              const replay = buffer.after(position);
              const wanted = model.all.filter((each) => each.position > position && each.length !== undefined);
              const got = replay?.events.map((event) => event.position);
              expect(got).toEqual(kept.filter((at) => at > position));
              expect(replay?.isWhole).toBe(got?.length === wanted.length);
            }
            expect(buffer.after(last + 1)).toBeUndefined();
          }
        },
      ),
    );
  });

  it("have no place that is no whole number", () => {
    const buffer = new EventBuffer({ maxEvents: 2, maxBytes: 2 });
    buffer.append(bytes(1));
    for (const position of [-1, 0.5, Number.NaN, 2]) expect(buffer.after(position)).toBeUndefined();
    expect(buffer.after(0)?.events).toHaveLength(1);
  });
});
