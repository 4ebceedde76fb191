import { describe, expect, it, onTestFinished } from "vitest";
import { RemoteConnectorError } from "../../../src/errors.js";
import {
  answerError,
  answerFeed,
  answerResult,
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

describe("A-8: what is one operation of a modern client", () => {
  /** Answers these in turn, and counts the operations that its authorizer was told of. */
  async function record(...answers: ReturnType<Handler>[]) {
    const server = await ScriptedServer.start((request) => answers.shift() ?? modern(request));
    onTestFinished(() => server.close());
    const asked: AuthorizeRequest[] = [];
    const authorize = (request: AuthorizeRequest): undefined => void asked.push(request);
    const handlers = { roots: () => [{ uri: "file:///home" }] };
    const client = connect(server.url, { authorize, random: () => 0, handlers });
    const told = (): [number, number] => [asked.length, new Set(asked.map(({ operation }) => operation)).size];
    return { client, told };
  }

  const contract = { parameters: [] };

  it("all repetitions of a read, all pages of a walk; and each call is another one", async () => {
    const { client, told } = await record(answerStatus(503), answerStatus(503));
    await client.listTools();
    expect(told()).toEqual([3, 1]);
    await client.listTools();
    expect(told()).toEqual([4, 2]);
    const walk = await record(
      answerResult({ tools: [{ name: "a", inputSchema: { type: "object" } }], nextCursor: "2" }),
      answerStatus(503),
    );
    await walk.client.listAllTools();
    expect(walk.told()).toEqual([3, 1]);
  });

  it("a call that is made again for another version of the same server, or with the input that was asked for", async () => {
    const version = { supported: ["2026-07-28"], requested: "2026-07-28" };
    const asks = { resultType: "input_required", inputRequests: { where: { method: "roots/list" } } };
    const { client, told } = await record(
      answerError(-32022, "no", { status: 400, data: version }),
      answerResult(asks),
    );
    await client.callTool({ name: "t" }, { contract });
    expect(told()).toEqual([3, 1]);
    await client.callTool({ name: "t" }, { contract });
    expect(told()).toEqual([4, 2]);
  });

  it("A-8: with repeats: never a refused request is made again when its authorizer says so, and admitted again", async () => {
    const { server } = await serve();
    const admitted: string[] = [];
    const admit = (): undefined => void admitted.push("asked");
    const client = connect(server.url, { authorize: refreshing() });
    await client.callTool({ name: "t" }, { contract, admit, repeats: "never" });
    expect([server.requests.length, admitted.length]).toEqual([2, 2]);
  });
});
