import { describe, expect, it } from "vitest";
import { KILL_POINTS, type KillOrder, planEndings, Trigger } from "../../chaos/kill-points.js";

describe("where hosts are killed", () => {
  it("R-10: every kind of point has its turn, most of them inside a write, and some by time", () => {
    const endings = planEndings(71, 0, 200);
    const points = endings.flatMap((ending) => (ending.by === "point" ? [ending.point] : []));
    expect(new Set(points)).toEqual(new Set(KILL_POINTS));
    expect(points.filter((point) => point === "plan").length).toBeGreaterThan(3);
    expect(endings.some(({ by }) => by === "time")).toBe(true);
    expect(endings.some((ending) => ending.by === "point" && ending.from === "start")).toBe(true);
  });

  it("is the same again with the same seed, in whichever pieces it is asked for", () => {
    const all = planEndings(3, 0, 30);
    expect(planEndings(3, 0, 30)).toEqual(all);
    expect(planEndings(3, 10, 5)).toEqual(all.slice(10, 15));
    expect(planEndings(4, 0, 30)).not.toEqual(all);
  });

  it("is at the nth time that the host comes there, counted from when it was told", () => {
    const killed: KillOrder[] = [];
    const trigger = new Trigger((order) => killed.push(order));
    trigger.at("plan");
    trigger.arm({ point: "plan", nth: 2 });
    trigger.at("plan");
    trigger.at("begin");
    expect(killed).toEqual([]);
    trigger.at("plan");
    trigger.at("plan");
    expect(killed).toEqual([{ point: "plan", nth: 2 }]);
  });
});
