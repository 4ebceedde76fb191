import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitBatch } from "../../../../src/connector-host/local-server/split-batch.js";

function split(text: string): readonly string[] | undefined {
  const parsed: readonly unknown[] = JSON.parse(text);
  return splitBatch(Buffer.from(text), parsed)?.map((bytes) => Buffer.from(bytes).toString("utf8"));
}

describe("L-1: the messages of a batch", () => {
  it("come out as they were written", () => {
    expect(split('[ {"a":{"b":[{}]}} ,\n{"s":"}{,]\\"","n":12345678901234567890}, {} ]')).toEqual([
      '{"a":{"b":[{}]}}',
      '{"s":"}{,]\\"","n":12345678901234567890}',
      "{}",
    ]);
    expect(split("[]")).toEqual([]);
  });

  it.each(["[1]", '[{}, "x"]', "[[{}]]", "[null]"])("don't come out when one is no object: %s", (text) => {
    expect(split(text)).toBeUndefined();
  });

  it("are those that JSON.parse finds", () => {
    const batch = fc.array(fc.dictionary(fc.string(), fc.jsonValue()));
    fc.assert(
      fc.property(batch, fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(split(text)?.map((each) => JSON.parse(each) as unknown)).toEqual(JSON.parse(text));
      }),
      { seed: 22, numRuns: 300 },
    );
  });
});
