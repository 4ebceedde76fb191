import { describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import { createVaultKey, type VaultKey } from "../../../../src/oauth/vault/index.js";
import { damagedTexts } from "../../../support/damage.js";

const PLACE = { resource: "https://mcp.example/mcp?key=hidden", name: "tokens@ada" };
const TEXT = '{"access_token":"secret-token"}';
const [FIRST, SECOND] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];

/** Deterministic, and never the same twice. */
function counted(): (size: number) => Uint8Array {
  let count = 0;
  return (size) => new Uint8Array(size).fill((count += 1));
}

function keyOf(...keys: readonly Uint8Array[]): VaultKey {
  return createVaultKey({ keys, randomBytes: counted() });
}

function refusal(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

describe("the key of a vault", () => {
  it("A-10: opens what it sealed, for the same name and URL alone", () => {
    const key = keyOf(FIRST);
    const envelope = key.seal(TEXT, PLACE);
    expect(key.open(envelope, PLACE)).toBe(TEXT);
    for (const place of [
      { ...PLACE, name: "tokens@bob" },
      { ...PLACE, resource: "https://mcp.example/other" },
      { resource: PLACE.name, name: PLACE.resource },
      { resource: `${PLACE.resource}t`, name: PLACE.name.slice(1) },
    ]) {
      const refused = { code: "oauth_invalid", details: { subject: "credential", member: place.name } };
      expect(refusal(() => key.open(envelope, place))).toMatchObject(refused);
    }
  });

  it("A-10: refuses an envelope that was changed at any place or cut at any length, and says nothing of its text", () => {
    const key = keyOf(FIRST);
    const envelope = key.seal(TEXT, PLACE);
    let tried = 0;
    for (const text of damagedTexts(envelope)) {
      if (text === envelope) continue;
      const error = refusal(() => key.open(text, PLACE));
      if (!isRemoteConnectorError(error, "oauth_invalid")) throw new Error(`It was taken: ${text}`);
      expect(error.cause).toBeUndefined();
      const shown = JSON.stringify(error) + error.message;
      expect(shown.includes("secret-token") || shown.includes("hidden") || shown.includes(envelope.slice(-20))).toBe(
        false,
      );
      tried += 1;
    }
    expect(tried).toBeGreaterThan(envelope.length * 3);
  });

  it("A-10: never seals twice alike, by bytes of the port", () => {
    const asked: number[] = [];
    const randomBytes = (size: number) => {
      asked.push(size);
      return new Uint8Array(size).fill(asked.length);
    };
    const key = createVaultKey({ keys: [FIRST], randomBytes });
    const [one, other] = [key.seal(TEXT, PLACE), key.seal(TEXT, PLACE)];
    expect(asked).toEqual([12, 12]);
    expect(one).not.toBe(other);
    expect([key.open(one, PLACE), key.open(other, PLACE)]).toEqual([TEXT, TEXT]);
    const short = createVaultKey({ keys: [FIRST], randomBytes: () => new Uint8Array(8) });
    expect(refusal(() => short.seal(TEXT, PLACE))).toMatchObject({ details: { option: "randomBytes" } });
  });

  it("A-10: seals with its first key and opens with each", () => {
    const before = keyOf(FIRST).seal(TEXT, PLACE);
    const rotated = keyOf(SECOND, FIRST);
    expect(rotated.open(before, PLACE)).toBe(TEXT);
    const after = rotated.seal(TEXT, PLACE);
    expect(keyOf(SECOND).open(after, PLACE)).toBe(TEXT);
    const refused = { details: { reason: "is sealed with a key that is not here" } };
    expect(refusal(() => keyOf(FIRST).open(after, PLACE))).toMatchObject(refused);
    expect([rotated.id, keyOf(FIRST).id]).toEqual([keyOf(SECOND).id, expect.not.stringMatching(rotated.id)]);
  });

  it("A-10: reads the released format, and no newer one", () => {
    // Never edit this: texts like it are in somebody's store.
    const released =
      "rcv1.nXBuOPMluPdBaIjTEx6ljg.AQEBAQEBAQEBAQEBxgKY-wqUYICZ-nvyxVkgiycWHWEyjT4WoHnjFc2ch1Frge36UXXHEgMIHwHVcHQl";
    expect(keyOf(FIRST).open(released, PLACE)).toBe(TEXT);
    expect(keyOf(FIRST).seal(TEXT, PLACE)).toBe(released);
    const newer = { details: { reason: "is sealed in a format that is not known" } };
    expect(refusal(() => keyOf(FIRST).open(released.replace("rcv1", "rcv2"), PLACE))).toMatchObject(newer);
    const unsealed = { details: { reason: "is not sealed" } };
    expect(refusal(() => keyOf(FIRST).open(TEXT, PLACE))).toMatchObject(unsealed);
  });

  it("A-10: keeps copies of its keys, and none of them once it is closed", () => {
    const bytes = new Uint8Array(FIRST);
    const key = keyOf(bytes);
    const envelope = key.seal(TEXT, PLACE);
    bytes.fill(9);
    expect(key.open(envelope, PLACE)).toBe(TEXT);
    key.close();
    key.close();
    const closed = { code: "store_unavailable", details: { reason: "closed" } };
    expect(refusal(() => key.open(envelope, PLACE))).toMatchObject(closed);
    expect(refusal(() => key.seal(TEXT, PLACE))).toMatchObject(closed);
    expect(JSON.stringify(keyOf(FIRST))).toBe(JSON.stringify({ id: key.id }));
  });

  it.each([[[]], [[new Uint8Array(31)]], [[FIRST, new Uint8Array(33)]]])("refuses the keys %o", (keys) => {
    const refused = { code: "invalid_options", details: { option: "keys" } };
    expect(refusal(() => createVaultKey({ keys }))).toMatchObject(refused);
  });
});
