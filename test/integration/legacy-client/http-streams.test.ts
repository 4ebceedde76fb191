import { describe, expect, it } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import {
  type Answer,
  answerBody,
  answerEvents,
  answerFeed,
  answerNothing,
  answerResult,
  answerStatus,
  cutAt,
  dataEvent,
  EventFeed,
  messageEvent,
  notificationMessage,
  progressMessage,
  type ReceivedRequest,
  resetAt,
  streamText,
  withFaults,
} from "../../../src/testing/index.js";
import { caught, connectHttp, serve } from "./http-parties.js";
import { SessionServer, type SessionServerOptions } from "./session-server.js";

const CALL = { name: "t" };
const OK = { content: [{ type: "text", text: "ok" }] };

async function meet(options: SessionServerOptions, more: Parameters<typeof connectHttp>[1] = {}) {
  const sessions = new SessionServer(options);
  const server = await serve(sessions.handle);
  const gets = (): readonly ReceivedRequest[] => server.requests.filter(({ verb }) => verb === "GET");
  return { sessions, server, gets, ...(await connectHttp(server.url, { random: () => 0, ...more })) };
}

describe("a stream that ends without the answer", () => {
  it("L-5: is taken up again at the last id seen on it, not before the server's pause has passed", async () => {
    let call: ReceivedRequest | undefined;
    const times: number[] = [];
    const { client, gets } = await meet({
      answer: (request) => {
        call = request;
        times.push(performance.now());
        return answerEvents([
          dataEvent("", { id: "p-0", retry: 120 }),
          messageEvent(progressMessage(1), { id: "p-1" }),
        ]);
      },
      listen: () => {
        times.push(performance.now());
        return answerEvents([
          messageEvent({ kind: "value", value: { jsonrpc: "2.0", id: call?.id, result: OK } }, { id: "p-2" }),
        ]);
      },
    });
    const progress: number[] = [];
    await expect(client.callTool(CALL, { onProgress: (p) => progress.push(p.progress) })).resolves.toEqual(OK);
    expect(progress).toEqual([1]);
    const [get] = gets();
    expect(get?.header("last-event-id")).toBe("p-1");
    expect(get?.header("accept")).toBe("text/event-stream");
    expect([get?.header("mcp-session-id"), get?.header("mcp-protocol-version")]).toEqual(["s-1", "2025-11-25"]);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(119);
  });

  it("L-5: a priming event alone is enough; each stream has its own place", async () => {
    const calls: ReceivedRequest[] = [];
    const { client, gets } = await meet({
      answer: (request) => {
        calls.push(request);
        return answerEvents([dataEvent("", { id: `${String(request.params["name"])}-0`, retry: 1 })]);
      },
      listen: (request) => {
        const name = request.header("last-event-id")?.slice(0, 1);
        const id = calls.find(({ params }) => params["name"] === name)?.id;
        const result = { content: [{ type: "text", text: name }] };
        return answerEvents([messageEvent({ kind: "value", value: { jsonrpc: "2.0", id, result } })]);
      },
    });
    const [a, b] = await Promise.all([client.callTool({ name: "a" }), client.callTool({ name: "b" })]);
    expect([a.content?.[0]?.["text"], b.content?.[0]?.["text"]]).toEqual(["a", "b"]);
    expect(new Set(gets().map((get) => get.header("last-event-id")))).toEqual(new Set(["a-0", "b-0"]));
  });

  it("L-5: without an id it fails at once: unknown", async () => {
    const { client, gets } = await meet({ answer: () => answerEvents([progressMessage(1)]) });
    expect(await caught(client.callTool(CALL))).toMatchObject({ code: "stream_ended", delivery: "unknown" });
    expect(gets()).toEqual([]);
  });

  it("L-5: attempts that bring nothing end it; one that brings something begins the count anew", async () => {
    let count = 0;
    const { client, gets } = await meet(
      {
        answer: () => answerEvents([dataEvent("", { id: "0", retry: 1 })]),
        listen: () => {
          count += 1;
          const brings = count === 2 ? [messageEvent(notificationMessage("notifications/message"), { id: "m" })] : [];
          return answerEvents([dataEvent("", { id: String(count) }), ...brings]);
        },
      },
      { maxFruitlessResumes: 2 },
    );
    const error = await caught(client.callTool(CALL));
    expect(error).toMatchObject({ code: "stream_ended", delivery: "unknown" });
    expect(error).toMatchObject({ cause: { code: "stream_ended" } });
    // The first brought nothing, the second something, the next two nothing.
    expect(gets().map((get) => get.header("last-event-id"))).toEqual(["0", "1", "m", "3"]);
  });

  it.each([400, 404, 405, 501])("L-5: a server that refuses to take it up with %i is believed", async (status) => {
    const { client, gets, sessions } = await meet({
      answer: () => answerEvents([dataEvent("", { id: "0", retry: 1 })]),
      listen: () => answerBody("no", { status }),
    });
    expect(await caught(client.callTool(CALL))).toMatchObject({
      code: "stream_ended",
      delivery: "unknown",
      cause: { code: "unexpected_answer", details: { status } },
    });
    expect(gets()).toHaveLength(1);
    expect(sessions.initializes).toBe(1);
  });

  it("L-5, F-7: the call's own deadline and signal hold through pauses, and the server is told", async () => {
    const { client, server } = await meet({
      answer: () => answerEvents([dataEvent("", { id: "0", retry: 60_000 })]),
    });
    const late = client.callTool(CALL, { totalTimeoutMs: 60 });
    expect(await caught(late)).toMatchObject({ code: "timeout", delivery: "unknown", details: { limitMs: 60 } });
    const controller = new AbortController();
    const aborted = client.callTool(CALL, { signal: controller.signal });
    setTimeout(() => controller.abort("enough"), 50);
    expect(await caught(aborted)).toBe("enough");
    expect(deliveryOf(aborted)).toBe("unknown");
    const cancelled = (): unknown[] =>
      server.requests.filter(({ method }) => method === "notifications/cancelled").map(({ params }) => params);
    await expect.poll(cancelled).toHaveLength(2);
    const ids = server.requests.filter(({ method }) => method === "tools/call").map(({ id }) => id);
    expect(cancelled()).toMatchObject(ids.map((requestId) => ({ requestId })));
  });

  it.each(["close", "abort", "deadline"])(
    "L-5, F-1: %s while the attempt waits for its turn is unknown",
    async (how) => {
      const { client, server } = await meet(
        {
          answer: ({ params }) =>
            params["name"] === "a" ? answerEvents([dataEvent("", { id: "0", retry: 60 })]) : answerNothing(),
        },
        { maxConcurrentRequests: 1 },
      );
      const controller = new AbortController();
      const totalTimeoutMs = how === "deadline" ? 250 : 10_000;
      const call = client.callTool({ name: "a" }, { signal: controller.signal, totalTimeoutMs });
      const outcome = caught(call);
      await expect.poll(() => server.requests.some(({ params }) => params["name"] === "a")).toBe(true);
      // It takes the only turn, and keeps it.
      const other = caught(client.callTool({ name: "b" }));
      await new Promise((resolve) => setTimeout(resolve, 120));
      if (how === "close") void client.close();
      if (how === "abort") controller.abort("enough");
      const error = await outcome;
      if (how === "abort") expect(error).toBe("enough");
      else expect(error).toMatchObject({ code: how === "close" ? "cancelled" : "timeout", delivery: "unknown" });
      expect(deliveryOf(call)).toBe("unknown");
      await client.close();
      await other;
    },
  );

  it("L-5: the answer may come on another stream of the session, also during the pause", async () => {
    const feed = new EventFeed();
    const { client, gets } = await meet(
      {
        answer: (request) => {
          setTimeout(() => {
            feed.send(messageEvent({ kind: "value", value: { jsonrpc: "2.0", id: request.id, result: OK } }));
          }, 30);
          return answerEvents([dataEvent("", { id: "0", retry: 5_000 })]);
        },
        listen: () => answerFeed(feed),
      },
      { listen: "always" },
    );
    await expect(client.callTool(CALL)).resolves.toEqual(OK);
    expect(gets()).toHaveLength(1);
  });

  const events = (id: unknown, withIds: boolean): string => {
    const place = (n: number): string => (withIds ? `id: e${String(n)}\nretry: 1\n` : "");
    const progress = JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { é: "€" } });
    const result = JSON.stringify({ jsonrpc: "2.0", id, result: OK });
    return `${place(0)}data: \n\n${place(1)}data: ${progress}\n\n${place(2)}data: ${result}\n\n`;
  };
  const rest = (text: string, after: string | undefined): string => {
    const parts = text.split("\n\n");
    const index = parts.findIndex((part) => part.startsWith(`id: ${after ?? "?"}\n`));
    return parts.slice(index + 1).join("\n\n");
  };
  const length = Buffer.byteLength(events(2, true));

  it.each([
    ["cut", cutAt],
    ["reset", resetAt],
  ])(
    "L-5, F-1: %s at every byte: with ids the answer comes, or it is known why it can't",
    async (_how, fault) => {
      let at = 0;
      let text = "";
      const { client, gets } = await meet({
        answer: ({ id }) => {
          text = events(id, true);
          return withFaults(answerEvents([streamText(text)]), fault({ body: at }));
        },
        listen: (request) => answerEvents([streamText(rest(text, request.header("last-event-id")))]),
      });
      for (at = 0; at < length; at += 1) {
        const before = gets().length;
        const outcome = await client.callTool(CALL).then(
          (result) => (expect(result).toEqual(OK), "result"),
          (error: { code: string; delivery: string }) => `${error.code} ${error.delivery}`,
        );
        const hasPlace = at >= events(0, true).indexOf("\n\n") + 2;
        // What was sent right before a reset can be lost with it.
        if (hasPlace && fault === cutAt) expect([at, outcome]).toEqual([at, "result"]);
        else if (gets().length === before) expect(["connection_broken unknown", "result"]).toContain(outcome);
        else expect(outcome).toBe("result");
      }
      expect(gets().length).toBeGreaterThan(50);
    },
    60_000,
  );

  it("L-5, F-1: cut at every byte without ids: the result, or the verdict unknown, and nothing is repeated", async () => {
    let at = 0;
    const { client, server } = await meet({
      answer: ({ id }) => withFaults(answerEvents([streamText(events(id, false))]), cutAt({ body: at })),
    });
    const plain = Buffer.byteLength(events(2, false));
    for (at = 0; at < plain; at += 1) {
      const outcome = await client.callTool(CALL).then(
        () => "result",
        (error: { code: string; delivery: string }) => `${error.code} ${error.delivery}`,
      );
      expect(["connection_broken unknown", "result"]).toContain(outcome);
    }
    expect(server.requests.filter(({ method }) => method === "tools/call")).toHaveLength(plain);
    expect(server.requests.filter(({ verb }) => verb === "GET")).toEqual([]);
  }, 60_000);
});

describe("the listening stream", () => {
  it("L-4: opens right after the handshake, before connect resolves, bound to the session", async () => {
    const feed = new EventFeed();
    const heard: string[] = [];
    const startedAt = performance.now();
    const { server, gets } = await meet(
      { listen: () => answerFeed(feed) },
      { onNotification: ({ method }) => heard.push(method) },
    );
    expect(performance.now() - startedAt).toBeLessThan(1_500);
    expect(server.requests.map(({ verb, method }) => method ?? verb)).toEqual([
      "initialize",
      "notifications/initialized",
      "GET",
    ]);
    const [get] = gets();
    expect(
      ["accept", "mcp-session-id", "mcp-protocol-version", "last-event-id"].map((name) => get?.header(name)),
    ).toEqual(["text/event-stream", "s-1", "2025-11-25", undefined]);
    feed.send(messageEvent(notificationMessage("notifications/tools/list_changed")));
    await expect.poll(() => heard).toEqual(["notifications/tools/list_changed"]);
  });

  it("L-4: is not opened where nobody listens, or nobody may", async () => {
    const quiet = await meet({ listen: () => answerFeed(new EventFeed()) });
    expect(quiet.gets()).toEqual([]);
    const never = await meet(
      { listen: () => answerFeed(new EventFeed()) },
      { listen: "never", onNotification: () => undefined },
    );
    expect(never.gets()).toEqual([]);
  });

  it.each<[string, () => Answer]>([
    ["400", () => answerBody("{}", { status: 400, type: "application/json" })],
    ["401", () => answerStatus(401, { headers: { "WWW-Authenticate": "Bearer" } })],
    ["404", () => answerBody("<html>", { status: 404, type: "text/html" })],
    ["406", () => answerBody("{}", { status: 406, type: "application/json" })],
    ["501", () => answerStatus(501)],
    ["200 without a stream", () => answerBody("{}", { type: "application/json" })],
  ])("L-4: %s means a session without it, asked for once", async (_what, listen) => {
    const { client, gets, kinds, sessions } = await meet({ listen }, { listen: "always" });
    await client.callTool(CALL);
    await client.callTool(CALL);
    expect(gets()).toHaveLength(1);
    expect(kinds()).toEqual(["not_listening"]);
    expect(sessions.initializes).toBe(1);
  });

  it("L-4: 405 means the same, and is not worth a word", async () => {
    const { client, gets, kinds } = await meet({ listen: () => answerStatus(405) }, { listen: "always" });
    await client.callTool(CALL);
    expect([gets().length, kinds()]).toEqual([1, []]);
  });

  it("L-4: connect waits for its first answer at most two seconds, and calls never", async () => {
    const startedAt = performance.now();
    const { client } = await meet({ listen: () => new Promise(() => undefined) }, { listen: "always" });
    expect(performance.now() - startedAt).toBeLessThan(3_500);
    await client.callTool(CALL);
  });

  it("F-2, L-4: the caller's abort ends connect also while it waits for that answer, and the session with it", async () => {
    const sessions = new SessionServer({ listen: () => new Promise(() => undefined) });
    const server = await serve(sessions.handle);
    const controller = new AbortController();
    const connecting = connectHttp(server.url, { listen: "always", signal: controller.signal });
    const outcome = caught(connecting);
    await expect.poll(() => server.requests.some(({ verb }) => verb === "GET")).toBe(true);
    const abortedAt = performance.now();
    controller.abort("enough");
    expect(await outcome).toBe("enough");
    expect(performance.now() - abortedAt).toBeLessThan(1_000);
    await expect.poll(() => sessions.deletes).toBe(1);
    const later = new AbortController();
    const { client } = await connectHttp(server.url, { listen: "never", signal: later.signal });
    later.abort("too late");
    await client.callTool(CALL);
  });

  it("L-4: opens again after the server's pause, with the last event id", async () => {
    let count = 0;
    const { gets } = await meet(
      {
        listen: () => {
          count += 1;
          if (count > 2) return answerFeed(new EventFeed());
          const note = notificationMessage("notifications/message");
          return answerEvents([messageEvent(note, { id: `l-${String(count)}`, retry: 30 })]);
        },
      },
      { listen: "always" },
    );
    await expect.poll(() => gets().map((get) => get.header("last-event-id"))).toEqual([undefined, "l-1", "l-2"]);
  });

  it("L-4: gives up a stream that brings nothing, again and again", async () => {
    const { gets, kinds, client } = await meet(
      { listen: () => answerEvents([dataEvent("", { id: "0", retry: 1 })]) },
      { listen: "always", maxFruitlessResumes: 2 },
    );
    await expect.poll(kinds).toEqual(["not_listening"]);
    expect(gets()).toHaveLength(2);
    await client.callTool(CALL);
  });

  it("L-3, L-4: a 404 after it was open is a lost session, and the next one gets a stream of its own", async () => {
    const feeds: EventFeed[] = [];
    const { sessions, gets, kinds } = await meet(
      {
        listen: () => {
          const feed = new EventFeed();
          feed.send(dataEvent("", { id: "0", retry: 1 }));
          feeds.push(feed);
          return answerFeed(feed);
        },
      },
      { listen: "always" },
    );
    sessions.forget();
    feeds[0]?.end();
    await expect.poll(() => gets().map((get) => get.header("mcp-session-id"))).toEqual(["s-1", "s-1", "s-2"]);
    expect(sessions.initializes).toBe(2);
    expect(kinds()).toEqual(["session_replaced"]);
  });

  it("L-4: never takes a call's turn", async () => {
    const { client } = await meet(
      { listen: () => answerFeed(new EventFeed()), answer: () => answerResult(OK) },
      { listen: "always", maxConcurrentRequests: 1 },
    );
    await expect(Promise.all([client.callTool(CALL), client.callTool(CALL)])).resolves.toEqual([OK, OK]);
  });
});
