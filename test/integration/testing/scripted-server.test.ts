import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import {
  ANY_TIMES,
  answerBody,
  answerEvents,
  answerFeed,
  answerNothing,
  answerResult,
  answerStatus,
  closeIdleAfter,
  compress,
  cutAt,
  dataEvent,
  delay,
  drip,
  EventFeed,
  floodBody,
  floodHeaders,
  Gate,
  holdUntil,
  inform,
  keepOpen,
  resetAt,
  type Script,
  ScriptedServer,
  type ScriptedServerOptions,
  splitAt,
  stallAt,
  withFaults,
} from "../../../src/testing/index.js";
import { AUTHORITY, SERVER_CERTIFICATE, SERVER_KEY } from "../../support/certificates.js";

const open: { close(): unknown }[] = [];

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function start(script: Script, options: ScriptedServerOptions = {}): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(script, options);
  open.push(server);
  return server;
}

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const POST = `POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(PING.length)}\r\n\r\n${PING}`;

/** A connection, the text that came on it, and how it ended. */
async function dial(server: ScriptedServer, send = POST) {
  const socket: Socket = connect(server.port, "127.0.0.1");
  open.push({ close: () => socket.destroy() });
  const seen = { socket, text: "", pieces: 0, end: "" };
  socket.on("data", (bytes) => {
    seen.text += bytes.toString();
    seen.pieces += 1;
  });
  socket.on("end", () => (seen.end ||= "fin"));
  socket.on("error", (error) => (seen.end ||= String(Reflect.get(error, "code"))));
  await once(socket, "connect").catch(() => undefined);
  socket.write(send);
  return seen;
}

const always = (answer: ReturnType<typeof answerResult>): Script => [{ answer, times: ANY_TIMES }];

describe("a scripted server", () => {
  it("answers the exchanges of its script, and verifies them", async () => {
    const server = await start([
      { method: "ping", answer: answerResult({ n: 1 }) },
      { verb: "GET", path: "/mcp", answer: answerStatus(405) },
    ]);
    const seen = await dial(server, `${POST}GET /mcp HTTP/1.1\r\nHost: x\r\n\r\n`);
    await expect.poll(() => seen.text).toMatch(/"result":\{"n":1\}\}HTTP\/1\.1 405 [^]*\r\n\r\n$/);
    server.verify();
    expect(server.requests.map(({ verb, method, id, connection }) => [verb, method, id, connection])).toEqual([
      ["POST", "ping", 1, 0],
      ["GET", undefined, undefined, 0],
    ]);
    expect([server.connections, server.openConnections]).toEqual([1, [0]]);
  });

  it("answers 500 to what it does not expect, and tells of it and of what is missing", async () => {
    const server = await start([{ method: "tools/list", answer: answerStatus(202) }]);
    const seen = await dial(server);
    await expect.poll(() => seen.text).toMatch(/^HTTP\/1\.1 500 /);
    expect(() => server.verify()).toThrow(
      expect.objectContaining({
        code: "script_violated",
        details: {
          unexpected: ["POST /mcp ping: POST tools/list was next; the method differs"],
          unexpectedCount: 1,
          missing: ["POST tools/list: 0 of 1"],
        },
      }),
    );
  });

  it.each<[string, Script]>([
    ["throws", () => Promise.reject(new Error("no"))],
    ["has no answer", () => undefined],
    ["gives a place that is not there", () => withFaults(answerStatus(202), cutAt(10_000))],
  ])("tells of a handler that %s", async (_, script) => {
    const server = await start(script);
    const seen = await dial(server);
    await expect.poll(() => seen.text).toMatch(/^HTTP\/1\.1 500 /);
    expect(() => server.verify()).toThrow("POST /mcp ping");
  });

  it("tells of bytes that are no request, and closes their connection", async () => {
    const server = await start([]);
    const seen = await dial(server, "hello\r\n\r\n");
    await expect.poll(() => seen.end).not.toBe("");
    expect(() => server.verify()).toThrow("no HTTP/1.1 request");
  });

  it("answers connections beside each other, and each one's requests in order", async () => {
    const gate = new Gate();
    let count = 0;
    const server = await start(() => {
      count += 1;
      const answer = answerBody(`<${String(count)}>`);
      return count === 1 ? withFaults(answer, holdUntil(gate.opened)) : answer;
    });
    const first = await dial(server, POST + POST);
    await expect.poll(() => server.requests.length).toBe(2);
    const second = await dial(server);
    await expect.poll(() => second.text).toMatch(/<3>$/);
    expect(first.text).toBe("");
    gate.open();
    await expect.poll(() => first.text).toMatch(/<1>[^]*<2>$/);
  });

  it("closes the connection after the answer when it is asked to", async () => {
    const seen = await dial(await start(always(answerStatus(202))), POST.replace("Host: x", "connection: Close"));
    await expect.poll(() => seen.end).toBe("fin");
    expect(seen.text).toMatch(/^HTTP\/1\.1 202 /);
  });

  it("says listen_failed of a port that is taken", async () => {
    const server = await start([]);
    await expect(ScriptedServer.start([], { port: server.port })).rejects.toMatchObject({
      code: "listen_failed",
      details: { reason: "EADDRINUSE" },
    });
  });
});

describe("faults on the wire", () => {
  const big = answerBody("0123456789");

  it.each([
    ["cut", cutAt(20), /^.{20}$/s, "fin"],
    ["reset at once", resetAt(0), /^$/, "ECONNRESET"],
    ["cut in the body", cutAt({ body: 3 }), /\r\n\r\n012$/, "fin"],
  ])("%s", async (_, fault, text, end) => {
    const seen = await dial(await start(always(withFaults(big, fault))));
    await expect.poll(() => seen.end).toBe(end);
    expect(seen.text).toMatch(text);
  });

  it("resets in the middle", async () => {
    const seen = await dial(await start(always(withFaults(big, resetAt(20)))));
    await expect.poll(() => seen.end).toBe("ECONNRESET");
    expect(seen.text).toHaveLength(20);
  });

  it.each([
    ["stall", withFaults(big, stallAt({ body: 3 })), /012$/],
    ["nothing", answerNothing(), /^$/],
    ["keep open", withFaults(answerEvents([dataEvent("x")]), keepOpen()), /data: x\n\n\r\n$/],
  ])("%s: the connection stays, and nothing more comes", async (_, answer, text) => {
    const server = await start(always(answer));
    const seen = await dial(server, POST + POST);
    await expect.poll(() => server.requests.length).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(seen).toMatchObject({ text: expect.stringMatching(text), end: "" });
  });

  it("splits, drips and delays", async () => {
    const server = await start((request) => {
      if (request.path === "/split") return withFaults(big, splitAt({ body: 2 }, { body: 5 }));
      return withFaults(big, delay(30), drip(40, 5));
    });
    const split = await dial(server, POST.replace("/mcp", "/split"));
    await expect.poll(() => split.text).toMatch(/0123456789$/);
    expect(split.pieces).toBe(3);
    const startedAt = performance.now();
    const dripped = await dial(server);
    await expect.poll(() => dripped.text).toMatch(/0123456789$/);
    expect(dripped.pieces).toBeGreaterThanOrEqual(2);
    expect(performance.now() - startedAt).toBeGreaterThan(25);
  });

  it("floods until the reader leaves", async () => {
    const server = await start((request) => {
      if (request.path === "/headers") return withFaults(answerStatus(200), floodHeaders());
      return withFaults(answerEvents([]), floodBody({ piece: "data: {}\n\n" }));
    });
    for (const path of ["/mcp", "/headers"]) {
      const seen = await dial(server, POST.replace("/mcp", path));
      await expect.poll(() => seen.text.length).toBeGreaterThan(10_000);
      seen.socket.destroy();
      await expect.poll(() => server.openConnections).toEqual([]);
    }
  });

  it("closes idle connections: by option, and after one answer", async () => {
    const server = await start(always(withFaults(big, closeIdleAfter(30))), { closeIdleAfterMs: 40 });
    const used = await dial(server);
    const unused = await dial(server, "");
    await expect.poll(() => [used.end, unused.end]).toEqual(["fin", "fin"]);
    expect(used.text).toMatch(/0123456789$/);
  });

  it("is understood by an ordinary client: chunks, gzip, 1xx before", async () => {
    const server = await start(
      always(withFaults(answerEvents([dataEvent("hello")]), inform(103, { Link: "x" }), compress(), drip(7, 1))),
    );
    const text = await (await fetch(server.url, { method: "POST", body: PING })).text();
    expect(text).toBe("data: hello\n\n");
  });

  it("plays what a test sends into a live stream", async () => {
    const feed = new EventFeed();
    const server = await start([{ answer: answerFeed(feed) }]);
    const response = await fetch(server.url, { method: "POST", body: PING });
    feed.send(dataEvent("1"));
    feed.send(dataEvent("2"));
    feed.end();
    await expect(response.text()).resolves.toBe("data: 1\n\ndata: 2\n\n");
    expect(feed.listeners).toBe(0);
  });
});

describe("faults of connections", () => {
  it("closes, resets, and never hears the first ones; serves the rest", async () => {
    const server = await start(always(answerStatus(202)), { connections: ["close", "reset", "silent"] });
    const closed = await dial(server, "");
    await expect.poll(() => closed.end).toBe("fin");
    const reset = await dial(server, "");
    await expect.poll(() => reset.end).toBe("ECONNRESET");
    const silent = await dial(server);
    const served = await dial(server);
    await expect.poll(() => served.text).toMatch(/^HTTP\/1\.1 202 /);
    expect(silent).toMatchObject({ text: "", end: "" });
    expect(server.requests).toHaveLength(1);
  });

  it("serves TLS, and can leave a handshake unanswered or reset", async () => {
    const server = await start(
      [{ answer: withFaults(answerBody("sec"), resetAt(-1)) }, { answer: answerBody("secure") }],
      { tls: { cert: SERVER_CERTIFICATE, key: SERVER_KEY }, connections: ["silent"] },
    );
    const waiting = connectTls({ port: server.port, host: "127.0.0.1", rejectUnauthorized: false });
    open.push({ close: () => waiting.destroy() });
    let isSecure = false;
    waiting.on("secureConnect", () => (isSecure = true));
    await expect.poll(() => server.connections).toBe(1);
    const get = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const sent = httpsRequest(server.url, { method: "POST", ca: AUTHORITY, agent: false }, (response) => {
          let text = "";
          response.on("data", (bytes: Buffer) => (text += bytes.toString()));
          response.on("error", reject);
          response.on("end", () => resolve(text));
        });
        sent.on("error", reject);
        sent.end(PING);
      });
    await expect(get()).rejects.toThrow();
    await expect(get()).resolves.toBe("secure");
    expect(isSecure).toBe(false);
    expect(server.url).toMatch(/^https:/);
    server.verify();
  });
});

describe("after close", () => {
  it("no socket and no timer is left, whatever was going on", async () => {
    const count = (): number => process.getActiveResourcesInfo().filter((each) => each !== "Immediate").length;
    const before = count();
    const feed = new EventFeed();
    const answers = [
      withFaults(answerBody("x"), delay(100_000)),
      withFaults(answerBody("xy"), drip(1, 100_000)),
      withFaults(answerEvents([]), floodBody({ everyMs: 100_000 })),
      withFaults(answerEvents([]), floodBody()),
      withFaults(answerBody("x"), holdUntil(new Promise<void>(() => undefined))),
      answerFeed(feed),
      answerNothing(),
      answerBody("x"),
    ];
    const server = await start(
      answers.map((answer) => ({ answer })),
      {
        closeIdleAfterMs: 100_000,
        connections: [...answers.map(() => "serve" as const), "silent"],
      },
    );
    const dialled = [];
    for (let i = 0; i <= answers.length; i += 1) {
      const seen = await dial(server);
      dialled.push(seen);
      if (i < answers.length) await expect.poll(() => server.requests.length).toBe(i + 1);
    }
    await server.close();
    await server.close();
    for (const { socket } of dialled) socket.destroy();
    await expect.poll(() => server.openConnections).toEqual([]);
    await expect.poll(count).toBeLessThanOrEqual(before);
    expect(feed.listeners).toBe(0);
    await expect(
      new Promise((_, reject) => {
        httpRequest(server.url).on("error", reject).end();
      }),
    ).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});
