import { describe, expect, it } from "vitest";
import { type RawRequest, RequestReader } from "../../../src/testing/request-reader.js";

function read(pieces: readonly Uint8Array[], maxRequestBytes = 1_000) {
  const requests: RawRequest[] = [];
  const faults: string[] = [];
  const reader = new RequestReader({
    maxRequestBytes,
    onRequest: (request) => requests.push(request),
    onFault: (reason) => faults.push(reason),
  });
  for (const piece of pieces) reader.push(piece);
  return { requests: requests.map(({ body, ...head }) => ({ ...head, body: Buffer.from(body).toString() })), faults };
}

const TEXT =
  "POST /mcp?x=1 HTTP/1.1\r\nHost: a\r\ncontent-length: 3\r\nX-Empty:\r\n\r\n{}\n" +
  "GET /sse HTTP/1.1\r\n\r\n" +
  "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n3;ext=1\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n" +
  "DELETE /mcp HTTP/1.1\r\nContent-Length: 0\r\n\r\n";
const REQUESTS = [
  {
    verb: "POST",
    target: "/mcp?x=1",
    headers: [
      ["Host", "a"],
      ["content-length", "3"],
      ["X-Empty", ""],
    ],
    body: "{}\n",
  },
  { verb: "GET", target: "/sse", headers: [], body: "" },
  { verb: "POST", target: "/", headers: [["Transfer-Encoding", "Chunked"]], body: "abc0123456789" },
  { verb: "DELETE", target: "/mcp", headers: [["Content-Length", "0"]], body: "" },
];

describe("reading requests", () => {
  const bytes = Buffer.from(TEXT);

  it("reads them at every split, and byte by byte", () => {
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(read([bytes.subarray(0, at), bytes.subarray(at)])).toEqual({ requests: REQUESTS, faults: [] });
    }
    expect(read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual({ requests: REQUESTS, faults: [] });
  });

  it.each([
    ["no HTTP", "hello\r\n\r\n"],
    ["another version", "POST / HTTP/2.0\r\n\r\n"],
    ["a header without a colon", "POST / HTTP/1.1\r\nabc\r\n\r\n"],
    ["a length that is none", "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"],
    ["a chunk without a size", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
    ["a head that does not end", `POST / HTTP/1.1\r\nX: ${"x".repeat(1_000)}`],
    ["a body that is too long", "POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n"],
    ["chunks that are too long", `POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n${"x".repeat(1_000)}`],
  ])("refuses %s once, and reads nothing behind it", (_, text) => {
    const { requests, faults } = read([Buffer.from(text), bytes]);
    expect(requests).toEqual([]);
    expect(faults).toHaveLength(1);
  });

  it("counts the limit for each request alone", () => {
    const one = `POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\n${"x".repeat(100)}`;
    const { requests, faults } = read([Buffer.from(one.repeat(20))], 200);
    expect(requests).toHaveLength(20);
    expect(faults).toEqual([]);
  });
});
