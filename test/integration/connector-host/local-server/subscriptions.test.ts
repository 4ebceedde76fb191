import { describe, expect, it } from "vitest";
import type { BoundAgent, LocalServerOptions } from "../../../../src/connector-host/local-server/index.js";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { MetaKey } from "../../../../src/protocol/index.js";
import { type FixedDirectory, says } from "./fixed-directory.js";
import { FixedPrompts, FixedResources } from "./fixed-offers.js";
import { modernBody, modernHeaders, post } from "./raw-agent.js";
import { gate, start } from "./start.js";

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

const updated = (id: number | string, uri: string) => ({
  jsonrpc: "2.0",
  method: "notifications/resources/updated",
  params: { _meta: { [MetaKey.subscriptionId]: id }, uri },
});

describe("H-21: subscriptions/listen", () => {
  it("acknowledges what can be honoured, first of all, and tells of changes", async () => {
    const { server, agent } = await start();
    const [zero, text] = [await subscribe(agent, 0), await subscribe(agent, "x")];
    expect(zero.response.headers.get("content-type")).toBe("text/event-stream");
    expect(await zero.next()).toEqual(acknowledged(0, { toolsListChanged: true }));
    expect(await text.next()).toEqual(acknowledged("x", { toolsListChanged: true }));
    server.notifyListChanged("tools");
    server.notifyListChanged("tools");
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
    server.notifyListChanged("tools", (binding) => binding.agentSessionId === "other");
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
    server.notifyListChanged("tools");
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
    const { agent } = await start((directory) => (directory.resources = new FixedResources()));
    for (const params of ["{}", '{"notifications":{"resourceSubscriptions":"a:b"}}']) {
      const body = modernBody("subscriptions/listen", params);
      const answer = await post(agent, body, modernHeaders("subscriptions/listen"));
      expect([answer.status, JSON.parse(answer.text)]).toMatchObject([400, { error: { code: -32602 } }]);
    }
  });

  it("tells of each list that the directory has, and was asked for", async () => {
    const { server, agent } = await start((directory) => {
      directory.prompts = new FixedPrompts();
      directory.resources = new FixedResources();
    });
    const all = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    const everything = await subscribe(agent, 1, JSON.stringify({ notifications: all }));
    expect(await everything.next()).toEqual(acknowledged(1, all));
    const prompts = await subscribe(agent, 2, '{"notifications":{"promptsListChanged":true}}');
    expect(await prompts.next()).toEqual(acknowledged(2, { promptsListChanged: true }));
    for (const kind of ["tools", "prompts", "resources"] as const) server.notifyListChanged(kind);
    const methods = [];
    for (let count = 0; count < 3; count += 1) methods.push(Object(await everything.next()).method);
    expect(methods).toEqual(["tools", "prompts", "resources"].map((kind) => `notifications/${kind}/list_changed`));
    server.notifyListChanged("prompts");
    for (let count = 0; count < 2; count += 1) {
      expect(Object(await prompts.next()).method).toBe("notifications/prompts/list_changed");
    }
  });
});

describe("H-21, H-28: subscriptions/listen for resources", () => {
  const URIS = '{"notifications":{"resourceSubscriptions":["a:1","gone:","a:2","a:1","mute:"]}}';

  async function watching(more: Partial<LocalServerOptions> = {}) {
    const resources = new FixedResources();
    for (const uri of ["a:1", "a:2", "mute:"]) resources.add(uri, says("{}"));
    resources.onWatch.set("mute:", async () => {
      throw new RemoteConnectorError("unsupported", { message: "m", details: { feature: "resources/subscribe" } });
    });
    const prepare = (directory: FixedDirectory): unknown => (directory.resources = resources);
    return { ...(await start(prepare, more)), resources };
  }

  it("acknowledges those whose owners take part, each once and in order, and tells of their updates", async () => {
    const { agent, resources, faults } = await watching();
    const stream = await subscribe(agent, "s", URIS);
    expect(await stream.next()).toEqual(acknowledged("s", { resourceSubscriptions: ["a:1", "a:2"] }));
    resources.update("a:2");
    resources.update("mute:");
    resources.update("a:1");
    expect([await stream.next(), await stream.next()]).toEqual([updated("s", "a:2"), updated("s", "a:1")]);
    expect(resources.watches.map(({ uri }) => uri)).toEqual(["a:1", "a:2", "mute:"]);
    expect(faults).toEqual([]);
  });

  it("passes on the agent's choice of an owner", async () => {
    const { agent, resources } = await watching();
    const body = modernBody("subscriptions/listen", URIS, { meta: { "sh.tutti/connector": "b" } });
    const leaving = new AbortController();
    const headers = { ...agent.headers, ...modernHeaders("subscriptions/listen") };
    await fetch(agent.url, { method: "POST", body, headers, signal: leaving.signal });
    expect(resources.watches.map(({ watch }) => watch.connectorKey)).toEqual(["b", "b", "b"]);
    leaving.abort();
  });

  it("sends nothing before the acknowledgement: what changed till then is told right after it", async () => {
    const { agent, resources } = await watching();
    const { opened, open } = gate();
    resources.onWatch.set("a:1", async ({ onUpdated }) => {
      onUpdated();
      onUpdated();
      await opened;
    });
    resources.onWatch.set("a:2", async ({ onUpdated }) => {
      onUpdated();
      throw new Error("defect");
    });
    const subscribing = subscribe(agent, 1, URIS);
    await expect.poll(() => resources.watches.length).toBe(3);
    open();
    const stream = await subscribing;
    expect(await stream.next()).toEqual(acknowledged(1, { resourceSubscriptions: ["a:1"] }));
    resources.update("a:1");
    expect([await stream.next(), await stream.next()]).toEqual([updated(1, "a:1"), updated(1, "a:1")]);
  });

  it("reports an owner that fails in a way that it should not, and goes on without it", async () => {
    const { agent, resources, faults } = await watching();
    const defect = new Error("defect");
    resources.onWatch.set("a:1", () => Promise.reject(defect));
    expect(await (await subscribe(agent, 1, URIS)).next()).toEqual(acknowledged(1, { resourceSubscriptions: ["a:2"] }));
    expect(faults).toEqual([defect]);
  });

  it("ends every watch with the stream", async () => {
    const { agent, resources } = await watching();
    const leaving = new AbortController();
    const stream = await subscribe(agent, 1, URIS, leaving.signal);
    await stream.next();
    expect(resources.watches.map(({ watch }) => watch.signal.aborted)).toEqual([false, false, true]);
    leaving.abort();
    await expect.poll(() => resources.watches.every(({ watch }) => watch.signal.aborted)).toBe(true);
  });

  it("ends an agent's wait for owners with its bearer, without an acknowledgement", async () => {
    const { agent, resources } = await watching();
    resources.onWatch.set("a:1", ({ signal }) => aborted(signal));
    const asking = post(agent, modernBody("subscriptions/listen", URIS), modernHeaders("subscriptions/listen"));
    await expect.poll(() => resources.watches.length).toBe(3);
    agent.revoke();
    expect(JSON.parse((await asking).text)).toMatchObject({
      error: { code: -32603, data: { "sh.tutti/delivery": { code: "cancelled", reason: "binding_ended" } } },
    });
  });

  it("leaves out an owner that takes too long", async () => {
    const { agent, resources } = await watching({ subscribeTimeoutMs: 20 });
    resources.onWatch.set("a:1", ({ signal }) => aborted(signal));
    expect(await (await subscribe(agent, 1, URIS)).next()).toEqual(acknowledged(1, { resourceSubscriptions: ["a:2"] }));
    expect(resources.watches[0]?.watch.signal.reason).toMatchObject({
      code: "timeout",
      delivery: "unknown",
      details: { option: "subscribeTimeoutMs", limitMs: 20 },
    });
  });

  it("H-16: is bounded per stream, and waiting streams count", async () => {
    const { agent, resources } = await watching({ maxResourceSubscriptions: 4, maxSubscriptions: 1 });
    const five = JSON.stringify({ notifications: { resourceSubscriptions: ["1:", "2:", "3:", "4:", "5:"] } });
    const tooMany = await post(agent, modernBody("subscriptions/listen", five), modernHeaders("subscriptions/listen"));
    expect(JSON.parse(tooMany.text)).toMatchObject({
      error: {
        data: { "sh.tutti/delivery": { code: "limit_exceeded", option: "maxResourceSubscriptions", limit: 4 } },
      },
    });
    const { opened, open } = gate();
    resources.onWatch.set("a:1", () => opened);
    const first = subscribe(agent, 1, URIS);
    await expect.poll(() => resources.watches.length).toBe(3);
    const second = await post(agent, modernBody("subscriptions/listen", FILTER), modernHeaders("subscriptions/listen"));
    expect(JSON.parse(second.text)).toMatchObject({
      error: { data: { "sh.tutti/delivery": { code: "limit_exceeded", option: "maxSubscriptions", limit: 1 } } },
    });
    open();
    expect(await (await first).next()).toEqual(acknowledged(1, { resourceSubscriptions: ["a:1", "a:2"] }));
  });
});

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}
