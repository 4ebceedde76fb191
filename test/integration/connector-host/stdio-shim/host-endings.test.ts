import { once } from "node:events";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { serveStdio } from "../../../../src/connector-host/stdio-shim/index.js";
import { answerOf, hangs, HELLO, says } from "../local-server/fixed-directory.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { gate } from "../local-server/start.js";
import { LineAgent, MODERN_META } from "./line-agent.js";
import { ShimParty } from "./shim-party.js";

let party: ShimParty;

beforeEach(async () => {
  party = await ShimParty.begin();
  party.directory.add("a_hello", says(HELLO)).add("a_hang", hangs());
});

afterEach(() => party.opened.close());

/** A host that is killed: whatever was asked of it loses its connection. */
async function serveDoomed(): Promise<{ requests: string[]; kill: () => Promise<void> }> {
  const requests: string[] = [];
  const server = await party.answer(({ request, body }, response) => {
    requests.push(String(request.method));
    if (!body.includes("subscriptions/listen")) return;
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write('data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}\n\n');
  });
  const kill = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  return { requests, kill };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe("H-23: a host that is not there", () => {
  it("fails a request as not sent, and the next one finds the host", async () => {
    const agent = party.agent();
    expect(await agent.verdictOn(agent.sendModern("tools/list"))).toEqual({
      delivery: "not_sent",
      code: "connect_failed",
      reason: "ENOENT",
    });
    await party.serve();
    expect((await agent.askModern("tools/list")).result).toBeDefined();
  });

  it("is started once for all who wait, and only then are they asked", async () => {
    let starts = 0;
    const agent = party.agent({
      start: async () => {
        starts += 1;
        await party.serve();
      },
    });
    const ids = [agent.sendModern("tools/list"), agent.sendModern("tools/list")];
    const answers = await Promise.all(ids.map((id) => agent.answerTo(id)));
    expect(answers.map(({ result }) => result !== undefined)).toEqual([true, true]);
    expect(starts).toBe(1);
  });

  it("and can't be started fails what waits, with the reason", async () => {
    const agent = party.agent({ start: () => Promise.reject(new Error("no such program")) });
    expect(await agent.verdictOn(agent.sendModern("tools/list"))).toEqual({
      delivery: "not_sent",
      code: "connect_failed",
      reason: "no such program",
    });
  });

  it("and does not come fails what waits when its time is over", async () => {
    const clock = new FakeClock();
    const agent = party.agent({ clock, start: () => undefined, startTimeoutMs: 3_000 });
    const id = agent.sendModern("tools/list");
    await expect.poll(() => clock.pending, { interval: 5 }).toBeGreaterThan(0);
    while (agent.heard.length === 0) {
      await clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await agent.verdictOn(id)).toMatchObject({ delivery: "not_sent", code: "connect_failed" });
  });
});

it("H-23: a host whose queue of connections is full is asked again, until it has heard everything once", async () => {
  const ids: unknown[] = [];
  await party.answer(
    ({ body }, response) => {
      const { id }: { id?: unknown } = JSON.parse(body);
      ids.push(id);
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
    },
    { backlog: 1 },
  );
  const agent = party.agent();
  const asked = Array.from({ length: 12 }, () => agent.sendModern("tools/list"));
  const answers = await Promise.all(asked.map((id) => agent.answerTo(id)));
  expect(answers.map(({ error }) => error)).toEqual(asked.map(() => undefined));
  expect(ids.toSorted((a, b) => Number(a) - Number(b))).toEqual(asked);
});

describe("H-23, F-1: a host that ends", () => {
  it("leaves what was sent unknown, at once, cancels what listened, and is asked nothing again", async () => {
    const doomed = await serveDoomed();
    const agent = party.agent();
    const call = agent.sendModern("tools/call", { name: "a" });
    const listen = agent.sendModern("subscriptions/listen", { notifications: {} });
    await expect.poll(() => doomed.requests.length, { interval: 5 }).toBe(2);
    await expect.poll(() => agent.heard.length, { interval: 5 }).toBe(1);
    await doomed.kill();
    expect(await agent.verdictOn(call)).toMatchObject({ delivery: "unknown", code: "connection_broken" });
    const cancelled = await agent.until(({ method }) => method === "notifications/cancelled");
    expect(cancelled.params).toMatchObject({ requestId: listen });
    expect(agent.heard.filter(({ id }) => id === listen)).toEqual([]);
    expect(doomed.requests).toEqual(["POST", "POST"]);
    await party.serve();
    expect((await agent.askModern("tools/list")).result).toBeDefined();
  });

  it.each([
    ["fails at a request", 500, "unknown"],
    ["refuses one", 413, "not_sent"],
    ["ends", 503, "not_sent"],
  ])("%s, is no surer than its status (%d)", async (_what, status, delivery) => {
    await party.answer((_asked, response) => {
      response.writeHead(status).end('{"jsonrpc":"2.0","error":{"code":-32603,"message":"no"}}');
    });
    const agent = party.agent();
    const id = agent.sendModern("tools/call", { name: "a" });
    expect(await agent.verdictOn(id)).toEqual({ delivery, code: "unexpected_answer", httpStatus: status });
  });

  it("in good order answers what runs, and closes what listens", async () => {
    const served = await party.serve();
    const agent = party.agent();
    const call = agent.sendModern("tools/call", { name: "a_hang" });
    const listen = agent.sendModern("subscriptions/listen", { notifications: {} });
    await expect.poll(() => [party.directory.calls.length, agent.heard.length], { interval: 5 }).toEqual([1, 1]);
    await served.close();
    expect(await agent.verdictOn(call)).toMatchObject({ code: "cancelled", reason: "server_closing" });
    expect((await agent.answerTo(listen)).result).toMatchObject({ resultType: "complete" });
  });

  it("takes a legacy session with it, which the next one gets back with its log level", async () => {
    const first = await party.serve();
    party.directory.add("a_log", async ({ logLevel }) =>
      answerOf(JSON.stringify({ content: [{ type: "text", text: String(logLevel) }] }), "legacy"),
    );
    const agent = party.agent();
    await agent.initialize("2025-11-25");
    await agent.ask("logging/setLevel", { level: "warning" });
    // What the host refused was never so.
    expect((await agent.ask("logging/setLevel", { level: "loud" })).error?.code).toBe(-32602);
    await expect.poll(() => first.server.listeners.bindings("tools").size, { interval: 5 }).toBe(1);
    await first.close();
    const second = await party.serve();
    const { result } = await agent.ask("tools/call", { name: "a_log" });
    expect(result).toEqual({ content: [{ type: "text", text: "warning" }] });
    // What changed between the two, nobody knows.
    await agent.until(({ method }) => method === "notifications/tools/list_changed");
    await expect.poll(() => second.server.listeners.bindings("tools").size, { interval: 5 }).toBe(1);
    expect(agent.heard.filter(({ result: one }) => one?.["protocolVersion"] !== undefined)).toHaveLength(1);
  });

  it("is not asked, once it is back, for what the agent has cancelled while it waited", async () => {
    let start: () => void = () => undefined;
    const starting = new Promise<void>((resolve) => (start = resolve));
    const first = await party.serve();
    const agent = party.agent({ start: () => starting });
    await agent.initialize("2025-11-25");
    await expect.poll(() => first.server.listeners.bindings("tools").size, { interval: 5 }).toBe(1);
    await first.close();
    await turns(20);
    // One before the shim knows that there is no host, and one while it waits for it.
    const ids = ["a_hello", "a_hello"].map((name) => agent.send("tools/call", { name }));
    agent.notify("notifications/cancelled", { requestId: ids[0] });
    await turns(20);
    agent.notify("notifications/cancelled", { requestId: ids[1] });
    const kept = agent.send("tools/list");
    await turns(20);
    await party.serve();
    start();
    expect((await agent.answerTo(kept)).result).toBeDefined();
    expect((await agent.ask("ping")).result).toEqual({});
    expect(party.directory.calls).toEqual([]);
    expect(agent.heard.filter((one) => ids.includes(Number(one.id)))).toEqual([]);
  });

  it("is looked for by a legacy agent that only listens", async () => {
    const first = await party.serve();
    const agent = party.agent();
    await agent.initialize("2025-06-18");
    await expect.poll(() => first.server.listeners.bindings("tools").size, { interval: 5 }).toBe(1);
    await first.close();
    const second = await party.serve();
    await agent.until(({ method }) => method === "notifications/tools/list_changed");
    await expect.poll(() => second.server.listeners.bindings("tools").size, { interval: 5 }).toBe(1);
  });
});

describe("H-23: an agent", () => {
  it("whose binding does not exist, or does not any more, is told what to do", async () => {
    const { server } = await party.serve();
    const stranger = party.agent({ binding: "nobody" });
    const id = stranger.sendModern("tools/list");
    const { error } = await stranger.answerTo(id);
    expect(error?.message).toContain('"nobody"');
    expect(await stranger.verdictOn(id)).toEqual({ delivery: "not_sent", code: "unexpected_answer", httpStatus: 403 });
    const agent = party.agent();
    const call = agent.sendModern("tools/call", { name: "a_hang" });
    await expect.poll(() => party.directory.calls.length, { interval: 5 }).toBe(1);
    await server.revokeDurable("desk");
    expect(await agent.verdictOn(call)).toMatchObject({ code: "cancelled", reason: "binding_ended" });
    expect((await agent.askModern("tools/list")).error?.message).toContain('"desk"');
  });

  it("beside another of the same binding neither hears nor cancels what is the other's", async () => {
    await party.serve();
    const agents = [party.agent(), party.agent()];
    await Promise.all(agents.map((agent) => agent.initialize("2025-11-25")));
    const ids = agents.map((agent) => agent.send("tools/call", { name: "a_hang" }));
    await expect.poll(() => party.directory.calls.length, { interval: 5 }).toBe(2);
    agents[0]?.notify("notifications/cancelled", { requestId: ids[0] });
    const aborted = (): number => party.directory.calls.filter(({ call }) => call.signal.aborted).length;
    await expect.poll(aborted, { interval: 5 }).toBe(1);
    await Promise.all(agents.map((agent) => agent.ask("ping")));
    expect(aborted()).toBe(1);
    expect(agents.map(({ heard }) => heard.length)).toEqual([2, 2]);
  });

  it("that has written all it will gets its answers, though some lines waited, and the shim ends then", async () => {
    const { server } = await party.serve();
    const legacy = party.agent();
    const ids = [legacy.send("initialize", { protocolVersion: "2025-11-25" })];
    legacy.notify("notifications/initialized");
    ids.push(legacy.send("tools/list"), legacy.send("tools/call", { name: "a_hello" }));
    legacy.stdin.end();
    const modern = party.agent();
    modern.sendModern("subscriptions/listen", { notifications: { toolsListChanged: true } });
    const last = { jsonrpc: "2.0", id: "last", method: "tools/call", params: { name: "a_hello", _meta: MODERN_META } };
    // The last line has no end, but is whole; one that was cut is none.
    modern.stdin.end(JSON.stringify(last));
    const cut = party.agent();
    cut.stdin.end('{"jsonrpc":"2.0","id":1,"method":"pi');
    await Promise.all([legacy.ended, modern.ended, cut.ended]);
    expect(legacy.heard.map(({ id, result }) => [id, result !== undefined])).toEqual(ids.map((id) => [id, true]));
    expect(modern.heard.filter(({ method }) => method === undefined)).toMatchObject([{ id: "last", result: {} }]);
    expect(cut.heard).toEqual([]);
    expect(server.listeners.bindings("tools").size).toBe(0);
  });

  it.each(["2026-07-28", "2025-11-25"])(
    "of %s that leaves ends what has no answer in time, and is told nothing",
    async (revision) => {
      await party.serve();
      const clock = new FakeClock();
      const agent = party.agent({ clock });
      if (revision === "2026-07-28") agent.sendModern("tools/call", { name: "a_hang" });
      else {
        await agent.initialize(revision);
        agent.send("tools/call", { name: "a_hang" });
      }
      await expect.poll(() => party.directory.calls.length, { interval: 5 }).toBe(1);
      const heard = agent.heard.length;
      agent.stdin.end();
      await expect.poll(() => clock.pending, { interval: 5 }).toBeGreaterThan(0);
      await clock.advance(9_999);
      expect(party.directory.calls[0]?.call.signal.aborted).toBe(false);
      await clock.advance(1);
      await agent.ended;
      await expect.poll(() => party.directory.calls[0]?.call.signal.aborted, { interval: 5 }).toBe(true);
      expect(agent.heard).toHaveLength(heard);
    },
  );

  it("whose shim is told to end is given up at once, with its session", async () => {
    await party.serve();
    const agent = party.agent();
    await agent.initialize("2025-11-25");
    agent.send("tools/call", { name: "a_hang" });
    await expect.poll(() => party.directory.calls.length, { interval: 5 }).toBe(1);
    await agent.leave();
    expect(party.directory.calls[0]?.call.signal.aborted).toBe(true);
    expect(agent.heard).toHaveLength(1);
  });

  it("that cancels what the host may not have heard of yet ends it, and tells the host, whichever comes first", async () => {
    const said: string[] = [];
    let cut: () => void = () => undefined;
    const isCut = new Promise<void>((resolve) => (cut = resolve));
    await party.answer(({ request, body }, response) => {
      said.push(/"method":"([^"]+)"/.exec(body)?.[1] ?? String(request.method));
      if (body.includes("initialize")) {
        response.setHeader("Mcp-Session-Id", "s");
        response.end('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}');
      } else if (body.includes("tools/call")) response.once("close", cut);
      else response.writeHead(202).end();
    });
    const agent = party.agent();
    await agent.ask("initialize", { protocolVersion: "2025-06-18" });
    const id = agent.send("tools/call", { name: "a" });
    await expect.poll(() => said.length, { interval: 5 }).toBe(2);
    agent.notify("notifications/cancelled", { requestId: id });
    await isCut;
    await expect.poll(() => said.at(-1), { interval: 5 }).toBe("notifications/cancelled");
    expect(agent.heard).toHaveLength(1);
  });

  it("that does not read holds the host's messages back, and gets all of them when it does", async () => {
    await party.serve({ maxBufferedBytes: 64 * 1024 });
    const text = "x".repeat(256 * 1024);
    party.directory.add("a_big", says(`{"resultType":"complete","content":[{"type":"text","text":"${text}"}]}`));
    const agent = new LineAgent({ stateDirectory: party.stateDirectory }, new PassThrough({ highWaterMark: 1_024 }));
    const ids = Array.from({ length: 8 }, () => agent.sendModern("tools/call", { name: "a_big" }));
    await expect.poll(() => agent.stdout.writableNeedDrain, { interval: 5 }).toBe(true);
    // What it asks for meanwhile waits, and is not read beyond a bound.
    for (let count = 0; count < 300; count += 1) agent.send("ping");
    await expect.poll(() => agent.stdin.isPaused(), { interval: 5 }).toBe(true);
    await expect.poll(() => party.directory.calls.length, { interval: 5 }).toBe(8);
    await turns(100);
    expect(agent.stdout.writableLength).toBeLessThan(4 * text.length);
    agent.listen();
    for (const id of ids) expect((await agent.answerTo(id)).result).toBeDefined();
    expect((await agent.answerTo(308)).result).toEqual({});
    agent.stdin.end();
    await agent.ended;
  });

  it("that does not read a stream stops it, so that the host drops what can be dropped", async () => {
    await party.serve({ maxBufferedBytes: 64 * 1024 });
    const said = gate();
    party.directory.add("a_talk", async ({ onProgress }) => {
      for (let progress = 1; progress <= 200; progress += 1) {
        onProgress?.({ progress, message: "z".repeat(8 * 1024) });
        await new Promise((resolve) => setImmediate(resolve));
      }
      said.open();
      return answerOf(HELLO);
    });
    const agent = new LineAgent({ stateDirectory: party.stateDirectory }, new PassThrough({ highWaterMark: 1_024 }));
    const id = agent.send("tools/call", { name: "a_talk", _meta: { ...MODERN_META, progressToken: 1 } });
    await said.opened;
    expect(agent.stdout.writableLength).toBeLessThan(400 * 1024);
    agent.listen();
    expect((await agent.answerTo(id)).result).toBeDefined();
    agent.stdin.end();
    await agent.ended;
  });

  it("that does not read, and leaves, ends the shim within the bound", async () => {
    await party.serve();
    party.directory.add("a_big", says(`{"resultType":"complete","content":[],"x":"${"y".repeat(256 * 1024)}"}`));
    const clock = new FakeClock();
    const stdout = new PassThrough({ highWaterMark: 1_024 });
    const agent = new LineAgent({ stateDirectory: party.stateDirectory, clock }, stdout);
    agent.sendModern("tools/call", { name: "a_big" });
    await expect.poll(() => stdout.writableNeedDrain, { interval: 5 }).toBe(true);
    agent.sendModern("tools/list");
    agent.stdin.end();
    for (const bound of [10_000, 2_000]) {
      await expect.poll(() => clock.pending, { interval: 5 }).toBeGreaterThan(0);
      await clock.advance(bound);
    }
    await agent.ended;
  });

  it("of a legacy session answers requests of the host, which come before the answer that they belong to", async () => {
    const answers: string[] = [];
    let finish: () => void = () => undefined;
    await party.answer(({ request, body }, response) => {
      if (body.includes("initialize")) {
        response.setHeader("Mcp-Session-Id", "s");
        response.end('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}');
      } else if (body.includes("tools/call")) {
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        response.write('id: 1\ndata: {"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{}}\n\n');
        finish = () => response.end('id: 2\ndata: {"jsonrpc":"2.0","id":2,"result":{"content":[]}}\n\n');
      } else if (body !== "") {
        answers.push(`${String(request.headers["mcp-session-id"])} ${body}`);
        response.writeHead(202).end();
        finish();
      } else response.writeHead(405).end();
    });
    const agent = party.agent();
    agent.send("initialize", { protocolVersion: "2025-06-18" });
    const call = agent.send("tools/call", { name: "a" });
    const asked = await agent.until(({ method }) => method === "elicitation/create");
    const answer = { jsonrpc: "2.0", id: asked.id, result: { action: "decline" } };
    agent.write(answer);
    expect((await agent.answerTo(call)).result).toEqual({ content: [] });
    expect(answers).toEqual([`s ${JSON.stringify(answer)}`]);
  });

  it.each([
    ["reads it on where the host has it", true],
    ["is told that nothing is known where the host has not", false],
  ])("of a legacy session whose answer's stream breaks %s", async (_what, isKept) => {
    const asked: string[] = [];
    await party.answer(({ request, body }, response) => {
      const place = request.headers["last-event-id"];
      asked.push([request.method, place].join(" ").trim());
      if (body.includes("initialize")) {
        response.setHeader("Mcp-Session-Id", "s");
        response.end('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}');
      } else if (body.includes("tools/call")) {
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        response.write('id: 7\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n', () =>
          response.destroy(),
        );
      } else if (place !== undefined && isKept) {
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        response.end('id: 8\ndata: {"jsonrpc":"2.0","id":2,"result":{"content":[]}}\n\n');
      } else response.writeHead(400).end();
    });
    const agent = party.agent();
    agent.send("initialize", { protocolVersion: "2025-11-25" });
    const call = agent.send("tools/call", { name: "a" });
    const { result } = await agent.answerTo(call);
    if (isKept) expect(result).toEqual({ content: [] });
    else expect(await agent.verdictOn(call)).toEqual({ delivery: "unknown", code: "stream_ended" });
    expect(asked).toEqual(["POST", "POST", "GET 7"]);
  });

  it("of a legacy session whose answer is too long is told so, and it is not read again", async () => {
    const asked: string[] = [];
    await party.answer(({ request, body }, response) => {
      asked.push(String(request.method));
      if (body.includes("initialize")) {
        response.setHeader("Mcp-Session-Id", "s");
        response.end('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}');
        return;
      }
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write(
        `id: 7\ndata: \n\nid: 8\ndata: {"jsonrpc":"2.0","id":2,"result":{"x":"${"y".repeat(2_000)}"}}\n\n`,
      );
    });
    const agent = party.agent({ maxMessageBytes: 1_000 });
    agent.send("initialize", { protocolVersion: "2025-11-25" });
    const call = agent.send("tools/call", { name: "a" });
    expect(await agent.verdictOn(call)).toMatchObject({ code: "limit_exceeded", option: "maxMessageBytes" });
    expect(asked).toEqual(["POST", "POST"]);
  });

  it("that closed what it reads ends the shim, whatever it may still write", async () => {
    await party.serve();
    const agent = new LineAgent({ stateDirectory: party.stateDirectory });
    agent.stdout.destroy();
    agent.sendModern("tools/list");
    await agent.ended;
  });

  it("ends within the bound, though its host does not answer", async () => {
    const clock = new FakeClock();
    const silent = await party.answer(({ request }, response) => {
      const result = { protocolVersion: "2025-11-25", capabilities: {} };
      if (request.method === "POST" && request.headers["mcp-session-id"] === undefined) {
        response.writeHead(200, { "Content-Type": "application/json", "Mcp-Session-Id": "s" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
      }
    });
    const agent = new LineAgent({ stateDirectory: party.stateDirectory, clock, closeTimeoutMs: 700 }).listen();
    await agent.initialize("2025-11-25");
    agent.stdin.end();
    await once(silent, "request");
    await expect.poll(() => clock.pending, { interval: 5 }).toBeGreaterThan(0);
    await clock.advance(700);
    await agent.ended;
  });
});

describe("H-23: options", () => {
  it("that can't be used are refused by name", async () => {
    const usable = { stateDirectory: party.stateDirectory, binding: "desk" };
    const refused: readonly [object, string][] = [
      [{ binding: "" }, "binding"],
      [{ binding: "a\nb" }, "binding"],
      [{ stateDirectory: "" }, "stateDirectory"],
      [{ maxRequests: 0 }, "maxRequests"],
      [{ productPrefix: "a b" }, "productPrefix"],
      [{ stateDir: "x" }, "stateDir"],
    ];
    for (const [options, option] of refused) {
      await expect(serveStdio({ ...usable, ...options })).rejects.toMatchObject({
        code: "invalid_options",
        details: { option },
      });
    }
    const stateDirectory = `/${"d".repeat(200)}`;
    await expect(serveStdio({ ...usable, stateDirectory })).rejects.toMatchObject({
      code: "connect_failed",
      delivery: "not_sent",
      details: { reason: "path_too_long" },
    });
  });
});
