import { getEventListeners } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import { HttpConnection } from "../../../src/legacy-client/http/http-connection.js";
import { resolveLegacyHttpOptions } from "../../../src/legacy-client/http/options.js";
import { LegacyStreamableHTTPClient } from "../../../src/legacy-client/http/streamable-http-client.js";
import type { ServerRequestAnswerer } from "../../../src/legacy-client/server-requests.js";
import {
  type Answer,
  answerBody,
  answerError,
  answerEvents,
  answerFeed,
  answerMessage,
  answerNothing,
  answerResult,
  answerStatus,
  anyMessage,
  cutAt,
  EventFeed,
  Gate,
  holdUntil,
  keepOpen,
  messageEvent,
  notificationMessage,
  progressMessage,
  type ReceivedRequest,
  requestMessage,
  resetAt,
  resultMessage,
  withFaults,
} from "../../../src/testing/index.js";
import { caught, connectHttp, serve } from "./http-parties.js";
import { openHandles } from "./servers.js";
import { SessionServer, type SessionServerOptions } from "./session-server.js";

const CALL = { name: "t" };
const OK = { content: [{ type: "text", text: "ok" }] };

async function meet(options: SessionServerOptions, more: Parameters<typeof connectHttp>[1] = {}) {
  const sessions = new SessionServer(options);
  const server = await serve(sessions.handle);
  const posted = (): readonly ReceivedRequest[] => server.requests.filter(({ verb }) => verb === "POST");
  return { sessions, server, posted, ...(await connectHttp(server.url, more)) };
}

/** A client whose server's requests are answered. */
async function serving(url: string, answerer: ServerRequestAnswerer, more: Parameters<typeof connectHttp>[1] = {}) {
  const clientInfo = { name: "test", version: "1" };
  const config = { ...resolveLegacyHttpOptions({ endpoint: url, clientInfo, ...more }), answerer };
  const connection = new HttpConnection(config);
  await connection.open(undefined, () => undefined);
  onTestFinished(() => connection.close());
  return new LegacyStreamableHTTPClient(connection, config);
}

const cancelledIds = (requests: readonly ReceivedRequest[]): unknown[] =>
  requests.filter(({ method }) => method === "notifications/cancelled").map(({ params }) => params["requestId"]);

describe("requests of the server", () => {
  it.each(["on a call's stream", "on the listening stream"])(
    "L-6: a ping %s is answered, 0 and empty ids too",
    async (where) => {
      const feed = new EventFeed();
      const pings = ["p", 0, ""].map((id) => messageEvent(requestMessage(id, "ping")));
      const isListening = where !== "on a call's stream";
      const { client, server } = await meet(
        {
          listen: () => answerFeed(feed),
          answer: () => answerEvents([...(isListening ? [] : pings), resultMessage(OK)]),
        },
        { listen: isListening ? "always" : "never" },
      );
      if (isListening) for (const ping of pings) feed.send(ping);
      await client.callTool(CALL);
      const replies = (): readonly string[] =>
        server.requests
          .map(({ text }) => text)
          .filter((text) => text.includes('"result":{}'))
          .toSorted();
      await expect
        .poll(replies)
        .toEqual([
          '{"jsonrpc":"2.0","id":"","result":{}}',
          '{"jsonrpc":"2.0","id":"p","result":{}}',
          '{"jsonrpc":"2.0","id":0,"result":{}}',
        ]);
    },
  );

  it("L-6: what nobody answers is an unknown method, and its id is none of ours", async () => {
    const { client, server } = await meet({
      answer: ({ id }) => answerEvents([messageEvent(requestMessage(Number(id), "roots/list")), resultMessage(OK)]),
    });
    await expect(client.callTool(CALL)).resolves.toEqual(OK);
    const id = server.requests.find(({ method }) => method === "tools/call")?.id;
    await expect
      .poll(() => server.requests.at(-1)?.message)
      .toEqual({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
  });

  it("L-6: 64 calls that all wait for an answer of ours get it: no reply waits behind a call", async () => {
    const gates = new Map<unknown, Gate>();
    let count = 0;
    const sessions = new SessionServer({
      answer: () => {
        count += 1;
        const gate = new Gate();
        gates.set(`r-${String(count)}`, gate);
        const request = messageEvent(requestMessage(`r-${String(count)}`, "roots/list"));
        return withFaults(answerEvents([request, resultMessage(OK)]), holdUntil(gate.opened, { event: 1 }));
      },
    });
    const server = await serve((request) => {
      const { message } = request;
      if (typeof message === "object" && message !== null && "result" in message && "id" in message) {
        gates.get(message.id)?.open();
      }
      return sessions.handle(request);
    });
    const client = await serving(server.url, () => Promise.resolve({ result: { roots: [] } }), { listen: "never" });
    const calls = Array.from({ length: 64 }, () => client.callTool(CALL, { totalTimeoutMs: 20_000 }));
    await expect(Promise.all(calls)).resolves.toHaveLength(64);
  });

  it("L-6: the time of an answerer is nobody's silence", async () => {
    const sessions = new SessionServer({
      answer: () => withFaults(answerEvents([messageEvent(requestMessage(1, "elicitation/create"))]), keepOpen()),
    });
    const server = await serve(sessions.handle);
    let answered = 0;
    const answerer: ServerRequestAnswerer = async () => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      answered = performance.now();
      return { result: {} };
    };
    const client = await serving(server.url, answerer, { listen: "never", idleTimeoutMs: 150 });
    const error = await caught(client.callTool(CALL));
    expect(error).toMatchObject({ code: "timeout", delivery: "unknown", details: { phase: "idle" } });
    expect(answered).toBeGreaterThan(0);
    expect(performance.now() - answered).toBeGreaterThanOrEqual(140);
  });

  it("L-6: a call that begins meanwhile is not silent either", async () => {
    const asking = withFaults(answerEvents([messageEvent(requestMessage(1, "elicitation/create"))]), keepOpen());
    const sessions = new SessionServer({ answer: ({ params }) => (params["name"] === "t" ? asking : answerNothing()) });
    const server = await serve(sessions.handle);
    let answered = 0;
    const asked = new Gate();
    const answerer: ServerRequestAnswerer = async () => {
      asked.open();
      await new Promise((resolve) => setTimeout(resolve, 400));
      answered = performance.now();
      return { result: {} };
    };
    const client = await serving(server.url, answerer, { listen: "never", idleTimeoutMs: 150 });
    const first = caught(client.callTool(CALL));
    await asked.opened;
    const error = await caught(client.callTool({ name: "silent" }));
    expect(error).toMatchObject({ code: "timeout", details: { phase: "idle" } });
    expect(answered).toBeGreaterThan(0);
    expect(performance.now() - answered).toBeGreaterThanOrEqual(140);
    await first;
  });

  it("L-3, L-6: a session that is lost takes its listening stream and its open questions with it", async () => {
    const feeds: EventFeed[] = [];
    const sessions = new SessionServer({
      listen: () => {
        const feed = new EventFeed();
        feeds.push(feed);
        return answerFeed(feed);
      },
    });
    const server = await serve(sessions.handle);
    const signals: AbortSignal[] = [];
    const client = await serving(server.url, (_request, { signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    });
    feeds[0]?.send(messageEvent(requestMessage(1, "roots/list")));
    await expect.poll(() => signals.length).toBe(1);
    sessions.forget();
    await client.callTool(CALL);
    expect(signals[0]?.aborted).toBe(true);
    await expect.poll(() => feeds.map(({ listeners }) => listeners)).toEqual([0, 1]);
  });

  it("L-6: the server's cancellation ends the answerer, and nothing is posted", async () => {
    const cancelled = new Gate();
    const sessions = new SessionServer({
      answer: () =>
        withFaults(
          answerEvents([
            messageEvent(requestMessage("r", "sampling/createMessage")),
            messageEvent(notificationMessage("notifications/cancelled", { requestId: "r" })),
            resultMessage(OK),
          ]),
          holdUntil(cancelled.opened, { event: 2 }),
        ),
    });
    const server = await serve(sessions.handle);
    const answerer: ServerRequestAnswerer = (_request, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          cancelled.open();
          resolve({ result: {} });
        });
      });
    const client = await serving(server.url, answerer, { listen: "never" });
    await client.callTool(CALL);
    await client.ping();
    expect(server.requests.filter(({ method, verb }) => verb === "POST" && method === undefined)).toEqual([]);
  });
});

describe("a call that is given up", () => {
  it("L-7: by abort or deadline: the server is told, and a late answer changes nothing", async () => {
    const gate = new Gate();
    const { client, server, kinds } = await meet({
      answer: ({ method }) =>
        method === "ping" ? answerResult({}) : withFaults(answerResult(OK), holdUntil(gate.opened)),
    });
    const controller = new AbortController();
    const reason = { mine: true };
    const aborted = client.callTool(CALL, { signal: controller.signal });
    const late = client.callTool(CALL, { totalTimeoutMs: 60 });
    const silent = client.callTool(CALL, { idleTimeoutMs: 60 });
    expect(await caught(late)).toMatchObject({ code: "timeout", delivery: "unknown", details: { phase: "total" } });
    expect(await caught(silent)).toMatchObject({ code: "timeout", delivery: "unknown", details: { phase: "idle" } });
    controller.abort(reason);
    expect(await caught(aborted)).toBe(reason);
    expect(deliveryOf(aborted)).toBe("unknown");
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    const ids = server.requests.filter(({ method }) => method === "tools/call").map(({ id }) => id);
    await expect.poll(() => new Set(cancelledIds(server.requests))).toEqual(new Set(ids));
    gate.open();
    await client.ping();
    expect(kinds()).toEqual([]);
  });

  it("L-7: before it was sent nobody is told", async () => {
    const { client, server } = await meet({}, { maxConcurrentRequests: 1 });
    const reason = { mine: true };
    const aborted = client.callTool(CALL, { signal: AbortSignal.abort(reason) });
    expect(await caught(aborted)).toBe(reason);
    expect(deliveryOf(aborted)).toBe("not_sent");
    const refused = client.callTool(CALL, { admit: () => "no" });
    expect(await caught(refused)).toMatchObject({ code: "not_admitted", delivery: "not_sent" });
    await client.ping();
    expect(cancelledIds(server.requests)).toEqual([]);
  });

  it("L-7: initialize never is: no cancellation after its deadline or abort", async () => {
    const server = await serve(() => answerNothing());
    expect(await caught(connectHttp(server.url, { lifecycleTimeoutMs: 60 }))).toMatchObject({
      code: "timeout",
      delivery: "unknown",
      details: { option: "lifecycleTimeoutMs", limitMs: 60 },
    });
    const controller = new AbortController();
    const connecting = connectHttp(server.url, { signal: controller.signal });
    await expect.poll(() => server.requests.length).toBe(2);
    controller.abort("enough");
    expect(await caught(connecting)).toBe("enough");
    expect(server.requests.map(({ method }) => method)).toEqual(["initialize", "initialize"]);
  });
});

describe("the handshake", () => {
  it.each<[string, string | readonly string[]]>([
    ["a space", "a b"],
    ["an umlaut", "\u00fc"],
    ["nothing", ""],
  ])("L-2: an id with %s in it is none", async (_what, id) => {
    const server = await serve((request) => {
      if (request.method === "initialize") {
        const introduction = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: SERVER };
        return answerResult(introduction, { headers: { "Mcp-Session-Id": id } });
      }
      return request.id === undefined ? answerStatus(202) : answerResult(OK);
    });
    const { client } = await connectHttp(server.url);
    await client.callTool(CALL);
    await client.close();
    expect(server.requests.map((request) => request.header("mcp-session-id"))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("L-2: the answer may be a stream, whose head has the id", async () => {
    const introduction = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: SERVER };
    const server = await serve((request) =>
      request.method === "initialize"
        ? withFaults(answerEvents([resultMessage(introduction)], { headers: { "Mcp-Session-Id": "s" } }), keepOpen())
        : answerStatus(202),
    );
    const { client } = await connectHttp(server.url);
    expect(client.revision).toBe("2025-06-18");
    await expect(client.listAllTools()).resolves.toMatchObject({ tools: [] });
    expect(server.requests.map((request) => request.header("mcp-session-id"))).toEqual([undefined, "s"]);
  });

  it("L-1: a version that both speak is offered once more", async () => {
    const server = await serve((request) => {
      if (request.method !== "initialize") return answerStatus(202);
      const { protocolVersion } = request.params;
      if (protocolVersion !== "2025-03-26") {
        return answerError(-32602, "unsupported", { data: { supported: ["2025-03-26", "2024-10-07"] } });
      }
      return answerResult({ protocolVersion, capabilities: {}, serverInfo: SERVER });
    });
    const { client } = await connectHttp(server.url);
    expect(client.revision).toBe("2025-03-26");
    const offers = server.requests.filter(({ method }) => method === "initialize");
    expect(offers.map(({ params }) => params["protocolVersion"])).toEqual(["2025-11-25", "2025-03-26"]);
    expect(offers.map((request) => request.header("mcp-protocol-version"))).toEqual([undefined, undefined]);
  });

  it("L-1: a 400 that names the version header gets it once; then the first refusal is the cause", async () => {
    const needy = await serve((request) => {
      if (request.header("mcp-protocol-version") === undefined) {
        return answerBody("Missing MCP-Protocol-Version header", { status: 400 });
      }
      if (request.method !== "initialize") return answerStatus(202);
      return answerResult({ protocolVersion: "2025-11-25", capabilities: {}, serverInfo: SERVER });
    });
    await connectHttp(needy.url);
    expect(needy.requests.map((request) => request.header("mcp-protocol-version"))).toEqual([
      undefined,
      "2025-11-25",
      "2025-11-25",
    ]);
    const stubborn = await serve(() => answerBody("Bad MCP-Protocol-Version", { status: 400 }));
    expect(await caught(connectHttp(stubborn.url))).toMatchObject({
      code: "unexpected_answer",
      cause: { code: "unexpected_answer", details: { status: 400 } },
    });
    expect(stubborn.requests).toHaveLength(2);
  });

  it("L-18: a version that is not accepted ends it", async () => {
    const server = await serve(new SessionServer({ revision: "2024-11-05" }).handle);
    const connecting = connectHttp(server.url, { revisions: ["2025-11-25"] });
    expect(await caught(connecting)).toMatchObject({
      code: "unsupported_version",
      delivery: "answered",
      details: { supported: ["2024-11-05"], ours: ["2025-11-25"] },
    });
  });

  it.each<[string, Answer]>([
    ["202", answerStatus(202)],
    ["204", answerStatus(204)],
    ["200 null", answerBody("null", { type: "application/json" })],
    ["200 nothing", answerBody("", { type: "application/json" })],
    ["200 text", answerBody("ok")],
    ["200 {}", answerBody("{}", { type: "application/json" })],
    ["an endless stream", withFaults(answerEvents([]), keepOpen())],
  ])("L-9: notifications are taken by %s", async (_what, answer) => {
    const sessions = new SessionServer();
    const server = await serve((request) =>
      request.method?.startsWith("notifications/") === true ? answer : sessions.handle(request),
    );
    const { client } = await connectHttp(server.url);
    await client.callTool(CALL);
  });

  it("L-8: a handshake that fails halfway ends the session that the server had opened", async () => {
    const sessions = new SessionServer();
    const server = await serve((request) =>
      request.method === "notifications/initialized" ? answerStatus(500) : sessions.handle(request),
    );
    expect(await caught(connectHttp(server.url))).toMatchObject({ code: "unexpected_answer", delivery: "unknown" });
    await expect.poll(() => sessions.deletes).toBe(1);
  });
});

describe("answers", () => {
  it("L-1: a batch of 2025-03-26 is read message by message, in JSON and on a stream", async () => {
    const batch = (id: unknown): object[] => [
      { jsonrpc: "2.0", method: "notifications/message", params: { n: 1 } },
      { jsonrpc: "2.0", id, result: { content: [], n: 12345678901234567890n.toString() } },
    ];
    let isStream = false;
    const { client } = await meet({
      revision: "2025-03-26",
      answer: ({ id }) => {
        const message = anyMessage(batch(id));
        return isStream ? answerEvents([messageEvent(message)]) : answerMessage(message);
      },
    });
    const heard: unknown[] = [];
    const options = { onNotification: ({ params }: { params: unknown }) => heard.push(params), detail: true } as const;
    const { raw } = await client.callTool(CALL, options);
    expect(Buffer.from(raw).toString()).toBe('{"content":[],"n":"12345678901234567890"}');
    isStream = true;
    await client.callTool(CALL, options);
    expect(heard).toEqual([{ n: 1 }, { n: 1 }]);
    const newer = await meet({ answer: ({ id }) => answerMessage(anyMessage(batch(id))) });
    expect(await caught(newer.client.callTool(CALL))).toMatchObject({ code: "invalid_answer", delivery: "unknown" });
  });

  it.each<[string, Answer, object]>([
    ["HTML", answerBody("<html>", { type: "text/html" }), { code: "unexpected_answer", delivery: "unknown" }],
    ["broken JSON", answerBody("{", { type: "application/json" }), { code: "unexpected_answer", delivery: "unknown" }],
    ["another id", answerResult({}, { id: { other: 77 } }), { code: "invalid_answer", delivery: "unknown" }],
    ["no message", answerBody("{}", { type: "application/json" }), { code: "invalid_answer", delivery: "unknown" }],
    ["an error at 500", answerError(-32603, "m", { status: 500 }), { code: "peer_error", delivery: "answered" }],
    [
      "an error without id",
      answerError(-1, "m", { id: "null", status: 200 }),
      { code: "peer_error", delivery: "answered" },
    ],
    ["500", answerStatus(500), { code: "unexpected_answer", delivery: "unknown" }],
    ["403", answerStatus(403), { code: "unexpected_answer", delivery: "answered" }],
    ["301", answerStatus(301, { headers: { Location: "/x" } }), { code: "redirect_refused", delivery: "answered" }],
    ["a cut body", withFaults(answerResult(OK), cutAt(-3)), { code: "connection_broken", delivery: "unknown" }],
    ["a reset", withFaults(answerResult(OK), resetAt(0)), { code: "connection_broken", delivery: "unknown" }],
  ])("F-1, F-3: %s", async (_what, answer, expected) => {
    const { client } = await meet({ answer: ({ method }) => (method === "ping" ? answerResult({}) : answer) });
    const call = client.callTool(CALL);
    expect(await caught(call)).toMatchObject(expected);
    expect(deliveryOf(call)).toBe(Reflect.get(expected, "delivery"));
    await client.ping();
  });

  it("L-10: a declared list that is not there reads as empty, also at an HTTP error", async () => {
    const { client, kinds } = await meet({ answer: () => answerError(-32601, "no", { status: 400 }) });
    await expect(client.listAllTools()).resolves.toMatchObject({ tools: [] });
    expect(kinds()).toEqual(["declared_but_missing"]);
    expect(await caught(client.readResource({ uri: "a:" }))).toMatchObject({
      code: "unsupported",
      delivery: "not_sent",
    });
  });

  it("L-5: a stream that stays open after its answer gives its turn back; one that another stream outran is dropped", async () => {
    const own = new EventFeed();
    const listening = new EventFeed();
    const { client } = await meet(
      {
        answer: ({ id, params }) => {
          if (params["name"] === "open") return withFaults(answerEvents([resultMessage(OK)]), keepOpen());
          listening.send(messageEvent({ kind: "value", value: { jsonrpc: "2.0", id, result: OK } }));
          return params["name"] === "mute" ? answerNothing() : answerFeed(own);
        },
        listen: () => answerFeed(listening),
      },
      { listen: "always", maxConcurrentRequests: 1 },
    );
    for (const name of ["open", "open", "outrun", "mute", "open"]) {
      await expect(client.callTool({ name }, { totalTimeoutMs: 5_000 })).resolves.toEqual(OK);
    }
    await expect.poll(() => own.listeners).toBe(0);
  });

  it("W-18: progress and notifications of a call reach it, in order, before it settles", async () => {
    const { client } = await meet({
      answer: () =>
        answerEvents([
          progressMessage(1),
          notificationMessage("notifications/message"),
          progressMessage(2),
          resultMessage(OK),
        ]),
    });
    const seen: unknown[] = [];
    await client.callTool(CALL, {
      onProgress: ({ progress }) => seen.push(progress),
      onNotification: ({ method }) => seen.push(method),
      onSettled: ({ outcome }) => seen.push(outcome),
    });
    expect(seen).toEqual([1, "notifications/message", 2, "resolved"]);
  });
});

describe("close", () => {
  it.each<[string, () => Answer]>([
    ["200", () => answerStatus(200)],
    ["404", () => answerStatus(404)],
    ["405", () => answerStatus(405)],
    ["500", () => answerStatus(500)],
    ["a reset", () => withFaults(answerStatus(200), resetAt(0))],
  ])("L-8: deletes the session, and %s is all the same to it", async (_what, ended) => {
    const sessions = new SessionServer();
    const server = await serve((request) => (request.verb === "DELETE" ? ended() : sessions.handle(request)));
    const { client } = await connectHttp(server.url);
    await client.close();
    await client.close();
    const [last, ...more] = server.requests.filter(({ verb }) => verb === "DELETE");
    expect([last?.header("mcp-session-id"), last?.header("mcp-protocol-version")]).toEqual(["s-1", "2025-11-25"]);
    expect(more).toEqual([]);
    expect(await caught(client.callTool(CALL))).toMatchObject({ code: "cancelled", delivery: "not_sent" });
  });

  it("L-8: a server that doesn't answer holds it up for three seconds at most, and calls not at all", async () => {
    const sessions = new SessionServer({ answer: () => answerNothing() });
    const server = await serve((request) => (request.verb === "DELETE" ? answerNothing() : sessions.handle(request)));
    const { client } = await connectHttp(server.url, { maxConcurrentRequests: 1 });
    const sent = caught(client.callTool(CALL));
    const queued = caught(client.callTool(CALL));
    await expect.poll(() => server.requests.filter(({ method }) => method === "tools/call").length).toBe(1);
    const startedAt = performance.now();
    const closing = client.close();
    expect(await sent).toMatchObject({ code: "cancelled", delivery: "unknown" });
    expect(await queued).toMatchObject({ code: "cancelled", delivery: "not_sent" });
    expect(performance.now() - startedAt).toBeLessThan(500);
    await closing;
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  });

  it("F-8: nothing is left of 500 calls of all fates", async () => {
    const before = await openHandles();
    const fates: readonly ((request: ReceivedRequest) => Answer)[] = [
      () => answerResult(OK),
      () => answerEvents([progressMessage(1), resultMessage(OK)]),
      () => answerError(-1, "m"),
      () => answerStatus(500),
      () => answerNothing(),
      () => withFaults(answerResult(OK), resetAt(-5)),
      () => withFaults(answerEvents([progressMessage(1), resultMessage(OK)]), cutAt({ event: 1 })),
      () => answerStatus(404),
      () => answerEvents([messageEvent(progressMessage(1), { id: "1", retry: 5 })]),
    ];
    let count = 0;
    const sessions = new SessionServer({
      answer: (request) => {
        count += 1;
        return fates[count % fates.length]?.(request);
      },
      listen: () => answerFeed(new EventFeed()),
    });
    const server = await serve(sessions.handle);
    const { client } = await connectHttp(server.url, { listen: "always", maxFruitlessResumes: 2 });
    const controller = new AbortController();
    const { signal } = controller;
    const calls = Array.from({ length: 500 }, (_, n) =>
      caught(client.callTool(CALL, { signal, totalTimeoutMs: 300 + (n % 5), onProgress: () => undefined })),
    );
    await Promise.all(calls);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    await client.close();
    await server.close();
    await expect.poll(openHandles, { timeout: 5_000 }).toEqual(before);
  }, 30_000);
});

const SERVER = { name: "s", version: "1" };
