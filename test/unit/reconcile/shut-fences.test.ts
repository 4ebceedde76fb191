import { describe, expect, it } from "vitest";
import { ShutFences } from "../../../src/reconcile/shut-fences.js";

describe("fences of shut scopes", () => {
  it("R-2: are handed over once, each key with its last generation", () => {
    const fences = new ShutFences();
    fences.raise("a", "x", 1);
    fences.raise("a", "y", 2);
    fences.raise("a", "x", 3);
    fences.raise("b", "x", 4);
    expect([...fences.take("a")]).toEqual([
      ["x", 3],
      ["y", 2],
    ]);
    expect([...fences.take("a")]).toEqual([]);
    expect([...fences.take("b")]).toEqual([["x", 4]]);
    expect(fences.size).toBe(0);
  });

  it("R-11: are kept for 256 scopes; those of the scope that was fenced first go", () => {
    const fences = new ShutFences();
    for (let i = 0; i < 300; i += 1) fences.raise(`s${String(i)}`, "x", i);
    expect(fences.size).toBe(256);
    expect([...fences.take("s43")]).toEqual([]);
    expect([...fences.take("s44")]).toEqual([["x", 44]]);
    expect([...fences.take("s299")]).toEqual([["x", 299]]);
  });
});
