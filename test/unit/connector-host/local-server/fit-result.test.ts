import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitResult, type ResultKind } from "../../../../src/connector-host/local-server/fit-result.js";
import type { UpstreamAnswer } from "../../../../src/connector-host/local-server/index.js";

function answer(text: string, era: UpstreamAnswer["era"]): UpstreamAnswer {
  const { resultType }: { resultType?: string } = JSON.parse(text);
  return { raw: Buffer.from(text), era, resultType };
}

function fitted(
  text: string,
  era: UpstreamAnswer["era"],
  agentEra: UpstreamAnswer["era"],
  kind: ResultKind = "tool",
): string {
  const result = fitResult(answer(text, era), agentEra, kind);
  if (result.kind !== "fits") throw new Error(`undeliverable: ${result.resultType}`);
  return Buffer.from(result.raw).toString("utf8");
}

const KINDS: readonly ResultKind[] = ["tool", "prompt", "resource", "completion"];
const PLAIN = '{ "content" : [],"n":12345678901234567890,  "_meta":{"ttlMs":1},"x":1e400 }';

describe("H-26: a result for an agent", () => {
  it("stays byte for byte within the modern era", () => {
    const text = `{"ttlMs":0,"resultType":"complete","cacheScope":"private",${PLAIN.slice(1)}`;
    const given = answer(text, "modern");
    for (const kind of KINDS) expect(fitResult(given, "modern", kind)).toEqual({ kind: "fits", raw: given.raw });
  });

  it.each([PLAIN, '{"resultType":"of its own","ttlMs":5,"structuredContent":[1]}', "{}"])(
    "stays byte for byte within the legacy era: %s",
    (text) => expect(KINDS.map((kind) => fitted(text, "legacy", "legacy", kind))).toEqual(KINDS.map(() => text)),
  );

  it("gets resultType in front for a modern agent when it has none", () => {
    expect(fitted(PLAIN, "legacy", "modern")).toBe(`{"resultType":"complete",${PLAIN.slice(1)}`);
    expect(fitted(PLAIN, "modern", "modern")).toBe(`{"resultType":"complete",${PLAIN.slice(1)}`);
    expect(fitted("{}", "legacy", "modern")).toBe('{"resultType":"complete"}');
    expect(fitted(" {\n } ", "legacy", "modern")).toBe(' {"resultType":"complete"\n } ');
  });

  it("W-10: means complete for a modern agent, whatever a legacy server calls resultType", () => {
    expect(JSON.parse(fitted('{"resultType":"mine","a":1}', "legacy", "modern"))).toEqual({
      resultType: "complete",
      a: 1,
    });
  });

  it("loses what a legacy agent doesn't know, and nothing else", () => {
    const text =
      '{"resultType":"complete","content":[{"ttlMs":3}],"ttlMs":9,"n":12345678901234567890,"cacheScope":"public"}';
    expect(fitted(text, "modern", "legacy")).toBe('{"content":[{"ttlMs":3}],"n":12345678901234567890}');
  });

  it("of a resource gets the hint that the modern revision requires, and one of the server's stays", () => {
    const hint = '"resultType":"complete","ttlMs":0,"cacheScope":"private"';
    expect(fitted(PLAIN, "legacy", "modern", "resource")).toBe(`{${hint},${PLAIN.slice(1)}`);
    expect(fitted(PLAIN, "modern", "modern", "resource")).toBe(`{${hint},${PLAIN.slice(1)}`);
    const partly = '{"resultType":"complete","contents":[],"ttlMs":12345678901234567890}';
    expect(fitted(partly, "modern", "modern", "resource")).toBe(`{"cacheScope":"private",${partly.slice(1)}`);
    const foreign = '{"ttlMs":-1,"contents":[],"cacheScope":[],"resultType":"mine"}';
    expect(fitted(foreign, "legacy", "modern", "resource")).toBe(
      '{"ttlMs":0,"contents":[],"cacheScope":"private","resultType":"complete"}',
    );
    for (const kind of ["prompt", "completion"] as const) {
      expect(fitted(PLAIN, "legacy", "modern", kind)).toBe(`{"resultType":"complete",${PLAIN.slice(1)}`);
    }
  });

  it("of other kinds than a tool's keeps a member that is called structuredContent", () => {
    const text = '{"structuredContent":[1],"resultType":"complete","ttlMs":1}';
    for (const kind of ["prompt", "resource", "completion"] as const) {
      expect(fitted(text, "modern", "legacy", kind)).toBe('{"structuredContent":[1]}');
    }
  });

  it.each<[string, string]>([
    ["[1,12345678901234567890]", '{"result":[1,12345678901234567890]}'],
    ['"text"', '{"result":"text"}'],
    ["null", '{"result":null}'],
    ['{ "a" : 1 }', '{ "a" : 1 }'],
  ])("holds structured content %s as an object for a legacy agent", (content, expected) => {
    const text = `{"content":[],"structuredContent":${content},"resultType":"complete"}`;
    expect(fitted(text, "modern", "legacy")).toBe(`{"content":[],"structuredContent":${expected}}`);
  });

  it.each(["task", "", "Input_Required"])("of the kind %j reaches nobody", (resultType) => {
    const given = answer(JSON.stringify({ resultType }), "modern");
    for (const kind of KINDS) {
      expect(fitResult(given, "modern", kind)).toEqual({ kind: "undeliverable", resultType });
      expect(fitResult(given, "legacy", kind)).toEqual({ kind: "undeliverable", resultType });
    }
  });

  it("H-27: that asks for input reaches a modern agent byte for byte, and a legacy one never", () => {
    const given = answer(`{"resultType":"input_required", "inputRequests":{},${PLAIN.slice(1)}`, "modern");
    for (const kind of ["tool", "prompt", "resource"] as const) {
      expect(fitResult(given, "modern", kind)).toEqual({ kind: "fits", raw: given.raw });
    }
    const undeliverable = { kind: "undeliverable", resultType: "input_required" };
    expect(fitResult(given, "modern", "completion")).toEqual(undeliverable);
    for (const kind of KINDS) expect(fitResult(given, "legacy", kind)).toEqual(undeliverable);
  });

  it("H-27: of a legacy server asks for nothing, whatever it calls its resultType", () => {
    expect(fitted('{"resultType":"input_required"}', "legacy", "modern")).toBe('{"resultType":"complete"}');
  });

  it("keeps every other member of any object, in order", () => {
    const members = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(members, fc.constantFrom(0, 1, 3), (value, indent) => {
        const { resultType: _r, ttlMs: _t, cacheScope: _c, structuredContent: _s, ...rest } = value;
        const text = JSON.stringify({ resultType: "complete", ...rest, ttlMs: 1 }, null, indent);
        expect(JSON.parse(fitted(text, "modern", "legacy"))).toEqual(JSON.parse(JSON.stringify(rest)));
        const legacy = JSON.stringify(rest, null, indent);
        const expected: object = JSON.parse(legacy);
        expect(JSON.parse(fitted(legacy, "legacy", "modern"))).toEqual({ resultType: "complete", ...expected });
      }),
      { seed: 21, numRuns: 300 },
    );
  });
});
