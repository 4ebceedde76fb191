import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RawJson } from "../../../src/protocol/index.js";
import {
  type Answer,
  answerBody,
  answerError,
  answerEvents,
  answerFeed,
  answerNothing,
  answerRaw,
  answerRedirect,
  answerResult,
  answerStatus,
  type Framing,
  withFaults,
} from "../../../src/testing/answer.js";
import { EventFeed } from "../../../src/testing/event-feed.js";
import { commentEvent, dataEvent, messageEvent, streamText } from "../../../src/testing/event.js";
import {
  closeIdleAfter,
  compress,
  cutAt,
  delay,
  drip,
  type Fault,
  floodBody,
  floodHeaders,
  holdUntil,
  inform,
  keepOpen,
  resetAt,
  splitAt,
  stallAt,
} from "../../../src/testing/fault.js";
import {
  type AnswerId,
  anyMessage,
  progressMessage,
  requestMessage,
  resultMessage,
} from "../../../src/testing/message.js";
import { planAnswer } from "../../../src/testing/plan-answer.js";
import { rpc } from "./requests.js";

const request = rpc("tools/call", { _meta: { progressToken: "p" } });
const plan = (answer: Answer, ...faults: readonly (Fault | readonly Fault[])[]) =>
  planAnswer(withFaults(answer, ...faults), request);
/** What is written, and what stands between it. */
const shown = (answer: Answer, ...faults: readonly (Fault | readonly Fault[])[]): unknown[] =>
  plan(answer, ...faults).steps.map((step) => {
    if (step.kind === "write") return Buffer.from(step.bytes).toString();
    return step.kind === "pause" ? step.ms : step.kind;
  });
const written = (answer: Answer, ...faults: readonly (Fault | readonly Fault[])[]): string =>
  plan(answer, ...faults)
    .steps.map((step) => (step.kind === "write" ? Buffer.from(step.bytes).toString("latin1") : ""))
    .join("");
const bodyOf = (answer: Answer): string => Buffer.from(written(answer), "latin1").toString().split("\r\n\r\n")[1] ?? "";

describe("answers", () => {
  it.each<[Framing, string, string]>([
    ["content-length", "Content-Length: 36\r\n\r\n", "next"],
    ["close", "Connection: close\r\n\r\n", "fin"],
  ])("are framed by %s", (framing, head, ending) => {
    const answer = answerResult({}, { framing });
    expect(written(answer)).toBe(
      `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${head}{"jsonrpc":"2.0","id":7,"result":{}}`,
    );
    expect(plan(answer).ending).toBe(ending);
  });

  it("are framed in chunks, one for each event", () => {
    const answer = answerEvents([commentEvent("a"), dataEvent("b", { event: "e", id: "i", retry: 5 })]);
    expect(written(answer)).toBe(
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" +
        "4\r\n:a\n\n\r\n21\r\nevent: e\nid: i\nretry: 5\ndata: b\n\n\r\n0\r\n\r\n",
    );
  });

  it.each<[AnswerId, string]>([
    ["echo", '"id":7,'],
    ["string", '"id":"7",'],
    ["null", '"id":null,'],
    ["absent", ""],
    [{ other: [1] }, '"id":[1],'],
  ])("carry the id %j", (choice, text) => {
    expect(bodyOf(answerResult({}, { id: choice }))).toBe(`{"jsonrpc":"2.0",${text}"result":{}}`);
    expect(bodyOf(answerError(-1, "no", { id: choice, data: 0 }))).toBe(
      `{"jsonrpc":"2.0",${text}"error":{"code":-1,"message":"no","data":0}}`,
    );
  });

  it("carry any message, raw JSON and the request's progress token", () => {
    expect(bodyOf(answerResult(new RawJson('{"n":12345678901234567890}')))).toContain('{"n":12345678901234567890}');
    const events = [
      progressMessage(1),
      progressMessage(2, { progressToken: 9 }),
      requestMessage("s", "ping"),
      anyMessage([]),
    ];
    expect(bodyOf(answerEvents(events, { framing: "close" }))).toBe(
      'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}\n\n' +
        'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9,"progress":2}}\n\n' +
        'data: {"jsonrpc":"2.0","id":"s","method":"ping"}\n\ndata: []\n\n',
    );
  });

  it("carry events with other line ends, and several lines of data", () => {
    const events = [dataEvent("a\nb"), messageEvent(resultMessage({})), streamText("data: x")];
    expect(bodyOf(answerEvents(events, { framing: "close", lineEnd: "\r" }))).toBe(
      'data: a\rdata: b\r\rdata: {"jsonrpc":"2.0","id":7,"result":{}}\r\rdata: x',
    );
  });

  it.each([
    [answerStatus(202), "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"],
    [answerStatus(204), "HTTP/1.1 204 No Content\r\n\r\n"],
    [answerRedirect(307, "/x"), "HTTP/1.1 307 Temporary Redirect\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"],
    [answerRaw("junk"), "junk"],
    [answerNothing(), ""],
    [
      answerBody("é", { status: 799, headers: { "X-A": ["1", "2"] } }),
      "HTTP/1.1 799 Unknown\r\nContent-Type: text/plain\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 2\r\n\r\nÃ©",
    ],
  ])("of %j are these bytes", (answer, bytes) => expect(written(answer)).toBe(bytes));
});

describe("faults", () => {
  const small = answerRaw("abcdef");

  it.each<[string, Fault, string, string]>([
    ["cut", cutAt(2), "ab", "fin"],
    ["cut from the end", cutAt(-1), "abcde", "fin"],
    ["cut behind everything", cutAt(6), "abcdef", "fin"],
    ["reset", resetAt(0), "", "reset"],
    ["stall", stallAt({ body: 3 }), "abc", "stall"],
  ])("%s", (_, fault, bytes, ending) => {
    expect(written(small, fault)).toBe(bytes);
    expect(plan(small, fault).ending).toBe(ending);
  });

  it("pause and hold at their places, in their order", () => {
    const never = new Promise<void>(() => undefined);
    expect(shown(small, delay(5), holdUntil(never, 3), delay(7, 3))).toEqual([5, "abc", "hold", 7, "def"]);
    expect(shown(small, splitAt(2, -1))).toEqual(["ab", 2, "cde", 2, "f"]);
    expect(shown(small, drip(4, 9))).toEqual(["abcd", 9, "ef"]);
    expect(shown(small, delay(5, 4), cutAt(3))).toEqual(["abc"]);
    expect(shown(small, delay(5, 3), cutAt(3))).toEqual(["abc", 5]);
  });

  it("split the payload into chunks", () => {
    const events = answerEvents([streamText("one\n\n"), streamText("two\n\n")]);
    const [head, ...rest] = shown(events, splitAt({ body: 2 }, { event: 1 }));
    expect(head).toMatch(/chunked\r\n\r\n2\r\non\r\n$/);
    expect(rest).toEqual([2, "3\r\ne\n\n\r\n", 2, "5\r\ntwo\n\n\r\n0\r\n\r\n"]);
    expect(written(events, cutAt({ event: 1 }))).toMatch(/\r\n\r\n5\r\none\n\n\r\n$/);
    expect(written(events, cutAt({ body: 6 }))).toMatch(/5\r\none\n\n\r\n5\r\nt$/);
    expect(written(events, cutAt({ event: 0 }))).toMatch(/chunked\r\n\r\n5\r\n$/);
  });

  it("keep a body open", () => {
    expect(written(answerEvents([streamText("x")]), keepOpen())).toMatch(/1\r\nx\r\n$/);
    expect(written(answerBody("x", { framing: "content-length" }), keepOpen())).toContain("Content-Length: 2\r\n");
    expect(plan(answerBody("x", { framing: "close" }), keepOpen()).ending).toBe("stall");
    expect(shown(answerEvents([]), keepOpen({ beatMs: 5 })).at(-1)).toBe("flood");
  });

  it("flood the body or the headers", () => {
    expect(plan(answerEvents([]), floodBody({ piece: "ab", maxBytes: 9 })).steps.at(-1)).toMatchObject({
      kind: "flood",
      piece: Buffer.from("2\r\nab\r\n"),
      everyMs: 0,
      maxBytes: 9,
    });
    expect(written(answerBody("x"), floodBody({ maxBytes: 9 }))).toContain("Content-Length: 11\r\n");
    expect(shown(answerStatus(200), floodHeaders())).toEqual(["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", "flood"]);
  });

  it("compress, inform, and close idle connections", () => {
    const bytes = Buffer.from(written(answerBody("hello"), compress()), "latin1");
    const start = bytes.indexOf("\r\n\r\n") + 4;
    expect(bytes.toString("latin1")).toContain("Content-Encoding: gzip\r\n");
    expect(gunzipSync(bytes.subarray(start)).toString()).toBe("hello");
    expect(shown(small, inform(103, { Link: "x" }), delay(1))).toEqual([
      "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n",
      1,
      "abcdef",
    ]);
    expect(plan(small, closeIdleAfter(5)).closeIdleAfterMs).toBe(5);
  });

  it("leave the end of a live stream to its feed", () => {
    expect(shown(answerFeed(new EventFeed())).slice(1)).toEqual(["feed", "0\r\n\r\n"]);
    expect(shown(answerFeed(new EventFeed()), keepOpen()).slice(1)).toEqual(["feed"]);
    expect(plan(answerFeed(new EventFeed(), { framing: "close" })).ending).toBe("fin");
  });

  it.each<[string, Answer]>([
    ["a place behind the end", withFaults(small, cutAt(7))],
    ["a place before the start", withFaults(small, cutAt(-7))],
    ["an event that is not there", withFaults(answerEvents([]), cutAt({ event: 1 }))],
    ["two ends", withFaults(small, cutAt(1), resetAt(2))],
    ["a drip of nothing", withFaults(small, drip(0, 1))],
    ["a compressed live stream", withFaults(answerFeed(new EventFeed()), compress())],
  ])("refuse %s", (_, answer) => {
    expect(() => plan(answer)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });

  it("change no byte, wherever an answer is split", () => {
    const framings = fc.constantFrom<Framing>("content-length", "chunked", "close");
    const places = fc.array(fc.nat(30), { maxLength: 6 });
    fc.assert(
      fc.property(framings, places, fc.integer({ min: 1, max: 9 }), (framing, at, bytes) => {
        const answer = answerBody("0123456789".repeat(3), { framing });
        expect(written(answer, splitAt(...at), drip(bytes, 1))).toBe(written(answer));
        const dechunked = written(answer, splitAt(...at.map((body) => ({ body })))).replace(/^.*?\r\n\r\n/s, "");
        const payload = framing === "chunked" ? dechunked.replaceAll(/[0-9a-f]+\r\n(.*?)\r\n/gs, "$1") : dechunked;
        expect(payload).toBe("0123456789".repeat(3));
      }),
      { seed: 71, numRuns: 200 },
    );
  });
});
