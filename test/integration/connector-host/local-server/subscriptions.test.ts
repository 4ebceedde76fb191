import { describe, expect, it } from "vitest";
import type { BoundAgent } from "../../../../src/connector-host/local-server/index.js";
import { MetaKey } from "../../../../src/protocol/index.js";
import { modernBody, modernHeaders, post } from "./raw-agent.js";
import { start } from "./start.js";

const FILTER = '{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:b"]}}';

/** An open subscription whose messages are read one by one. */
async function subscribe(agent: BoundAgent, id: number | string, params = FILTER, signal?: AbortSignal) {
  const response = await fetch(agent.url, {
    method: "POST",
    body: modernBody("subscriptions/listen", params, { id }),
    headers: { ...agent.headers, ...modernHeaders("subscriptions/listen") },
    ...(signal === undefined ? {} : { signal }),
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    response,
    async next(): Promise<unknown> {
      for (;;) {
        const end = text.indexOf("\n\n");
        if (end !== -1) {
          const event = text.slice(0, end);
          text = text.slice(end + 2);
          return JSON.parse(event.slice("data: ".length));
        }
        const { value, done } = await reader.read();
        if (done) return "end";
        text += value;
      }
    },
  };
}

const changed = (id: number | string) => ({
  jsonrpc: "2.0",
  method: "notifications/tools/list_changed",
  params: { _meta: { [MetaKey.subscriptionId]: id } },
});

const acknowledged = (id: number | string, notifications: object) => ({
  jsonrpc: "2.0",
  method: "notifications/subscriptions/acknowledged",
  params: { _meta: { [MetaKey.subscriptionId]: id }, notifications },
});

const completed = (id: number | string) => ({
  jsonrpc: "2.0",
  id,
  result: { resultType: "complete", _meta: { [MetaKey.subscriptionId]: id } },
});

describe("H-21: subscriptions/listen", () => {
  it("acknowledges what can be honoured, first of all, and tells of changes", async () => {
    const { server, agent } = await start();
    const [zero, text] = [await subscribe(agent, 0), await subscribe(agent, "x")];
    expect(zero.response.headers.get("content-type")).toBe("text/event-stream");
    expect(await zero.next()).toEqual(acknowledged(0, { toolsListChanged: true }));
    expect(await text.next()).toEqual(acknowledged("x", { toolsListChanged: true }));
    server.notifyToolsChanged();
    server.notifyToolsChanged();
    expect([await zero.next(), await zero.next()]).toEqual([changed(0), changed(0)]);
    expect([await text.next(), await text.next()]).toEqual([changed("x"), changed("x")]);
  });

  it("tells only those whom a change concerns, and nobody of what was not asked for", async () => {
    const { server, agent } = await start();
    const other = server.bind({ workspaceId: "w", agentSessionId: "other" });
    const mine = await subscribe(agent, 1);
    const theirs = await subscribe(other, 2);
    const deaf = await subscribe(agent, 3, '{"notifications":{"toolsListChanged":"yes"}}');
    await mine.next();
    await theirs.next();
    expect(await deaf.next()).toEqual(acknowledged(3, {}));
    server.notifyToolsChanged((binding) => binding.agentSessionId === "other");
    expect(await theirs.next()).toEqual(changed(2));
    await server.close();
    expect([await mine.next(), await mine.next()]).toEqual([completed(1), "end"]);
    expect([await deaf.next(), await deaf.next()]).toEqual([completed(3), "end"]);
  });

  it("ends in good order when the bearer ends", async () => {
    const { server, agent } = await start();
    const stream = await subscribe(agent, 1);
    await stream.next();
    agent.revoke();
    server.notifyToolsChanged();
    expect([await stream.next(), await stream.next()]).toEqual([completed(1), "end"]);
  });

  it("ends in good order when the server closes, and does not hold it up", async () => {
    const { server, agent } = await start();
    const stream = await subscribe(agent, 1);
    await stream.next();
    const before = performance.now();
    await server.close();
    expect(performance.now() - before).toBeLessThan(1_000);
    expect([await stream.next(), await stream.next()]).toEqual([completed(1), "end"]);
  });

  it("H-16: is bounded per bearer, and a stream that was left makes room", async () => {
    const { server, agent } = await start(undefined, { maxSubscriptions: 2 });
    const leaving = new AbortController();
    const first = await subscribe(agent, 1, FILTER, leaving.signal);
    await first.next();
    await (await subscribe(agent, 2)).next();
    const params = modernBody("subscriptions/listen", FILTER, { id: 3 });
    const more = await post(agent, params, modernHeaders("subscriptions/listen"));
    expect(JSON.parse(more.text)).toMatchObject({
      id: 3,
      error: { data: { "sh.tutti/delivery": { code: "limit_exceeded", option: "maxSubscriptions", limit: 2 } } },
    });
    const other = server.bind({ workspaceId: "w", agentSessionId: "other" });
    expect(await (await subscribe(other, 1)).next()).toEqual(acknowledged(1, { toolsListChanged: true }));
    leaving.abort();
    await expect
      .poll(async () => (await subscribe(agent, 4)).response.headers.get("content-type"))
      .toBe("text/event-stream");
  });

  it("needs a filter", async () => {
    const { agent } = await start();
    const answer = await post(agent, modernBody("subscriptions/listen"), modernHeaders("subscriptions/listen"));
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([400, { error: { code: -32602 } }]);
  });
});
