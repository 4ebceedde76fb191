import { describe, expect, it, onTestFinished } from "vitest";
import { deliveryOf, RemoteConnectorError } from "../../../src/errors.js";
import { LegacySSEClient } from "../../../src/legacy-client/index.js";
import {
  answerError,
  answerFeed,
  answerStatus,
  EventFeed,
  type Handler,
  likeLegacyServer,
  likeSseServer,
  messageEvent,
  notificationMessage,
} from "../../../src/testing/index.js";
import type { AuthorizationRefusal, Authorizer, AuthorizeRequest, HeaderMap } from "../../../src/transport/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import { connectHttp, serve } from "./http-parties.js";
import { SessionServer } from "./session-server.js";

const clientInfo = { name: "test", version: "1" };
const tools = [{ name: "t", run: () => ({ content: [] }) }];

/** Gives a token that will do to what was refused before, and to nothing else. */
class Refresher implements Authorizer {
  readonly refused: AuthorizeRequest[] = [];
  readonly #refuses: (refusal: AuthorizationRefusal) => Promise<boolean>;

  constructor(refuses: (refusal: AuthorizationRefusal) => Promise<boolean> = () => Promise.resolve(true)) {
    this.#refuses = refuses;
  }

  authorize(request: AuthorizeRequest): HeaderMap {
    return { Authorization: this.refused.includes(request) ? "Bearer fresh" : "Bearer stale" };
  }

  onRefused(refusal: AuthorizationRefusal): Promise<boolean> {
    this.refused.push(refusal.request);
    return this.#refuses(refusal);
  }
}

/** Lets nobody in whose token is not fresh. */
function guarded(handler: Handler): Handler {
  return (request) => (request.header("authorization") === "Bearer fresh" ? handler(request) : answerStatus(401));
}

describe("A-8: requests of a legacy client that are refused and made again", () => {
  it("a whole session: every POST, the listening stream, notifications, and its end", async () => {
    const feed = new EventFeed();
    const inner = likeLegacyServer({ tools, revision: "2025-11-25", sessionId: "s-1" });
    const handler: Handler = (request) => (request.verb === "GET" ? answerFeed(feed) : inner(request));
    const server = await serve(guarded(handler));
    const heard: string[] = [];
    const authorize = new Refresher();
    const { client, kinds } = await connectHttp(server.url, {
      authorize,
      onNotification: ({ method }) => void heard.push(method),
      listen: "always",
    });
    feed.send(messageEvent(notificationMessage("notifications/message", {})));
    await expect.poll(() => heard).toEqual(["notifications/message"]);
    await expect(client.callTool({ name: "t" })).resolves.toEqual({ content: [] });
    await client.close();
    const made = server.requests.map((one) => [one.method ?? one.verb, one.header("authorization")]);
    for (const method of ["initialize", "notifications/initialized", "GET", "tools/call", "DELETE"]) {
      const tokens = made.filter(([name]) => name === method).map(([, token]) => token);
      expect([method, tokens]).toEqual([method, ["Bearer stale", "Bearer fresh"]]);
    }
    expect(authorize.refused.map(({ method, httpMethod }) => `${httpMethod} ${method}`).toSorted()).toEqual([
      "DELETE DELETE",
      "GET GET",
      "POST initialize",
      "POST notifications/initialized",
      "POST tools/call",
    ]);
    // The same session, whatever was refused meanwhile.
    const sessions = server.requests
      .filter(({ method }) => method !== "initialize")
      .map((one) => one.header("mcp-session-id"));
    expect(new Set(sessions)).toEqual(new Set(["s-1"]));
    expect(kinds()).toEqual([]);
  });

  it("HTTP+SSE: the stream, and everything that is posted", async () => {
    const server = await serve(guarded(likeSseServer({ tools })));
    const authorize = new Refresher();
    const client = await LegacySSEClient.connect({ endpoint: server.url, clientInfo, authorize });
    onTestFinished(() => client.close());
    await expect(client.callTool({ name: "t" })).resolves.toEqual({ content: [] });
    expect(authorize.refused.map(({ method }) => method).toSorted()).toEqual([
      "GET",
      "initialize",
      "notifications/initialized",
      "tools/call",
    ]);
    expect(server.requests).toHaveLength(8);
  });

  it("a listening stream that nobody may authorize is given up, and calls go on", async () => {
    const feed = new EventFeed();
    const inner = likeLegacyServer({ tools, revision: "2025-11-25", sessionId: "s-1" });
    const server = await serve(guarded((request) => (request.verb === "GET" ? answerFeed(feed) : inner(request))));
    const authorize = new Refresher(({ request }) => {
      if (request.httpMethod === "POST" || request.httpMethod === "DELETE") return Promise.resolve(true);
      const details = { endpoint: server.url, reason: "token_refused", scopes: [] } as const;
      return Promise.reject(new RemoteConnectorError("sign_in_required", { message: "Sign in.", details }));
    });
    const { client, diagnostics } = await connectHttp(server.url, { authorize, listen: "always" });
    await expect(client.callTool({ name: "t" })).resolves.toEqual({ content: [] });
    expect(server.requests.filter(({ verb }) => verb === "GET")).toHaveLength(1);
    expect(diagnostics).toMatchObject([
      { kind: "not_listening", message: "Not listening: the client is not authorized for it." },
    ]);
  });

  it("a call that nobody may authorize fails with that, and leaves the session", async () => {
    const server = await serve(guarded(likeLegacyServer({ tools, revision: "2025-11-25", sessionId: "s-1" })));
    const authorize = new Refresher(({ request }) => {
      if (request.method !== "tools/call" || authorize.refused.length > 3) return Promise.resolve(true);
      const details = { endpoint: server.url, reason: "no_token", scopes: [] } as const;
      return Promise.reject(new RemoteConnectorError("sign_in_required", { message: "Sign in.", details }));
    });
    const { client } = await connectHttp(server.url, { authorize });
    await expect(client.callTool({ name: "t" })).rejects.toMatchObject({
      code: "sign_in_required",
      delivery: "answered",
    });
    await expect(client.callTool({ name: "t" })).resolves.toEqual({ content: [] });
    expect(server.requests.filter(({ method }) => method === "initialize")).toHaveLength(2);
  });
});

/** Lets everybody in, and writes down what for. */
class Recorder implements Authorizer {
  readonly asked: AuthorizeRequest[] = [];

  authorize(request: AuthorizeRequest): undefined {
    this.asked.push(request);
  }

  /** How many operations these requests belong to. */
  operations(...methods: string[]): number {
    const matching = this.asked.filter(({ method }) => methods.includes(method));
    return new Set(matching.map(({ operation }) => operation)).size;
  }
}

describe("A-8: what is one operation of a legacy client", () => {
  it("all repetitions of a read; and each call is another one", async () => {
    let lists = 0;
    const inner = likeLegacyServer({ tools, revision: "2025-11-25" });
    const server = await serve((request) =>
      request.method === "tools/list" && (lists += 1) < 3 ? answerStatus(503) : inner(request),
    );
    const authorize = new Recorder();
    const { client } = await connectHttp(server.url, { authorize, random: () => 0 });
    await client.listTools();
    expect(lists).toBe(3);
    expect(authorize.operations("tools/list")).toBe(1);
    await client.listTools();
    expect(authorize.operations("tools/list")).toBe(2);
  });

  it("a call in a session that was lost, and again in the next one; the handshake of that is another", async () => {
    const sessions = new SessionServer({ refuse: () => answerError(-32001, "gone", { status: 404, id: "null" }) });
    const server = await serve(sessions.handle);
    const authorize = new Recorder();
    const { client } = await connectHttp(server.url, { authorize });
    expect(authorize.operations("initialize", "notifications/initialized")).toBe(1);
    sessions.forget();
    await client.callTool({ name: "t" });
    expect(authorize.asked.filter(({ method }) => method === "tools/call")).toHaveLength(2);
    expect(authorize.operations("tools/call")).toBe(1);
    expect(authorize.operations("initialize", "notifications/initialized")).toBe(2);
    expect(authorize.operations("initialize", "tools/call")).toBe(3);
  });

  it("L-11: the stream of HTTP+SSE, for which a person may be asked, with the handshake", async () => {
    const server = await serve(likeSseServer({ tools }));
    const authorize = new Recorder();
    const client = await LegacySSEClient.connect({ endpoint: server.url, clientInfo, authorize });
    onTestFinished(() => client.close());
    expect(authorize.asked.map(({ method, isAwaited }) => [method, isAwaited])).toEqual([
      ["GET", true],
      ["initialize", undefined],
      ["notifications/initialized", undefined],
    ]);
    expect(authorize.operations("GET", "initialize", "notifications/initialized")).toBe(1);
    await client.callTool({ name: "t" });
    await client.callTool({ name: "t" });
    expect(authorize.operations("GET", "tools/call")).toBe(3);
  });
});

describe("A-8: HTTP+SSE while an authorizer is asked", () => {
  /** Refuses each request of this method once, and says when it is asked and what it is to answer. */
  async function asking(method: string) {
    const clock = new FakeClock();
    const inner = likeSseServer({ tools });
    let isRefused = false;
    const server = await serve((request) => {
      const name = request.method ?? request.verb;
      if (name !== method || isRefused) return inner(request);
      isRefused = true;
      return answerStatus(401);
    });
    let tell: (refusal: AuthorizationRefusal) => void = () => undefined;
    const asked = new Promise<AuthorizationRefusal>((resolve) => (tell = resolve));
    let answer: (again: boolean) => void = () => undefined;
    const verdict = new Promise<boolean>((resolve) => (answer = resolve));
    const authorize: Authorizer = {
      authorize: () => undefined,
      onRefused: (refusal) => {
        tell(refusal);
        return verdict;
      },
    };
    const connect = (signal?: AbortSignal): Promise<LegacySSEClient> =>
      LegacySSEClient.connect({ endpoint: server.url, clientInfo, authorize, clock, signal, connectTimeoutMs: 30_000 });
    return { clock, server, asked, answer, connect };
  }

  const opening = (connecting: Promise<LegacySSEClient>): Promise<LegacySSEClient> => {
    onTestFinished(async () => (await connecting).close());
    return connecting;
  };

  it("L-11: the wait for the endpoint stands still", async () => {
    const { clock, asked, answer, connect } = await asking("GET");
    const connecting = opening(connect());
    await asked;
    clock.step(100_000);
    answer(true);
    await expect((await connecting).callTool({ name: "t" })).resolves.toEqual({ content: [] });
  });

  it("L-11: and runs anew when the stream is asked for again", async () => {
    const clock = new FakeClock();
    const feed = new EventFeed();
    let gets = 0;
    const server = await serve(() => ((gets += 1) === 1 ? answerStatus(401) : answerFeed(feed)));
    const authorize = { authorize: (): undefined => undefined, onRefused: () => true };
    const connecting = LegacySSEClient.connect({ endpoint: server.url, clientInfo, authorize, clock });
    const failed = connecting.catch((error: unknown) => error);
    await expect.poll(() => feed.listeners).toBe(1);
    clock.step(30_000);
    expect(await failed).toMatchObject({ code: "timeout", delivery: "unknown", details: { phase: "connect" } });
  });

  it("L-11: not for longer than the lifecycle may take", async () => {
    const { clock, asked, connect, server } = await asking("GET");
    const failed = connect().catch((error: unknown) => error);
    const { signal } = await asked;
    clock.step(119_999);
    expect(signal.aborted).toBe(false);
    clock.step(1);
    expect(await failed).toMatchObject({
      code: "timeout",
      delivery: "answered",
      details: { phase: "total", option: "lifecycleTimeoutMs", limitMs: 120_000 },
    });
    expect([signal.aborted, server.requests.length, clock.pending]).toEqual([true, 1, 0]);
  });

  it("L-11: the caller's abort ends it", async () => {
    const { asked, connect } = await asking("GET");
    const caller = new AbortController();
    const connecting = connect(caller.signal);
    const failed = connecting.catch((error: unknown) => error);
    const { signal } = await asked;
    caller.abort("enough");
    expect(await failed).toBe("enough");
    expect([signal.aborted, deliveryOf(connecting)]).toEqual([true, "answered"]);
  });

  it("a call's idle deadline stands still, and the call is made again", async () => {
    const { clock, asked, answer, connect } = await asking("tools/call");
    const client = await opening(connect());
    const called = client.callTool({ name: "t" });
    await asked;
    clock.step(600_000);
    answer(true);
    await expect(called).resolves.toEqual({ content: [] });
  });

  it("a call that is given up meanwhile was answered, and the server is told nothing of it", async () => {
    const { asked, connect, server } = await asking("tools/call");
    const client = await opening(connect());
    const caller = new AbortController();
    const called = client.callTool({ name: "t" }, { signal: caller.signal });
    const failed = called.catch((error: unknown) => error);
    const { signal } = await asked;
    caller.abort("enough");
    expect(await failed).toBe("enough");
    expect([signal.aborted, deliveryOf(called)]).toEqual([true, "answered"]);
    await client.ping();
    expect(server.requests.map(({ method }) => method)).not.toContain("notifications/cancelled");
  });

  it("a call that nobody may authorize was answered", async () => {
    const server = await serve((request) => {
      if (request.method === "tools/call") return answerStatus(401);
      return inner(request);
    });
    const inner = likeSseServer({ tools });
    const details = { endpoint: server.url, reason: "no_token", scopes: [] } as const;
    const authorize = {
      authorize: (): undefined => undefined,
      onRefused: () => Promise.reject(new RemoteConnectorError("sign_in_required", { message: "Sign in.", details })),
    };
    const client = await opening(LegacySSEClient.connect({ endpoint: server.url, clientInfo, authorize }));
    await expect(client.callTool({ name: "t" })).rejects.toMatchObject({
      code: "sign_in_required",
      delivery: "answered",
    });
  });
});
