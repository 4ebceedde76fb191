import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeRowId, encodeRowId } from "../../../../src/connector-host/journal/row-id.js";

const seq = fc.nat(Number.MAX_SAFE_INTEGER);

describe("ids of rows", () => {
  it("H-35: say the number, and are ordered as it is", () => {
    fc.assert(
      fc.property(seq, seq, (a, b) => {
        expect(decodeRowId(encodeRowId(a))).toBe(a);
        expect(encodeRowId(a) < encodeRowId(b)).toBe(a < b);
      }),
    );
    expect(decodeRowId(encodeRowId(0))).toBe(0);
  });

  it.each(["", "0", "zzzzzzzzzzz", "0000000000A", "0000000000-", " 0000000001", "000000000001"])(
    "H-35: %j is none",
    (id) => {
      expect(decodeRowId(id)).toBeUndefined();
    },
  );
});
