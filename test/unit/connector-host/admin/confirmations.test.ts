import { describe, expect, it } from "vitest";
import { Confirmations } from "../../../../src/connector-host/admin/index.js";

function confirmations() {
  const time = { now: 0 };
  return { time, asked: new Confirmations({ now: () => time.now }) };
}

describe("H-33: questions to people", () => {
  it("H-33: an answer is good for its own request, once", () => {
    const { asked } = confirmations();
    const id = asked.ask("set-enabled\n{}");
    expect(asked.take(id, "set-enabled\n{}")).toBe(true);
    expect(asked.take(id, "set-enabled\n{}")).toBe(false);
    expect(asked.size).toBe(0);
  });

  it("H-33: shown for another request, it is good for none any more", () => {
    const { asked } = confirmations();
    const id = asked.ask("a");
    expect(asked.take(id, "b")).toBe(false);
    expect(asked.take(id, "a")).toBe(false);
    expect(asked.take("", "a")).toBe(false);
  });

  it("H-33: it is good for two minutes", () => {
    const { asked, time } = confirmations();
    const [early, late] = [asked.ask("a"), asked.ask("a")];
    time.now = 119_999;
    expect(asked.take(early, "a")).toBe(true);
    time.now = 120_000;
    expect(asked.take(late, "a")).toBe(false);
  });

  it("H-33, H-16: 16 wait; with one more the oldest is gone", () => {
    const { asked } = confirmations();
    const ids = Array.from({ length: 17 }, () => asked.ask("a"));
    expect(asked.size).toBe(16);
    expect(ids.map((id) => asked.take(id, "a"))).toEqual([false, ...Array.from({ length: 16 }, () => true)]);
    expect(new Set(ids).size).toBe(17);
  });
});
