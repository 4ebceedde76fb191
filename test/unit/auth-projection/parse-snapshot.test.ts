import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseSnapshot } from "../../../src/auth-projection/index.js";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { bytes, entry, snapshot } from "./bodies.js";

function refusal(body: Uint8Array): unknown {
  try {
    return parseSnapshot(body);
  } catch (error) {
    return error;
  }
}

function epochOf(members: object): string {
  return snapshot(1, [], members).epoch;
}

describe("P-1: a whole snapshot", () => {
  it("reads every member, and the digest of the body", () => {
    const body = bytes({ epoch: "e1", revision: 12, connectors: [entry("slack"), entry("github")] });
    expect(parseSnapshot(body)).toEqual({
      epoch: "=e1",
      revision: 12n,
      digest: createHash("sha256").update(body).digest("hex"),
      entries: [
        {
          connectorKey: "github",
          connectorVersion: "1.0.0",
          state: "connected",
          connectionId: "conn-github",
          connectionVersion: 1n,
          quarantined: undefined,
        },
        expect.objectContaining({ connectorKey: "slack" }),
      ],
      diagnostics: [],
    });
  });

  it.each([
    ["a number", "12", 12n],
    ["zero", "0", 0n],
    ["the largest safe number", "9007199254740991", 9_007_199_254_740_991n],
    ["a decimal string", '"12"', 12n],
    ["a string past 2^53", '"9007199254740993"', 9_007_199_254_740_993n],
    ["the largest unsigned", '"18446744073709551615"', 18_446_744_073_709_551_615n],
    ["leading zeros", '"007"', 7n],
  ])("P-1: takes a revision that is %s", (_, revision, expected) => {
    expect(parseSnapshot(bytes(`{"revision":${revision},"connectors":[]}`)).revision).toBe(expected);
  });

  it.each([
    ["absent", "{}"],
    ["null", '{"revision":null}'],
    ["negative", '{"revision":-1}'],
    ["a fraction", '{"revision":1.5}'],
    ["a number that lost digits", '{"revision":9007199254740993}'],
    ["a number too large for a double", '{"revision":1e999}'],
    ["a negative string", '{"revision":"-1"}'],
    ["an empty string", '{"revision":""}'],
    ["a hexadecimal string", '{"revision":"0x10"}'],
    ["a string with blanks", '{"revision":" 1"}'],
    ["other digits", '{"revision":"١٢"}'],
    ["past 64 bits", '{"revision":"18446744073709551616"}'],
    ["a megabyte of digits", `{"revision":"${"9".repeat(1_000_000)}"}`],
    ["an object", '{"revision":{}}'],
    ["a boolean", '{"revision":true}'],
  ])("P-1: refuses a revision that is %s", (_, body) => {
    expect(refusal(bytes(body))).toMatchObject({ code: "invalid_snapshot", delivery: "answered" });
  });

  it.each([
    ["nothing", ""],
    ["HTML", "<!doctype html><title>Sign in</title>"],
    ["a cut body", '{"revision":1,"connectors":[{"connectorId":'],
    ["two values", '{"revision":1}{"revision":2}'],
    ["null", "null"],
    ["a list", "[]"],
    ["a string", '"snapshot"'],
    ["connectors as an object", '{"revision":1,"connectors":{}}'],
    ["connectors as a string", '{"revision":1,"connectors":"none"}'],
    ["a numeric epoch", '{"revision":1,"epoch":7,"connectors":[]}'],
    ["an epoch that no store keeps", '{"revision":1,"epoch":"\\ud800","connectors":[]}'],
    ["an epoch with a control", '{"revision":1,"epoch":"a\\u0000","connectors":[]}'],
    ["a very long epoch", `{"revision":1,"epoch":"${"e".repeat(513)}","connectors":[]}`],
    ["too many entries", `{"revision":1,"connectors":[${"0,".repeat(50_000)}0]}`],
    ["a deep nest", `{"revision":1,"connectors":${"[".repeat(200_000)}`],
  ])("P-1: a body that is %s is invalid as a whole", (_, body) => {
    const error = refusal(bytes(body));
    expect(isRemoteConnectorError(error, "invalid_snapshot")).toBe(true);
  });

  it("P-1: a body that is no UTF-8 is invalid as a whole", () => {
    expect(refusal(Uint8Array.from([0x22, 0xff, 0x22]))).toMatchObject({ code: "invalid_snapshot" });
  });

  it("F-6: an invalid body is not quoted in the error", () => {
    expect(JSON.stringify(refusal(bytes('{"secret":"s3cr3t"')))).not.toContain("s3cr3t");
  });

  it("P-1: no epoch, a null one and an empty one: the first two are the same, the last is one of its own", () => {
    expect(epochOf({})).toBe(epochOf({ epoch: null }));
    expect(epochOf({ epoch: "" })).not.toBe(epochOf({}));
    expect(epochOf({ epoch: "-" })).not.toBe(epochOf({}));
  });

  it("P-1: a list that is left out or null is empty", () => {
    expect(parseSnapshot(bytes('{"revision":3}')).entries).toEqual([]);
    expect(parseSnapshot(bytes('{"revision":3,"connectors":null}')).entries).toEqual([]);
  });

  it("P-1: any bytes give a snapshot or invalid_snapshot", () => {
    const anyBody = fc.oneof(
      fc.uint8Array(),
      fc.json().map(bytes),
      fc.record({ revision: fc.oneof(fc.nat(), fc.jsonValue()), connectors: fc.array(fc.jsonValue()) }).map(bytes),
    );
    fc.assert(
      fc.property(anyBody, (body) => {
        const result = refusal(body);
        expect(isRemoteConnectorError(result, "invalid_snapshot") || !(result instanceof Error)).toBe(true);
      }),
      { seed: 6, numRuns: 300 },
    );
  });
});

describe("P-2: one entry", () => {
  it.each([
    ["connected", "connected"],
    ["CONNECTED", "connected"],
    ["reauth_required", "expired"],
    ["Reauth_Required", "expired"],
    ["disconnected", "disconnected"],
  ])("P-2: the state %s is %s here", (state, expected) => {
    expect(snapshot(1, [entry("github", { state })]).entries[0]).toMatchObject({
      state: expected,
      quarantined: undefined,
    });
  });

  it.each([
    [
      "disconnected without a connection",
      { state: "disconnected", connectionId: undefined, connectionVersion: undefined },
    ],
    ["disconnected with empty members", { state: "disconnected", connectionId: "", connectionVersion: null }],
    ["expired without a connection's id", { state: "reauth_required", connectionId: undefined }],
  ])("P-2: takes an entry that is %s", (_, members) => {
    expect(snapshot(1, [entry("github", members)]).diagnostics).toEqual([]);
  });

  it.each([
    ["an unknown state", { state: "revoked" }, "unknown_state", "state"],
    ["a local state", { state: "expired" }, "unknown_state", "state"],
    ["no state", { state: undefined }, "missing_member", "state"],
    ["a state that is no string", { state: 1 }, "invalid_member", "state"],
    ["no version of the connector", { connectorVersion: undefined }, "missing_member", "connectorVersion"],
    ["a numeric version of the connector", { connectorVersion: 1 }, "invalid_member", "connectorVersion"],
    ["connected without a connection", { connectionId: undefined }, "missing_member", "connectionId"],
    ["connected with an empty connection", { connectionId: "" }, "missing_member", "connectionId"],
    ["a connection that no store keeps", { connectionId: "\ud800" }, "invalid_member", "connectionId"],
    ["a very long connection", { connectionId: "c".repeat(513) }, "invalid_member", "connectionId"],
    ["no connection version", { connectionVersion: undefined }, "missing_member", "connectionVersion"],
    ["an unsafe connection version", { connectionVersion: 2 ** 53 }, "invalid_member", "connectionVersion"],
    ["a negative connection version", { connectionVersion: "-1" }, "invalid_member", "connectionVersion"],
    [
      "expired without a connection version",
      { state: "reauth_required", connectionVersion: null },
      "missing_member",
      "connectionVersion",
    ],
  ])("P-2: %s is quarantined, and the rest applies", (_, members, reason, member) => {
    const { entries, diagnostics } = snapshot(1, [entry("broken", members), entry("github")]);
    expect(diagnostics).toEqual([{ kind: "entry_quarantined", connectorKey: "broken", index: 0, reason, member }]);
    expect(entries).toMatchObject([
      {
        connectorKey: "broken",
        state: "disconnected",
        connectionId: undefined,
        connectionVersion: 0n,
        quarantined: reason,
      },
      { connectorKey: "github", state: "connected", quarantined: undefined },
    ]);
  });

  it.each([
    ["null", null],
    ["a number", 0],
    ["a list", []],
    ["without an id", entry("x", { connectorId: undefined })],
    ["with an id of the wrong form", entry("Git Hub")],
    ["with a prototype's name", entry("__proto__")],
    ["with a very long id", entry("a".repeat(129))],
  ])("P-2: an entry that is %s belongs to nobody", (_, value) => {
    const { entries, diagnostics } = snapshot(1, [value, entry("github")]);
    expect(entries).toMatchObject([{ connectorKey: "github", state: "connected" }]);
    expect(diagnostics).toMatchObject([{ kind: "entry_quarantined", connectorKey: undefined, member: "connectorId" }]);
  });

  it("P-2: two entries of one id are both refused, whichever comes first", () => {
    const one = entry("github");
    const other = entry("github", { state: "disconnected" });
    for (const pair of [
      [one, other],
      [other, one],
      [one, one, one],
      [one, entry("github", { state: "odd" })],
    ]) {
      expect(snapshot(1, pair).entries).toMatchObject([{ state: "disconnected", quarantined: "conflict" }]);
      expect(snapshot(1, pair).diagnostics[0]).toMatchObject({
        kind: "entry_quarantined",
        reason: "conflict",
        index: 1,
      });
    }
  });

  it("P-2: diagnostics are bounded, and what is left out is counted", () => {
    const { diagnostics } = snapshot(
      1,
      Array.from({ length: 250 }, () => ({})),
    );
    expect(diagnostics).toHaveLength(101);
    expect(diagnostics.at(-1)).toEqual({ kind: "diagnostics_omitted", count: 150 });
  });

  it("★5: one unknown state or bad entry does not reject the snapshot of the account", () => {
    const { entries } = snapshot(1, [entry("a", { state: "paused" }), null, entry("b"), entry("c"), entry("c")]);
    expect(entries.map((each) => [each.connectorKey, each.state])).toEqual([
      ["a", "disconnected"],
      ["b", "connected"],
      ["c", "disconnected"],
    ]);
  });
});
