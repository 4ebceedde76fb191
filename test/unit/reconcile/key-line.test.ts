import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyLine } from "../../../src/reconcile/key-line.js";

const SEED = 20_261_201;

describe("KeyLine", () => {
  it("R-3: keeps the order of a set, whatever is added, taken from the front and removed", () => {
    const key = fc.nat(300).map((n) => `k${String(n)}`);
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("add", "remove"), key }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant("take"), key }) },
    );
    fc.assert(
      fc.property(fc.nat(200), fc.array(step, { maxLength: 400, size: "max" }), (before, steps) => {
        const line = new KeyLine();
        const set = new Set<string>();
        const add = (id: string): void => {
          line.add(id);
          set.add(id);
        };
        for (let i = 0; i < before; i += 1) add(`k${String(i)}`);
        for (const each of steps) {
          const [first] = set;
          if (each.kind === "add") add(each.key);
          const gone = each.kind === "take" ? first : each.kind === "remove" ? each.key : undefined;
          if (gone !== undefined) {
            line.remove(gone);
            set.delete(gone);
          }
          expect(line.first).toBe([...set][0]);
        }
        const rest: string[] = [];
        for (let id = line.first; id !== undefined; id = line.first) {
          rest.push(id);
          line.remove(id);
        }
        expect(rest).toEqual([...set]);
      }),
      { seed: SEED, numRuns: 200 },
    );
  }, 60_000);

  it("R-11: keeps no places of keys that come and go behind one that waits", () => {
    const line = new KeyLine();
    line.add("waits");
    for (let i = 0; i < 10_000; i += 1) {
      line.add(`k${String(i)}`);
      line.remove(`k${String(i)}`);
    }
    expect(line.places).toBeLessThan(200);
    expect(line.first).toBe("waits");
    line.add("next");
    line.remove("waits");
    expect(line.first).toBe("next");
  });

  it("R-3: takes the empty text for a key", () => {
    const line = new KeyLine();
    line.add("");
    line.add("a");
    expect(line.first).toBe("");
    line.remove("");
    expect(line.first).toBe("a");
  });
});
