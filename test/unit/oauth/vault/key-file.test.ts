import { describe, expect, it } from "vitest";
import { keyIdOf } from "../../../../src/oauth/vault/envelope.js";
import { type KeyPlace, parseKeyFile, writeKeyFile } from "../../../../src/oauth/vault/key-file.js";
import { damagedTexts } from "../../../support/damage.js";

const KEY = new Uint8Array(32).fill(7);
const IN_FILE: KeyPlace = { kind: "file", id: keyIdOf(KEY), key: KEY };
const IN_KEYCHAIN: KeyPlace = { kind: "keychain", id: keyIdOf(new Uint8Array(32)) };

function reasonOf(text: string): unknown {
  try {
    return parseKeyFile(text, "vault.key");
  } catch (error) {
    expect(JSON.stringify(error) + String(error)).not.toContain("Bwc");
    return Reflect.get(Object(Reflect.get(Object(error), "details")), "reason");
  }
}

describe("the file of a vault's key", () => {
  it("A-10: is read as it was written, with several keys in order", () => {
    for (const places of [[IN_FILE], [IN_KEYCHAIN], [IN_KEYCHAIN, IN_FILE]]) {
      const read = parseKeyFile(writeKeyFile(places), "vault.key");
      expect(
        read.map((place) => ({ ...place, ...(place.kind === "file" ? { key: new Uint8Array(place.key) } : {}) })),
      ).toEqual(places);
    }
  });

  it("A-10: with its key in it is refused with any change and at any length", () => {
    const text = writeKeyFile([IN_FILE]);
    expect(text).toContain("Bwc");
    for (const damaged of damagedTexts(text)) {
      if (damaged !== text)
        expect([damaged, reasonOf(damaged)]).toEqual([damaged, expect.stringMatching(/^(damaged|newer_format)$/)]);
    }
  });

  it.each([
    ["", "damaged"],
    ["remote-connector vault key 1\n", "damaged"],
    ["remote-connector vault key 2\nanything\n", "newer_format"],
    [writeKeyFile([{ ...IN_FILE, key: new Uint8Array(31) }]), "damaged"],
    [writeKeyFile([{ ...IN_FILE, id: keyIdOf(new Uint8Array(1)) }]), "damaged"],
    [writeKeyFile([IN_FILE]).repeat(2), "damaged"],
  ])("A-10: that holds %j is %s", (text, reason) => expect(reasonOf(text)).toBe(reason));
});
