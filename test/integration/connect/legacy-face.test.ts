import { describe, expect, it, vi } from "vitest";
import { deliveryOf, isRemoteConnectorError } from "../../../src/errors.js";
import type { UrlAnswer, UrlRequest } from "../../../src/protocol/input/index.js";
import type { Notification } from "../../../src/protocol/index.js";
import {
  answerError,
  anyMessage,
  requestMessage,
  answerFeed,
  answerStatus,
  EventFeed,
  type Handler,
  likeLegacyServer,
  type LegacyServerOptions,
  messageEvent,
  notificationMessage,
} from "../../../src/testing/index.js";
import { ChangingServer, failureOf, reach } from "./parties.js";

const LEGACY_ONLY = { revisions: ["2025-11-25"] } as const;
const CHANGES = { listChanged: true };

/** A legacy server with a listening stream, on which the test speaks for it. */
async function listening(options: LegacyServerOptions = {}): Promise<{ server: ChangingServer; feed: EventFeed }> {
  const feed = new EventFeed();
  const answer = likeLegacyServer({ revision: "2025-11-25", ...options });
  const handler: Handler = (request) => (request.verb === "GET" ? answerFeed(feed) : answer(request));
  return { server: await ChangingServer.start(handler), feed };
}

function say(feed: EventFeed, method: string, params?: object): void {
  feed.send(messageEvent(notificationMessage(method, params)));
}

async function take(iterator: AsyncIterator<Notification, undefined>, count: number): Promise<(string | undefined)[]> {
  const taken: (string | undefined)[] = [];
  for (let left = count; left > 0; left -= 1) taken.push((await iterator.next()).value?.method);
  return taken;
}

describe("a legacy server seen through connect", () => {
  it("L-23 discovers what the handshake said", async () => {
    const { server } = await listening({ capabilities: { tools: CHANGES } });
    const { client } = await reach(server.url, LEGACY_ONLY);
    const posts = server.posted.length;
    const { result, raw, delivery } = await client.discover({ detail: true });
    expect(result).toEqual({
      supportedVersions: ["2025-11-25"],
      capabilities: { tools: CHANGES },
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "scripted-server", version: "1.0.0" } },
    });
    expect(JSON.parse(new TextDecoder().decode(raw))).toEqual(result);
    expect([delivery, server.posted.length]).toEqual(["answered", posts]);
  });

  it("L-23 discovers nothing after its end", async () => {
    const { server } = await listening();
    const { client } = await reach(server.url, LEGACY_ONLY);
    await client.close();
    const error = await failureOf(client.discover());
    expect([error.code, error.delivery]).toEqual(["cancelled", "not_sent"]);
  });

  it("L-23 F-2 discovers nothing for a caller who has gone", async () => {
    const { server } = await listening();
    const { client } = await reach(server.url, LEGACY_ONLY);
    const discovering = client.discover({ signal: AbortSignal.abort("enough") });
    await expect(discovering).rejects.toBe("enough");
    expect(deliveryOf(discovering)).toBe("not_sent");
  });

  it("L-23 filters the session's notifications: acknowledged is what the server declares, heard is what it tells", async () => {
    const { server, feed } = await listening({ capabilities: { tools: CHANGES, prompts: {} } });
    const { client } = await reach(server.url, LEGACY_ONLY);
    const subscription = client.listen({ toolsListChanged: true, promptsListChanged: true });
    expect(await subscription.acknowledged).toEqual({ toolsListChanged: true });
    say(feed, "notifications/message", { level: "info", data: "x" });
    say(feed, "notifications/resources/list_changed");
    say(feed, "notifications/prompts/list_changed");
    say(feed, "notifications/tools/list_changed");
    expect(await take(subscription[Symbol.asyncIterator](), 2)).toEqual([
      "notifications/prompts/list_changed",
      "notifications/tools/list_changed",
    ]);
    subscription.close();
    expect(await subscription.closed).toMatchObject({ kind: "cancelled" });
  });

  it("L-23 subscribes to a resource once, and unsubscribes when nobody is left", async () => {
    const given: string[] = [];
    const note = (method: string) => (params: object) => {
      given.push(`${method} ${String(Reflect.get(params, "uri"))}`);
      return {};
    };
    const { server, feed } = await listening({
      capabilities: { resources: { subscribe: true } },
      methods: { "resources/subscribe": note("+"), "resources/unsubscribe": note("-") },
    });
    const { client } = await reach(server.url, LEGACY_ONLY);
    const first = client.listen({ resourceSubscriptions: ["file:///a", "file:///b"] });
    expect(await first.acknowledged).toEqual({ resourceSubscriptions: ["file:///a", "file:///b"] });
    const second = client.listen({ resourceSubscriptions: ["file:///a"] });
    await second.acknowledged;
    say(feed, "notifications/resources/updated", { uri: "file:///a" });
    expect(await take(second[Symbol.asyncIterator](), 1)).toEqual(["notifications/resources/updated"]);
    first.close();
    await vi.waitFor(() => expect(given).toEqual(["+ file:///a", "+ file:///b", "- file:///b"]));
    second.close();
    await vi.waitFor(() => expect(given).toContain("- file:///a"));
  });

  it("L-23 does not acknowledge a resource that the server refuses", async () => {
    const { server } = await listening({ capabilities: { resources: { subscribe: true } } });
    const { client } = await reach(server.url, LEGACY_ONLY);
    const subscription = client.listen({ resourceSubscriptions: ["file:///a"] });
    expect(await subscription.acknowledged).toEqual({ resourceSubscriptions: [] });
    subscription.close();
  });

  it("F-10 ends a subscription whose notifications nobody takes", async () => {
    const { server, feed } = await listening({ capabilities: { tools: CHANGES } });
    const { client } = await reach(server.url, LEGACY_ONLY);
    const subscription = client.listen({ toolsListChanged: true }, { maxBufferedNotifications: 2 });
    await subscription.acknowledged;
    for (let count = 0; count < 3; count += 1) say(feed, "notifications/tools/list_changed");
    const end = await subscription.closed;
    expect(end.kind === "broken" && end.error.code).toBe("limit_exceeded");
  });

  it("F-2 ends a subscription by its signal, with the reason", async () => {
    const { server } = await listening({ capabilities: { tools: CHANGES } });
    const { client } = await reach(server.url, LEGACY_ONLY);
    const abort = new AbortController();
    const subscription = client.listen({ toolsListChanged: true }, { signal: abort.signal });
    await subscription.acknowledged;
    abort.abort("enough");
    expect(await subscription.closed).toEqual({ kind: "cancelled", reason: "enough" });
  });

  it("ends its subscriptions when it is closed", async () => {
    const { server } = await listening({ capabilities: { tools: CHANGES } });
    const { client } = await reach(server.url, LEGACY_ONLY);
    const subscription = client.listen({ toolsListChanged: true });
    await subscription.acknowledged;
    await client.close();
    expect(await subscription.closed).toMatchObject({ kind: "cancelled" });
  });

  it("L-23 says the log level of a call when it changes", async () => {
    const levels: unknown[] = [];
    const { server } = await listening({
      tools: [{ name: "echo" }],
      capabilities: { tools: {}, logging: {} },
      methods: { "logging/setLevel": ({ level }) => (levels.push(level), {}) },
    });
    const { client } = await reach(server.url, LEGACY_ONLY);
    for (const logLevel of ["info", "info", undefined, "error"]) await client.callTool({ name: "echo" }, { logLevel });
    expect(levels).toEqual(["info", "error"]);
  });

  it("L-23 says no log level to a server that declares no logging", async () => {
    const { server } = await listening({ tools: [{ name: "echo" }] });
    const { client } = await reach(server.url, LEGACY_ONLY);
    await client.callTool({ name: "echo" }, { logLevel: "info" });
    expect(server.posted.at(-1)).toBe("tools/call");
    expect(server.posted).not.toContain("logging/setLevel");
  });

  it("F-7 counts the saying of a log level against the call's deadline", async () => {
    const { server } = await listening({
      tools: [{ name: "hang", run: () => new Promise(() => undefined) }],
      capabilities: { tools: {}, logging: {} },
      methods: { "logging/setLevel": () => new Promise((resolve) => setTimeout(() => resolve({}), 500)) },
    });
    const { client } = await reach(server.url, LEGACY_ONLY);
    const startedAt = performance.now();
    const error = await failureOf(client.callTool({ name: "hang" }, { logLevel: "info", totalTimeoutMs: 800 }));
    expect([error.code, error.delivery]).toEqual(["timeout", "unknown"]);
    expect(performance.now() - startedAt).toBeLessThan(1_200);
  });

  it("F-1 has not sent the call whose log level was refused", async () => {
    const { server } = await listening({ capabilities: { tools: {}, logging: {} }, tools: [{ name: "echo" }] });
    const { client } = await reach(server.url, LEGACY_ONLY);
    const calling = client.callTool({ name: "echo" }, { logLevel: "info" });
    const error = await failureOf(calling);
    expect([error.code, deliveryOf(calling)]).toEqual(["peer_error", "not_sent"]);
  });

  it("L-23 lists a tool that must be called as a task with a diagnostic, and refuses to call it", async () => {
    const { server } = await listening({
      tools: [{ name: "long", execution: { taskSupport: "required" } }, { name: "echo" }],
    });
    const { client, diagnostics } = await reach(server.url, LEGACY_ONLY);
    const { tools } = await client.listAllTools();
    expect(tools.map(({ name }) => name)).toEqual(["long", "echo"]);
    expect(diagnostics.filter(({ kind }) => kind === "tool_not_callable").map(({ subject }) => subject)).toEqual([
      "long",
    ]);
    const error = await failureOf(client.callTool({ name: "long" }));
    expect(isRemoteConnectorError(error, "unsupported") && error.delivery).toBe("not_sent");
    await client.callTool({ name: "echo" });
    expect(server.posted.filter((method) => method === "tools/call")).toHaveLength(1);
  });

  it("hands every notification to onNotification, and survives what it throws", async () => {
    const { server, feed } = await listening();
    const heard: string[] = [];
    const onNotification = ({ method }: Notification): void => {
      heard.push(method);
      throw new Error("no");
    };
    const { diagnostics } = await reach(server.url, { ...LEGACY_ONLY, onNotification });
    say(feed, "notifications/message", { level: "info", data: "x" });
    say(feed, "notifications/tools/list_changed");
    await vi.waitFor(() => expect(heard).toEqual(["notifications/message", "notifications/tools/list_changed"]));
    expect(diagnostics.every(({ kind }) => kind === "handler_failed")).toBe(true);
  });

  it("has no stream where the server offers none, and works", async () => {
    const server = await ChangingServer.start((request) =>
      request.verb === "GET" ? answerStatus(405) : likeLegacyServer({ tools: [{ name: "echo" }] })(request),
    );
    const { client } = await reach(server.url, { revisions: ["2024-11-05"] });
    await client.callTool({ name: "echo" });
  });

  const VISIT = { mode: "url", elicitationId: "1", url: "https://pay.example/1", message: "Pay first." };

  async function paid(action: "accept" | "decline", elicitations: readonly object[] = [VISIT]): Promise<unknown[]> {
    let calls = 0;
    const run = () => {
      calls += 1;
      return calls > 1 ? { content: [] } : answerError(-32042, "Pay first.", { status: 200, data: { elicitations } });
    };
    const { server } = await listening({ tools: [{ name: "buy", run }] });
    const visited: unknown[] = [];
    const url = (request: UrlRequest): UrlAnswer => {
      visited.push(request.url);
      return { action };
    };
    const { client } = await reach(server.url, { ...LEGACY_ONLY, handlers: { elicitation: { url } } });
    const outcome = await client.callTool({ name: "buy" }).then(
      () => "bought",
      (error: unknown) => (isRemoteConnectorError(error, "peer_error") ? error.details.rpcCode : error),
    );
    return [outcome, visited, calls];
  }

  it("L-23 visits what a -32042 names, and makes the call once more", async () => {
    expect(await paid("accept")).toEqual(["bought", ["https://pay.example/1"], 2]);
  });

  it("L-23 hands a -32042 on when the person declines, or nothing is named that can be visited", async () => {
    expect(await paid("decline")).toEqual([-32042, ["https://pay.example/1"], 1]);
    expect(await paid("accept", [])).toEqual([-32042, [], 1]);
    expect(await paid("accept", [{ ...VISIT, url: "http://pay.example" }])).toEqual([-32042, [], 1]);
  });

  it("L-6 lets the handlers answer what a legacy server asks in the middle of a call", async () => {
    const feed = new EventFeed();
    const asks = {
      message: "Your name?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } } },
    };
    const answer = likeLegacyServer({
      tools: [{ name: "greet", run: () => answerFeed(feed) }],
      revision: "2025-11-25",
    });
    const server = await ChangingServer.start((request) => {
      if (request.id !== "asked" || request.method !== undefined) return answer(request);
      feed.send(
        messageEvent(
          anyMessage({ jsonrpc: "2.0", id: greetId(server), result: { content: [], given: request.message } }),
        ),
      );
      feed.end();
      return answerStatus(202);
    });
    const form = () => ({ action: "accept", content: { name: "Ada" } }) as const;
    const { client } = await reach(server.url, { ...LEGACY_ONLY, handlers: { elicitation: { form } } });
    feed.send(messageEvent(requestMessage("asked", "elicitation/create", asks)));
    const { given } = await client.callTool({ name: "greet" });
    expect(given).toEqual({ jsonrpc: "2.0", id: "asked", result: { action: "accept", content: { name: "Ada" } } });
    const { params } = server.requests.find(({ method }) => method === "initialize") ?? {};
    expect(params).toMatchObject({ capabilities: { elicitation: { form: {} } } });
  });
});

function greetId(server: ChangingServer): unknown {
  return server.requests.find(({ method }) => method === "tools/call")?.id;
}
