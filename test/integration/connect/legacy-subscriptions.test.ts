import { describe, expect, it, vi } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import type { Subscription } from "../../../src/modern-client/index.js";
import type { UrlAnswer } from "../../../src/protocol/input/index.js";
import type { McpClient } from "../../../src/connect/index.js";
import {
  answerError,
  answerFeed,
  answerNothing,
  answerResult,
  answerStatus,
  dataEvent,
  EventFeed,
  Gate,
  type Handler,
  likeLegacyServer,
  messageEvent,
  notificationMessage,
  streamText,
  withFaults,
  holdUntil,
} from "../../../src/testing/index.js";
import { ChangingServer, failureOf, reach } from "./parties.js";

const LEGACY_ONLY = { revisions: ["2025-11-25"] } as const;
const RESOURCES = { resources: { subscribe: true, listChanged: true } };
const A = "file:///a";
const B = "file:///b";

interface Scene {
  readonly client: McpClient;
  readonly server: ChangingServer;
  readonly feed: EventFeed;
  /** The resources that were subscribed to (`+`) and unsubscribed from (`-`). */
  readonly asked: readonly string[];
}

/** A client of a legacy server that takes subscriptions as `subscribe` says, and on whose listening stream the test speaks. */
async function scene(subscribe: Handler = () => answerResult({})): Promise<Scene> {
  const feed = new EventFeed();
  const asked: string[] = [];
  const answer = likeLegacyServer({ revision: "2025-11-25", capabilities: RESOURCES });
  const server = await ChangingServer.start((request) => {
    if (request.verb === "GET") return answerFeed(feed);
    const uri = String(Reflect.get(Object(request.params), "uri"));
    if (request.method === "resources/subscribe") {
      asked.push(`+ ${uri}`);
      return subscribe(request);
    }
    if (request.method !== "resources/unsubscribe") return answer(request);
    asked.push(`- ${uri}`);
    return answerResult({});
  });
  const { client } = await reach(server.url, LEGACY_ONLY);
  return { client, server, feed, asked };
}

function tell(feed: EventFeed, uri: string): void {
  feed.send(messageEvent(notificationMessage("notifications/resources/updated", { uri })));
}

describe("L-23 subscriptions to a legacy server", () => {
  it("refuse options that they don't know, and wrong ones", async () => {
    const { client } = await scene();
    const misspelt: object = { maxBufferedNotification: 1 };
    expect(() => client.listen({}, misspelt)).toThrow(expect.objectContaining({ code: "invalid_options" }));
    for (const option of ["acknowledgeTimeoutMs", "connectTimeoutMs", "idleTimeoutMs", "maxBufferedBytes"]) {
      expect(() => client.listen({}, { [option]: -1 })).toThrow(expect.objectContaining({ code: "invalid_options" }));
    }
  });

  it("hear of their own resources and of what lies below them, not of those of others", async () => {
    const { client, feed } = await scene();
    const ofA = client.listen({ resourceSubscriptions: [A] });
    const ofB = client.listen({ resourceSubscriptions: [B] });
    await Promise.all([ofA.acknowledged, ofB.acknowledged]);
    for (const uri of [A, `${B}/part`, B]) tell(feed, uri);
    const heard = async (subscription: Subscription): Promise<readonly unknown[]> => {
      const iterator = subscription[Symbol.asyncIterator]();
      const both = [await iterator.next(), await iterator.next()];
      return both.map(({ value }) => Reflect.get(Object(value?.params), "uri"));
    };
    expect(await heard(ofA)).toEqual([A, `${B}/part`]);
    expect(await heard(ofB)).toEqual([`${B}/part`, B]);
  });

  it("share the asking: one that leaves takes nothing from the others", async () => {
    const gate = new Gate();
    const { client, asked } = await scene(() => withFaults(answerResult({}), holdUntil(gate.opened)));
    const first = client.listen({ resourceSubscriptions: [A] });
    const second = client.listen({ resourceSubscriptions: [A] });
    await vi.waitFor(() => expect(asked).toEqual([`+ ${A}`]));
    first.close();
    gate.open();
    expect(await second.acknowledged).toEqual({ resourceSubscriptions: [A] });
    second.close();
    await vi.waitFor(() => expect(asked).toEqual([`+ ${A}`, `- ${A}`]));
  });

  it("are not acknowledged what was refused to another a moment ago", async () => {
    const gate = new Gate();
    const { client } = await scene(() => withFaults(answerError(-32602, "no"), holdUntil(gate.opened)));
    const both = [client.listen({ resourceSubscriptions: [A] }), client.listen({ resourceSubscriptions: [A] })];
    gate.open();
    for (const { acknowledged } of both) expect(await acknowledged).toEqual({ resourceSubscriptions: [] });
  });

  it("F-7 wait for no resource longer than acknowledgeTimeoutMs", async () => {
    const { client, server } = await scene(() => answerNothing());
    const subscription = client.listen({ resourceSubscriptions: [A] }, { acknowledgeTimeoutMs: 50 });
    expect(await subscription.acknowledged).toEqual({ resourceSubscriptions: [] });
    await vi.waitFor(() => expect(server.posted).toContain("notifications/cancelled"));
  });

  it("give up the asking when nobody is left to hear of it", async () => {
    const { client, server, asked } = await scene(() => answerNothing());
    const subscription = client.listen({ resourceSubscriptions: [A] });
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    subscription.close();
    await vi.waitFor(() => expect(server.posted).toContain("notifications/cancelled"));
  });

  it("F-10 unsubscribe when their buffer is full", async () => {
    const { client, feed, asked } = await scene();
    const subscription = client.listen({ resourceSubscriptions: [A] }, { maxBufferedNotifications: 1 });
    await subscription.acknowledged;
    tell(feed, A);
    tell(feed, A);
    expect(await subscription.closed).toMatchObject({ kind: "broken", error: { code: "limit_exceeded" } });
    await vi.waitFor(() => expect(asked).toContain(`- ${A}`));
  });

  it("F-10 bound the bytes that wait", async () => {
    const { client, feed } = await scene();
    const subscription = client.listen({ resourceSubscriptions: [A] }, { maxBufferedBytes: 40 });
    await subscription.acknowledged;
    tell(feed, A);
    const details = { option: "maxBufferedBytes" };
    expect(await subscription.closed).toMatchObject({ kind: "broken", error: { code: "limit_exceeded", details } });
  });

  it("L-11 hear what comes right behind the answer, and of the stream's end", async () => {
    const feed = new EventFeed();
    feed.send(dataEvent("/messages", { event: "endpoint" }));
    const say = (message: object): void => feed.send(dataEvent(JSON.stringify(message)));
    const server = await ChangingServer.start(({ verb, method, id, path }) => {
      if (verb === "GET") return answerFeed(feed);
      if (method === "initialize" && path === "/mcp") return answerStatus(405);
      const serverInfo = { name: "s", version: "1" };
      if (method === "initialize") {
        say({ jsonrpc: "2.0", id, result: { protocolVersion: "2024-11-05", capabilities: RESOURCES, serverInfo } });
      } else if (method === "resources/subscribe") {
        const events = [
          { jsonrpc: "2.0", id, result: {} },
          { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: A } },
        ];
        feed.send(streamText(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")));
      }
      return answerStatus(202);
    });
    const { client } = await reach(server.url, { revisions: ["2024-11-05"], legacy: { listen: "never" } });
    const subscription = client.listen({ resourceSubscriptions: [A] });
    const { value } = await subscription[Symbol.asyncIterator]().next();
    expect(value?.params).toEqual({ uri: A });
    feed.end();
    expect(await subscription.closed).toMatchObject({ kind: "broken", error: { code: "stream_ended" } });
  });
});

describe("L-23 visits before a call to a legacy server", () => {
  it("F-2 ends the call when the client is closed while the person thinks", async () => {
    const data = { elicitations: [{ mode: "url", elicitationId: "1", url: "https://pay.example/1", message: "Pay." }] };
    const server = await ChangingServer.start(
      likeLegacyServer({
        revision: "2025-11-25",
        tools: [{ name: "buy", run: () => answerError(-32042, "Pay first.", { status: 200, data }) }],
      }),
    );
    const asked = vi.fn(() => new Promise<UrlAnswer>(() => undefined));
    const { client } = await reach(server.url, { ...LEGACY_ONLY, handlers: { elicitation: { url: asked } } });
    const buying = client.callTool({ name: "buy" });
    buying.catch(() => undefined);
    await vi.waitFor(() => expect(asked).toHaveBeenCalled());
    await client.close();
    expect(await failureOf(buying)).toMatchObject({ code: "cancelled", delivery: "answered" });
    expect(deliveryOf(buying)).toBe("answered");
  });
});
