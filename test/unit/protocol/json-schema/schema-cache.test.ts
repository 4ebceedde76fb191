import { expect, it } from "vitest";
import { SchemaCache } from "../../../../src/protocol/json-schema/schema-cache.js";

it("W-38: a refresh of the same list does not grow the cache", () => {
  const cache = new SchemaCache<number>(10);
  for (let round = 0; round < 5; round += 1) for (let i = 0; i < 8; i += 1) cache.set(`{"const":${String(i)}}`, i);
  expect(cache.count).toBe(8);
});

it("W-38: the cache is bounded, and the one unused for longest goes first", () => {
  const cache = new SchemaCache<number>(2);
  cache.set("a", 0);
  cache.set("b", 1);
  expect(cache.get("a")).toBe(0);
  cache.set("c", 2);
  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([0, undefined, 2]);
});

it("W-38: the cache is bounded by the size of schemas too, but keeps the newest", () => {
  const cache = new SchemaCache<number>(1_000);
  for (let i = 0; i < 20; i += 1) cache.set(`${String(i)}${"x".repeat(1024 * 1024)}`, i);
  expect(cache.count).toBeLessThanOrEqual(8);
  cache.set("y".repeat(20 * 1024 * 1024), 99);
  expect(cache.count).toBe(1);
});
