import { describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { StreamDecoder, type StreamEvent } from "../../../src/protocol/index.js";
import { captureError } from "./capture-error.js";
import { cut, decodeByTheBook, decodeChunks, encode, open } from "./stream-bytes.js";

const decodeText = (...chunks: string[]): StreamEvent[] => decodeChunks(chunks.map(encode));

const message = (data: string, more: Partial<StreamEvent> = {}): StreamEvent => ({
  data,
  id: undefined,
  event: undefined,
  unterminated: false,
  ...more,
});

describe("StreamDecoder", () => {
  it("W-12: four texts at all pairs of places", () => {
    for (const whole of [
      "data: a\r\rdata: b\r\ndata: c\r\n\r\n",
      "\ufeffid: 1\ndata: 工😀\n\n:\r\n\ndata\n\r",
      ": é\r\nevent: x\rdata:\r\n\rdata: y",
      "data: a\r\n\n\r\r\ndata: b\n\r\n",
    ]) {
      const bytes = encode(whole);
      const expected = decodeByTheBook(whole);
      for (let one = 0; one <= bytes.length; one += 1) {
        for (let other = one; other <= bytes.length; other += 1) {
          expect(decodeChunks(cut(bytes, [one, other]))).toEqual(expected);
        }
      }
    }
  });

  it.each(["\n", "\r\n", "\r"])("W-12: reads an event of a server whose lines end in %j", (end) => {
    const whole = ["event: message", "id: 7", "data: {", "data:  1}", "", ""].join(end);
    expect(decodeText(whole)).toEqual([message("{\n 1}", { event: "message", id: "7" })]);
  });

  it.each([
    ["a lone CR", "data: x\r\r"],
    ["LF", "data: x\n\n"],
    ["CRLF", "data: x\r\n\r\n"],
    ["half a CRLF", "data: x\r\n\r"],
    ["CR and LF mixed", "data: x\n\r"],
  ])("W-12: an event whose blank line is %s arrives without waiting for the next byte", (_, whole) => {
    const { decoder, events } = open();
    decoder.push(encode(whole));
    expect(events).toEqual([message("x")]);
    decoder.push(encode("\n"));
    decoder.push(encode("data: y\n\n"));
    expect(events).toEqual([message("x"), message("y")]);
  });

  it("W-12: the LF of a CRLF that was cut is no blank line", () => {
    const { decoder, events } = open();
    for (const chunk of ["data: a\r", "\ndata: b\r", "", "\n", "\r", "\n"]) decoder.push(encode(chunk));
    expect(events).toEqual([message("a\nb")]);
  });

  it.each([
    ["line separators", "data: a\u2028b\u2029c\u0085d\u000be\u000cf\n\n", "a\u2028b\u2029c\u0085d\u000be\u000cf"],
    ["NUL", "data: a\0b\n\n", "a\0b"],
    ["colons", "data::a:b:\n\n", ":a:b:"],
    ["all spaces but the first", "data:   a  \n\n", "  a  "],
    ["a tab instead of the space", "data:\ta\n\n", "\ta"],
    ["a byte order mark inside", "data: \ufeffa\n\n", "\ufeffa"],
    ["empty lines of data", "data:\ndata\ndata: a\ndata: \n\n", "\n\na\n"],
  ])("W-12: data keeps %s", (_, whole, data) => {
    expect(decodeText(whole)).toEqual([message(data)]);
  });

  it("W-12: a leading byte order mark is skipped, a second one is text", () => {
    const bytes = encode("\ufeffdata: x\n\n");
    for (let place = 0; place <= bytes.length; place += 1) {
      expect(decodeChunks(cut(bytes, [place]))).toEqual([message("x")]);
    }
    expect(decodeText("\ufeff\ufeffdata: x\n\n")).toEqual([]);
    expect(decodeText("ï»¿data: x\n\n")).toEqual([]);
  });

  it("W-12: bytes that are no UTF-8 become replacement characters and break nothing", () => {
    const bytes = Uint8Array.from([...encode("data: a"), 0xff, 0xe5, 0xb7, ...encode("b\n\ndata: c\n\n")]);
    for (let place = 0; place <= bytes.length; place += 1) {
      expect(decodeChunks(cut(bytes, [place]))).toEqual([message("a\ufffd\ufffdb"), message("c")]);
    }
  });

  it.each([
    ":\n\n",
    ": ping - 12:00\r\n\r\n",
    "event: ping\ndata:\n\n",
    "data\n\n",
    "event: ping\n\n",
    "retry: 10\n\n",
    "\n\n\n",
    "nothing\n\n",
    "id: 1\0\ndata:\n\n",
  ])("W-12: %j is no event", (whole) => {
    expect(decodeText(whole)).toEqual([]);
  });

  it("L-5: an event with an id and empty data is handed over, for the id alone", () => {
    expect(decodeText("id: 1\ndata:\n\n")).toEqual([message("", { id: "1" })]);
    expect(decodeText("id:\ndata:\n\n")).toEqual([message("", { id: "" })]);
    expect(decodeText("id: 1\ndata: a\n\ndata: b\n\n")).toEqual([message("a", { id: "1" }), message("b")]);
  });

  it("L-5: hands over the pause that the server wishes for, and no other", () => {
    const wishes: number[] = [];
    const decoder = new StreamDecoder({
      maxEventBytes: 100,
      onEvent: () => {
        throw new Error("no event");
      },
      onRetry: (retryMs) => wishes.push(retryMs),
    });
    decoder.push(encode("retry: 1500\nretry: -1\nretry: 1.5\nretry: soon\nretry:\nret"));
    decoder.push(encode("ry:0\r\r"));
    expect(wishes).toEqual([1500, 0]);
  });

  it.each([
    ["without any line end", "data: x"],
    ["with one LF", "data: x\n"],
    ["with one CR", "data: x\r"],
    ["with one CRLF", "data: x\r\n"],
    ["behind a comment", "data: x\n: bye"],
    ["behind a good one", "data: w\n\ndata: x"],
  ])("W-12: a last event %s comes at the end and says so", (_, whole) => {
    expect(decodeText(whole).at(-1)).toEqual(message("x", { unterminated: true }));
    const { decoder, events } = open();
    decoder.push(encode(whole));
    expect(events.filter(({ data }) => data === "x")).toEqual([]);
  });

  it.each(["data: x\n\n", "data: x\r\r", "data: x\r\n\r\n", "data: x\r\n\r", "data: x\n\n: bye", "data: x\n\ndata:"])(
    "W-12: %j has no unterminated event",
    (whole) => {
      expect(decodeText(whole)).toEqual([message("x")]);
    },
  );

  it("W-12: a character that the end cuts is replaced", () => {
    expect(decodeChunks([encode("data: x"), Uint8Array.of(0xe5, 0xb7)])).toEqual([
      message("x\ufffd", { unterminated: true }),
    ]);
    expect(decodeChunks([])).toEqual([]);
  });

  it("W-14: events come out in the very push that completes them, in order", () => {
    const { decoder, events } = open();
    decoder.push(encode("data: 1\n\ndata: 2\n\nda"));
    expect(events.map(({ data }) => data)).toEqual(["1", "2"]);
    decoder.push(encode("ta: 3\n"));
    expect(events).toHaveLength(2);
    decoder.push(encode("\ndata: 4\n\n"));
    expect(events.map(({ data }) => data)).toEqual(["1", "2", "3", "4"]);
  });

  it("F-7: keep-alives of a long time do not accumulate", () => {
    const { decoder, events } = open(64);
    const alive = encode(": keep-alive\r\n\r\n");
    const beat = encode("event: ping\ndata:\n\n");
    for (let turn = 0; turn < 50_000; turn += 1) {
      const half = alive.length - (turn % alive.length);
      decoder.push(alive.subarray(0, half));
      decoder.push(alive.subarray(half));
      decoder.push(beat);
      decoder.push(new Uint8Array(0));
    }
    expect(events).toEqual([]);
    decoder.push(encode("data: still here\n\n"));
    expect(events).toEqual([message("still here")]);
  });
});

function linesOf(length: number): string {
  const full = `data: ${"x".repeat(9)}\n`.repeat(Math.floor(length / 10));
  return `${full}data: ${"y".repeat(length % 10)}\n\n`;
}

describe("StreamDecoder limits", () => {
  const limit = 100;
  const ways: readonly (readonly [string, (whole: string) => Uint8Array[]])[] = [
    ["in one chunk", (whole) => [encode(whole)]],
    ["byte by byte", (whole) => Array.from(encode(whole), (byte) => Uint8Array.of(byte))],
    [
      "in chunks of 7",
      (whole) =>
        cut(
          encode(whole),
          Array.from({ length: Math.floor(whole.length / 7) }, (_, i) => (i + 1) * 7),
        ),
    ],
  ];
  const shapes: readonly (readonly [string, (length: number) => string])[] = [
    ["one line", (length) => `data: ${"x".repeat(length)}\n\n`],
    ["one line without a space", (length) => `data:${"x".repeat(length)}\n\n`],
    ["many lines", linesOf],
    ["empty lines", (length) => `${"data\n".repeat(length)}data: \n\n`],
  ];

  it.each(shapes.flatMap(([shape, make]) => ways.map(([way, split]) => [shape, way, make, split] as const)))(
    "F-10: an event of %s, %s, may reach the limit and not pass it",
    (_shape, _way, make, split) => {
      const reaching = open(limit);
      for (const chunk of split(make(limit))) reaching.decoder.push(chunk);
      expect(reaching.events.map(({ data }) => data.length)).toEqual([limit]);

      const passing = open(limit);
      const error = captureError(() => {
        for (const chunk of split(make(limit + 1))) passing.decoder.push(chunk);
      });
      expect(isRemoteConnectorError(error, "limit_exceeded")).toBe(true);
      expect(error).toMatchObject({ delivery: "unknown", details: { option: "maxEventBytes", limit } });
      expect(passing.events).toEqual([]);
    },
  );

  it.each([
    ["data", "data: x"],
    ["a comment", ": x"],
    ["an id", "id: x"],
    ["an event name", "event: x"],
    ["an unknown field", "x"],
  ])("F-10: a line of %s that never ends is refused as soon as it passes the limit", (_, start) => {
    const { decoder } = open(limit);
    decoder.push(encode(start));
    let pushed = 0;
    const error = captureError(() => {
      for (; pushed < 10 * limit; pushed += 10) decoder.push(encode("xxxxxxxxxx"));
    });
    expect(error).toMatchObject({ code: "limit_exceeded" });
    expect(pushed).toBeLessThan(limit + 20);
  });

  it("F-10: lines of data that never end are refused as soon as they pass the limit", () => {
    const { decoder } = open(limit);
    let pushed = 0;
    const error = captureError(() => {
      for (; pushed < 10 * limit; pushed += 10) decoder.push(encode("data: xxxxxxxxx\n"));
    });
    expect(error).toMatchObject({ code: "limit_exceeded" });
    expect(pushed).toBeLessThan(limit + 20);
  });

  it("F-10: a last event without its blank line keeps to the limit", () => {
    const { decoder, events } = open(limit);
    decoder.push(encode(`data:${"x".repeat(limit + 1)}`));
    expect(captureError(() => decoder.end())).toMatchObject({ code: "limit_exceeded" });
    expect(events).toEqual([]);
  });

  it("F-10: counts characters that are longer in bytes by no more than their bytes", () => {
    const { decoder, events } = open(limit);
    decoder.push(encode(`data: ${"😀".repeat(limit / 4)}\n\n`));
    expect(events).toHaveLength(1);
  });

  it.each(ways)("F-10: what came before the event that is too long was delivered (%s)", (_, split) => {
    const { decoder, events } = open(limit);
    const error = captureError(() => {
      for (const chunk of split(`data: a\n\ndata: ${"x".repeat(2 * limit)}\n\ndata: b\n\n`)) decoder.push(chunk);
    });
    expect(error).toMatchObject({ code: "limit_exceeded" });
    expect(events).toEqual([message("a")]);
  });

  it.each(ways)("F-10: once refused, it delivers nothing and refuses all (%s)", (_, split) => {
    const { decoder, events } = open(limit);
    captureError(() => {
      for (const chunk of split(`data: ${"x".repeat(2 * limit)}\n\n`)) decoder.push(chunk);
    });
    expect(captureError(() => decoder.push(encode("\n\ndata: a\n\n")))).toMatchObject({ code: "limit_exceeded" });
    expect(captureError(() => decoder.end())).toMatchObject({ code: "limit_exceeded" });
    expect(events).toEqual([]);
  });
});
