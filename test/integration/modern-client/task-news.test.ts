import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ModernStreamableHTTPClient } from "../../../src/modern-client/index.js";
import {
  answerFeed,
  EventFeed,
  likeModernServer,
  messageEvent,
  notificationMessage,
  ScriptedServer,
} from "../../../src/testing/index.js";
import { FakeClock } from "../../support/fake-clock.js";

const TASK = {
  taskId: "task/1",
  createdAt: "2026-07-28T00:00:00Z",
  lastUpdatedAt: "2026-07-28T00:00:00Z",
  ttlMs: null,
  pollIntervalMs: 1_000,
};
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

/** A server whose one tool makes a task, and a client that follows it and subscribes to what the server tells of it. */
async function following() {
  const feed = new EventFeed();
  const clock = new FakeClock();
  let isDone = false;
  let id: unknown;
  const say = (method: string, params: object): void =>
    feed.send(messageEvent(notificationMessage(method, { ...params, _meta: { [SUBSCRIPTION]: id } })));
  const answer = likeModernServer({
    capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
    methods: {
      "tools/list": () => ({ tools: [{ name: "t", inputSchema: { type: "object" } }] }),
      "tools/call": () => ({ resultType: "task", ...TASK, status: "working" }),
      "tasks/get": () =>
        isDone ? { ...TASK, status: "completed", result: { content: [] } } : { ...TASK, status: "working" },
      "subscriptions/listen": (_params, request) => {
        id = request.id;
        say("notifications/subscriptions/acknowledged", { notifications: { taskIds: ["task/1"] } });
        return answerFeed(feed);
      },
    },
  });
  const server = await ScriptedServer.start(answer);
  onTestFinished(() => server.close());
  const client = new ModernStreamableHTTPClient({
    endpoint: server.url,
    clientInfo: { name: "test", version: "1" },
    tasks: true,
    random: () => 0,
    clock,
  });
  onTestFinished(() => client.close());
  const looks = (): number => server.requests.filter(({ method }) => method === "tasks/get").length;
  return { client, clock, feed, looks, say, finish: () => (isDone = true) };
}

/** Lets what was said over real sockets arrive. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 30));

describe("W-44 a task that a subscription tells of", () => {
  it("is looked at less often, and at once when there is news", async () => {
    const { client, clock, looks, say, finish } = await following();
    const subscription = client.listen({ taskIds: ["task/1"] });
    expect(await subscription.acknowledged).toEqual({ taskIds: ["task/1"] });
    const calling = client.callTool({ name: "t" });
    await settle();
    // The first pause is that of a task that was never looked at.
    await clock.advance(1_000);
    await vi.waitFor(() => expect(looks()).toBe(1));
    await settle();
    await clock.advance(9_999);
    await settle();
    expect(looks()).toBe(1);
    finish();
    say("notifications/tasks", { ...TASK, status: "completed" });
    await expect(calling).resolves.toEqual({ content: [] });
    expect(looks()).toBe(2);
    subscription.close();
  });

  it("is looked at all the same: news can get lost", async () => {
    const { client, clock, looks, finish } = await following();
    await client.listen({ taskIds: ["task/1"] }).acknowledged;
    const calling = client.callTool({ name: "t" });
    await settle();
    await clock.advance(1_000);
    await vi.waitFor(() => expect(looks()).toBe(1));
    await settle();
    finish();
    await clock.advance(10_000);
    await expect(calling).resolves.toEqual({ content: [] });
  });

  it("is looked at as before when the subscription is over", async () => {
    const { client, clock, looks, finish } = await following();
    const subscription = client.listen({ taskIds: ["task/1"] });
    await subscription.acknowledged;
    const calling = client.callTool({ name: "t" });
    await settle();
    await clock.advance(1_000);
    await vi.waitFor(() => expect(looks()).toBe(1));
    await settle();
    subscription.close();
    await clock.advance(50);
    await vi.waitFor(() => expect(looks()).toBe(2));
    await settle();
    finish();
    await clock.advance(1_000);
    await expect(calling).resolves.toEqual({ content: [] });
  });

  it("does not make us spin, however often the server tells of it", async () => {
    const { client, clock, looks, say } = await following();
    await client.listen({ taskIds: ["task/1"] }).acknowledged;
    const abort = new AbortController();
    const calling = client.callTool({ name: "t" }, { signal: abort.signal, taskOnAbort: "leave" });
    await settle();
    for (let storm = 0; storm < 20; storm += 1) {
      say("notifications/tasks", { ...TASK, status: "working" });
      await settle();
    }
    // No time has passed on the client's clock.
    expect(looks()).toBe(0);
    await clock.advance(50);
    await vi.waitFor(() => expect(looks()).toBe(1));
    abort.abort("enough");
    await expect(calling).rejects.toBe("enough");
  });
});
