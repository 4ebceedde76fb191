import { EventEmitter, once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type HttpHandler, type HttpListener, listen, type SseOutcome, SseWriter } from "../../../src/serving/index.js";

let listener: HttpListener | undefined;
afterEach(() => listener?.close());

/** Starts a server whose only answer is a stream, and gives its writer once a caller came. */
async function stream(maxBufferedBytes: number): Promise<{ origin: string; port: number; writer: Promise<SseWriter> }> {
  const writers = new EventEmitter();
  const writer = once(writers, "writer").then(([first]: SseWriter[]) => {
    if (first === undefined) throw new Error("no writer");
    return first;
  });
  const handler: HttpHandler = (_request, response) =>
    void writers.emit("writer", new SseWriter(response, { maxBufferedBytes }));
  listener = await listen(handler, { closeTimeoutMs: 50 });
  return { origin: listener.origin, port: listener.port, writer };
}

/** A caller that asks and then reads nothing. */
function deafCaller(port: number): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  return socket;
}

describe("SseWriter", () => {
  it("H-21: sends its head at once, then messages in order, then ends", async () => {
    const { origin, writer } = await stream(1_000_000);
    const answer = await fetch(origin);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(answer.headers.get("x-accel-buffering")).toBe("no");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const sse = await writer;
    expect(sse.send('{"a":1}')).toBe("sent");
    await new Promise(setImmediate);
    sse.keepAlive();
    expect(sse.send(Buffer.from("{\n}"))).toBe("sent");
    sse.end();
    expect(sse.send("{}")).toBe("closed");
    expect(await answer.text()).toBe('data: {"a":1}\n\n:\n\ndata: {\ndata: }\n\n');
  });

  it("H-21: drops what may be dropped when the caller does not read, and cuts the stream for what may not", async () => {
    const { port, writer } = await stream(100_000);
    const socket = deafCaller(port);
    const sse = await writer;
    const message = JSON.stringify({ padding: "x".repeat(50_000) });
    const outcomes: SseOutcome[] = [];
    for (let i = 0; i < 2_000 && !outcomes.includes("dropped"); i += 1) {
      outcomes.push(sse.send(message, { droppable: true }));
      await new Promise(setImmediate);
    }
    expect(outcomes.at(-1)).toBe("dropped");
    expect(sse.closed).toBe(false);
    expect(sse.send(message)).toBe("cut");
    expect(sse.closed).toBe(true);
    socket.destroy();
  });

  it("H-21: sends one message of any size to a caller that reads", async () => {
    const { origin, writer } = await stream(10);
    const answer = await fetch(origin);
    const sse = await writer;
    const large = JSON.stringify("y".repeat(3_000_000));
    expect(sse.send(large)).toBe("sent");
    sse.end();
    expect(await answer.text()).toBe(`data: ${large}\n\n`);
  });

  it("H-21: says closed once the caller left", async () => {
    const { origin, writer } = await stream(1_000);
    const abort = new AbortController();
    await fetch(origin, { signal: abort.signal });
    const sse = await writer;
    abort.abort();
    await expect.poll(() => sse.closed).toBe(true);
    expect(sse.send("{}")).toBe("closed");
  });
});
