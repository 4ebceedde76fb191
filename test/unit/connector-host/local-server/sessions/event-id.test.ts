import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeEventId, parseEventId } from "../../../../../src/connector-host/local-server/sessions/event-id.js";

describe("H-22: the id of an event", () => {
  it("says where it was, and can travel in a header", () => {
    const place = fc.record({
      tag: fc.stringMatching(/^[\w-]{1,32}$/),
      stream: fc.nat(),
      position: fc.nat(),
    });
    fc.assert(
      fc.property(place, (at) => {
        const id = encodeEventId(at);
        expect(id).toMatch(/^[\x21-\x7e]+$/);
        expect(parseEventId(id)).toEqual(at);
      }),
    );
  });

  it.each([
    "",
    "a",
    "a.1",
    "a.1.",
    "a.01.1",
    "a.1.-1",
    "a.1.1.1",
    "a b.1.1",
    "a.1.1e3",
    `a.${"9".repeat(16)}.1`,
    "..",
    "a.1.1\n",
  ])("is not %j", (id) => {
    expect(parseEventId(id)).toBeUndefined();
  });
});
