import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseHint } from "../../../src/auth-projection/parse-hint.js";
import { bytes } from "./bodies.js";

const EVENT = "connector.authorization.changed";
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64");

describe("P-9: hints", () => {
  it.each([
    ["type, and an object", { type: EVENT, payload: { revision: 7, connectorId: "github" } }, 7n, "github"],
    ["event_type, and an object", { event_type: EVENT, payload: { revision: "7" } }, 7n, undefined],
    ["event_type beside another type", { type: "event", event_type: EVENT, payload: {} }, undefined, undefined],
    ["base64", { event_type: EVENT, payload: base64({ revision: "18446744073709551615" }) }, 2n ** 64n - 1n, undefined],
    ["no payload", { type: EVENT }, undefined, undefined],
    ["a payload that is no JSON", { type: EVENT, payload: "%%%" }, undefined, undefined],
    ["a payload of another kind", { type: EVENT, payload: [1] }, undefined, undefined],
    ["a revision that lost digits", { type: EVENT, payload: { revision: 2 ** 60 } }, undefined, undefined],
    ["a key that names nothing", { type: EVENT, payload: { connectorId: "../x" } }, undefined, undefined],
  ])("P-9 ★ item 14: a change with %s, its revision a number or a text", (_, message, revision, connectorKey) => {
    expect(parseHint(bytes(message))).toEqual({ kind: "changed", revision, connectorKey });
  });

  it.each([
    ["another event", { type: "connector.market.changed", payload: {} }, "other_event"],
    ["no event", {}, "other_event"],
    ["the event's name elsewhere", { payload: { type: EVENT } }, "other_event"],
    ["a list", [EVENT], "malformed"],
    ["text", "hello", "malformed"],
    ["nothing", "", "malformed"],
  ])("P-9: %s is none", (_, message, kind) => {
    expect(parseHint(bytes(message))).toEqual({ kind });
  });

  it("P-9: any bytes are read", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.json().map(bytes)), (frame) => {
        expect(["changed", "other_event", "malformed"]).toContain(parseHint(frame).kind);
      }),
      { seed: 9, numRuns: 200 },
    );
  });
});
