import { describe, expect, it } from "vitest";
import { ResponseCache, type ResponseCacheConfig } from "../../../src/modern-client/response-cache.js";
import { FakeClock } from "../../support/fake-clock.js";

function open(config: Partial<ResponseCacheConfig> = {}) {
  const clock = new FakeClock();
  const cache = new ResponseCache({
    maxEntries: 10,
    maxBytes: 10_000,
    context: () => "",
    now: () => clock.now(),
    ...config,
  });
  return { clock, cache };
}

/** Keeps a result for a request, as of now. */
function keep(cache: ResponseCache, method: string, paramsJson: string, hints: object, n = 0): void {
  const place = cache.placeOf(method, paramsJson);
  const result = { n, ...hints };
  if (place !== undefined) cache.keep(place, result, JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
}

function find(cache: ResponseCache, method: string, paramsJson = ""): unknown {
  const place = cache.placeOf(method, paramsJson);
  return place === undefined ? "never kept" : cache.find(place)?.result["n"];
}

describe("ResponseCache", () => {
  it("W-31: fresh while now is before receipt plus ttlMs, and no longer", () => {
    const { cache, clock } = open();
    keep(cache, "tools/list", "", { ttlMs: 100 }, 7);
    clock.step(99);
    expect(find(cache, "tools/list")).toBe(7);
    clock.step(1);
    expect(find(cache, "tools/list")).toBeUndefined();
  });

  it.each([[0], [-1], [undefined], ["100"], [null], [Number.NaN]])("W-31: ttlMs %j keeps nothing", (ttlMs) => {
    const { cache } = open();
    keep(cache, "tools/list", "", { ttlMs });
    expect(find(cache, "tools/list")).toBeUndefined();
  });

  it("W-31: by method and all params, and only the methods that the revision names", () => {
    const { cache } = open();
    keep(cache, "tools/list", "", { ttlMs: 100 }, 1);
    keep(cache, "tools/list", '"cursor":""', { ttlMs: 100 }, 2);
    keep(cache, "prompts/list", "", { ttlMs: 100 }, 3);
    expect([find(cache, "tools/list"), find(cache, "tools/list", '"cursor":""')]).toEqual([1, 2]);
    expect([find(cache, "prompts/list"), find(cache, "resources/list")]).toEqual([3, undefined]);
    for (const method of ["tools/call", "prompts/get", "completion/complete"]) {
      expect(find(cache, method)).toBe("never kept");
    }
  });

  it.each([["private"], [undefined], ["shared"]])("W-31: cacheScope %j never crosses a context", (cacheScope) => {
    let context = "a";
    const { cache } = open({ context: () => context });
    keep(cache, "tools/list", "", { ttlMs: 100, cacheScope }, 1);
    context = "b";
    expect(find(cache, "tools/list")).toBeUndefined();
    context = "a";
    expect(find(cache, "tools/list")).toBe(1);
  });

  it("W-31: public results are for everyone; without a context private ones are not kept", () => {
    let context = "a";
    const shared = open({ context: () => context }).cache;
    keep(shared, "tools/list", "", { ttlMs: 100, cacheScope: "public" }, 1);
    context = "b";
    expect(find(shared, "tools/list")).toBe(1);
    const { cache } = open({ context: undefined });
    keep(cache, "tools/list", "", { ttlMs: 100, cacheScope: "private" });
    keep(cache, "prompts/list", "", { ttlMs: 100, cacheScope: "public" }, 2);
    expect([find(cache, "tools/list"), find(cache, "prompts/list")]).toEqual([undefined, 2]);
  });

  it.each([
    ["notifications/tools/list_changed", undefined, ["tools/list"]],
    ["notifications/prompts/list_changed", {}, ["prompts/list"]],
    ["notifications/resources/list_changed", {}, ["resources/list", "resources/templates/list"]],
    ["notifications/resources/updated", { uri: "a:x" }, ["resources/read"]],
    ["notifications/resources/updated", { uri: "a:other" }, []],
    ["notifications/message", {}, []],
  ])("W-31: %s %j drops %j", (method, params, dropped) => {
    const { cache } = open();
    const kept: [string, string][] = [
      ["tools/list", ""],
      ["prompts/list", ""],
      ["resources/list", ""],
      ["resources/templates/list", ""],
      ["resources/read", '"uri":"a:x/sub"'],
    ];
    for (const [one, paramsJson] of kept) keep(cache, one, paramsJson, { ttlMs: 100 }, 1);
    cache.heed(method, params);
    expect(kept.filter((one) => find(cache, ...one) === undefined).map(([one]) => one)).toEqual(dropped);
  });

  it("W-31: what was asked for before a change is not kept after it", () => {
    const { cache } = open();
    const place = cache.placeOf("tools/list", "");
    cache.heed("notifications/tools/list_changed", {});
    if (place !== undefined) cache.keep(place, { ttlMs: 100 }, '{"jsonrpc":"2.0","id":1,"result":{}}');
    expect(place && cache.find(place)).toBeUndefined();
  });

  it("F-10: within its limits, dropping what was used longest ago", () => {
    const { cache } = open({ maxEntries: 2 });
    keep(cache, "tools/list", "", { ttlMs: 100 }, 1);
    keep(cache, "prompts/list", "", { ttlMs: 100 }, 2);
    expect(find(cache, "tools/list")).toBe(1);
    keep(cache, "resources/list", "", { ttlMs: 100 }, 3);
    expect(["tools/list", "prompts/list", "resources/list"].map((method) => find(cache, method))).toEqual([
      1,
      undefined,
      3,
    ]);
    const small = open({ maxBytes: 100 }).cache;
    keep(small, "tools/list", "", { ttlMs: 100, text: "x".repeat(100) });
    expect(find(small, "tools/list")).toBeUndefined();
  });
});
