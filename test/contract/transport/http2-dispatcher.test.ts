import { once } from "node:events";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import type { ExchangeRequest } from "../../../src/transport/index.js";
import { Http2Connection, type Http2Keeper } from "../../../src/transport/http2-connection.js";
import { Http2Dispatcher, type Http2DispatcherOptions } from "../../../src/transport/http2-dispatcher.js";
import { type DispatchEvents, Http2Request } from "../../../src/transport/http2-request.js";
import { AUTHORITY } from "../../support/certificates.js";
import { FakeClock } from "../../support/fake-clock.js";
import { Http2Server, respondResult } from "../../support/http2-server.js";
import { Opened } from "../../support/opened.js";

const opened = new Opened();

afterEach(opened.close);

async function serve() {
  const server = await Http2Server.start({ answer: (request) => respondResult(request) });
  opened.push(server);
  return server;
}

function socketTo(server: Http2Server, then: (socket: TLSSocket) => void): void {
  const port = Number(new URL(server.url).port);
  const socket = connectTls({ host: "127.0.0.1", port, ca: AUTHORITY, ALPNProtocols: ["h2"] }, () => then(socket));
  socket.on("error", () => undefined);
}

const MAX_CONNECTIONS = 3;

/** Dispatches to an origin, wherever its connections lead. */
function dispatcherTo(origin: string, connect: Http2DispatcherOptions["connect"], clock = new FakeClock()) {
  const made = new Http2Dispatcher({
    origin,
    maxConnections: MAX_CONNECTIONS,
    patienceMs: 5_000,
    clock,
    connect,
    openPlain: () => {
      throw new Error("nobody chooses HTTP/1.1 here");
    },
  });
  opened.push({ close: () => made.destroy() });
  return made;
}

const request: ExchangeRequest = {
  method: "POST",
  path: "/mcp",
  headers: ["Content-Type", "application/json"],
  body: '{"id":1}',
};

type Outcome = { readonly status: number } | { readonly error: Error; readonly notSent: boolean };

/** What an exchange comes to. */
function events(settle: (outcome: Outcome) => void): DispatchEvents {
  let status = 0;
  return {
    onRequestStart: () => undefined,
    onResponseStart: (_, given) => (status = given),
    onResponseData: () => undefined,
    onResponseEnd: () => settle({ status }),
    onResponseError: (_, error, notSent = false) => settle({ error, notSent }),
  };
}

const ask = (dispatcher: Http2Dispatcher, sent = request): Promise<Outcome> =>
  new Promise((resolve) => dispatcher.dispatch(sent, events(resolve)));

describe("Http2Dispatcher", () => {
  it.each([
    ["https://mcp.test", "mcp.test"],
    ["https://mcp.test:443", "mcp.test"],
    ["https://mcp.test:8443", "mcp.test:8443"],
    ["https://[::1]:8443", "[::1]:8443"],
  ])("F-20: %s is the authority %s, as over HTTP/1.1", async (origin, authority) => {
    const server = await serve();
    const dispatcher = dispatcherTo(origin, (_, then) => socketTo(server, (socket) => then(null, socket)));
    await expect(ask(dispatcher)).resolves.toEqual({ status: 200 });
    expect(server.requests[0]?.headers[":authority"]).toBe(authority);
    expect(server.requests[0]?.headers[":scheme"]).toBe("https");
  });

  it("F-17: a header may have any name that is a token", async () => {
    const server = await serve();
    const dispatcher = dispatcherTo("https://mcp.test", (_, then) => socketTo(server, (socket) => then(null, socket)));
    await ask(dispatcher, { ...request, headers: [...request.headers, "__proto__", "1", "constructor", "2"] });
    expect(Object.entries(server.requests[0]?.headers ?? {})).toEqual(
      expect.arrayContaining([
        ["__proto__", "1"],
        ["constructor", "2"],
      ]),
    );
  });

  it("F-7: a connection that takes too long to be made holds up only those who wait for it already", async () => {
    const server = await serve();
    const clock = new FakeClock();
    const attempts: ((error: Error) => void)[] = [];
    const dispatcher = dispatcherTo(
      "https://mcp.test",
      (_, then) => {
        if (attempts.push((error) => then(error, null)) > 1) socketTo(server, (socket) => then(null, socket));
      },
      clock,
    );
    const stuck = ask(dispatcher);
    clock.step(4_999);
    const soon = ask(dispatcher);
    expect(attempts).toHaveLength(1);
    clock.step(5_000);
    await expect(ask(dispatcher)).resolves.toEqual({ status: 200 });
    await expect(Promise.all([stuck, soon])).resolves.toEqual([{ status: 200 }, { status: 200 }]);
    expect([attempts.length, server.connections]).toEqual([2, 1]);
    // Its failure is nobody's any more.
    attempts[0]?.(new Error("late"));
    await expect(ask(dispatcher)).resolves.toEqual({ status: 200 });
  });

  it("F-10: attempts that are slow count as connections", () => {
    const clock = new FakeClock();
    let attempts = 0;
    const dispatcher = dispatcherTo("https://mcp.test", () => void (attempts += 1), clock);
    for (let i = 0; i < 20; i += 1) {
      void ask(dispatcher);
      clock.step(5_000);
    }
    expect(attempts).toBe(MAX_CONNECTIONS);
  });

  it("F-1: a slow attempt that fails takes nobody with it who waits for the next", async () => {
    const server = await serve();
    const clock = new FakeClock();
    const attempts: Parameters<Http2DispatcherOptions["connect"]>[1][] = [];
    const dispatcher = dispatcherTo("https://mcp.test", (_, then) => void attempts.push(then), clock);
    const first = ask(dispatcher);
    clock.step(5_000);
    const second = ask(dispatcher);
    expect(attempts).toHaveLength(2);
    attempts[0]?.(new Error("refused"), null);
    socketTo(server, (socket) => attempts[1]?.(null, socket));
    await expect(Promise.all([first, second])).resolves.toEqual([{ status: 200 }, { status: 200 }]);
  });

  it("F-1: the failure of the latest attempt is that of all who wait, and not_sent", async () => {
    const error = new Error("refused");
    const dispatcher = dispatcherTo("https://mcp.test", (_, then) => setImmediate(() => then(error, null)));
    await expect(Promise.all([ask(dispatcher), ask(dispatcher)])).resolves.toEqual([
      { error, notSent: true },
      { error, notSent: true },
    ]);
  });
});

describe("Http2Connection", () => {
  const keeperOf = (onRoom: () => void, left: Http2Connection[] = []): Http2Keeper => ({
    onRoom,
    onLeaving: (connection) => void left.push(connection),
    onGone: () => undefined,
  });

  it("F-8: is dropped before it has begun, and throws nothing at anyone", async () => {
    const server = await serve();
    const socket = await new Promise<TLSSocket>((resolve) => socketTo(server, resolve));
    new Http2Connection(
      "https://mcp.test",
      socket,
      keeperOf(() => undefined),
    ).destroy();
    await once(socket, "close");
    await expect.poll(() => server.openSockets).toBe(0);
  });

  it("F-1: whose numbers for streams are used up takes no more, and what it did not take is not_sent", async () => {
    const server = await serve();
    const socket = await new Promise<TLSSocket>((resolve) => socketTo(server, resolve));
    const left: Http2Connection[] = [];
    const connection = await new Promise<Http2Connection>((resolve) => {
      const made: Http2Connection = new Http2Connection(
        "https://mcp.test",
        socket,
        keeperOf(() => resolve(made), left),
      );
    });
    opened.push({ close: () => connection.destroy() });
    const run = (): Promise<Outcome> =>
      new Promise((resolve) => connection.begin(new Http2Request(request, events(resolve))));
    Reflect.apply(Reflect.get(connection.session, "setNextStreamID"), connection.session, [2 ** 31 - 3]);
    const [last, , none] = [run(), run(), run()];
    await expect(none).resolves.toMatchObject({ notSent: true });
    await expect(last).resolves.toEqual({ status: 200 });
    expect(connection.hasRoom).toBe(false);
    expect(left).toEqual([connection]);
    await expect.poll(() => server.openSockets).toBe(0);
  });
});
