import { describe, expect, it } from "vitest";
import { Chance } from "../../chaos/chance.js";
import { applyStep, type Step, writeScript } from "../../chaos/script.js";
import { WISHES } from "../../chaos/wishes.js";
import { AUTHORIZED_KEYS, World } from "../../chaos/world.js";

function worldAfter(steps: readonly Step[]): World {
  const world = new World();
  for (const step of steps) applyStep(world, step);
  return world;
}

describe("the script of a life", () => {
  it("is the same again with the same seed, and leads to the same world", () => {
    const steps = writeScript(new Chance("script", 71, 3), false);
    expect(writeScript(new Chance("script", 71, 3), false)).toEqual(steps);
    expect(worldAfter(steps).snapshot("ada")).toBe(worldAfter(steps).snapshot("ada"));
    expect(writeScript(new Chance("script", 71, 4), false)).not.toEqual(steps);
  });

  it("has everything that can happen, over many lives", () => {
    const lives = Array.from({ length: 60 }, (_, life) => writeScript(new Chance(life), true));
    expect([...new Set(lives.flat().map((step) => step.do))].sort()).toEqual([
      "authorize",
      "behave",
      "call",
      "confirm",
      "disconnect",
      "epoch",
      "expire",
      "fill",
      "grant",
      "renew",
      "revoke",
      "sign_in",
      "sign_out",
      "trouble",
    ]);
  });

  it("has people want everything, where there is room", () => {
    const lives = Array.from({ length: 60 }, (_, life) => writeScript(new Chance(life), false));
    const wanted = lives.flat().flatMap((step) => (step.do === "wish" ? [`${step.key} ${step.to}`] : []));
    expect(new Set(wanted).size).toBe(Object.values(WISHES).flat().length);
  });

  it("fills the disk only where there is little room", () => {
    const lives = Array.from({ length: 60 }, (_, life) => writeScript(new Chance(life), false));
    expect(lives.flat().some((step) => step.do === "fill")).toBe(false);
  });
});

describe("a world", () => {
  it("expects what is switched on, installed and active, and lists what is permitted", () => {
    const world = worldAfter([
      { do: "grant", account: "ada", key: "alpha" },
      { do: "grant", account: "ada", key: "beta" },
      { do: "wish", key: "alpha", to: "off" },
      { do: "wish", key: "extra", to: "2.0.0" },
      { do: "wish", key: "docs", to: "active" },
    ]);
    expect(world.expected).toEqual(["beta", "docs", "extra", "open"]);
    expect(world.listed).toEqual(["beta", "extra", "open"]);
    applyStep(world, { do: "sign_out" });
    expect(world.expected).toEqual(["docs"]);
  });

  it("expects what is connected for the account that is wanted, and what needs no authorization", () => {
    const world = worldAfter([
      { do: "grant", account: "ada", key: "beta" },
      { do: "grant", account: "ada", key: "alpha" },
      { do: "grant", account: "bob", key: "delta" },
      { do: "expire", account: "ada", key: "beta" },
    ]);
    expect(world.expected).toEqual(["alpha", "open"]);
    applyStep(world, { do: "sign_in", account: "bob" });
    expect(world.expected).toEqual(["delta", "open"]);
    applyStep(world, { do: "sign_out" });
    expect(world.expected).toEqual([]);
  });

  it("remembers everything that it said, and says what it never said to nobody", () => {
    const world = worldAfter([
      { do: "grant", account: "ada", key: "alpha" },
      { do: "revoke", account: "ada", key: "alpha" },
      { do: "epoch", account: "ada" },
    ]);
    expect(world.said("ada", "e1", "2")?.has("alpha")).toBe(true);
    expect(world.said("ada", "e1", "3")?.has("alpha")).toBe(false);
    expect(world.said("ada", "e2", "1")?.has("alpha")).toBe(false);
    expect(world.said("ada", "e2", "2")).toBeUndefined();
    expect(world.previousSnapshot("ada")).toContain('"e1"');
  });

  it("revokes a connection that there is when it fills up", () => {
    const world = worldAfter([
      { do: "grant", account: "ada", key: "gamma" },
      { do: "fill", account: "ada", key: "alpha", count: 3 },
    ]);
    expect(AUTHORIZED_KEYS.some((key) => world.isConnected("ada", key))).toBe(false);
    const connectors = (): number => JSON.parse(world.snapshot("ada")).connectors.length;
    expect(connectors()).toBe(3);
    world.calm();
    expect(connectors()).toBe(0);
  });
});
