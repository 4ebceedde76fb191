import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isConnectorKey, parseSnapshot, type Snapshot } from "../../../src/auth-projection/index.js";
import { parseHint } from "../../../src/auth-projection/parse-hint.js";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { bytes, entry } from "./bodies.js";

const SEED = 20_261_201;
const STATES = new Set(["connected", "expired", "disconnected"]);

/** What the parser makes of a body: its snapshot, checked, or the only error that it has. */
function read(body: Uint8Array): Snapshot | "invalid_snapshot" {
  let snapshot: Snapshot;
  try {
    snapshot = parseSnapshot(body);
  } catch (error) {
    if (!isRemoteConnectorError(error, "invalid_snapshot")) throw error;
    expect(error.delivery).toBe("answered");
    // A body may hold what is nobody's business, and ends up in no error.
    expect(JSON.stringify([error.message, error.details]).length).toBeLessThan(500);
    return "invalid_snapshot";
  }
  const { entries, diagnostics, revision, digest } = snapshot;
  const keys = entries.map((each) => each.connectorKey);
  expect(keys.every(isConnectorKey)).toBe(true);
  expect(keys).toEqual([...new Set(keys)].sort());
  expect(diagnostics.length).toBeLessThanOrEqual(101);
  expect(revision >= 0n && revision < 2n ** 64n).toBe(true);
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
  for (const { state, connectionId, connectionVersion, quarantined } of entries) {
    expect(STATES.has(state)).toBe(true);
    if (state === "connected") expect(typeof connectionId).toBe("string");
    expect(connectionVersion >= 0n && connectionVersion < 2n ** 64n).toBe(true);
    if (quarantined !== undefined) expect([state, connectionId]).toEqual(["disconnected", undefined]);
  }
  return snapshot;
}

function readHint(frame: Uint8Array): void {
  const hint = parseHint(frame);
  expect(["changed", "other_event", "malformed"]).toContain(hint.kind);
  if (hint.kind !== "changed") return;
  expect(hint.connectorKey === undefined || isConnectorKey(hint.connectorKey)).toBe(true);
}

/** JSON as text, since some of it can't be a value: members twice, numbers of any length, halves of characters. */
const nastyText = fc.constantFrom(
  '"\\ud800"',
  '"\\udfff\\u0000"',
  '"__proto__"',
  '"constructor"',
  '""',
  `"${"k".repeat(600)}"`,
  '"github"',
  '"../../etc"',
  '"connected"',
  '"CONNECTED"',
  '"reauth_required"',
  '"\u202egnp"',
);
const nastyNumber = fc.constantFrom(
  "0",
  "-0",
  "1",
  "-1",
  "1.5",
  "1e400",
  "-1e400",
  "1e-400",
  "9007199254740993",
  "18446744073709551615",
  "18446744073709551616",
  `"${"9".repeat(5_000)}"`,
  "9".repeat(5_000),
  '"18446744073709551615"',
  '"0x10"',
  '" 1"',
);
const nested = fc
  .tuple(fc.constantFrom(["[", "]"] as const, ['{"a":', "}"] as const), fc.integer({ min: 1, max: 5_000 }))
  .map(([[open, close], depth]) => `${open.repeat(depth)}0${close.repeat(depth)}`);
const value = fc.oneof(nastyText, nastyNumber, nested, fc.constantFrom("null", "true", "[]", "{}"), fc.json());
const name = fc.constantFrom(
  "connectorId",
  "connectorVersion",
  "state",
  "connectionId",
  "connectionVersion",
  "__proto__",
  "constructor",
  "toString",
);
const members = fc.array(fc.tuple(name, value), { maxLength: 8 }).map(textOf);
const goodEntry = fc
  .record({
    id: fc.constantFrom("github", "slack"),
    extra: fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 2 }),
  })
  .map(({ id, extra }) =>
    textOf([...Object.entries(entry(id)).map(([key, of]) => [key, JSON.stringify(of)] as const), ...extra]),
  );
const body = fc
  .record({
    revision: fc.oneof({ weight: 3, arbitrary: fc.constant("7") }, { weight: 1, arbitrary: value }),
    epoch: fc.oneof(fc.constant(undefined), value),
    connectors: fc.oneof(
      {
        weight: 4,
        arbitrary: fc.array(fc.oneof(goodEntry, members, value), { maxLength: 6 }).map((all) => `[${all.join()}]`),
      },
      { weight: 1, arbitrary: value },
    ),
    extra: fc.array(fc.tuple(name, value), { maxLength: 2 }),
  })
  .map(({ revision, epoch, connectors, extra }) =>
    textOf([
      ["revision", revision],
      ...(epoch === undefined ? [] : [["epoch", epoch] as const]),
      ["connectors", connectors],
      ...extra,
    ]),
  );

function textOf(all: readonly (readonly [string, string])[]): string {
  return `{${all.map(([key, of]) => `"${key}":${of}`).join()}}`;
}

/** A body with some of its bytes changed, cut out or repeated. */
const damaged = fc
  .tuple(
    body,
    fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }), fc.nat(3)), { minLength: 1, maxLength: 6 }),
  )
  .map(([text, changes]) => {
    let damage = Buffer.from(text);
    for (const [place, byte, how] of changes) {
      const at = place % Math.max(1, damage.length);
      if (how === 0) damage = Buffer.concat([damage.subarray(0, at), damage.subarray(at + 1)]);
      else if (how === 1) damage = Buffer.concat([damage.subarray(0, at), Buffer.of(byte), damage.subarray(at)]);
      else if (how === 2) damage = damage.subarray(0, at);
      else damage[at] = byte;
    }
    return damage;
  });

const anything = fc.oneof(
  { weight: 4, arbitrary: body.map(bytes) },
  { weight: 2, arbitrary: damaged },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
  { weight: 1, arbitrary: value.map(bytes) },
);

describe("hostile bodies", () => {
  it("P-2: any body of a snapshot gives a snapshot or invalid_snapshot, and leaves nothing behind", () => {
    const seen = { read: 0, refused: 0, quarantined: 0 };
    fc.assert(
      fc.property(anything, (text) => {
        const outcome = read(text);
        if (outcome === "invalid_snapshot") seen.refused += 1;
        else seen.read += 1;
        if (outcome !== "invalid_snapshot" && outcome.diagnostics.length > 0) seen.quarantined += 1;
        expect(Object.keys(Object.prototype)).toEqual([]);
        expect("connectorId" in {}).toBe(false);
      }),
      { seed: SEED, numRuns: 600 },
    );
    // Bodies that are all refused, or all fine, show little.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(50);
  });

  it("P-9: any frame of a hint is read", () => {
    const EVENT = '"connector.authorization.changed"';
    const frame = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      damaged,
      value.map(bytes),
      fc.tuple(fc.constantFrom("type", "event_type"), fc.oneof(value, members, body)).map(([key, payload]) =>
        bytes(
          textOf([
            [key, EVENT],
            ["payload", payload],
          ]),
        ),
      ),
      fc.tuple(fc.oneof(value, members), fc.boolean()).map(([payload, isCut]) => {
        const text = Buffer.from(payload).toString("base64");
        return bytes(
          textOf([
            ["type", EVENT],
            ["payload", JSON.stringify(isCut ? text.slice(1) : text)],
          ]),
        );
      }),
    );
    fc.assert(fc.property(frame, readHint), { seed: SEED, numRuns: 600 });
  });
});
