import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
import { AUTHORITY } from "../../support/certificates.js";
import {
  DATA,
  END_HEADERS,
  END_STREAM,
  fields,
  frame,
  type FramedRequest,
  FrameServer,
  type FrameServerOptions,
  GOAWAY,
  HEADERS,
  PING,
  resultFrames,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
  words,
} from "../../support/frame-server.js";
import { Opened } from "../../support/opened.js";

const opened = new Opened();

afterEach(opened.close);

async function serve(answer: FrameServerOptions["answer"], options: Partial<FrameServerOptions> = {}) {
  const server = await FrameServer.start({ answer, ...options });
  opened.push(server);
  return server;
}

function connect(endpoint: string, options: Partial<ModernStreamableHTTPClientOptions> = {}) {
  const clientInfo = { name: "test", version: "1" };
  const made = new ModernStreamableHTTPClient({ endpoint, clientInfo, ca: AUTHORITY, http2: true, ...options });
  opened.push(made);
  return made;
}

const call = { name: "t" };
const contract = { parameters: [] };
const works = { content: [] };
const outcome = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

const NO_ERROR = 0;
const INTERNAL_ERROR = 2;
const REFUSED_STREAM = 7;
const CANCEL = 8;
const ENHANCE_YOUR_CALM = 11;

const json = { ":status": "200", "content-type": "application/json" };
const resultText = (id: number): string => JSON.stringify({ jsonrpc: "2.0", id, result: works });
const head = (stream: number, headers: Record<string, string> = json): Buffer =>
  frame(HEADERS, END_HEADERS, stream, fields(headers));
const reset = (stream: number, code: number): Buffer => frame(RST_STREAM, 0, stream, words(code));
const goaway = (last: number, code: number): Buffer => frame(GOAWAY, 0, 0, words(last, code));
/** SETTINGS with one parameter. */
const setting = (name: number, value: number): Buffer => Buffer.concat([Buffer.from([0, name]), words(value)]);
const MAX_CONCURRENT_STREAMS = 3;
const INITIAL_WINDOW_SIZE = 4;

type Frames = (request: FramedRequest) => Buffer[];

/** Frames for the first request; all others are answered. */
async function first(frames: Frames, options: Partial<FrameServerOptions> = {}) {
  const server = await serve((request) => {
    request.connection.send(...(request.turn === 1 ? frames(request) : [resultFrames(request)]));
  }, options);
  return { server, client: connect(server.url, { idleTimeoutMs: 2_000 }) };
}

describe("F-1: verdicts over HTTP/2, frame by frame", () => {
  it.each<[string, Frames]>([
    ["informational heads before it", (r) => [head(r.stream, { ":status": "103" }), resultFrames(r)]],
    [
      "trailers behind it",
      (r) => [
        head(r.stream),
        frame(DATA, 0, r.stream, resultText(r.id)),
        frame(HEADERS, END_HEADERS | END_STREAM, r.stream, fields({ "x-after": "1" })),
      ],
    ],
    ["a reset without an error behind it", (r) => [resultFrames(r), reset(r.stream, NO_ERROR)]],
    ["a reset behind it", (r) => [resultFrames(r), reset(r.stream, CANCEL)]],
    ["GOAWAY behind it", (r) => [resultFrames(r), goaway(r.stream, NO_ERROR)]],
    ["GOAWAY with an error behind it", (r) => [resultFrames(r), goaway(r.stream, INTERNAL_ERROR)]],
    ["no more streams behind it", (r) => [frame(SETTINGS, 0, 0, setting(MAX_CONCURRENT_STREAMS, 0)), resultFrames(r)]],
  ])("a whole answer is an answer, with %s", async (_, frames) => {
    const { server, client } = await first(frames);
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    expect(server.requests).toHaveLength(2);
  });

  it.each<[string, Frames]>([
    ["as they are", (r) => [resultFrames(r)]],
    ["each with SETTINGS before it", (r) => [frame(SETTINGS, 0, 0), resultFrames(r)]],
    ["each with PING before it", (r) => [frame(PING, 0, 0, words(0, 0)), resultFrames(r)]],
    ["each with a window behind it", (r) => [resultFrames(r), frame(WINDOW_UPDATE, 0, 0, words(1))]],
    [
      "and GOAWAY with an error behind the last",
      (r) => [frame(SETTINGS, 0, 0), resultFrames(r), ...(r.turn % 12 === 0 ? [goaway(r.stream, INTERNAL_ERROR)] : [])],
    ],
  ])("answers that come together lose nothing: %s", async (_, frames) => {
    const waiting: FramedRequest[] = [];
    const server = await serve((request) => {
      if (waiting.push(request) % 12 === 0) for (const one of waiting.splice(0)) one.connection.send(...frames(one));
    });
    const client = connect(server.url, { idleTimeoutMs: 2_000 });
    for (let round = 0; round < 3; round += 1) {
      const calls = Array.from({ length: 12 }, () => client.callTool(call, { contract }));
      await expect(Promise.all(calls)).resolves.toEqual(Array.from({ length: 12 }, () => works));
    }
  });

  it.each<[string, Frames]>([
    ["GOAWAY that names none", () => [goaway(0, NO_ERROR)]],
    ["GOAWAY with an error that names none", () => [goaway(0, ENHANCE_YOUR_CALM)]],
    ["GOAWAY that names all, then one that names none", () => [goaway(2 ** 31 - 1, NO_ERROR), goaway(0, NO_ERROR)]],
    ["a refused stream", (r) => [reset(r.stream, REFUSED_STREAM)]],
  ])("%s: the call was not acted on, and is made once more", async (_, frames) => {
    const { server, client } = await first(frames);
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    expect(server.requests).toHaveLength(2);
  });

  it.each<[string, Frames]>([
    ["GOAWAY with an error that names it", (r) => [goaway(r.stream, INTERNAL_ERROR)]],
    ["GOAWAY with an error that names a later one", (r) => [goaway(r.stream + 2, ENHANCE_YOUR_CALM)]],
    ["a head, then GOAWAY that names none", (r) => [head(r.stream), goaway(0, NO_ERROR)]],
    ["a head, then a refusal", (r) => [head(r.stream), reset(r.stream, REFUSED_STREAM)]],
    [
      "an informational head, then a refusal",
      (r) => [head(r.stream, { ":status": "103" }), reset(r.stream, REFUSED_STREAM)],
    ],
    ["a status that is none", (r) => [head(r.stream, { ":status": "20x" })]],
    ["a length that is too short", (r) => [head(r.stream, { ...json, "content-length": "1" }), resultFrames(r)]],
    ["a head of too many fields", (r) => [head(r.stream, manyFields())]],
    [
      "a flood of pings",
      (r) => [...Array.from({ length: 2_000 }, () => frame(PING, 0, 0, words(0, 0))), resultFrames(r)],
    ],
  ])("%s: the call is unknown, and the next one works", async (_, frames) => {
    const { server, client } = await first(frames);
    await expect(client.callTool(call, { contract })).rejects.toMatchObject({
      code: "connection_broken",
      delivery: "unknown",
    });
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ["and then resets the stream", true],
    ["and says nothing more", false],
  ])(
    "an answer that comes before the request was read is an answer: the server reads no further %s",
    async (_, resets) => {
      const seen: number[] = [];
      const server = await serve((request) => request.connection.send(resultFrames(request)), {
        onFrame: ({ type, stream, payload }, connection) => {
          if (type === RST_STREAM) seen.push(payload.readUInt32BE(0));
          // What it throws away makes room for other streams of the connection.
          if (type === DATA && payload.length > 0) connection.send(frame(WINDOW_UPDATE, 0, 0, words(payload.length)));
          if (type !== HEADERS || stream !== 1) return;
          connection.send(head(stream), frame(DATA, END_STREAM, stream, resultText(1)));
          if (resets) connection.send(reset(stream, NO_ERROR));
        },
      });
      const client = connect(server.url, { idleTimeoutMs: 1_000 });
      // More than a window.
      const long = { name: "t", arguments: { text: "x".repeat(300_000) } };
      await expect(client.callTool(long, { contract })).resolves.toEqual(works);
      await expect(client.callTool(call, { contract })).resolves.toEqual(works);
      expect(server.connections).toBe(1);
      if (!resets) expect(seen).toEqual([CANCEL]);
    },
  );

  it.each(["before", "behind"])(
    "a reset of the connection %s the end of the body, after GOAWAY, is told apart",
    async (where) => {
      const { client } = await first((r) => {
        const frames = [goaway(r.stream, NO_ERROR), head(r.stream), frame(DATA, 0, r.stream, resultText(r.id))];
        if (where === "behind") frames.push(frame(DATA, END_STREAM, r.stream));
        setTimeout(() => r.connection.reset(), 30);
        return frames;
      });
      const ended = await outcome(client.callTool(call, { contract }));
      const broken = { code: "connection_broken", delivery: "unknown", details: { reason: "ERR_STREAM_CUT" } };
      if (where === "behind") expect(ended).toEqual(works);
      else expect(ended).toMatchObject(broken);
    },
  );

  it("F-8: calls that end at the head, of answers that come together, keep no stream", async () => {
    const waiting: FramedRequest[] = [];
    const answers = ({ stream, id }: FramedRequest): Buffer[] => [
      frame(SETTINGS, 0, 0, setting(MAX_CONCURRENT_STREAMS, 12)),
      head(stream, { ...json, "content-encoding": "x-unknown" }),
      frame(DATA, END_STREAM, stream, resultText(id)),
    ];
    const server = await serve(
      (request) => {
        if (waiting.push(request) % 12 === 0) for (const one of waiting.splice(0)) one.connection.send(...answers(one));
      },
      { settings: setting(MAX_CONCURRENT_STREAMS, 12) },
    );
    const client = connect(server.url, { idleTimeoutMs: 1_000 });
    for (let round = 0; round < 3; round += 1) {
      const calls = Array.from({ length: 12 }, () => outcome(client.callTool(call, { contract })));
      const refused = Array.from({ length: 12 }, () => ({ code: "unexpected_answer" }));
      await expect(Promise.all(calls)).resolves.toMatchObject(refused);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(server.connections).toBe(1);
  });

  it.each<[string, Frames]>([
    ["closes", () => []],
    ["says GOAWAY and closes", (r) => [goaway(r.stream, NO_ERROR)]],
  ])("a long compressed answer is whole though the server %s behind it", async (_, frames) => {
    const text = randomBytes(90_000).toString("hex");
    const server = await serve((request) => {
      const { connection, stream, id } = request;
      const result = { content: [{ type: "text", text }] };
      const body = gzipSync(JSON.stringify({ jsonrpc: "2.0", id, result }));
      connection.send(
        head(stream, { ...json, "content-encoding": "gzip" }),
        ...dataFrames(stream, body),
        ...frames(request),
      );
      connection.socket.end();
    });
    const client = connect(server.url, { idleTimeoutMs: 2_000 });
    for (let i = 0; i < 3; i += 1) {
      await expect(client.callTool(call, { contract })).resolves.toEqual({ content: [{ type: "text", text }] });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  it("F-7: a window of nothing is a silence: unknown, since the head of the request was sent", async () => {
    const server = await serve(() => undefined, { settings: setting(INITIAL_WINDOW_SIZE, 0) });
    const client = connect(server.url, { idleTimeoutMs: 150 });
    expect(await outcome(client.callTool(call, { contract }))).toMatchObject({
      code: "timeout",
      delivery: "unknown",
      details: { phase: "idle" },
    });
    await client.close();
    await expect.poll(() => server.openSockets).toBe(0);
  });

  it("F-8: after 300 calls of all fates no socket, timer or session is left", async () => {
    const fates: Frames[] = [
      (r) => [resultFrames(r)],
      (r) => [reset(r.stream, CANCEL)],
      (r) => [head(r.stream), reset(r.stream, INTERNAL_ERROR)],
      (r) => [head(r.stream), frame(DATA, 0, r.stream, "{")],
      () => [],
      (r) => [goaway(r.stream, NO_ERROR), resultFrames(r)],
      () => [goaway(0, ENHANCE_YOUR_CALM)],
      (r) => [head(r.stream, { ":status": "103" }), reset(r.stream, REFUSED_STREAM)],
      (r) => [frame(SETTINGS, 0, 0, setting(MAX_CONCURRENT_STREAMS, r.turn % 3)), resultFrames(r)],
    ];
    const server = await serve((request) => {
      const frames = fates[request.turn % fates.length]?.(request) ?? [];
      // Apart: what takes the connection down takes with it what came in the same packet.
      setTimeout(() => request.connection.send(...frames), request.turn % 7);
    });
    const count = (kind: string): number => process.getActiveResourcesInfo().filter((one) => one === kind).length;
    const before = count("Timeout");
    const client = connect(server.url, { maxConcurrentRequests: 8, idleTimeoutMs: 60 });
    const ended = await Promise.all(
      Array.from({ length: 300 }, () =>
        client.callTool(call, { contract }).then(
          () => "answered",
          ({ delivery }: { readonly delivery: string }) => delivery,
        ),
      ),
    );
    expect(ended.filter((verdict) => verdict === "answered").length).toBeGreaterThan(30);
    expect(ended.filter((verdict) => verdict === "unknown").length).toBeGreaterThan(30);
    await client.close();
    await expect.poll(() => server.openSockets).toBe(0);
    await expect.poll(() => count("Timeout")).toBeLessThanOrEqual(before);
  });
});

/** A body in frames of the size that is allowed. */
function dataFrames(stream: number, body: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < body.length; at += 16_384) {
    const part = body.subarray(at, at + 16_384);
    frames.push(frame(DATA, at + part.length === body.length ? END_STREAM : 0, stream, part));
  }
  return frames;
}

function manyFields(): Record<string, string> {
  return { ...json, ...Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`x-${String(index)}`, "1"])) };
}
