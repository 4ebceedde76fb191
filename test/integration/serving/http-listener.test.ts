import { EventEmitter, once } from "node:events";
import { Agent, get, type IncomingMessage, request as httpRequest } from "node:http";
import { connect, createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import {
  type HttpHandler,
  type HttpListener,
  listen,
  type ListenOptions,
  sendJson,
} from "../../../src/serving/index.js";

const open: HttpListener[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.close()));
});

async function start(handler: HttpHandler, options: ListenOptions = {}): Promise<HttpListener> {
  const listener = await listen(handler, options);
  open.push(listener);
  return listener;
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  const settled = new EventEmitter();
  return { promise: once(settled, "settled").then(() => undefined), resolve: () => void settled.emit("settled") };
}

const ok: HttpHandler = (_request, response) => sendJson(response, 200, "{}");

async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  const error: unknown = await promise.catch((caught: unknown) => caught);
  if (!isRemoteConnectorError(error, "listen_failed")) throw error;
  return error.details;
}

describe("listen", () => {
  it("H-20: takes a free port on loopback and says which", async () => {
    const listener = await start(ok);
    expect(listener.origin).toBe(`http://127.0.0.1:${String(listener.port)}`);
    const answer = await fetch(listener.origin);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("content-length")).toBe("2");
  });

  it("H-20: writes an IPv6 address with brackets", async () => {
    const listener = await start(ok, { host: "::1" });
    expect(listener.origin).toBe(`http://[::1]:${String(listener.port)}`);
    expect((await fetch(listener.origin)).status).toBe(200);
  });

  it("H-20: a port in use is `listen_failed`", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    expect(await reasonOf(listen(ok, { port }))).toEqual({
      address: `127.0.0.1:${String(port)}`,
      reason: "EADDRINUSE",
    });
    other.close();
  });

  it("H-20: an address of another machine is `listen_failed`", async () => {
    expect(await reasonOf(listen(ok, { host: "192.0.2.1" }))).toMatchObject({ reason: "EADDRNOTAVAIL" });
  });

  it("H-20: a handler that throws or rejects gives 500, and is reported", async () => {
    const faults: unknown[] = [];
    const onFault = (error: unknown): void => void faults.push(error);
    const sync = await start(
      () => {
        throw new Error("sync");
      },
      { onFault },
    );
    const asynchronous = await start(() => Promise.reject(new Error("async")), { onFault });
    for (const { origin } of [sync, asynchronous]) {
      const answer = await fetch(origin);
      expect(answer.status).toBe(500);
      expect(await answer.json()).toEqual({ jsonrpc: "2.0", error: { code: -32603, message: "Internal error" } });
    }
    expect(faults).toEqual([new Error("sync"), new Error("async")]);
  });

  it("H-20: an answer that had begun is cut, never made to look complete", async () => {
    const listener = await start(async (_request, response) => {
      await new Promise((written) => response.write("half", written));
      throw new Error("late");
    });
    const answer = await fetch(listener.origin);
    await expect(answer.text()).rejects.toThrow();
  });

  it("H-20: a head that does not come is ended after its time", async () => {
    const listener = await start(ok, { headersTimeoutMs: 200 });
    const socket = connect(listener.port, "127.0.0.1");
    socket.write("POST / HTTP/1.1\r\nHost: localhost\r\n");
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    await once(socket, "close");
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 408 /);
  });
});

describe("close", () => {
  it("H-20: ends idle connections at once", async () => {
    const listener = await start(ok, { closeTimeoutMs: Infinity });
    const agent = new Agent({ keepAlive: true });
    const response = await new Promise<NodeJS.ReadableStream>((resolve) => get(listener.origin, { agent }, resolve));
    response.resume();
    await once(response, "end");
    await listener.close();
    await expect(fetch(listener.origin)).rejects.toThrow();
    agent.destroy();
  });

  it("H-20: ends connections that never sent a request, or not all of its head, at once", async () => {
    const listener = await start(ok, { closeTimeoutMs: Infinity });
    const sockets = ["", "POST / HTTP/1.1\r\nHost: localhost\r\n"].map((head) => {
      const socket = connect(listener.port, "127.0.0.1");
      socket.write(head);
      socket.resume();
      return socket;
    });
    const gone = sockets.map((socket) => once(socket, "close"));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    // The server takes them one turn after the client knows: an answer shows that it has.
    await (await fetch(listener.origin)).text();
    await listener.close();
    await Promise.all(gone);
  });

  it("H-20: an answer reaches a caller who is still sending, and the connection ends after the body", async () => {
    const listener = await start(ok, { closeTimeoutMs: Infinity });
    const body = "x".repeat(1_000);
    const socket = connect(listener.port, "127.0.0.1");
    const received: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => received.push(chunk));
    const gone = once(socket, "close");
    socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${String(2 * body.length)}\r\n\r\n${body}`);
    await once(socket, "data");
    const closed = listener.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(socket.readableEnded).toBe(false);
    socket.write(body);
    await closed;
    await gone;
    expect(Buffer.concat(received).toString()).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\n\{\}$/);
  });

  it("H-20: lets every request of a connection finish before it ends", async () => {
    const finish = deferred();
    const second = deferred();
    const listener = await start(
      async ({ url }, response) => {
        if (url === "/2") second.resolve();
        await finish.promise;
        sendJson(response, 200, JSON.stringify({ url }));
      },
      { closeTimeoutMs: Infinity },
    );
    const socket = connect(listener.port, "127.0.0.1");
    const received: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => received.push(chunk));
    const gone = once(socket, "close");
    socket.write("GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\nGET /2 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await second.promise;
    const closed = listener.close();
    finish.resolve();
    await closed;
    await gone;
    const text = Buffer.concat(received).toString();
    expect([text.includes('{"url":"/1"}'), text.includes('{"url":"/2"}')]).toEqual([true, true]);
  });

  it("H-20: lets a live answer finish, and ends its kept-alive connection after it", async () => {
    const entered = deferred();
    const finish = deferred();
    const listener = await start(
      async (_request, response) => {
        entered.resolve();
        await finish.promise;
        sendJson(response, 200, '{"late":true}');
      },
      { closeTimeoutMs: Infinity },
    );
    const agent = new Agent({ keepAlive: true });
    const responded = new Promise<IncomingMessage>((resolve) => get(listener.origin, { agent }, resolve));
    await entered.promise;
    const closed = listener.close();
    finish.resolve();
    const body = await (await responded).toArray();
    expect(Buffer.concat(body).toString("utf8")).toBe('{"late":true}');
    await closed;
    agent.destroy();
  });

  it("H-20: cuts an answer that does not end, after its time", async () => {
    const listener = await start((_request, response) => void response.write("forever"), { closeTimeoutMs: 50 });
    const answer = await fetch(listener.origin);
    await listener.close();
    await expect(answer.text()).rejects.toThrow();
  });

  it("H-20: a connection that can't be taken over ends, and the server goes on", async () => {
    const faults: unknown[] = [];
    const broken = new Error("broken");
    const listener = await start(ok, {
      onUpgrade: () => {
        throw broken;
      },
      onFault: (error) => faults.push(error),
    });
    const request = httpRequest(listener.origin, { headers: { Connection: "Upgrade", Upgrade: "x" } }).end();
    await expect(once(request, "response")).rejects.toThrow();
    expect(faults).toEqual([broken]);
    expect((await fetch(listener.origin)).status).toBe(200);
  });

  it("H-20: ends connections that were taken over, and may be called again", async () => {
    const listener = await start(ok, {
      onUpgrade: (_request, socket) =>
        void socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
    });
    const request = httpRequest(listener.origin, { headers: { Connection: "Upgrade", Upgrade: "x" } }).end();
    const socket = await new Promise<NodeJS.ReadWriteStream>((resolve) => {
      request.on("upgrade", (_response, upgraded) => resolve(upgraded));
    });
    socket.on("error", () => undefined);
    const gone = once(socket, "close");
    await Promise.all([listener.close(), listener.close()]);
    await gone;
  });
});
