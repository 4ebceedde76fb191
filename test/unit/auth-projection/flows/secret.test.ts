import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeSecretBody, takeSecret } from "../../../../src/auth-projection/flows/secret.js";

it("P-10: the body holds the secret, whatever characters it has", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const bytes = new TextEncoder().encode(text);
      const body: unknown = JSON.parse(new TextDecoder().decode(encodeSecretBody(bytes)));
      expect(body).toEqual({ secret: { secret: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) } });
    }),
  );
});

it("P-10: bytes are copied, and the caller's are overwritten; a view's neighbours are not", () => {
  const buffer = new TextEncoder().encode("[key]");
  const given = buffer.subarray(1, 4);
  const held = takeSecret(given);
  expect(new TextDecoder().decode(held.bytes)).toBe("key");
  expect([...buffer]).toEqual([91, 0, 0, 0, 93]);
  held.wipe();
  expect([...held.bytes]).toEqual([0, 0, 0]);
});

it.each([0, 16_385])("P-10: %i bytes are refused, and overwritten", (length) => {
  const given = new Uint8Array(length).fill(97);
  expect(() => takeSecret(given)).toThrow(expect.objectContaining({ code: "invalid_argument", delivery: "not_sent" }));
  expect(given.every((byte) => byte === 0)).toBe(true);
});

it("P-10: 1 and 16,384 bytes are taken, counted in UTF-8", () => {
  expect(takeSecret("a").bytes).toHaveLength(1);
  expect(takeSecret("é".repeat(8_192)).bytes).toHaveLength(16_384);
  expect(() => takeSecret("é".repeat(8_193))).toThrow(expect.objectContaining({ code: "invalid_argument" }));
});

it("P-10: what is no UTF-8 is refused, and no part of it is shown", () => {
  const given = Uint8Array.of(107, 101, 121, 0xff);
  expect(() => takeSecret(given)).toThrow(
    expect.objectContaining({ details: { argument: "secret", reason: "is no UTF-8" } }),
  );
  expect([...given]).toEqual([0, 0, 0, 0]);
});

it("P-10: a text that would become another one is refused", () => {
  const refused = expect.objectContaining({ details: { argument: "secret", reason: "is no UTF-8" } });
  for (const text of ["\ud800", "a\udc00b", "\udc00\ud800"]) expect(() => takeSecret(text)).toThrow(refused);
  expect(new TextDecoder().decode(takeSecret("\ud83d\ude00").bytes)).toBe("\ud83d\ude00");
});
