import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StreamDecoder } from "../../../src/protocol/index.js";
import { encodeEvent } from "../../../src/serving/sse-writer.js";

function decode(bytes: Uint8Array): string[] {
  const events: string[] = [];
  const decoder = new StreamDecoder({ maxEventBytes: 1_000_000, onEvent: (event) => events.push(event.data) });
  decoder.push(bytes);
  return events;
}

describe("encodeEvent", () => {
  it.each([
    ["{}", "data: {}\n\n"],
    ['{"a":1,\n"b":2}', 'data: {"a":1,\ndata: "b":2}\n\n'],
    ["{\r\n}", "data: {\ndata: }\n\n"],
    ["{\r}", "data: {\ndata: }\n\n"],
    ["{\n\n}\n", "data: {\ndata: \ndata: }\ndata: \n\n"],
  ])("H-21: %j", (text, expected) => {
    expect(Buffer.from(encodeEvent(text)).toString("utf8")).toBe(expected);
  });

  it("H-22: begins with the id, if it has one", () => {
    expect(Buffer.from(encodeEvent("{\n}", "a.0.1")).toString("utf8")).toBe("id: a.0.1\ndata: {\ndata: }\n\n");
  });

  it("W-12: is read back as one event whose JSON is what it was", () => {
    const space = fc.constantFrom("", " ", "\n", "\r\n", "\r", "\n\n", "\r\r\n");
    fc.assert(
      fc.property(fc.jsonValue(), space, space, (value, before, after) => {
        const text = `{${before}"v":${after}${JSON.stringify(value)}}`;
        const events = decode(encodeEvent(text));
        expect(events).toEqual([text.replace(/\r\n?/g, "\n")]);
        expect(JSON.parse(events[0] ?? "")).toEqual(JSON.parse(text));
      }),
      { seed: 12, numRuns: 300 },
    );
  });
});
