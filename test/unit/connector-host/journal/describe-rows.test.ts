import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type BodyRules, describeBegun, describeEnd } from "../../../../src/connector-host/journal/describe-rows.js";
import { redactJson } from "../../../../src/connector-host/journal/index.js";
import { entryOf, resultOf, SUBJECT } from "./parties.js";

const KEY = new Uint8Array(32).fill(7);
const PLACE = { seq: 5, firstSeq: 5, attempt: 1, epoch: "e", startedAt: 1 };
const TIMES = { endedAt: 2, durationMs: 1.6 };

function rules(more: Partial<BodyRules> = {}): BodyRules {
  return { key: KEY, redact: undefined, maxBodyBytes: 64, ...more };
}

function hmac(text: string): string {
  return createHmac("sha256", KEY).update(text, "utf8").digest("base64url");
}

describe("describeBegun", () => {
  it("H-35: has size and digest of the arguments, and nothing else of them", () => {
    const row = describeBegun(entryOf({ argumentsText: '{"é":1}' }), PLACE, rules());
    expect([row.argumentBytes, row.argumentHmac, row.argumentBody]).toEqual([8, hmac('{"é":1}'), undefined]);
    const none = describeBegun(entryOf({ argumentsText: undefined }), PLACE, rules());
    expect([none.argumentBytes, none.argumentHmac]).toEqual([0, undefined]);
    const empty = describeBegun(entryOf({ argumentsText: "" }), PLACE, rules());
    expect([empty.argumentBytes, empty.argumentHmac]).toEqual([0, hmac("")]);
  });

  it("H-35: a call of a person is a test, and nobody's", () => {
    const row = describeBegun(entryOf({ binding: undefined }), PLACE, rules());
    expect([row.kind, row.workspaceId, row.agentSessionId, row.accountId]).toEqual([
      "test",
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("H-35: a durable binding has its name and its account", () => {
    const { binding } = SUBJECT;
    const durable = { name: "desk", accountId: "bob" };
    const row = describeBegun(
      entryOf({ binding: binding && { ...binding, login: undefined, durable } }),
      PLACE,
      rules(),
    );
    expect([row.durableName, row.accountId]).toEqual(["desk", "bob"]);
  });

  it("H-35, F-6: of a resource the URI is shown without userinfo and values, and told apart by its digest", () => {
    const uri = "https://me:pw@host.example/a?token=t0p#frag";
    const row = describeBegun(
      entryOf({ kind: "resource", nativeName: uri, exposedName: uri, argumentsText: undefined }),
      PLACE,
      rules({ redact: redactJson }),
    );
    expect(row.nativeName).toBe("https://host.example/a?token=…");
    expect(row.exposedName).toBe(row.nativeName);
    expect(row.argumentHmac).toBe(hmac(uri));
    expect(row.argumentBody).toBeUndefined();
    const plain = describeBegun(entryOf({ kind: "resource", nativeName: "note:one" }), PLACE, rules());
    expect(plain.nativeName).toBe("note:one");
  });

  it("H-35, F-6: so is the template of which an argument is completed", () => {
    const template = "https://me:pw@host.example/{id}?token=t0p";
    const row = describeBegun(
      entryOf({ kind: "completion", nativeName: template, exposedName: template }),
      PLACE,
      rules(),
    );
    expect(JSON.stringify(row)).not.toMatch(/t0p|pw/);
    const prompt = describeBegun(entryOf({ kind: "completion", nativeName: "greet" }), PLACE, rules());
    expect(prompt.nativeName).toBe("greet");
  });

  it("H-35: long names are cut", () => {
    const row = describeBegun(entryOf({ nativeName: "n".repeat(10_000) }), PLACE, rules());
    expect(row.nativeName).toBe(`${"n".repeat(512)}…`);
    const fits = describeBegun(entryOf({ nativeName: "n".repeat(512) }), PLACE, rules());
    expect(fits.nativeName).toBe("n".repeat(512));
  });

  it("H-35: bodies are kept by option, redacted, and cut between two characters", () => {
    const text = JSON.stringify({ password: "hunter2", q: "é".repeat(100) });
    const row = describeBegun(entryOf({ argumentsText: text }), PLACE, rules({ redact: redactJson }));
    expect(row.argumentBody).toMatch(/^\{"password":"\[redacted\]","q":"é+…$/);
    expect(Buffer.byteLength(row.argumentBody ?? "")).toBeLessThanOrEqual(64 + Buffer.byteLength("…"));
  });

  it("H-35: nothing is kept of a body that the redactor throws at, keeps back, or that is too large for it", () => {
    const bodies = [
      () => {
        throw new Error("no");
      },
      () => undefined,
    ].map((redact) => describeBegun(entryOf(), PLACE, rules({ redact })).argumentBody);
    expect(bodies).toEqual([undefined, undefined]);
    const large = entryOf({ argumentsText: JSON.stringify({ q: "x".repeat(300_000) }) });
    expect(describeBegun(large, PLACE, rules({ redact: (text) => text })).argumentBody).toBeUndefined();
  });
});

describe("describeEnd", () => {
  it("H-35: a result has size, digest and what it says of itself, a failure none of them", () => {
    const end = describeEnd(resultOf('{"content":[]}'), TIMES, rules());
    expect(end).toEqual({
      verdict: "answered",
      endedAt: 2,
      durationMs: 2,
      errorCode: undefined,
      isError: false,
      resultType: "complete",
      resultBytes: 14,
      resultHmac: hmac('{"content":[]}'),
      resultBody: undefined,
    });
    const failure = describeEnd({ kind: "failure", delivery: "unknown", code: "timeout" }, TIMES, rules());
    expect(failure).toMatchObject({
      verdict: "unknown",
      errorCode: "timeout",
      isError: undefined,
      resultBytes: undefined,
    });
  });

  it("H-35: a clock that went back makes no duration below zero", () => {
    expect(describeEnd(resultOf(), { endedAt: 1, durationMs: -5 }, rules()).durationMs).toBe(0);
  });

  it("H-35: a result is kept by option, redacted", () => {
    const end = describeEnd(resultOf('{"token":"t","n":1}'), TIMES, rules({ redact: redactJson }));
    expect(end.resultBody).toBe('{"token":"[redacted]","n":1}');
  });
});
