import { describe, expect, it } from "vitest";
import { parseSnapshot, type Snapshot } from "../../../src/auth-projection/index.js";
import { parseHint } from "../../../src/auth-projection/parse-hint.js";

/** As much as the snapshot client takes. */
const LARGEST_BYTES = 4 * 1024 * 1024;
/** As much as the hint listener takes. */
const LARGEST_FRAME_BYTES = 16 * 1024;
/** Many times what any of them takes, and nothing to one whose time grows faster than its input. */
const LONGEST_MS = 8_000;

/** A unit, again and again, with room for what is around it. */
const filler = (unit: string, bytes = LARGEST_BYTES): string => unit.repeat(Math.floor((bytes - 300) / unit.length));

function nested(open: string, close: string, bytes = LARGEST_BYTES): string {
  const depth = Math.floor((bytes - 300) / (open.length + close.length));
  return `${open.repeat(depth)}0${close.repeat(depth)}`;
}

function entry(connectorId: string, members: object = {}): object {
  return {
    connectorId,
    connectorVersion: "1",
    state: "connected",
    connectionId: "c",
    connectionVersion: 1,
    ...members,
  };
}

function many(count: number, of: (index: number) => unknown): string {
  return JSON.stringify({ revision: 1, connectors: Array.from({ length: count }, (_, index) => of(index)) });
}

const BODIES: readonly (readonly [string, () => string, object | undefined])[] = [
  ["nested lists", () => `{"revision":1,"connectors":[${nested("[", "]")}]}`, { entries: [] }],
  ["nested lists that never end", () => filler("["), undefined],
  ["nested objects", () => `{"revision":1,"connectors":[${nested('{"a":', "}")}]}`, { entries: [] }],
  ["a revision of millions of digits", () => `{"revision":${filler("9")},"connectors":[]}`, undefined],
  ["a revision of millions of digits, as a text", () => `{"revision":"${filler("9")}","connectors":[]}`, undefined],
  [
    "a connection version of millions of digits",
    () => many(1, () => entry("a", { connectionVersion: filler("9") })),
    { entries: [{ state: "disconnected", quarantined: "invalid_member" }] },
  ],
  ["an id of millions of characters", () => many(1, () => entry(filler("a"))), { entries: [] }],
  ["an id that the pattern almost fits", () => many(1, () => entry(`${filler("a-")}!`)), { entries: [] }],
  ["an epoch of millions of characters", () => `{"revision":1,"epoch":"${filler("e")}"}`, undefined],
  ["halves of characters", () => `{"revision":1,"epoch":"${filler("\\ud800")}"}`, undefined],
  ["one id, again and again", () => many(40_000, () => entry("a")), { entries: [{ quarantined: "conflict" }] }],
  ["tens of thousands of connectors", () => many(38_000, (index) => entry(`c${String(index)}`)), { revision: 1n }],
  ["more connectors than there may be", () => many(200_000, () => null), undefined],
  ["a member again and again", () => `{${filler('"revision":1,')}"connectors":[]}`, { entries: [] }],
  ["white space", () => `${filler(" ")}{"revision":1}`, { entries: [] }],
  ["zeros", () => filler("\0"), undefined],
];

describe("large bodies of a hostile control plane", () => {
  it.each(BODIES)("P-1, P-2: 4 MiB of %s are read in time", (_what, make, expected) => {
    const body = new TextEncoder().encode(make());
    expect(body.byteLength).toBeLessThanOrEqual(LARGEST_BYTES);
    const startedAt = performance.now();
    let snapshot: Snapshot | undefined;
    try {
      snapshot = parseSnapshot(body);
    } catch (error) {
      expect(error).toMatchObject({ code: "invalid_snapshot", delivery: "answered" });
    }
    expect(performance.now() - startedAt).toBeLessThan(LONGEST_MS);
    if (expected === undefined) expect(snapshot).toBeUndefined();
    else expect(snapshot).toMatchObject(expected);
  });

  it.each<[string, string, string]>([
    ["nested lists", nested("[", "]", LARGEST_FRAME_BYTES), "malformed"],
    ["nested objects", nested('{"a":', "}", LARGEST_FRAME_BYTES), "other_event"],
    [
      "a payload of nested lists",
      `{"type":"connector.authorization.changed","payload":${nested("[", "]", LARGEST_FRAME_BYTES)}}`,
      "changed",
    ],
    [
      "a revision of thousands of digits",
      `{"type":"connector.authorization.changed","payload":{"revision":"${filler("9", LARGEST_FRAME_BYTES)}"}}`,
      "changed",
    ],
    [
      "a payload in base64 of nested lists",
      `{"type":"connector.authorization.changed","payload":"${Buffer.from(nested("[", "]", 12_000)).toString("base64")}"}`,
      "changed",
    ],
  ])("P-9: a frame of %s is read", (_what, frame, kind) => {
    expect(parseHint(new TextEncoder().encode(frame)).kind).toBe(kind);
  });
});
