import { describe, expect, it } from "vitest";
import { callHandler } from "../../../src/legacy-client/handlers.js";

describe("callHandler", () => {
  it("W-14: reports a throw at once, and a rejection when it comes", async () => {
    const failures: string[] = [];
    callHandler(
      () => {
        throw new Error("x");
      },
      1,
      () => failures.push("thrown"),
    );
    expect(failures).toEqual(["thrown"]);
    callHandler(
      () => Promise.reject(new Error("x")),
      1,
      () => failures.push("rejected"),
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(failures).toEqual(["thrown", "rejected"]);
  });

  it("is silent about a handler that works", () => {
    const failures: string[] = [];
    const seen: number[] = [];
    callHandler(
      (value: number) => seen.push(value),
      7,
      () => failures.push("x"),
    );
    callHandler(
      () => null,
      7,
      () => failures.push("x"),
    );
    expect(seen).toEqual([7]);
    expect(failures).toEqual([]);
  });
});
