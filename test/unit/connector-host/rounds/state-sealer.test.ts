import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createStateSealer, type SealedContent } from "../../../../src/connector-host/rounds/index.js";

/** Bytes that are others each time, and the same in each run. */
function seeded(seed: string): (size: number) => Uint8Array {
  let count = 0;
  return (size) => {
    count += 1;
    return createHash("sha512")
      .update(`${seed} ${String(count)}`)
      .digest()
      .subarray(0, size);
  };
}

const CONTENT: SealedContent = {
  kind: "held",
  callId: "call_1-A",
  payload: { nonce: "n", round: 2, text: "é\u{1f600}" },
};

const contents: fc.Arbitrary<SealedContent> = fc.record({
  kind: fc.constantFrom("held" as const, "approval" as const),
  callId: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
  payload: fc.dictionary(
    fc.string().filter((name) => name !== "__proto__"),
    fc.jsonValue({ maxDepth: 2 }).filter((value) => !JSON.stringify(value).includes("-0")),
    { maxKeys: 4 },
  ),
});

describe("states that agents carry", () => {
  test("H-27: whatever is sealed is opened as it was", () => {
    const sealer = createStateSealer({ hostId: "h", randomBytes: seeded("a") });
    fc.assert(
      fc.property(contents, (content) => {
        const opened = sealer.open(sealer.seal(content));
        expect(opened).toEqual({ kind: "opened", content: JSON.parse(JSON.stringify(content)) });
      }),
    );
  });

  test("H-27: the epoch, the kind and the call can be read, the payload can't", () => {
    const text = createStateSealer({ hostId: "my-host", randomBytes: seeded("a") }).seal({
      ...CONTENT,
      payload: { secret: "canary-of-the-payload" },
    });
    expect(text).toMatch(/^remote-connector\.1\.my-host\.[A-Za-z0-9_-]{16}\.held\.call_1-A\.[A-Za-z0-9_-]+$/);
    const last = text.slice(text.lastIndexOf(".") + 1);
    expect(Buffer.from(last, "base64url").toString("latin1")).not.toContain("canary");
  });

  test("H-27: a state with any one byte changed, left out or added is never opened", () => {
    const sealer = createStateSealer({ hostId: "h", randomBytes: seeded("a") });
    const text = sealer.seal(CONTENT);
    for (let at = 0; at < text.length; at += 1) {
      const others = [text.slice(0, at) + text.slice(at + 1), `${text.slice(0, at)}A${text.slice(at)}`];
      for (const other of ["A", "B", ".", "-", "=", "\0", "é"]) {
        if (text[at] !== other) others.push(text.slice(0, at) + other + text.slice(at + 1));
      }
      for (const other of others) expect(sealer.open(other).kind, `at ${String(at)}: ${other}`).not.toBe("opened");
    }
    expect(sealer.open(text).kind).toBe("opened");
  });

  test("H-27: two parts of two states make none", () => {
    const sealer = createStateSealer({ hostId: "h", randomBytes: seeded("a") });
    const one = sealer.seal(CONTENT).split(".");
    const two = sealer.seal({ kind: "approval", callId: "call-2", payload: { nonce: "other" } }).split(".");
    for (let at = 0; at < one.length; at += 1) {
      if (one[at] === two[at]) continue;
      const mixed = one.map((part, place) => (place === at ? two[at] : part)).join(".");
      expect(sealer.open(mixed)).toEqual({ kind: "broken" });
    }
  });

  test("H-27: what another process of the host sealed is of the past, whatever else can't be told", () => {
    const before = createStateSealer({ hostId: "h", randomBytes: seeded("a") });
    const after = createStateSealer({ hostId: "h", randomBytes: seeded("b") });
    expect(after.open(before.seal(CONTENT))).toEqual({ kind: "past", of: "held" });
    expect(after.open(before.seal({ ...CONTENT, kind: "approval" }))).toEqual({ kind: "past", of: "approval" });
  });

  test("H-27: a state of a server is nobody's business, also one of another host of this package", () => {
    const sealer = createStateSealer({ hostId: "h", randomBytes: seeded("a") });
    const elsewhere = createStateSealer({ hostId: "h2", randomBytes: seeded("b") });
    expect(sealer.open(elsewhere.seal(CONTENT))).toEqual({ kind: "foreign" });
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(sealer.open(text)).toEqual({ kind: "foreign" });
      }),
    );
    expect(sealer.open("")).toEqual({ kind: "foreign" });
  });

  test("H-27: anything that begins like a state of this host is judged without throwing", () => {
    const sealer = createStateSealer({ hostId: "h", randomBytes: seeded("a") });
    const begin = sealer.seal(CONTENT).split(".").slice(0, 4).join(".");
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.constantFrom("", ".", `.held.c.`, `.approval.`), (text, middle) => {
        expect(["broken", "past"]).toContain(sealer.open(`${begin}${middle}${text}`).kind);
      }),
    );
  });

  test("a call id or a host id that does not fit is refused", () => {
    const sealer = createStateSealer();
    expect(() => sealer.seal({ ...CONTENT, callId: "a.b" })).toThrowError(
      expect.objectContaining({ code: "invalid_argument" }),
    );
    expect(() => createStateSealer({ hostId: "" })).toThrowError(expect.objectContaining({ code: "invalid_options" }));
  });
});
