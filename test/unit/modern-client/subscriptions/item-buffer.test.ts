import { describe, expect, it } from "vitest";
import { ItemBuffer } from "../../../../src/modern-client/subscriptions/item-buffer.js";

const LIMITS = { maxBufferedNotifications: 3, maxBufferedBytes: 10 };
const buffer = () => new ItemBuffer<string>(LIMITS, () => undefined);
const full = (option: keyof typeof LIMITS) => ({
  code: "limit_exceeded",
  delivery: "answered",
  details: { option, limit: LIMITS[option] },
});

describe("F-10: what waits to be taken is bounded", () => {
  it("in number", () => {
    const held = buffer();
    for (let i = 0; i < 3; i += 1) expect(held.push("x", 1)).toBeUndefined();
    expect(held.push("x", 1)).toMatchObject(full("maxBufferedNotifications"));
  });

  it("in bytes, of what was not taken", async () => {
    const held = buffer();
    expect(held.push("first", 10)).toBeUndefined();
    expect(held.push("second", 1)).toMatchObject(full("maxBufferedBytes"));
    await expect(held.next()).resolves.toEqual({ done: false, value: "first" });
    expect(held.push("third", 10)).toBeUndefined();
    expect(held.push("fourth", 0)).toBeUndefined();
    await held.return();
    expect(held.push("fifth", 10)).toBeUndefined();
  });

  it("and nothing is held of what somebody waits for", async () => {
    const held = buffer();
    const next = held.next();
    expect(held.push("huge", 1_000)).toBeUndefined();
    await expect(next).resolves.toEqual({ done: false, value: "huge" });
    expect(held.push("all of it", 10)).toBeUndefined();
  });

  it("what is added all the same counts, and can be replaced", () => {
    const held = buffer();
    for (let i = 0; i < 4; i += 1) held.add(String(i));
    expect(held.last).toBe("3");
    held.replaceLast("x");
    expect(held.last).toBe("x");
    expect(held.push("y", 0)).toMatchObject(full("maxBufferedNotifications"));
  });
});
