import { describe, expect, it } from "vitest";
import { Readiness } from "../../../src/auth-projection/index.js";

describe("P-7: readiness", () => {
  it("P-7: needs a snapshot in this scope epoch, and says once that it came", () => {
    const readiness = new Readiness();
    readiness.open("acc", "s1");
    expect(readiness.isReady("acc", "s1")).toBe(false);
    expect(readiness.confirm("acc", "s1")).toBe(true);
    expect(readiness.confirm("acc", "s1")).toBe(false);
    expect(readiness.isReady("acc", "s1")).toBe(true);
  });

  it("P-7: another scope epoch begins without it, and what comes for the old one is ignored", () => {
    const readiness = new Readiness();
    readiness.open("acc", "s1");
    readiness.confirm("acc", "s1");
    readiness.open("acc", "s2");
    expect(readiness.confirm("acc", "s1")).toBe(false);
    readiness.shut("acc", "s1");
    expect([readiness.isReady("acc", "s1"), readiness.isReady("acc", "s2")]).toEqual([false, false]);
    expect(readiness.confirm("acc", "s2")).toBe(true);
  });

  it("P-7: accounts are apart, and a shut one is forgotten", () => {
    const readiness = new Readiness();
    readiness.open("one", "s");
    readiness.confirm("one", "s");
    expect(readiness.isReady("two", "s")).toBe(false);
    expect(readiness.confirm("two", "s")).toBe(false);
    readiness.shut("one", "s");
    expect(readiness.isReady("one", "s")).toBe(false);
  });
});
