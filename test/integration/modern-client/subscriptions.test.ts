import { once } from "node:events";
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { afterEach, describe, expect, it } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import type { SubscriptionEnd } from "../../../src/modern-client/index.js";
import type { Diagnostic } from "../../../src/protocol/index.js";
import {
  type Answer,
  anyMessage,
  answerError,
  answerEvents,
  answerFeed,
  answerNothing,
  answerResult,
  answerStatus,
  cutAt,
  errorMessage,
  EventFeed,
  messageEvent,
  type MessageTemplate,
  notificationMessage,
  resultMessage,
  ScriptedServer,
  withFaults,
} from "../../../src/testing/index.js";
import { FakeClock, settle } from "../../support/fake-clock.js";
import { connect } from "./support.js";

const TOOLS = "notifications/tools/list_changed";
const UPDATED = "notifications/resources/updated";
const FILTER = { toolsListChanged: true, resourceSubscriptions: ["file:///a"] };

const open: ScriptedServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

/** Answers the n-th subscription with the n-th answer, the last one again and again. */
async function serve(...answers: readonly (Answer | EventFeed)[]): Promise<ScriptedServer> {
  let at = 0;
  const server = await ScriptedServer.start((request) => {
    if (request.method !== "subscriptions/listen")
      return answerResult({ resultType: "complete", tools: [], ttlMs: 60_000, cacheScope: "public" });
    const answer = answers[Math.min(at, answers.length - 1)];
    at += 1;
    return answer instanceof EventFeed ? answerFeed(answer) : answer;
  });
  open.push(server);
  return server;
}

async function serveOnce(answer: Answer): Promise<ScriptedServer> {
  await open.pop()?.close();
  return serve(answer);
}

const said = (method: string, id: unknown = 1, params: object = {}) =>
  notificationMessage(method, { _meta: { "io.modelcontextprotocol/subscriptionId": id }, ...params });
const acknowledged = (id: unknown = 1, notifications: object = FILTER) =>
  said("notifications/subscriptions/acknowledged", id, { notifications });

function feedOf(...messages: readonly MessageTemplate[]): EventFeed {
  const feed = new EventFeed();
  for (const message of messages) feed.send(messageEvent(message));
  return feed;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe("listen", () => {
  it("W-36: acknowledges, delivers in order, and completes with the result; W-34: _meta travels whole", async () => {
    const feed = feedOf(acknowledged(1, { toolsListChanged: true, resourceSubscriptions: ["file:///a"] }));
    const server = await serve(feed);
    const client = connect(server.url, { capabilities: { a: {} } });
    const subscription = client.listen(FILTER, { meta: { "x/y": 1 }, capabilities: { b: {} } });
    await expect(subscription.acknowledged).resolves.toEqual(FILTER);
    feed.send(messageEvent(said(TOOLS)));
    feed.send(messageEvent(said(UPDATED, 1, { uri: "file:///a/below" })));
    feed.send(messageEvent(resultMessage({ resultType: "complete" })));
    await expect(collect(subscription)).resolves.toMatchObject([
      { method: TOOLS },
      { method: UPDATED, params: { uri: "file:///a/below" } },
    ]);
    await expect(subscription.closed).resolves.toEqual({ kind: "completed", result: { resultType: "complete" } });
    expect(server.requests[0]?.header("mcp-method")).toBe("subscriptions/listen");
    expect(server.requests[0]?.message).toMatchObject({
      id: 1,
      params: {
        notifications: FILTER,
        _meta: { "x/y": 1, "io.modelcontextprotocol/clientCapabilities": { a: {}, b: {} } },
      },
    });
  });

  it("W-36: a server's cancellation ends it, and refuses it before the acknowledgement", async () => {
    const bye = notificationMessage("notifications/cancelled", { requestId: 1, reason: "bye" });
    const before = connect((await serve(feedOf(bye))).url).listen(FILTER);
    await expect(before.acknowledged).rejects.toMatchObject({ code: "cancelled", delivery: "answered" });
    await expect(before.closed).resolves.toMatchObject({ kind: "refused", why: "other" });
    const after = connect((await serve(feedOf(acknowledged(), said(TOOLS), bye))).url).listen(FILTER);
    await expect(after.closed).resolves.toEqual({ kind: "ended_by_server", reason: "bye" });
    await expect(collect(after)).resolves.toHaveLength(1);
  });

  it.each(["whole", "cut", "reset"] as const)(
    "W-36: a stream that ends (%s) breaks it, acknowledged or not",
    async (how) => {
      for (const messages of [[], [acknowledged(), said(TOOLS)]]) {
        const feed = feedOf(...messages);
        const subscription = connect((await serve(feed)).url).listen(FILTER);
        if (messages.length > 0) await subscription.acknowledged;
        else await expect.poll(() => feed.listeners).toBe(1);
        // A reset can overtake what was sent before it.
        const items = subscription[Symbol.asyncIterator]();
        if (messages.length > 0) await expect(items.next()).resolves.toMatchObject({ value: { method: TOOLS } });
        feed.end(how);
        const code = how === "whole" ? "stream_ended" : "connection_broken";
        await expect(subscription.closed).resolves.toMatchObject({
          kind: "broken",
          error: { code, delivery: "unknown" },
        });
        await expect(items.next()).rejects.toMatchObject({ code });
        await expect(items.next()).resolves.toEqual({ done: true, value: undefined });
        if (messages.length === 0) await expect(subscription.acknowledged).rejects.toMatchObject({ code });
      }
    },
  );

  it("W-36: an error refuses before the acknowledgement and breaks after it", async () => {
    const error = errorMessage(-32603, "down");
    const before = connect((await serve(feedOf(error))).url).listen(FILTER);
    await expect(before.closed).resolves.toMatchObject({ kind: "refused", error: { code: "peer_error" } });
    const after = connect((await serve(feedOf(acknowledged(), error))).url).listen(FILTER);
    await expect(after.closed).resolves.toMatchObject({ kind: "broken", error: { details: { rpcCode: -32603 } } });
  });

  it.each([
    ["-32601", answerError(-32601, "no", { status: 404 }), "unsupported"],
    ["-32021", answerError(-32021, "no", { data: { requiredCapabilities: { a: {} } } }), "missing_capability"],
    ["401", answerStatus(401), "authorization"],
    ["403", answerStatus(403), "authorization"],
  ])("W-37: %s is typed and no loop; the rest works", async (_name, answer, why) => {
    const server = await serve(answer);
    const client = connect(server.url);
    const kept = client.keepListening(FILTER);
    await expect(kept.closed).resolves.toMatchObject({ kind: "refused", why });
    await expect(kept.acknowledged).rejects.toMatchObject({ delivery: "answered" });
    await expect(client.listTools()).resolves.toBeDefined();
    expect(server.requests).toHaveLength(2);
  });

  it("W-36: what comes early, or for another subscription, is a diagnostic and not delivered", async () => {
    const diagnostics: Diagnostic[] = [];
    const junk = [said(TOOLS), acknowledged(2), said(TOOLS, 0), anyMessage({ jsonrpc: "2.0", id: 9, result: {} })];
    const end = resultMessage({ resultType: "complete" });
    const feed = feedOf(...junk, acknowledged(), said(TOOLS, 2), said(TOOLS), end);
    const client = connect((await serve(feed)).url, { onDiagnostic: (one) => diagnostics.push(one) });
    await expect(collect(client.listen(FILTER))).resolves.toHaveLength(1);
    expect(diagnostics.map(({ kind }) => kind)).toEqual([
      "before_acknowledgement",
      "other_subscription",
      "other_subscription",
      "unmatched_response",
      "other_subscription",
    ]);
  });

  it("W-36, F-10: cut at any byte, it is broken unless the whole result came, and what came whole is delivered", async () => {
    const whole = answerEvents([acknowledged("1"), said(TOOLS, "1"), resultMessage({ resultType: "complete" })]);
    const ends = new Set<string>();
    for (let at = 1; at < 900; at += 1) {
      const client = connect((await serveOnce(withFaults(whole, cutAt(at)))).url);
      const subscription = client.listen(FILTER);
      const end = await subscription.closed;
      const shown = end.kind === "broken" ? `broken ${end.error.delivery}` : end.kind;
      const items: unknown[] = [];
      try {
        for await (const item of subscription) items.push(item);
      } catch (error) {
        expect(error).toBe("error" in end ? end.error : undefined);
      }
      ends.add(`${shown} ${String(items.length)}`);
      await client.close();
      if (end.kind === "completed") break;
    }
    expect([...ends]).toEqual(["broken unknown 0", "broken unknown 1", "completed 1"]);
  });

  it("W-31: what a subscription tells of drops what the cache has of it", async () => {
    const feed = feedOf(acknowledged());
    const server = await serve(feed);
    const client = connect(server.url, { cache: true });
    await client.listen(FILTER).acknowledged;
    const lists = () => server.requests.filter(({ method }) => method === "tools/list").length;
    await client.listTools();
    await client.listTools();
    expect(lists()).toBe(1);
    feed.send(messageEvent(said(TOOLS)));
    await expect.poll(async () => client.listTools().then(lists)).toBe(2);
  });

  it("W-36: several run side by side, each with its own id", async () => {
    const [one, two] = [feedOf(acknowledged(1)), feedOf(acknowledged(2))];
    const client = connect((await serve(one, two)).url);
    const first = client.listen(FILTER);
    await first.acknowledged;
    const second = client.listen(FILTER);
    await second.acknowledged;
    two.send(messageEvent(said(UPDATED, 2)));
    one.send(messageEvent(said(TOOLS, 1)));
    await expect(second[Symbol.asyncIterator]().next()).resolves.toMatchObject({ value: { method: UPDATED } });
    await expect(first[Symbol.asyncIterator]().next()).resolves.toMatchObject({ value: { method: TOOLS } });
  });

  it("W-36, F-16: subscriptions take no turn of calls", async () => {
    const client = connect((await serve(feedOf(acknowledged(1)))).url, { maxConcurrentRequests: 1 });
    await client.listen(FILTER).acknowledged;
    await expect(client.listTools()).resolves.toBeDefined();
  });

  it("W-36, F-2: the caller's signal ends it as cancelled, with its own reason; so does leaving the iteration", async () => {
    const feed = feedOf(acknowledged(), said(TOOLS));
    const server = await serve(answerNothing(), feed);
    const client = connect(server.url);
    const reason = new Error("mine");
    const abort = new AbortController();
    const silent = client.listen(FILTER, { signal: abort.signal });
    await expect.poll(() => server.requests.length).toBe(1);
    abort.abort(reason);
    await expect(silent.acknowledged).rejects.toBe(reason);
    expect(deliveryOf(silent.acknowledged)).toBe("unknown");
    await expect(silent.closed).resolves.toEqual({ kind: "cancelled", reason });
    const before = client.listen(FILTER, { signal: abort.signal });
    await expect(before.acknowledged).rejects.toBe(reason);
    expect(deliveryOf(before.acknowledged)).toBe("not_sent");
    const left = connect(server.url).listen(FILTER);
    for await (const { method } of left) {
      expect(method).toBe(TOOLS);
      break;
    }
    await expect(left.closed).resolves.toMatchObject({ kind: "cancelled" });
    await expect.poll(() => feed.listeners).toBe(0);
  });

  it("W-36, F-8: the end of the client ends subscriptions as cancelled; no timer, socket or listener is left", async () => {
    const clock = new FakeClock();
    const server = await serve(feedOf(acknowledged(), said(TOOLS)), answerNothing(), answerError(-32603));
    const client = connect(server.url, { clock });
    const acknowledgedOne = client.listen(FILTER);
    await acknowledgedOne.acknowledged;
    const silent = client.listen(FILTER);
    await expect.poll(() => server.requests.length).toBe(2);
    const pauses: number[] = [];
    const kept = client.keepListening(FILTER, { onPause: (_end, delayMs) => pauses.push(delayMs) });
    await expect.poll(() => pauses.length).toBe(1);
    await client.close();
    for (const one of [acknowledgedOne, silent, kept]) {
      await expect(one.closed).resolves.toMatchObject({
        kind: "cancelled",
        reason: { code: "cancelled", details: { reason: "client closed" } },
      });
    }
    await expect(collect(acknowledgedOne)).resolves.toHaveLength(1);
    expect(clock.pending).toBe(0);
    await expect.poll(() => server.openConnections.length).toBe(0);
    await expect(client.listen(FILTER).closed).resolves.toMatchObject({ kind: "cancelled" });
  });

  it("W-36, F-1: a client that never subscribed opens nothing after its end", async () => {
    const server = await serve(feedOf(acknowledged()));
    const client = connect(server.url);
    await client.close();
    const { acknowledged: late, closed } = client.listen(FILTER);
    await expect(closed).resolves.toMatchObject({ kind: "cancelled" });
    await expect(late).rejects.toMatchObject({ code: "cancelled", delivery: "not_sent" });
    await expect(client.keepListening(FILTER).closed).resolves.toMatchObject({ kind: "cancelled" });
    expect(server.requests).toHaveLength(0);
  });

  it("W-36: the acknowledgement has its time; W-37: an acknowledged stream may be silent unless asked otherwise", async () => {
    const clock = new FakeClock();
    const server = await serve(feedOf(), feedOf(acknowledged(2)), feedOf(acknowledged(3)));
    const client = connect(server.url, { clock, idleTimeoutMs: 1_000, totalTimeoutMs: 1_000 });
    const late = client.listen(FILTER, { acknowledgeTimeoutMs: 5_000 });
    await expect.poll(() => server.requests.length).toBe(1);
    await clock.advance(4_999);
    await clock.advance(1);
    await expect(late.closed).resolves.toMatchObject({
      kind: "broken",
      error: { code: "timeout", details: { option: "acknowledgeTimeoutMs" }, delivery: "unknown" },
    });
    const patient = client.listen(FILTER);
    await patient.acknowledged;
    const impatient = client.listen(FILTER, { idleTimeoutMs: 60_000 });
    await impatient.acknowledged;
    await clock.advance(24 * 3_600_000);
    await expect(impatient.closed).resolves.toMatchObject({ kind: "broken", error: { details: { phase: "idle" } } });
    patient.close();
    await expect(patient.closed).resolves.toMatchObject({ kind: "cancelled", reason: { code: "cancelled" } });
  });

  it("W-36: a consumer that is too slow loses nothing silently", async () => {
    const feed = feedOf(acknowledged(), said(TOOLS), said(TOOLS), said(TOOLS));
    const subscription = connect((await serve(feed)).url).listen(FILTER, { maxBufferedNotifications: 2 });
    const details = { option: "maxBufferedNotifications", limit: 2 };
    await expect(subscription.closed).resolves.toMatchObject({
      kind: "broken",
      error: { code: "limit_exceeded", details },
    });
    const items = subscription[Symbol.asyncIterator]();
    await expect(items.next()).resolves.toMatchObject({ done: false });
    await expect(items.next()).resolves.toMatchObject({ done: false });
    await expect(items.next()).rejects.toMatchObject({ code: "limit_exceeded" });
  });

  it("F-10: what waits for a slow consumer is bounded in bytes too", async () => {
    const feed = feedOf(acknowledged(), said(TOOLS), said(TOOLS), said(TOOLS));
    const subscription = connect((await serve(feed)).url).listen(FILTER, { maxBufferedBytes: 300 });
    const details = { option: "maxBufferedBytes", limit: 300 };
    await expect(subscription.closed).resolves.toMatchObject({ kind: "broken", error: { details } });
    const items = subscription[Symbol.asyncIterator]();
    await expect(items.next()).resolves.toMatchObject({ done: false });
  });

  it("W-36: options are checked, and what can't be sent is not", async () => {
    const client = connect("http://127.0.0.1:1/mcp");
    expect(() => client.listen(FILTER, JSON.parse('{"acknowledgeTimeout":1}'))).toThrow(/acknowledgeTimeoutMs/);
    expect(() => client.keepListening(FILTER, { longestReopenDelayMs: 1 })).toThrow(/longestReopenDelayMs/);
    expect(() => client.listen(JSON.parse("[]"))).toThrow(/filter/);
    expect(() => client.listen(FILTER, JSON.parse('{"signal":1}'))).toThrow(/signal/);
    expect(() => client.keepListening(FILTER, JSON.parse('{"onPause":1}'))).toThrow(/onPause/);
    const server = await serve(answerNothing());
    const refused = connect(server.url).listen(FILTER, { admit: () => "no" });
    await expect(refused.closed).resolves.toMatchObject({ kind: "refused", error: { code: "not_admitted" } });
    expect(server.requests).toHaveLength(0);
    await expect(client.listen(FILTER).closed).resolves.toMatchObject({
      kind: "broken",
      error: { code: "connect_failed", delivery: "not_sent" },
    });
  });

  it("W-28: a refused version is tried once more, with a new id", async () => {
    const refusal = answerError(-32022, "no", { data: { supported: ["2026-07-28"] } });
    const subscription = connect((await serve(refusal, feedOf(acknowledged(2)))).url).listen(FILTER);
    await expect(subscription.acknowledged).resolves.toEqual(FILTER);
    const again = connect((await serve(refusal)).url).listen(FILTER);
    await expect(again.closed).resolves.toMatchObject({ kind: "refused", error: { details: { rpcCode: -32022 } } });
  });
});

describe("keepListening", () => {
  it("W-37: opens again after growing pauses, with one refresh after every gap", async () => {
    const clock = new FakeClock();
    const [one, four] = [feedOf(acknowledged(1), said(TOOLS, 1)), feedOf(acknowledged(4, { toolsListChanged: true }))];
    const server = await serve(one, answerError(-32603, "down", { status: 500 }), answerStatus(503), four);
    const pauses: [SubscriptionEnd["kind"], number][] = [];
    const client = connect(server.url, { clock, random: () => 1 });
    const kept = client.keepListening(FILTER, { onPause: (end, delayMs) => pauses.push([end.kind, delayMs]) });
    const items = kept[Symbol.asyncIterator]();
    await expect(kept.acknowledged).resolves.toEqual(FILTER);
    await expect(items.next()).resolves.toMatchObject({
      value: { kind: "notification", notification: { method: TOOLS } },
    });
    one.end("cut");
    for (const [nth, delayMs] of [1_000, 2_000, 4_000].entries()) {
      await expect.poll(() => pauses.length).toBe(nth + 1);
      expect(pauses[nth]).toEqual([nth === 0 ? "broken" : "refused", delayMs]);
      clock.step(delayMs - 1);
      await settle();
      expect(server.requests).toHaveLength(nth + 1);
      clock.step(1);
      await expect.poll(() => server.requests.length).toBe(nth + 2);
    }
    await expect(items.next()).resolves.toEqual({
      done: false,
      value: { kind: "refresh", acknowledged: { toolsListChanged: true } },
    });
    four.send(messageEvent(said(TOOLS, 4)));
    await expect(items.next()).resolves.toMatchObject({ value: { kind: "notification" } });
    four.send(messageEvent(resultMessage({ resultType: "complete" })));
    await expect.poll(() => pauses.length).toBe(4);
    expect(pauses[3]).toEqual(["completed", 60_000]);
    kept.close();
    await expect(kept.closed).resolves.toMatchObject({ kind: "cancelled" });
    await expect(items.next()).resolves.toEqual({ done: true, value: undefined });
    expect(clock.pending).toBe(0);
  });

  it("W-37: gaps that nobody saw are one refresh; the signal ends a pause", async () => {
    const clock = new FakeClock();
    const feeds = [1, 2, 3].map((id) => feedOf(acknowledged(id)));
    const server = await serve(...feeds);
    const pauses: number[] = [];
    const abort = new AbortController();
    const kept = connect(server.url, { clock }).keepListening(FILTER, {
      signal: abort.signal,
      onPause: (_end, delayMs) => pauses.push(delayMs),
    });
    await kept.acknowledged;
    for (const [nth, feed] of feeds.entries()) {
      await expect.poll(() => feed.listeners).toBe(1);
      feed.end();
      await expect.poll(() => pauses.length).toBe(nth + 1);
      if (nth < 2) clock.step(pauses[nth] ?? 0);
    }
    abort.abort("enough");
    await expect(kept.closed).resolves.toEqual({ kind: "cancelled", reason: "enough" });
    await expect(collect(kept)).resolves.toEqual([{ kind: "refresh", acknowledged: FILTER }]);
    expect(clock.pending).toBe(0);
  });

  it("W-36: a stream of one answer works like a live one", async () => {
    const answer = answerEvents([acknowledged(), said(TOOLS), resultMessage({ resultType: "complete" })]);
    await expect(collect(connect((await serve(answer)).url).listen(FILTER))).resolves.toHaveLength(1);
  });
});

describe("the official server", () => {
  it("W-36: acknowledges, tells of changes, and ends its subscriptions when it closes", async () => {
    const create = (): McpServer => {
      const official = new McpServer({ name: "library", version: "1.0.0" });
      official.registerTool("greet", {}, () => ({ content: [] }));
      return official;
    };
    const handler = createMcpHandler(create, { legacy: "reject" });
    const answer = toNodeHandler(handler);
    const server = createServer((request, response) => {
      const { method, url } = request;
      if (method !== undefined && url !== undefined) void answer(Object.assign(request, { method, url }), response);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = String(typeof address === "object" ? address?.port : 0);
    const subscription = connect(`http://127.0.0.1:${port}/mcp`).listen({
      toolsListChanged: true,
      promptsListChanged: true,
    });
    await expect(subscription.acknowledged).resolves.toEqual({ toolsListChanged: true });
    handler.notify.toolsChanged();
    const items = subscription[Symbol.asyncIterator]();
    await expect(items.next()).resolves.toMatchObject({ value: { method: TOOLS } });
    await handler.close();
    await expect(subscription.closed).resolves.toMatchObject({ kind: "completed" });
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  });
});
