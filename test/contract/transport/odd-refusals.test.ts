import { once } from "node:events";
import { constants } from "node:http2";
import { createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
import type { Authorizer, HeaderMap } from "../../../src/transport/index.js";
import { AUTHORITY } from "../../support/certificates.js";
import { FakeClock } from "../../support/fake-clock.js";
import { Http2Server, respondResult } from "../../support/http2-server.js";
import { Opened } from "../../support/opened.js";
import { httpAnswer, idOf, type RawAnswerer } from "../../support/raw-server.js";
import { EXCHANGES } from "./exchanges.js";

const opened = new Opened();
const { serve } = opened;

afterEach(opened.close);

const call = { name: "t", arguments: { a: 1 } };
const contract = { parameters: [] };
const THEN: string = ["th", "en"].join("");
const works = { content: [] };
const ok: RawAnswerer = (request) =>
  void request.socket.write(httpAnswer(`{"jsonrpc":"2.0","id":${String(idOf(request))},"result":{"content":[]}}`));
const outcome = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

/** Numbers what it gives, and counts what it is asked. */
function signer(verdict: boolean | (() => unknown)) {
  const asked = { times: 0, refusals: 0, challenges: [] as readonly string[] };
  const authorize: Authorizer = {
    authorize: (): HeaderMap => ({ Authorization: `Bearer ${String((asked.times += 1))}` }),
    onRefused: ({ challenges }) => {
      asked.refusals += 1;
      asked.challenges = challenges;
      return Object(typeof verdict === "function" ? verdict() : Promise.resolve(verdict));
    },
  };
  return { asked, authorize };
}

/** Refuses the first request in its own way, and answers all others. */
function once401(refuse: RawAnswerer): RawAnswerer {
  let requests = 0;
  return (request) => ((requests += 1) === 1 ? refuse(request) : ok(request));
}

describe.each(EXCHANGES)("A-8: refusals of an odd form, over $name", ({ create }) => {
  const connect = (endpoint: string, options: Partial<ModernStreamableHTTPClientOptions> = {}) => {
    const clientInfo = { name: "test", version: "1" };
    const made = new ModernStreamableHTTPClient({ endpoint, clientInfo, exchange: create(endpoint), ...options });
    opened.push(made);
    return made;
  };

  it.each([true, false])("an event stream that never ends is left after a second: %s", async (again) => {
    const clock = new FakeClock();
    let refused: Socket | undefined;
    const server = await serve(
      once401(({ socket }) => {
        socket.write("HTTP/1.1 401 X\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        refused = socket;
      }),
    );
    const { asked, authorize } = signer(again);
    const ended = outcome(
      connect(server.url, { authorize, clock, idleTimeoutMs: 60_000 }).callTool(call, { contract }),
    );
    await expect.poll(() => clock.dueInMs).toBe(1_000);
    // Signs of life make it no longer.
    for (let step = 0; step < 9; step += 1) {
      refused?.write("3\r\n:\n\n\r\n");
      await clock.advance(100);
    }
    expect(asked.refusals).toBe(0);
    await clock.advance(100);
    if (again) expect(await ended).toEqual(works);
    else expect(await ended).toMatchObject({ code: "unexpected_answer", details: { status: 401 } });
    expect([asked.refusals, server.requests.length]).toEqual([1, again ? 2 : 1]);
    await expect.poll(() => refused?.destroyed).toBe(true);
  });

  it("a body without end is read no further than that of any failed answer", async () => {
    let sent = 0;
    let refused: Socket | undefined;
    const chunk = Buffer.alloc(64 * 1024, "x");
    const server = await serve(
      once401(({ socket }) => {
        socket.write("HTTP/1.1 401 X\r\nContent-Type: text/plain\r\nContent-Length: 10000000000\r\n\r\n");
        refused = socket;
        const pump = (): void => {
          while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
          if (!socket.destroyed) socket.once("drain", pump);
        };
        pump();
      }),
    );
    const { asked, authorize } = signer(true);
    await expect(connect(server.url, { authorize }).callTool(call, { contract })).resolves.toEqual(works);
    expect([asked.refusals, server.requests.length]).toEqual([1, 2]);
    await expect.poll(() => refused?.destroyed).toBe(true);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it("Connection: close is no part of what is made again", async () => {
    const server = await serve(
      once401(({ socket }) => {
        socket.write(httpAnswer("no", { status: 401, headers: "Connection: close\r\n" }));
        socket.end();
      }),
    );
    const { authorize } = signer(true);
    const client = connect(server.url, { authorize });
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    expect(server.requests).toHaveLength(3);
    expect(server.requests[1]?.socket).not.toBe(server.requests[0]?.socket);
  });

  it.each([
    ["and the rest is read", (socket: Socket) => void socket.resume()],
    ["and the connection ends", (socket: Socket) => void socket.end()],
    ["and the connection is reset", (socket: Socket) => void setImmediate(() => socket.resetAndDestroy())],
  ])("before the request was read, %s", async (how, leave) => {
    const sockets: Socket[] = [];
    let refused = 0;
    const raw = await serve(ok);
    const gate = createServer((socket) => {
      sockets.push(socket);
      socket.on("error", () => undefined);
      socket.once("data", () => {
        socket.pause();
        refused += 1;
        // The head is all that it looks at.
        socket.write(httpAnswer("no", { status: 401, headers: "Connection: close\r\n" }), () => leave(socket));
      });
    });
    gate.listen(0, "127.0.0.1");
    await once(gate, "listening");
    opened.push({
      close: () => {
        for (const socket of sockets) socket.destroy();
        gate.close();
      },
    });
    const address = gate.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { asked, authorize } = signer(false);
    const client = connect(`http://127.0.0.1:${String(port)}/mcp`, { authorize });
    const large = { name: "t", arguments: { text: "x".repeat(8 * 1024 * 1024) } };
    const error = await outcome(client.callTool(large, { contract }));
    if (!isRemoteConnectorError(error)) throw error;
    // A reset can overtake the answer: then it is not known what became of the request, and nobody is asked.
    const isRefusal = error.code === "unexpected_answer";
    if (how !== "and the connection is reset") expect(isRefusal).toBe(true);
    expect([error.code, error.delivery, asked.refusals]).toEqual(
      isRefusal ? ["unexpected_answer", "answered", 1] : ["connection_broken", "unknown", 0],
    );
    expect([refused, raw.requests.length]).toEqual([1, 0]);
  });

  it("a thenable that settles twice decides once", async () => {
    const server = await serve(once401(({ socket }) => void socket.write(httpAnswer("no", { status: 401 }))));
    const twice = (value: unknown): object => {
      const then = (settle: (one: unknown) => void): void => {
        settle(value);
        settle(value);
      };
      return Object.fromEntries([[THEN, then]]);
    };
    const { authorize: first, onRefused } = signer(() => twice(true)).authorize;
    const authorize = { authorize: (request: Parameters<typeof first>[0]) => Object(twice(first(request))), onRefused };
    await expect(connect(server.url, { authorize }).callTool(call, { contract })).resolves.toEqual(works);
    expect(server.requests.map((request) => request.header("authorization"))).toEqual(["Bearer 1", "Bearer 2"]);
  });

  it("what throws as soon as it is looked at is a failure of the authorizer", async () => {
    const server = await serve(({ socket }) => void socket.write(httpAnswer("no", { status: 401 })));
    const locked = (): never => {
      throw new Error("locked");
    };
    const trap = Object.defineProperty({}, THEN, { get: locked });
    const { authorize } = signer(() => trap);
    await expect(connect(server.url, { authorize }).callTool(call, { contract })).rejects.toMatchObject({
      code: "authorize_failed",
      delivery: "answered",
    });
    const unsent = connect(server.url, { authorize: () => Object(trap) }).callTool(call, { contract });
    await expect(unsent).rejects.toMatchObject({ code: "authorize_failed", delivery: "not_sent" });
  });
});

describe("A-8: a request that was refused, over HTTP/2", () => {
  const connect = (endpoint: string, authorize: Authorizer): ModernStreamableHTTPClient => {
    const clientInfo = { name: "test", version: "1" };
    const made = new ModernStreamableHTTPClient({ endpoint, clientInfo, ca: AUTHORITY, http2: true, authorize });
    opened.push(made);
    return made;
  };

  it("is made again on the same connection, whatever the form of the refusal", async () => {
    let requests = 0;
    const server = await Http2Server.start({
      answer: (request) => {
        const { stream } = request;
        requests += 1;
        const challenges = ['Bearer realm="a, b"', 'DPoP algs="ES256"'];
        if (requests === 1) {
          stream.respond({ ":status": 401, "www-authenticate": challenges });
          stream.end("no");
        } else if (requests === 2) {
          stream.respond({ ":status": 403 }, { endStream: true });
        } else if (requests === 3) {
          // All of it at once, and more than anyone wants.
          stream.respond({ ":status": 401, "content-type": "text/event-stream" });
          stream.end(Buffer.alloc(1024 * 1024, ":\n"));
        } else respondResult(request);
      },
    });
    opened.push(server);
    const { asked, authorize } = signer(true);
    await expect(connect(server.url, authorize).callTool(call, { contract })).resolves.toEqual(works);
    expect([asked.refusals, server.requests.length, server.connections]).toEqual([3, 4, 1]);
    expect(server.requests.map(({ headers }) => headers["authorization"])).toEqual(
      [1, 2, 3, 4].map((number) => `Bearer ${String(number)}`),
    );
  });

  it("several fields are all told", async () => {
    let requests = 0;
    const server = await Http2Server.start({
      answer: (request) => {
        if ((requests += 1) > 1) {
          respondResult(request);
          return;
        }
        request.stream.respond({ ":status": 401, "www-authenticate": ['Bearer realm="a, b"', 'DPoP algs="ES256"'] });
        request.stream.end();
      },
    });
    opened.push(server);
    const { asked, authorize } = signer(true);
    await connect(server.url, authorize).callTool(call, { contract });
    expect(asked.challenges.join(", ")).toBe('Bearer realm="a, b", DPoP algs="ES256"');
  });

  it("is answered although the server reads no more of it", async () => {
    const server = await Http2Server.start({
      answer: respondResult,
      answerHead: (stream) => {
        stream.respond({ ":status": 401 }, { endStream: true });
        stream.close(constants.NGHTTP2_NO_ERROR);
      },
    });
    opened.push(server);
    const { asked, authorize } = signer(false);
    const large = { name: "t", arguments: { text: "x".repeat(8 * 1024 * 1024) } };
    await expect(connect(server.url, authorize).callTool(large, { contract })).rejects.toMatchObject({
      code: "unexpected_answer",
      delivery: "answered",
      details: { status: 401 },
    });
    expect(asked.refusals).toBe(1);
  });
});
