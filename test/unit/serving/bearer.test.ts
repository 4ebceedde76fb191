import { describe, expect, it } from "vitest";
import { createBearer, hashBearer, matchBearer } from "../../../src/serving/index.js";

describe("bearers", () => {
  const known = ["one", "two", "three"].map((token) => ({ hash: hashBearer(token), value: token }));
  const match = (authorization?: string): string | undefined => matchBearer({ authorization }, known);

  it("H-20: mints 32 random bytes in base64url, and a hash that matches them", () => {
    const { token, hash } = createBearer();
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(matchBearer({ authorization: `Bearer ${token}` }, [{ hash, value: 1 }])).toBe(1);
    expect(createBearer().token).not.toBe(token);
    expect(createBearer((size) => new Uint8Array(size)).token).toBe("A".repeat(43));
  });

  it.each([
    ["Bearer one", "one"],
    ["bearer three", "three"],
    ["BEARER   two ", "two"],
  ])("H-20: %j is known", (authorization, value) => {
    expect(match(authorization)).toBe(value);
  });

  it.each([
    undefined,
    "",
    "one",
    "Bearer",
    "Bearer ",
    "Basic one",
    "Bearer onee",
    "Bearer one two",
    "Bearer one, Bearer two",
  ])("H-20: %j is not", (authorization) => {
    expect(match(authorization)).toBeUndefined();
  });

  it("H-20: no stored hash, or one of another length, matches nothing", () => {
    expect(matchBearer({ authorization: "Bearer one" }, [])).toBeUndefined();
    expect(matchBearer({ authorization: "Bearer one" }, [{ hash: new Uint8Array(4), value: 1 }])).toBeUndefined();
  });
});
