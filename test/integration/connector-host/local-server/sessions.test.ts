import { request as sendRequest } from "node:http";
import { describe, expect, it } from "vitest";
import type { LocalServerOptions } from "../../../../src/connector-host/local-server/index.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { answerOf, type FixedDirectory, hangs, HELLO, says } from "./fixed-directory.js";
import { FixedPrompts, FixedResources } from "./fixed-offers.js";
import { postLegacy } from "./raw-agent.js";
import { call, initialize, messagesIn, SessionAgent } from "./session-agent.js";
import { gate, start } from "./start.js";

const KEY = "sh.tutti/delivery";
const REVISIONS = ["2025-03-26", "2025-06-18", "2025-11-25"];

async function open(
  prepare: (directory: FixedDirectory) => unknown = () => undefined,
  options: Partial<LocalServerOptions> = {},
) {
  const started = await start(prepare, options);
  return { ...started, session: await SessionAgent.open(started.agent) };
}

function everything(directory: FixedDirectory): FixedResources {
  directory.prompts = new FixedPrompts();
  const resources = new FixedResources();
  for (const uri of ["a:1", "a:2", "a:3"]) resources.add(uri, says("{}"));
  directory.resources = resources;
  return resources;
}

const listChanged = (kind: string) => ({ jsonrpc: "2.0", method: `notifications/${kind}/list_changed`, params: {} });
const updated = (uri: string) => ({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } });

describe("H-22: a session", () => {
  it.each(REVISIONS)("comes with an initialize at %s, and what needs it is offered", async (revision) => {
    const { agent } = await start(everything);
    const answer = await initialize(agent, revision);
    expect(answer.headers.get("mcp-session-id")).toMatch(/^[\x21-\x7e]{43}$/);
    expect(JSON.parse(answer.text)).toMatchObject({
      result: {
        protocolVersion: revision,
        capabilities: {
          tools: { listChanged: true },
          prompts: { listChanged: true },
          resources: { listChanged: true, subscribe: true },
          logging: {},
        },
      },
    });
  });

  it("is not given to an agent that takes no streams, nor with a failed initialize", async () => {
    const { agent } = await start();
    const plain = await initialize(agent, "2025-11-25", "application/json");
    expect(plain.headers.get("mcp-session-id")).toBeNull();
    expect(JSON.parse(plain.text)).toHaveProperty("result.capabilities", { tools: { listChanged: false } });
    const failed = await postLegacy(agent, { jsonrpc: "2.0", id: 1, method: "initialize", params: {} });
    expect([failed.headers.get("mcp-session-id"), JSON.parse(failed.text)]).toMatchObject([
      null,
      { error: { code: -32602 } },
    ]);
  });

  it("need not be used: requests without it are answered as ever", async () => {
    const { agent, session } = await open((tools) => tools.add("a_x", says(HELLO)));
    await session.ask("logging/setLevel", { level: "debug" });
    const answer = await postLegacy(agent, { jsonrpc: "2.0", ...call("a_x") });
    expect(JSON.parse(answer.text)).toMatchObject({ result: { content: [{ text: "hello" }] } });
  });

  it.each(["POST", "GET", "DELETE"])(
    "is 404 to a %s of another bearer, after its end, and when there never was one",
    async (method) => {
      const { server, agent, session } = await open();
      const other = server.bind({ workspaceId: "w", agentSessionId: "other" });
      const ask = async (id: string, bound = agent): Promise<number> => {
        const body = method === "POST" ? JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }) : undefined;
        const headers = { ...bound.headers, Accept: "text/event-stream, application/json", "Mcp-Session-Id": id };
        const response = await fetch(agent.url, { method, headers, ...(body === undefined ? {} : { body }) });
        await response.body?.cancel();
        return response.status;
      };
      expect([await ask("x"), await ask(""), await ask(session.id, other)]).toEqual([404, 404, 404]);
      expect(await ask(session.id)).toBe(method === "DELETE" ? 204 : 200);
      await session.end();
      expect(await ask(session.id)).toBe(404);
      agent.revoke();
      expect(await ask(session.id)).toBe(401);
    },
  );

  it("ends with its bearer, and the next bearer of the same agent has none of it", async () => {
    const { server, session } = await open();
    const again = server.bind({ workspaceId: "w", agentSessionId: "s" });
    const answer = await new SessionAgent(again, session.id, "2025-11-25").post({ id: 1, method: "ping" });
    expect(answer.status).toBe(404);
  });

  it("takes ping and notifications, and no second initialize", async () => {
    const { session } = await open();
    expect(await session.ask("ping")).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    for (const method of ["notifications/initialized", "notifications/cancelled", "notifications/roots/list_changed"]) {
      const answer = await session.post({ method });
      expect([answer.status, answer.text]).toEqual([202, ""]);
    }
    const params = { protocolVersion: "2025-11-25", capabilities: {} };
    expect(await session.ask("initialize", params)).toMatchObject({ error: { code: -32600 } });
  });

  it("has the revision that was agreed on, whatever a later header leaves out", async () => {
    const { agent, session } = await open();
    const old = await SessionAgent.open(agent, "2025-03-26");
    const body = JSON.stringify([{ jsonrpc: "2.0", id: 1, method: "ping" }]);
    const send = async ({ id }: SessionAgent) => {
      const headers = { ...agent.headers, "Content-Type": "application/json", Accept: "application/json" };
      return fetch(agent.url, { method: "POST", body, headers: { ...headers, "Mcp-Session-Id": id } });
    };
    expect([(await send(old)).status, (await send(session)).status]).toEqual([200, 400]);
  });

  it("has a GET only for agents that take streams, at a revision with sessions", async () => {
    const { agent, session } = await open();
    const get = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(agent.url, { headers: { ...agent.headers, ...session.headers, ...headers } })).status;
    expect(await get({ Accept: "application/json" })).toBe(406);
    expect(await get({ Accept: "text/event-stream", "MCP-Protocol-Version": "2026-07-28" })).toBe(400);
    expect(await get({ Accept: "text/event-stream", "MCP-Protocol-Version": "2024-11-05" })).toBe(400);
  });

  it("answers three streams at once, each with what belongs to it", async () => {
    const { session } = await open((tools) =>
      tools.add("a_x", async ({ onProgress, argumentsText = "" }) => {
        onProgress?.({ progress: 1 });
        await new Promise(setImmediate);
        return answerOf(JSON.stringify({ resultType: "complete", content: [], asked: argumentsText }));
      }),
    );
    const streams = await Promise.all(
      ["a", "b", "c"].map((name) =>
        session.open({
          id: name,
          method: "tools/call",
          params: { name: "a_x", arguments: { name }, _meta: { progressToken: name } },
        }),
      ),
    );
    const ids = new Set<string | undefined>();
    for (const [index, stream] of streams.entries()) {
      const name = "abc"[index];
      expect(stream.response.headers.get("content-type")).toBe("text/event-stream");
      const [progress, answer] = [await stream.message(), await stream.message()];
      expect(progress).toMatchObject({ message: { params: { progressToken: name } } });
      expect(answer).toMatchObject({ message: { id: name, result: { asked: `{"name":"${String(name)}"}` } } });
      for (const each of [progress, answer]) if (each !== "end") ids.add(each.id);
      expect(await stream.message()).toBe("end");
    }
    expect(ids.size).toBe(6);
  });
});

describe("H-22: logging/setLevel", () => {
  it("has effect on later calls of its session, from its level up, and on no other session", async () => {
    const { agent, session } = await open((tools) =>
      tools.add("a_x", async ({ onNotification }) => {
        for (const level of ["debug", "warning"]) {
          onNotification?.({ method: "notifications/message", params: { level, data: level } });
        }
        return answerOf(HELLO);
      }),
    );
    const other = await SessionAgent.open(agent);
    const heard = async (who: SessionAgent): Promise<unknown[]> => {
      const stream = await who.open(call("a_x"));
      const levels: unknown[] = [];
      for (;;) {
        const event = await stream.next();
        if (event === "end") return levels;
        const [message] = messagesIn([event]);
        if (message?.params?.level !== undefined) levels.push(message.params.level);
      }
    };
    expect(await heard(session)).toEqual([]);
    expect(await session.ask("logging/setLevel", { level: "info" })).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    expect(await heard(session)).toEqual(["warning"]);
    expect(await session.ask("logging/setLevel", { level: "loud" })).toMatchObject({ error: { code: -32602 } });
    await session.ask("logging/setLevel", { level: "debug" });
    expect([await heard(session), await heard(other)]).toEqual([["debug", "warning"], []]);
  });
});

describe("H-22: the listening stream", () => {
  it("tells of every list that the server has, as events that can be resumed", async () => {
    const { server, session } = await open(everything);
    const stream = await session.listen();
    expect(stream.response.headers.get("content-type")).toBe("text/event-stream");
    expect(await stream.next()).toEqual({
      id: expect.stringMatching(/^[\x21-\x7e]+$/) as unknown,
      retry: "1000",
      data: "",
    });
    for (const kind of ["tools", "prompts", "resources"] as const) server.notifyListChanged(kind);
    const seen = [await stream.message(), await stream.message(), await stream.message()];
    expect(seen).toMatchObject(["tools", "prompts", "resources"].map((kind) => ({ message: listChanged(kind) })));
    expect(new Set(seen.map((each) => (each === "end" ? "" : each.id))).size).toBe(3);
  });

  it("has no event without a message at revisions that don't know it", async () => {
    const { server, agent } = await start();
    const stream = await (await SessionAgent.open(agent, "2025-06-18")).listen();
    server.notifyListChanged("tools");
    expect(await stream.next()).toMatchObject({
      id: expect.any(String) as unknown,
      data: JSON.stringify(listChanged("tools")),
    });
  });

  it("tells only those whom it concerns, and not of lists that the server has not", async () => {
    const { server, agent, session } = await open();
    const other = server.bind({ workspaceId: "w", agentSessionId: "other" });
    const [mine, theirs] = [await session.listen(), await (await SessionAgent.open(other)).listen()];
    server.notifyListChanged("prompts");
    server.notifyListChanged("tools", (binding) => binding === other.binding);
    expect(await theirs.message()).toMatchObject({ message: listChanged("tools") });
    agent.revoke();
    expect(await mine.message()).toBe("end");
  });

  it("is one: a second connection takes the place of the first, and each message comes once", async () => {
    const { server, session } = await open();
    const first = await session.listen();
    const second = await session.listen();
    server.notifyListChanged("tools");
    expect(await first.message()).toBe("end");
    expect(await second.message()).toMatchObject({ message: listChanged("tools") });
  });

  it("shows signs of life", async () => {
    const clock = new FakeClock();
    const { session } = await open(undefined, { clock, keepAliveMs: 5_000 });
    const stream = await session.listen();
    expect(await stream.next()).toMatchObject({ data: "" });
    clock.step(5_000);
    expect(await stream.next()).toEqual({});
    clock.step(4_000);
    clock.step(1_000);
    expect(await stream.next()).toEqual({});
  });
});

describe("H-22, H-28: resources/subscribe", () => {
  it("tells of updates until it is ended, however often it was asked for", async () => {
    const { directory, session, faults } = await open(everything);
    const stream = await session.listen();
    for (const uri of ["a:1", "a:1", "a:2"]) {
      expect(await session.ask("resources/subscribe", { uri })).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    }
    expect(directory.resources?.watches.map(({ uri }) => uri)).toEqual(["a:1", "a:2"]);
    directory.resources?.update("a:1");
    expect(await stream.message()).toMatchObject({ message: updated("a:1") });
    for (const uri of ["a:1", "a:3"]) {
      expect(await session.ask("resources/unsubscribe", { uri })).toMatchObject({ result: {} });
    }
    directory.resources?.update("a:1");
    directory.resources?.update("a:2");
    expect(await stream.message()).toMatchObject({ message: updated("a:2") });
    expect(directory.resources?.watches.map(({ watch }) => watch.signal.aborted)).toEqual([true, false]);
    await session.end();
    expect(directory.resources?.watches.every(({ watch }) => watch.signal.aborted)).toBe(true);
    expect(faults).toEqual([]);
  });

  it("fails as the owner fails, and can be asked for again", async () => {
    const { directory, session, faults } = await open(everything);
    expect(await session.ask("resources/subscribe", { uri: "b:" })).toMatchObject({
      error: { code: -32002, data: { uri: "b:", [KEY]: { code: "resource_not_found" } } },
    });
    expect(await session.ask("resources/subscribe", {})).toMatchObject({ error: { code: -32602 } });
    expect(directory.resources?.watches).toEqual([]);
    directory.resources?.add("b:", says("{}"));
    expect(await session.ask("resources/subscribe", { uri: "b:" })).toMatchObject({ result: {} });
    expect(faults).toEqual([]);
  });

  it("H-16: is bounded by number and time, and what was refused holds nothing", async () => {
    const clock = new FakeClock();
    const { directory, session, faults } = await open(everything, { maxResourceSubscriptions: 2, clock });
    directory.resources?.onWatch.set(
      "a:1",
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    );
    const slow = session.ask("resources/subscribe", { uri: "a:1" }, 1);
    await session.ask("resources/subscribe", { uri: "a:2" }, 2);
    expect(await session.ask("resources/subscribe", { uri: "a:3" }, 3)).toMatchObject({
      error: { data: { [KEY]: { code: "limit_exceeded", option: "maxResourceSubscriptions", limit: 2 } } },
    });
    clock.step(10_000);
    expect(await slow).toMatchObject({ error: { data: { [KEY]: { code: "timeout", option: "subscribeTimeoutMs" } } } });
    expect(await session.ask("resources/subscribe", { uri: "a:3" }, 4)).toMatchObject({ result: {} });
    expect(faults).toEqual([]);
  });

  it("can be ended before its owner took part", async () => {
    const asked = gate();
    const { directory, session, faults } = await open(everything);
    directory.resources?.onWatch.set("a:1", ({ signal }) => {
      asked.open();
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    });
    const slow = session.ask("resources/subscribe", { uri: "a:1" }, 1);
    await asked.opened;
    await session.ask("resources/unsubscribe", { uri: "a:1" }, 2);
    expect(await slow).toMatchObject({ error: { data: { [KEY]: { code: "cancelled", reason: "unsubscribed" } } } });
    expect(faults).toEqual([]);
  });

  it("is not there without a session", async () => {
    const { agent } = await start(everything);
    const message = { jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri: "a:1" } };
    expect(JSON.parse((await postLegacy(agent, message)).text)).toMatchObject({ error: { code: -32601 } });
  });
});

describe("H-22: requests of a session", () => {
  it("are cancelled in it alone, though another has one of the same id", async () => {
    const { agent, directory, session } = await open((tools) => tools.add("a_x", hangs()));
    const other = await SessionAgent.open(agent);
    const calls = [session.ask("tools/call", { name: "a_x" }, 5), other.ask("tools/call", { name: "a_x" }, 5)];
    await expect.poll(() => directory.calls.length).toBe(2);
    const cancel = { method: "notifications/cancelled", params: { requestId: 5 } };
    await postLegacy(agent, { jsonrpc: "2.0", ...cancel });
    expect(directory.calls.map((each) => each.call.signal.aborted)).toEqual([false, false]);
    expect((await other.post(cancel)).status).toBe(202);
    expect(await calls[1]).toMatchObject({
      error: { data: { [KEY]: { code: "cancelled", reason: "agent_cancelled" } } },
    });
    expect(directory.calls.map((each) => each.call.signal.aborted).filter(Boolean)).toHaveLength(1);
    agent.revoke();
    await calls[0];
  });

  it("run once: one whose id still runs is refused", async () => {
    const { agent, directory, session } = await open((tools) => tools.add("a_x", hangs()));
    const running = session.ask("tools/call", { name: "a_x" }, "r");
    await expect.poll(() => directory.calls.length).toBe(1);
    expect(await session.ask("tools/call", { name: "a_x" }, "r")).toMatchObject({ id: "r", error: { code: -32600 } });
    expect(directory.calls).toHaveLength(1);
    agent.revoke();
    expect(await running).toMatchObject({ error: { data: { [KEY]: { reason: "binding_ended" } } } });
  });

  it("run once in batches, too", async () => {
    const { agent, directory } = await start((tools) => tools.add("a_x", hangs()));
    const session = await SessionAgent.open(agent, "2025-03-26");
    const batch = JSON.stringify([call("a_x", "r"), call("a_x", "r")].map((each) => ({ jsonrpc: "2.0", ...each })));
    const running = postLegacy(agent, batch, session.headers);
    await expect.poll(() => directory.calls.length).toBe(1);
    expect(await session.ask("tools/call", { name: "a_x" }, "r")).toMatchObject({ error: { code: -32600 } });
    expect(directory.calls).toHaveLength(1);
    agent.revoke();
    expect(JSON.parse((await running).text)).toMatchObject([
      { error: { data: { [KEY]: { reason: "binding_ended" } } } },
      { error: { code: -32600 } },
    ]);
  });

  it("end with it, honestly, and so do its stream and its watches", async () => {
    const { directory, session } = await open((tools) => {
      everything(tools);
      tools.add("a_x", hangs());
    });
    const stream = await session.listen();
    await session.ask("resources/subscribe", { uri: "a:1" }, 1);
    const running = session.ask("tools/call", { name: "a_x" }, 2);
    await expect.poll(() => directory.calls.length).toBe(1);
    expect(await session.end()).toBe(204);
    expect(await running).toMatchObject({
      error: { data: { [KEY]: { code: "cancelled", delivery: "unknown", reason: "session_ended" } } },
    });
    expect(await stream.message()).toBe("end");
    expect(directory.resources?.watches[0]?.watch.signal.aborted).toBe(true);
    expect(await session.end()).toBe(404);
  });
});

describe("H-16: sessions", () => {
  it("make room for one another unless they are busy, and a refusal names the option", async () => {
    const { agent, session } = await open(undefined, { maxSessions: 2 });
    const stream = await session.listen();
    const second = await SessionAgent.open(agent);
    const third = await SessionAgent.open(agent);
    expect((await second.post({ id: 1, method: "ping" })).status).toBe(404);
    expect(await session.ask("ping")).toMatchObject({ result: {} });
    await third.listen();
    const refused = await initialize(agent);
    expect([refused.status, refused.headers.get("mcp-session-id"), JSON.parse(refused.text)]).toMatchObject([
      200,
      null,
      { id: 0, error: { data: { [KEY]: { code: "limit_exceeded", option: "maxSessions", limit: 2 } } } },
    ]);
    await third.end();
    expect((await initialize(agent)).headers.get("mcp-session-id")).not.toBeNull();
    await session.end();
    expect(await stream.message()).toBe("end");
  });

  it("listen as far as others of their bearer leave room", async () => {
    const { agent, session } = await open(undefined, { maxSubscriptions: 1 });
    const stream = await session.listen();
    const second = await SessionAgent.open(agent);
    const { response } = await second.listen();
    expect(response.status).toBe(429);
    expect(await session.end()).toBe(204);
    expect(await stream.message()).toBe("end");
    expect((await second.listen()).response.status).toBe(200);
    expect((await second.listen()).response.status).toBe(200);
  });

  it("leave no connection behind, whichever way they end", async () => {
    const { server, session } = await open();
    const agents = Array.from({ length: 4 }, (_, at) => server.bind({ workspaceId: "w", agentSessionId: String(at) }));
    const sessions = await Promise.all(agents.map((each) => SessionAgent.open(each)));
    let connections = 0;
    await Promise.all(
      sessions.map(({ bound, headers }) => {
        const all = { ...bound.headers, ...headers, Accept: "text/event-stream" };
        const request = sendRequest(bound.url, { agent: false, headers: all });
        request.on("error", () => undefined).end();
        return new Promise<void>((resolve) => {
          request.once("response", (response) => {
            connections += 1;
            response.socket.once("close", () => (connections -= 1));
            response.on("error", () => undefined).resume();
            resolve();
          });
        });
      }),
    );
    expect(connections).toBe(4);
    for (const each of sessions.slice(0, 2)) await each.end();
    for (const each of agents.slice(2)) each.revoke();
    await expect.poll(() => connections, { interval: 2 }).toBe(0);
    expect(await session.ask("ping")).toMatchObject({ result: {} });
  });

  it("live while somebody listens, and end when they are idle for too long", async () => {
    const clock = new FakeClock();
    const { session } = await open(undefined, { clock });
    const leaving = new AbortController();
    const stream = await session.listen(undefined, leaving.signal);
    await stream.next();
    for (let hours = 0; hours < 2; hours += 0.5) clock.step(1_800_000);
    expect((await session.post({ id: 1, method: "ping" })).status).toBe(200);
    leaving.abort();
    await expect.poll(() => (clock.step(60_000), clock.dueInMs)).toBeGreaterThan(1_000);
    clock.step(1_800_000);
    expect((await session.post({ id: 1, method: "ping" })).status).toBe(404);
    await expect.poll(() => (clock.step(2_000), clock.pending)).toBe(0);
  });

  it("H-40: are gone with the server, which waits for none of them, and no timer is left", async () => {
    const clock = new FakeClock();
    const { server, session, agent } = await open(undefined, { clock, closeTimeoutMs: 60_000 });
    const streams = [await session.listen(), await (await SessionAgent.open(agent)).listen()];
    const before = performance.now();
    await server.close();
    expect(performance.now() - before).toBeLessThan(1_000);
    for (const stream of streams) expect(await stream.message()).toBe("end");
    expect(clock.pending).toBe(0);
  });
});
