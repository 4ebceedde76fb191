import { describe, expect, it, onTestFinished } from "vitest";
import { RemoteConnectorError } from "../../../src/errors.js";
import {
  answerFeed,
  answerStatus,
  EventFeed,
  type Handler,
  likeModernServer,
  messageEvent,
  notificationMessage,
  ScriptedServer,
} from "../../../src/testing/index.js";
import type { Authorizer, AuthorizeRequest } from "../../../src/transport/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import { connect } from "./support.js";

const FILTER = { toolsListChanged: true };
const modern = likeModernServer({ tools: [{ name: "t" }] });

const acknowledged = (id: unknown): EventFeed => {
  const feed = new EventFeed();
  const _meta = { "io.modelcontextprotocol/subscriptionId": id };
  const params = { _meta, notifications: FILTER };
  feed.send(messageEvent(notificationMessage("notifications/subscriptions/acknowledged", params)));
  return feed;
};

/** A server that lets in who has a fresh token. */
async function serve(): Promise<{ readonly server: ScriptedServer; readonly feeds: EventFeed[] }> {
  const feeds: EventFeed[] = [];
  const handler: Handler = (request) => {
    if (request.header("authorization") !== "Bearer fresh") return answerStatus(401);
    if (request.method !== "subscriptions/listen") return modern(request);
    const feed = acknowledged(request.id);
    feeds.push(feed);
    return answerFeed(feed);
  };
  const server = await ScriptedServer.start(handler);
  onTestFinished(() => server.close());
  return { server, feeds };
}

/** Has a fresh token for what was refused before, and for nothing else, unless it may not get one. */
function refreshing(refuse?: Error): Authorizer {
  const refused = new WeakSet<object>();
  return {
    authorize: ({ operation }: AuthorizeRequest) => ({
      Authorization: refused.has(operation) ? "Bearer fresh" : "Bearer stale",
    }),
    onRefused: ({ request }) => {
      if (refuse !== undefined) throw refuse;
      refused.add(request.operation);
      return Promise.resolve(true);
    },
  };
}

const details = { endpoint: "", reason: "token_refused", scopes: [] } as const;
const signIn = new RemoteConnectorError("sign_in_required", { message: "Sign in.", details });

describe("A-8: requests of a modern client that are refused and made again", () => {
  it("a call, a list and a notification", async () => {
    const { server } = await serve();
    const client = connect(server.url, { authorize: refreshing() });
    await client.listAllTools();
    await expect(client.callTool({ name: "t" })).resolves.toMatchObject({ content: [{ text: "{}" }] });
    await client.notify("notifications/example/told", {});
    expect(server.requests.map(({ method }) => method)).toEqual(
      ["tools/list", "tools/call", "notifications/example/told"].flatMap((method) => [method, method]),
    );
  });

  it("a subscription never hears of it, and hears on after each reopening", async () => {
    const { server, feeds } = await serve();
    const clock = new FakeClock();
    const client = connect(server.url, { authorize: refreshing(), clock });
    const kept = client.keepListening(FILTER);
    onTestFinished(() => kept.close());
    await expect.poll(() => feeds[0]?.listeners).toBe(1);
    feeds[0]?.end();
    await expect.poll(() => clock.pending, { interval: 5 }).toBeGreaterThan(0);
    await expect
      .poll(async () => {
        await clock.advance(1_000);
        return feeds[1]?.listeners;
      })
      .toBe(1);
    expect(server.requests.map((one) => one.header("authorization"))).toEqual([
      "Bearer stale",
      "Bearer fresh",
      "Bearer stale",
      "Bearer fresh",
    ]);
  });

  it("a subscription that nobody may authorize is refused for that, and not opened again", async () => {
    const { server } = await serve();
    const client = connect(server.url, { authorize: refreshing(signIn) });
    const once = client.listen(FILTER);
    const expected = {
      kind: "refused",
      why: "authorization",
      error: { code: "sign_in_required", delivery: "answered" },
    };
    await expect(once.acknowledged).rejects.toMatchObject({ code: "sign_in_required" });
    await expect(once.closed).resolves.toMatchObject(expected);
    await expect(client.keepListening(FILTER).closed).resolves.toMatchObject(expected);
    expect(server.requests).toHaveLength(2);
  });
});
