import { describe, expect, it } from "vitest";
import { MAX_ORIGINS, NonceBook, readNonce } from "../../../../src/oauth/dpop/nonce-book.js";

describe("nonces of servers", () => {
  it("A-9: each origin has its own, and the last one counts", () => {
    const book = new NonceBook();
    expect(book.set("https://a.test", "one")).toBe(true);
    expect(book.set("https://b.test", "two")).toBe(true);
    expect(book.set("https://a.test", "one")).toBe(false);
    expect(book.set("https://a.test", "three")).toBe(true);
    expect([book.get("https://a.test"), book.get("https://b.test"), book.get("https://c.test")]).toEqual([
      "three",
      "two",
      undefined,
    ]);
  });

  it("A-9: those of too many origins are forgotten, the one that was heard of longest ago first", () => {
    const book = new NonceBook();
    const origins = Array.from({ length: MAX_ORIGINS }, (_, index) => `https://${String(index)}.test`);
    for (const origin of origins) book.set(origin, "nonce");
    book.set("https://0.test", "nonce");
    book.set("https://new.test", "nonce");
    const known = [...origins, "https://new.test"].filter((origin) => book.get(origin) !== undefined);
    expect(known).toHaveLength(MAX_ORIGINS);
    expect(book.get("https://1.test")).toBeUndefined();
    expect(book.get("https://0.test")).toBe("nonce");
  });

  it.each([
    ["abc", "abc"],
    [["first", "last"], "last"],
    [[], undefined],
    [undefined, undefined],
    ["", undefined],
    ["with space", undefined],
    ['quo"te', undefined],
    ["back\\slash", undefined],
    ["ünicode", undefined],
    ["line\n", undefined],
    ["x".repeat(2_048), "x".repeat(2_048)],
    ["x".repeat(2_049), undefined],
  ])("A-9: the field %j is read as %s", (field, nonce) => {
    expect(readNonce({ "dpop-nonce": field })).toBe(nonce);
  });
});
