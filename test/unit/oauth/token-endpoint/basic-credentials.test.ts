import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { basicCredentials } from "../../../../src/oauth/token-endpoint/index.js";

/** What is in the base64 of a Basic header. */
function pairIn(header: string): readonly [string, string] {
  const encoded = /^Basic ([A-Za-z0-9+/]+={0,2})$/.exec(header)?.[1] ?? "";
  const [id = "", secret = "", ...others] = Buffer.from(encoded, "base64").toString("latin1").split(":");
  expect(others).toEqual([]);
  return [id, secret];
}

/** As a server decodes forms. */
const formDecode = (text: string): string | null => new URLSearchParams(`x=${text}`).get("x");

describe("A-6: Basic", () => {
  it.each([
    ["client", "secret", "client", "secret"],
    ["a-b.c_d*e", "A-Z.0_9*", "a-b.c_d*e", "A-Z.0_9*"],
    ["https://app.example/client.json", "", "https%3A%2F%2Fapp.example%2Fclient.json", ""],
    ["a:b", "c:d", "a%3Ab", "c%3Ad"],
    ["a b", "+ %", "a%20b", "%2B%20%25"],
    ["~!'()", "a&b=c", "%7E%21%27%28%29", "a%26b%3Dc"],
    ["ä", "秘\u{1f511}", "%C3%A4", "%E7%A7%98%F0%9F%94%91"],
    ["\n\0", "\u007f", "%0A%00", "%7F"],
  ])("encodes %j and %j", (id, secret, encodedId, encodedSecret) => {
    expect(pairIn(basicCredentials(id, secret))).toEqual([encodedId, encodedSecret]);
  });

  it("is read back by servers that decode forms, and by those that decode percent signs", () => {
    const text = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(text, text, (id, secret) => {
        const [encodedId, encodedSecret] = pairIn(basicCredentials(id, secret));
        expect([formDecode(encodedId), formDecode(encodedSecret)]).toEqual([id, secret]);
        expect([decodeURIComponent(encodedId), decodeURIComponent(encodedSecret)]).toEqual([id, secret]);
        expect(encodedId + encodedSecret).toMatch(/^(?:[A-Za-z0-9\-._*]|%[0-9A-F]{2})*$/);
      }),
    );
  });
});
