import { describe, expect, it } from "vitest";
import type {
  LocalServerOptions,
  ToolCall,
  UpstreamAnswer,
} from "../../../../src/connector-host/local-server/index.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { answerOf, type FixedDirectory, HELLO, says } from "./fixed-directory.js";
import { FixedResources } from "./fixed-offers.js";
import {
  call,
  cuttingProxy,
  eventsIn,
  messagesIn,
  type OpenStream,
  type RawEvent,
  SessionAgent,
} from "./session-agent.js";
import { gate, start } from "./start.js";

const KEY = "sh.tutti/delivery";
const PROGRESS = { progressToken: "p" };

async function open(
  prepare: (directory: FixedDirectory) => unknown = () => undefined,
  options: Partial<LocalServerOptions> = {},
  revision = "2025-11-25",
) {
  const started = await start(prepare, options);
  return { ...started, session: await SessionAgent.open(started.agent, revision) };
}

/** A tool that makes progress at once and goes on when it is told to. */
function steps() {
  const going = { go: gate(), aborted: 0 };
  const run = async ({ onProgress, signal }: ToolCall): Promise<UpstreamAnswer> => {
    onProgress?.({ progress: 1 });
    await new Promise<void>((resolve, reject) => {
      void going.go.opened.then(resolve);
      signal.addEventListener("abort", () => {
        going.aborted += 1;
        reject(signal.reason);
      });
    });
    onProgress?.({ progress: 2 });
    return answerOf(HELLO);
  };
  return { run, going };
}

const progress = (value: number) => ({
  jsonrpc: "2.0",
  method: "notifications/progress",
  params: { ...PROGRESS, progress: value },
});
const hello = (id: unknown) => ({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "hello" }] } });
const toolsChanged = { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: {} };

/** The messages of a stream until its end. */
async function rest(stream: OpenStream): Promise<unknown[]> {
  const messages: unknown[] = [];
  for (;;) {
    const next = await stream.message();
    if (next === "end") return messages;
    messages.push(next.message);
  }
}

/** Sends a request, and returns all that comes until its connection is lost. */
async function read(session: SessionAgent, message: object, url: string): Promise<string> {
  let text = "";
  try {
    const response = await session.send(message, url);
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString("utf8");
  } catch {
    // It was cut.
  }
  return text;
}

/** The id of the next message, and the connection lost right after it. */
async function lastSeen(stream: OpenStream, leaving: AbortController): Promise<string> {
  const next = await stream.message();
  leaving.abort();
  if (next === "end" || next.id === undefined) throw new Error("No event with an id");
  return next.id;
}

async function idOf(stream: OpenStream): Promise<string> {
  const event: RawEvent | "end" = await stream.next();
  if (event === "end" || event.id === undefined) throw new Error("No event with an id");
  return event.id;
}

describe("H-22: the stream of a call that was cut", () => {
  it.each(["in its middle", "at its end"])("%s, at any byte, goes on where it was, and runs once", async (where) => {
    let going = gate();
    const run = async ({ onProgress }: ToolCall): Promise<UpstreamAnswer> => {
      for (const each of [1, 2]) onProgress?.({ progress: each });
      if (where === "in its middle") await going.opened;
      onProgress?.({ progress: 3 });
      return answerOf(HELLO);
    };
    const { agent, directory, session } = await open((tools) => tools.add("a_x", run));
    const proxy = await cuttingProxy(agent.url);
    /** Calls, lets the tool go on when nothing more comes without it, and returns all that came. */
    const begin = async (id: number, cutAfter: number): Promise<string> => {
      going = gate();
      proxy.cutNext(cutAfter);
      const reading = read(session, call("a_x", id, PROGRESS), proxy.url);
      if (where === "in its middle") {
        const waits = (): boolean => proxy.seen.length >= cutAfter || /"progress":2\D[^]*\n\n/.test(proxy.seen);
        await expect.poll(waits, { interval: 1 }).toBe(true);
      }
      going.open();
      return reading;
    };
    const whole = await begin(100, Infinity);
    const { length } = proxy.seen;
    const wanted = messagesIn(eventsIn(whole).events);
    expect(wanted).toEqual([progress(1), progress(2), progress(3), hello(100)]);
    let tried = 0;
    let resumed = 0;
    for (let cutAfter = length - whole.length - 50; cutAfter < length; cutAfter += 11) {
      const id = cutAfter;
      const before = directory.calls.length;
      tried += 1;
      const seen = eventsIn(await begin(id, cutAfter)).events;
      expect(directory.calls).toHaveLength(before + 1);
      const last = seen.findLast((event) => event.id !== undefined)?.id;
      if (last === undefined) continue;
      resumed += 1;
      const after = await rest(await session.listen(last));
      expect([...messagesIn(seen), ...after]).toEqual([progress(1), progress(2), progress(3), hello(id)]);
      expect(directory.calls).toHaveLength(before + 1);
    }
    expect([proxy.cuts, resumed > 30, tried > resumed]).toEqual([tried, true, true]);
  });

  it("is no cancellation, and it can be cut again and again", async () => {
    const { run, going } = steps();
    const { directory, session } = await open((tools) => tools.add("a_x", run));
    let leaving = new AbortController();
    let stream = await session.open(call("a_x", 1, PROGRESS), leaving.signal);
    let last = await lastSeen(stream, leaving);
    for (let times = 0; times < 3; times += 1) {
      leaving = new AbortController();
      stream = await session.listen(last, leaving.signal);
      last = await idOf(stream);
      leaving.abort();
    }
    stream = await session.listen(last);
    await idOf(stream);
    going.go.open();
    expect(await rest(stream)).toEqual([progress(2), hello(1)]);
    expect([directory.calls.length, going.aborted]).toEqual([1, 0]);
  });

  it("hands over from a connection that only seems to be there", async () => {
    const { run, going } = steps();
    const { session } = await open((tools) => tools.add("a_x", run));
    const first = await session.open(call("a_x", 1, PROGRESS));
    const seen = await first.message();
    if (seen === "end") throw new Error("ended");
    const second = await session.listen(seen.id);
    await idOf(second);
    going.go.open();
    expect(await rest(second)).toEqual([progress(2), hello(1)]);
    expect(await rest(first)).toEqual([]);
  });

  it("is ended with its bearer after it was handed over", async () => {
    const { run, going } = steps();
    const { agent, session } = await open((tools) => tools.add("a_x", run));
    const first = await session.open(call("a_x", 1, PROGRESS));
    const seen = await first.message();
    const second = await session.listen(seen === "end" ? "" : seen.id);
    await idOf(second);
    expect(await rest(first)).toEqual([]);
    agent.revoke();
    expect(await rest(second)).toMatchObject([
      { id: 1, error: { data: { [KEY]: { code: "cancelled", reason: "binding_ended" } } } },
    ]);
    expect(going.aborted).toBe(1);
  });

  it("still hears of a cancellation", async () => {
    const { run, going } = steps();
    const { session } = await open((tools) => tools.add("a_x", run));
    const leaving = new AbortController();
    const last = await lastSeen(await session.open(call("a_x", 1, PROGRESS), leaving.signal), leaving);
    await session.post({ method: "notifications/cancelled", params: { requestId: 1 } });
    await expect.poll(() => going.aborted).toBe(1);
    expect(await rest(await session.listen(last))).toMatchObject([
      { id: 1, error: { data: { [KEY]: { code: "cancelled", reason: "agent_cancelled" } } } },
    ]);
  });

  it("runs on for its window, and no longer", async () => {
    const clock = new FakeClock();
    const { run, going } = steps();
    const { session } = await open((tools) => tools.add("a_x", run), { clock, resumeWindowMs: 10_000 });
    const leaving = new AbortController();
    const last = await lastSeen(await session.open(call("a_x", 1, PROGRESS), leaving.signal), leaving);
    // Come back once, so that the window begins anew with the next loss.
    const again = new AbortController();
    const resumed = await session.listen(last, again.signal);
    const later = await idOf(resumed);
    for (let seconds = 0; seconds < 20; seconds += 1) clock.step(1_000);
    expect(going.aborted).toBe(0);
    again.abort();
    await expect.poll(() => (clock.step(1_000), going.aborted), { interval: 1 }).toBe(1);
    expect(await rest(await session.listen(later))).toMatchObject([
      { error: { data: { [KEY]: { code: "cancelled", delivery: "unknown", reason: "agent_left" } } } },
    ]);
  });

  it("gets its answer when it ended while nobody was there", async () => {
    const { run, going } = steps();
    const { session, directory } = await open((tools) => tools.add("a_x", run));
    const leaving = new AbortController();
    const last = await lastSeen(await session.open(call("a_x", "z", PROGRESS), leaving.signal), leaving);
    going.go.open();
    await expect.poll(async () => rest(await session.listen(last))).toEqual([progress(2), hello("z")]);
    // It is no secret between two readers: whoever comes again gets it again.
    expect(await rest(await session.listen(last))).toEqual([progress(2), hello("z")]);
    expect(directory.calls).toHaveLength(1);
  });

  it.each<[string, Partial<LocalServerOptions>, number]>([
    ["it has too many bytes", { maxStreamBytes: 40 }, 0],
    ["all of them have too many bytes", { maxKeptBytes: 100 }, 0],
    ["too much time has passed", {}, 61_000],
  ])("H-16: is told that its answer is gone when %s", async (_why, options, laterMs) => {
    const clock = new FakeClock();
    const { run, going } = steps();
    const { session, directory } = await open((tools) => tools.add("a_x", run), { clock, ...options });
    const leaving = new AbortController();
    const last = await lastSeen(await session.open(call("a_x", 1, PROGRESS), leaving.signal), leaving);
    going.go.open();
    await new Promise(setImmediate);
    clock.step(laterMs);
    const gone = { code: "limit_exceeded", delivery: "unknown", option: "maxStreamBytes" };
    expect(await rest(await session.listen(last))).toMatchObject([{ id: 1, error: { data: { [KEY]: gone } } }]);
    expect(directory.calls).toHaveLength(1);
  });

  it("H-16: misses old progress when there was too much, and not the answer", async () => {
    const going = gate();
    const { session } = await open(
      (tools) =>
        tools.add("a_x", async ({ onProgress }) => {
          onProgress?.({ progress: 0 });
          await going.opened;
          for (let each = 1; each <= 10; each += 1) onProgress?.({ progress: each });
          return answerOf(HELLO);
        }),
      { maxStreamEvents: 3 },
    );
    const leaving = new AbortController();
    const last = await lastSeen(await session.open(call("a_x", 1, PROGRESS), leaving.signal), leaving);
    going.open();
    await new Promise(setImmediate);
    expect(await rest(await session.listen(last))).toEqual([progress(9), progress(10), hello(1)]);
  });

  it("becomes one that can be resumed when it takes long, at the revision that has a way to say so", async () => {
    const clock = new FakeClock();
    const waits = gate();
    const { agent, directory, session } = await open(
      (tools) => tools.add("a_x", async () => (await waits.opened, answerOf(HELLO))),
      { clock },
    );
    const leaving = new AbortController();
    const opening = session.open(call("a_x", 1), leaving.signal);
    const older = (await SessionAgent.open(agent, "2025-06-18")).open(call("a_x", 2));
    await expect.poll(() => directory.calls.length).toBe(2);
    clock.step(1_000);
    const stream = await opening;
    const first = await stream.next();
    expect(first).toEqual({ id: expect.any(String) as unknown, retry: "1000", data: "" });
    leaving.abort();
    waits.open();
    const id = first === "end" ? "" : first.id;
    await expect.poll(async () => rest(await session.listen(id))).toEqual([hello(1)]);
    expect((await older).response.headers.get("content-type")).toBe("application/json");
    expect(directory.calls).toHaveLength(2);
  });
});

describe("H-26: a call that can't be resumed", () => {
  it("ends when its agent leaves, in a session too", async () => {
    const { run, going } = steps();
    const { session, directory } = await open((tools) => tools.add("a_x", run));
    const leaving = new AbortController();
    const calling = session.open(call("a_x", 1), leaving.signal);
    await expect.poll(() => directory.calls.length).toBe(1);
    leaving.abort();
    await expect(calling).rejects.toThrow();
    await expect.poll(() => going.aborted).toBe(1);
  });
});

describe("H-22: the listening stream that was cut", () => {
  it("goes on after the last event that was seen", async () => {
    const { server, session } = await open();
    const leaving = new AbortController();
    const first = await session.listen(undefined, leaving.signal);
    server.notifyListChanged("tools");
    server.notifyListChanged("tools");
    const last = await lastSeen(first, leaving);
    server.notifyListChanged("tools");
    const second = await session.listen(last);
    // No event without a message comes first: whoever came back to it would miss what follows.
    const next = await second.next();
    expect([next === "end" ? next : next.data, await second.message()]).toMatchObject([
      JSON.stringify(toolsChanged),
      { message: toolsChanged },
    ]);
  });

  it("gives what nobody took to an agent that comes without an id", async () => {
    const { directory, session } = await open(
      (tools) => (tools.resources = new FixedResources().add("a:1", says("{}"))),
      {},
      "2025-06-18",
    );
    await session.ask("resources/subscribe", { uri: "a:1" });
    directory.resources?.update("a:1");
    const first = await session.listen();
    expect(await first.message()).toMatchObject({ message: { params: { uri: "a:1" } } });
    const second = await session.listen();
    directory.resources?.update("a:1");
    expect(await second.message()).toMatchObject({ message: { params: { uri: "a:1" } } });
    expect(await rest(first)).toEqual([]);
  });

  it("H-16: tells that everything may have changed when too much was missed", async () => {
    const { directory, server, session } = await open(
      (tools) => (tools.resources = new FixedResources().add("a:1", says("{}"))),
      { maxStreamEvents: 2 },
    );
    await session.ask("resources/subscribe", { uri: "a:1" });
    const leaving = new AbortController();
    const last = await lastSeenAfter(session, leaving);
    for (let times = 0; times < 5; times += 1) server.notifyListChanged("tools");
    directory.resources?.update("a:1");
    const stream = await session.listen(last);
    const seen: unknown[] = [];
    for (let count = 0; count < 5; count += 1) {
      const next = await stream.message();
      seen.push(next === "end" ? next : next.message.method);
    }
    expect(seen.slice(2)).toEqual([
      "notifications/tools/list_changed",
      "notifications/resources/list_changed",
      "notifications/resources/updated",
    ]);
  });

  it("H-16: is not told any more after its window, and then that everything may have changed", async () => {
    const clock = new FakeClock();
    const { server, session } = await open(undefined, { clock });
    const leaving = new AbortController();
    const last = await lastSeenAfter(session, leaving);
    // Once nobody listens any more, the next thing that is due is the end of an idle session.
    await expect.poll(() => (clock.step(60_000), clock.dueInMs), { interval: 1 }).toBeGreaterThan(1_000);
    server.notifyListChanged("tools");
    const stream = await session.listen(last);
    expect(await stream.message()).toMatchObject({ message: toolsChanged });
    server.notifyListChanged("tools");
    expect(await stream.message()).toMatchObject({ message: toolsChanged });
  });

  it("refuses an id that nobody here gave, and one of another session", async () => {
    const { agent, session } = await open();
    const other = await (await SessionAgent.open(agent)).listen();
    const foreign = await idOf(other);
    const mine = await session.listen();
    const place = await idOf(mine);
    const beyond = place.replace(/\d+$/, "99");
    const unknown = place.replace(/\d+\.\d+$/, "7.1");
    for (const id of ["x", foreign, beyond, unknown]) {
      const { response } = await session.listen(id);
      expect([response.status, response.headers.get("content-type")]).toEqual([400, "application/json"]);
    }
  });
});

/** Listens until the first event, and leaves. */
async function lastSeenAfter(session: SessionAgent, leaving: AbortController): Promise<string> {
  const id = await idOf(await session.listen(undefined, leaving.signal));
  leaving.abort();
  return id;
}
