import { describe, expect, it } from "vitest";
import {
  type Answer,
  answerEvents,
  commentEvent,
  dataEvent,
  delay,
  keepOpen,
  messageEvent,
  progressMessage,
  resultMessage,
  splitAt,
  streamText,
  withFaults,
} from "../../src/testing/index.js";
import { CALL, meet, OK, PLAIN } from "./parties.js";

const result = messageEvent(resultMessage(OK));
/** A stream of one event around the result of request 1, cut into pieces behind these bytes of the body. */
const pieces = (text: string, ...at: readonly number[]): Answer =>
  withFaults(answerEvents([streamText(text)]), splitAt(...at.map((body) => ({ body }))));
const whole = `{"jsonrpc":"2.0","id":1,"result":${JSON.stringify(OK)}}`;

describe("event streams", () => {
  it("MB-001: a server that ends its lines with CRLF, with CR, or with both is never heard", async () => {
    const lineEnds = ["\r\n", "\r", "\n"] as const;
    const mixed = answerEvents([
      streamText(":a\r\n\r\n:b\r\r"),
      streamText('event: message\rdata: {"jsonrpc":"2.0",\r\ndata: "id":4,"result":{"content":[]}}\n\r\n'),
    ]);
    const open = lineEnds.map((lineEnd) => withFaults(answerEvents([result], { lineEnd }), keepOpen()));
    const [first, second, third] = open;
    if (first === undefined || second === undefined || third === undefined) throw new Error("unreachable");
    const { client } = await meet([first, second, third, withFaults(mixed, keepOpen())]);
    const startedAt = performance.now();
    for (let i = 0; i < 3; i += 1) await expect(client.callTool(CALL, PLAIN)).resolves.toEqual(OK);
    await expect(client.callTool(CALL, PLAIN)).resolves.toEqual({ content: [] });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it("MB-002: characters and data lines cut by the network come out broken", async () => {
    const text = 'data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"工具"}]}}\n\n';
    const at = Buffer.from(text).indexOf(Buffer.from("工")) + 1;
    const pretty = JSON.stringify({ jsonrpc: "2.0", id: 2, result: { content: [], a: { b: 1 } } }, undefined, 2);
    const { client } = await meet([pieces(text, at, at + 3), answerEvents([dataEvent(pretty)])]);
    await expect(client.callTool(CALL, PLAIN)).resolves.toEqual({ content: [{ type: "text", text: "工具" }] });
    await expect(client.callTool(CALL, PLAIN)).resolves.toEqual({ content: [], a: { b: 1 } });
  });

  it("MB-004: a call waits for the end of its stream though its response is there", async () => {
    const { client } = await meet([withFaults(answerEvents([result]), keepOpen({ beatMs: 20 }))]);
    const startedAt = performance.now();
    await expect(client.callTool(CALL, { ...PLAIN, idleTimeoutMs: 10_000 })).resolves.toEqual(OK);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it("MB-006: a CRLF that two reads share counts as two line ends", async () => {
    const text = `data: {"jsonrpc":"2.0",\r\ndata: "id":1,"result":${JSON.stringify(OK)}}\r\n\r\n`;
    const returns = [...text.matchAll(/\r/g)].map(({ index }) => index + 1);
    const { client, kinds } = await meet([withFaults(pieces(text, ...returns), keepOpen())]);
    await expect(client.callTool(CALL, PLAIN)).resolves.toEqual(OK);
    expect(kinds()).toEqual([]);
  });

  it("MB-007: a stream without a charset is read as Latin-1, and separators inside JSON cut its lines", async () => {
    const text = "✅ a\u2028b\u2029c\u0085d";
    const { client, server } = await meet([
      answerEvents([messageEvent(resultMessage({ content: [{ type: "text", text }] }))], { type: "text/event-stream" }),
    ]);
    await expect(client.callTool(CALL, PLAIN)).resolves.toEqual({ content: [{ type: "text", text }] });
    expect(server.requests).toHaveLength(1);
  });

  it("MB-009: an event without a name is dropped", async () => {
    const { client } = await meet([
      withFaults(answerEvents([streamText(`data: ${whole}\n\n`)]), keepOpen()),
      withFaults(answerEvents([messageEvent(resultMessage(OK), { event: "message" })]), keepOpen()),
    ]);
    await expect(client.callTool(CALL, PLAIN)).resolves.toEqual(OK);
    await expect(client.callTool(CALL, PLAIN)).resolves.toEqual(OK);
  });

  it("MB-011: the last event before the end of the stream, without its blank line, leaves the call hanging", async () => {
    for (const end of ["", "\n"]) {
      const { client, kinds } = await meet([answerEvents([streamText(`data: ${whole}${end}`)])]);
      await expect(client.callTool(CALL, PLAIN)).resolves.toEqual(OK);
      expect(kinds()).toEqual(["unterminated_event"]);
    }
    const { client } = await meet([answerEvents([streamText(`data: ${whole.slice(0, -1)}`)])]);
    await expect(client.callTool(CALL, PLAIN)).rejects.toMatchObject({ code: "stream_ended", delivery: "unknown" });
  });

  it("MB-012: keep-alive events without data are reported as broken messages", async () => {
    const beats = [streamText("event: ping\ndata:\n\n"), streamText("data\n\n"), commentEvent(" ping - 12:00")];
    const many = Array.from({ length: 6 }, () => beats).flat();
    // Each comes well before the deadline for silence, all together far behind it.
    const pauses = many.map((_, i) => delay(40, { event: i + 1 }));
    const { client, kinds } = await meet([withFaults(answerEvents([...many, result]), ...pauses)]);
    await expect(client.callTool(CALL, { ...PLAIN, idleTimeoutMs: 300 })).resolves.toEqual(OK);
    expect(kinds()).toEqual([]);
  });

  it("MB-014: a heartbeat that is JSON but no message fails the stream, or fills the log", async () => {
    const beat = dataEvent('{"kind":"beat","n":1}');
    const events = [beat, progressMessage(1), beat, beat, progressMessage(2), beat, result];
    const { client, kinds } = await meet([answerEvents(events)]);
    const seen: number[] = [];
    const onProgress = ({ progress }: { progress: number }): void => void seen.push(progress);
    await expect(client.callTool(CALL, { ...PLAIN, onProgress })).resolves.toEqual(OK);
    expect(seen).toEqual([1, 2]);
    expect(kinds()).toEqual(["not_a_message"]);
  });
});
