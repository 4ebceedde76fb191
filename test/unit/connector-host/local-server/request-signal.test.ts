import { describe, expect, it } from "vitest";
import { RequestSignal } from "../../../../src/connector-host/local-server/request-signal.js";

describe("the signal of a request", () => {
  it("H-13: fires once, with the first reason, for all that listen at that moment and for nobody that left", () => {
    const signal = new RequestSignal();
    const heard: string[] = [];
    const once = (): void => void heard.push("once");
    const leaving = (): void => {
      heard.push("leaving");
      signal.removeEventListener("abort", leaving);
    };
    const left = (): void => void heard.push("left");
    for (const listener of [leaving, once, once, left]) signal.addEventListener("abort", listener);
    signal.addEventListener("other", () => heard.push("other"));
    signal.addEventListener("abort", { handleEvent: ({ type }) => heard.push(type) });
    Object.assign(signal, { onabort: () => heard.push("onabort") });
    signal.removeEventListener("abort", left);
    expect([signal.aborted, signal.reason]).toEqual([false, undefined]);
    expect(() => signal.throwIfAborted()).not.toThrow();
    signal.abort("first");
    signal.abort("second");
    expect(heard).toEqual(["onabort", "leaving", "once", "abort"]);
    expect([signal.aborted, signal.reason]).toEqual([true, "first"]);
    expect(() => signal.throwIfAborted()).toThrow("first");
  });

  it("H-13: is a signal of the platform for who asks, before it fires and after, with the same reason", () => {
    const before = new RequestSignal();
    const { real } = before;
    expect(real).toBeInstanceOf(AbortSignal);
    expect(before.real).toBe(real);
    expect(AbortSignal.any([real]).aborted).toBe(false);
    const heard: unknown[] = [];
    real.addEventListener("abort", () => heard.push(real.reason));
    before.abort();
    expect(before.reason).toMatchObject({ name: "AbortError" });
    expect(heard).toEqual([before.reason]);
    const after = new RequestSignal();
    after.abort("enough");
    expect([after.real.aborted, after.real.reason]).toEqual([true, "enough"]);
  });
});
