import { once } from "node:events";
import { Agent, request as httpRequest } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { loopbackReceiver, type LoopbackReceiverOptions } from "../../../src/oauth/code-flow/index.js";
import type { CallbackSession } from "../../../src/oauth/interaction.js";
import { FakeClock, settle } from "../../support/fake-clock.js";

const QUERY = "?code=c-secret&state=s-secret";
const FOREVER = new AbortController().signal;

const open: CallbackSession[] = [];
const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((session) => session.close("failed")));
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => once(server.close(), "close")));
});

/** A clock that stands still, so that nothing here ends because time passes. */
async function start(
  options: LoopbackReceiverOptions = {},
  registered?: readonly string[],
): Promise<CallbackSession & { readonly clock: FakeClock; readonly port: number }> {
  const clock = new FakeClock();
  const session = await loopbackReceiver({ clock, ...options }).open(registered);
  open.push(session);
  const { redirectUri } = session;
  return {
    clock,
    port: Number(new URL(redirectUri).port),
    redirectUri,
    wait: (signal) => session.wait(signal),
    close: (outcome) => session.close(outcome),
  };
}

/** Takes a port as another program of the machine would. 0: any. */
async function occupy(host: string, port = 0): Promise<number> {
  const server = createServer().listen(port, host);
  servers.push(server);
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function freePort(): Promise<number> {
  const port = await occupy("127.0.0.1");
  await once(servers.pop()!.close(), "close");
  return port;
}

/** Sends bytes over a connection of its own; answers with all that comes back until it ends. */
function send(port: number, chunks: readonly string[], host = "127.0.0.1"): Promise<string> {
  const socket = connect({ port, host, noDelay: true });
  sockets.push(socket);
  socket.on("error", () => undefined);
  void (async () => {
    for (const chunk of chunks) {
      await new Promise<void>((resolve) => void socket.write(chunk, () => resolve()));
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  })();
  return text(socket).catch(() => "");
}

function get(port: number, target: string, ...headers: readonly string[]): string {
  return [`GET ${target} HTTP/1.1`, `Host: 127.0.0.1:${String(port)}`, ...headers, "", ""].join("\r\n");
}

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  const error: unknown = await promise.catch((caught: unknown) => caught);
  return isRemoteConnectorError(error) ? error.code : error;
}

async function isRefused(port: number, host = "127.0.0.1"): Promise<boolean> {
  const socket = connect({ port, host });
  sockets.push(socket);
  const error: unknown = await once(socket, "connect").then(
    () => undefined,
    (caught: unknown) => caught,
  );
  return error instanceof Error && Reflect.get(error, "code") === "ECONNREFUSED";
}

describe("A-5: the loopback receiver", () => {
  it("answers with where the browser came back, tells it how it ended, and is gone", async () => {
    const session = await start();
    expect(session.redirectUri).toBe(`http://127.0.0.1:${String(session.port)}/callback`);
    const browser = fetch(`${session.redirectUri}${QUERY}`);
    const url = await session.wait(FOREVER);
    expect(url.href).toBe(`${session.redirectUri}${QUERY}`);
    await session.close("authorized");
    const answer = await browser;
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "cache-control": "no-store",
      connection: "close",
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
    const page = await answer.text();
    expect(page).toContain("The authorization is complete");
    expect(page).not.toContain("secret");
    expect(await isRefused(session.port)).toBe(true);
    expect(session.clock.pending).toBe(0);
  });

  it("says that it failed, in the application's words", async () => {
    const session = await start({ html: (outcome) => `<p>${outcome}!</p>` });
    const browser = fetch(`${session.redirectUri}?error=access_denied&state=s`);
    expect((await session.wait(FOREVER)).searchParams.get("error")).toBe("access_denied");
    await session.close("failed");
    expect(await (await browser).text()).toBe("<p>failed!</p>");
  });

  it("reads a request that comes byte by byte", async () => {
    const session = await start();
    const answer = send(session.port, get(session.port, `/callback${QUERY}`, "Accept: text/html").split(""));
    expect((await session.wait(FOREVER)).search).toBe(QUERY);
    await session.close("authorized");
    expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*complete/);
  });

  it("isn't disturbed by anything that is no visit", async () => {
    const session = await start();
    const { port } = session;
    const arrived = session.wait(FOREVER);
    const visit = `/callback${QUERY}`;
    const host = `Host: 127.0.0.1:${String(port)}`;
    const requests: readonly (readonly [status: number, request: string])[] = [
      [404, get(port, "/favicon.ico")],
      [404, get(port, `/${QUERY}`)],
      [404, get(port, `//127.0.0.1/callback${QUERY}`)],
      [400, get(port, "/callback")],
      [400, `GET ${visit} HTTP/1.1\r\nHost: rebound.example:${String(port)}\r\n\r\n`],
      [400, `GET ${visit} HTTP/1.1\r\nHost: localhost:${String(port)}\r\n\r\n`],
      [400, `GET ${visit} HTTP/1.1\r\n${host}\r\n${host}\r\n\r\n`],
      [400, `GET ${visit} HTTP/1.1\r\n\r\n`],
      [400, `GET ${visit} HTTP/1.0\r\n\r\n`],
      [405, `HEAD ${visit} HTTP/1.1\r\n${host}\r\n\r\n`],
      [405, `POST ${visit} HTTP/1.1\r\n${host}\r\nContent-Length: 2\r\n\r\nab`],
      [405, `POST ${visit} HTTP/1.1\r\n${host}\r\nContent-Length: 99999999\r\n\r\nab`],
      [400, get(port, visit, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors")],
      [503, get(port, visit, "Sec-Purpose: prefetch")],
      [400, "hello\r\n\r\n"],
      [431, get(port, visit, `X-Huge: ${"x".repeat(70_000)}`)],
      [431, get(port, `${visit}&x=${"x".repeat(70_000)}`)],
    ];
    for (const [status, request] of requests) {
      const answer = await send(port, [request]);
      // Refused while it is still being sent: the answer can be lost with the connection, which is reset.
      if (status === 431 && answer === "") continue;
      expect([request.slice(0, 80), answer.slice(0, 12)]).toEqual([request.slice(0, 80), `HTTP/1.1 ${String(status)}`]);
      expect(answer).not.toContain("secret");
    }
    const browser = fetch(`${session.redirectUri}?code=real`);
    expect((await arrived).search).toBe("?code=real");
    await session.close("authorized");
    expect((await browser).status).toBe(200);
  });

  it("sends along a page that takes 20 KB of cookies with it", async () => {
    const session = await start();
    const answer = send(session.port, [get(session.port, `/callback${QUERY}`, `Cookie: a=${"x".repeat(20_000)}`)]);
    await session.wait(FOREVER);
    await session.close("authorized");
    expect(await answer).toContain("complete");
  });

  it("keeps a visit for whoever waits later", async () => {
    const session = await start();
    const browser = fetch(`${session.redirectUri}?code=early`);
    // The second one is only answered for a visit when the first is known to be there.
    await send(session.port, [get(session.port, "/")]);
    expect((await session.wait(FOREVER)).search).toBe("?code=early");
    expect((await session.wait(FOREVER)).search).toBe("?code=early");
    await session.close("authorized");
    expect(await (await browser).text()).toContain("complete");
  });

  it("takes the first of several visits, and tells all of them the same", async () => {
    const session = await start();
    const first = fetch(`${session.redirectUri}?code=first`);
    expect((await session.wait(FOREVER)).search).toBe("?code=first");
    const second = fetch(`${session.redirectUri}?code=second`);
    await send(session.port, [get(session.port, "/")]);
    while (session.clock.pending < 2) await settle();
    expect((await session.wait(FOREVER)).search).toBe("?code=first");
    await session.close("authorized");
    const pages = await Promise.all([first, second].map(async (answer) => (await answer).text()));
    expect(pages[0]).toContain("complete");
    expect(pages[1]).toBe(pages[0]);
  });

  it("answers one request for each connection, however many are sent at once", async () => {
    const session = await start();
    const both = get(session.port, "/callback?code=first") + get(session.port, "/callback?code=second");
    const answer = send(session.port, [both]);
    expect((await session.wait(FOREVER)).search).toBe("?code=first");
    await session.close("authorized");
    expect((await answer).match(/HTTP\/1\.1 200/g)).toHaveLength(1);
    expect(session.clock.pending).toBe(0);
  });

  it("ends the connection of a browser that would keep it", async () => {
    const session = await start();
    const agent = new Agent({ keepAlive: true });
    const request = httpRequest(`${session.redirectUri}${QUERY}`, { agent }).end();
    await session.wait(FOREVER);
    void session.close("authorized");
    const [response] = await once(request, "response");
    expect(await text(response)).toContain("complete");
    await session.close("authorized");
    expect(await isRefused(session.port)).toBe(true);
    agent.destroy();
  });

  it("keeps a browser waiting for ten seconds and no longer", async () => {
    const session = await start();
    const browser = fetch(`${session.redirectUri}${QUERY}`);
    await session.wait(FOREVER);
    expect(session.clock.dueInMs).toBe(10_000);
    await session.clock.advance(9_999);
    expect(session.clock.pending).toBe(1);
    await session.clock.advance(1);
    expect(await (await browser).text()).toContain("goes on from here");
    const again = fetch(`${session.redirectUri}${QUERY}`);
    while (session.clock.pending === 0) await settle();
    await session.close("failed");
    expect(await (await again).text()).toContain("failed");
  });

  it("takes a visit of a browser that left before it was answered", async () => {
    const session = await start();
    const socket = connect(session.port, "127.0.0.1");
    socket.write(get(session.port, `/callback${QUERY}`));
    expect((await session.wait(FOREVER)).search).toBe(QUERY);
    expect(session.clock.pending).toBe(1);
    socket.destroy();
    while (session.clock.pending > 0) await settle();
    await session.close("authorized");
  });

  it("rejects with the signal's reason, and goes on for others", async () => {
    const session = await start();
    const abort = new AbortController();
    const reason = { why: "enough" };
    const given = session.wait(abort.signal).catch((caught: unknown) => caught);
    const other = session.wait(FOREVER);
    abort.abort(reason);
    expect(await given).toBe(reason);
    expect(await session.wait(abort.signal).catch((caught: unknown) => caught)).toBe(reason);
    const browser = fetch(`${session.redirectUri}${QUERY}`);
    expect((await other).search).toBe(QUERY);
    await session.close("authorized");
    await browser;
  });

  it("rejects with cancelled when it is closed first, and afterwards", async () => {
    const session = await start();
    const waiting = codeOf(session.wait(FOREVER));
    await session.close("failed");
    expect(await waiting).toBe("cancelled");
    expect(await codeOf(session.wait(FOREVER))).toBe("cancelled");
    expect(session.clock.pending).toBe(0);
  });

  it("ends connections without a request, and those in the middle of one, at once", async () => {
    const session = await start();
    const spare = send(session.port, []);
    const begun = get(session.port, `/callback${QUERY}`);
    const half = send(session.port, [begun.slice(0, 30)]);
    // Both are accepted before this one is answered.
    await send(session.port, [get(session.port, "/")]);
    await session.close("failed");
    expect([await spare, await half]).toEqual(["", ""]);
    expect(await isRefused(session.port)).toBe(true);
  });

  it("closes once: the first outcome is what is told", async () => {
    const session = await start();
    const browser = fetch(`${session.redirectUri}${QUERY}`);
    await session.wait(FOREVER);
    const closings = [session.close("authorized"), session.close("failed")];
    expect(await Promise.all(closings)).toEqual([undefined, undefined]);
    expect(await (await browser).text()).toContain("complete");
  });

  it("cuts no page short that a slow browser still reads", async () => {
    const session = await start({ html: () => "x".repeat(16 * 2 ** 20) });
    const socket = connect(session.port, "127.0.0.1").pause();
    sockets.push(socket);
    socket.write(get(session.port, `/callback${QUERY}`));
    await session.wait(FOREVER);
    const closed = session.close("authorized");
    await session.clock.advance(999);
    let bytes = 0;
    socket.on("data", (chunk) => (bytes += chunk.length)).resume();
    await Promise.all([closed, once(socket, "close")]);
    expect(bytes).toBeGreaterThan(16 * 2 ** 20);
  });

  it("waits a second for a browser that doesn't read its page, and takes no visit meanwhile", async () => {
    const session = await start({ html: () => "x".repeat(16 * 2 ** 20) });
    const socket = connect(session.port, "127.0.0.1").pause();
    sockets.push(socket);
    socket.write(get(session.port, `/callback${QUERY}`));
    await session.wait(FOREVER);
    let isClosed = false;
    const closed = session.close("authorized").then(() => (isClosed = true));
    expect(await send(session.port, [get(session.port, "/callback?code=late")])).toMatch(/^HTTP\/1\.1 503/);
    await session.clock.advance(999);
    expect(isClosed).toBe(false);
    await session.clock.advance(1);
    await closed;
    expect(session.clock.pending).toBe(0);
  });

  it("waits in several places at once, each on a port of its own", async () => {
    const receiver = loopbackReceiver();
    const sessions = await Promise.all([receiver.open(undefined), receiver.open(undefined)]);
    open.push(...sessions);
    expect(sessions[0].redirectUri).not.toBe(sessions[1].redirectUri);
  });
});

describe("A-5: the place that was registered", () => {
  it("is the only one that is listened on, and is sent as it is written", async () => {
    const port = await freePort();
    const registered = `http://127.0.0.1:${String(port)}/OAuth/cb?app=1`;
    const session = await start({ path: "/other" }, ["app:/cb", "https://app.example/cb", registered]);
    expect(session.redirectUri).toBe(registered);
    expect((await fetch(`http://127.0.0.1:${String(port)}/other${QUERY}`)).status).toBe(404);
    const browser = fetch(`${registered}&code=c`);
    expect((await session.wait(FOREVER)).search).toBe("?app=1&code=c");
    await session.close("authorized");
    expect((await browser).status).toBe(200);
  });

  it.each([[[]], [["app:/cb", "https://127.0.0.1:1/cb", "http://192.0.2.1:1/cb"]]])(
    "is none of %j, where nobody can listen",
    async (registered) => {
      const opening = loopbackReceiver({ port: await freePort() }).open(registered);
      expect(await codeOf(opening)).toBe("listen_failed");
    },
  );

  it("is never exchanged for another port when it is taken", async () => {
    const port = await occupy("127.0.0.1");
    const error: unknown = await loopbackReceiver()
      .open([`http://127.0.0.1:${String(port)}/callback`])
      .catch((caught: unknown) => caught);
    if (!isRemoteConnectorError(error, "listen_failed")) throw error;
    expect(error.details).toEqual({ address: `127.0.0.1:${String(port)}`, reason: "EADDRINUSE" });
    expect(error.delivery).toBe("not_sent");
    expect(await codeOf(loopbackReceiver({ port }).open(undefined))).toBe("listen_failed");
  });

  it("is the next one of the list when the first is taken", async () => {
    const taken = await occupy("127.0.0.1");
    const port = await freePort();
    const [first, second] = [taken, port].map((each) => `http://127.0.0.1:${String(each)}/callback`);
    const session = await start({}, [first!, second!]);
    expect(session.redirectUri).toBe(second);
  });

  it("is free again for the next session", async () => {
    const options = { port: await freePort() };
    for (let i = 0; i < 3; i += 1) {
      const session = await start(options);
      const browser = fetch(`${session.redirectUri}${QUERY}`);
      await session.wait(FOREVER);
      await session.close("authorized");
      await (await browser).text();
    }
  });
});

describe("A-5: localhost", () => {
  it("is listened on by both of its addresses", async () => {
    const session = await start({ host: "localhost" });
    const { port } = session;
    expect(session.redirectUri).toBe(`http://localhost:${String(port)}/callback`);
    const request = `GET /callback${QUERY} HTTP/1.1\r\nHost: localhost:${String(port)}\r\n\r\n`;
    const answers = [send(port, [request], "::1"), send(port, [request], "127.0.0.1")];
    while (session.clock.pending < 2) await settle();
    expect((await session.wait(FOREVER)).href).toBe(`${session.redirectUri}${QUERY}`);
    await session.close("authorized");
    for (const answer of await Promise.all(answers)) expect(answer).toContain("complete");
    expect([await isRefused(port, "::1"), await isRefused(port)]).toEqual([true, true]);
  });

  it("is not listened on when another program has one of its addresses", async () => {
    const port = await occupy("::1");
    const opening = loopbackReceiver().open([`http://localhost:${String(port)}/callback`]);
    expect(await codeOf(opening)).toBe("listen_failed");
    expect(await isRefused(port)).toBe(true);
  });
});
