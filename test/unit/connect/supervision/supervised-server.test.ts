import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { deliveryOf, isRemoteConnectorError, RemoteConnectorError } from "../../../../src/errors.js";
import type { Settled } from "../../../../src/transport/index.js";
import { settle } from "../../../support/fake-clock.js";
import { Bench, exit, standing } from "./server-bench.js";

const ECHO = { name: "echo" };

/** The code of a call's error, and its verdict. */
async function verdict(call: Promise<unknown>): Promise<unknown> {
  const error = await standing(call);
  return isRemoteConnectorError(error) ? [error.code, deliveryOf(call)] : error;
}

describe("a supervised server", () => {
  it("L-16: is starting until its first list, and never ready without tools", async () => {
    const bench = new Bench();
    await settle();
    expect(bench.server.state).toEqual({ kind: "starting" });
    await bench.newest.initialize();
    expect(bench.server.state).toEqual({ kind: "starting" });
    expect(bench.kinds).toEqual([]);
    await bench.newest.give("a", "b");
    expect(bench.told).toEqual([["a", "b"], { kind: "ready", tools: 2 }]);
    await bench.server.close();
    expect(bench.clock.pending).toBe(0);
  });

  it("L-16: leaves one alone that is slow to initialize, for as long as it takes", async () => {
    const bench = new Bench();
    await bench.clock.advance(86_400_000);
    expect(bench.processes).toHaveLength(1);
    expect(bench.newest.opening.signal.aborted).toBe(false);
    expect(bench.server.state).toEqual({ kind: "starting" });
    await bench.newest.initialize();
    await bench.newest.give("late");
    expect(bench.server.state).toEqual({ kind: "ready", tools: 1 });
  });

  it("L-16: is degraded, and lives on, with a list that is empty or fails", async () => {
    const bench = new Bench();
    await settle();
    await bench.newest.initialize();
    await bench.newest.give();
    expect(bench.server.state).toEqual({ kind: "degraded", reason: "empty_list" });
    const call = bench.server.callTool(ECHO);
    expect(bench.newest.calls).toHaveLength(1);
    bench.newest.calls[0]?.answer("fine");
    await expect(call).resolves.toBe("fine");
    const error = new RemoteConnectorError("peer_error", {
      message: "no",
      details: { rpcCode: -32603, rpcMessage: "no", rpcData: undefined },
    });
    bench.newest.opening.onToolsChanged();
    await bench.clock.advance(0);
    bench.newest.lists[1]?.fail(error);
    await settle();
    expect(bench.server.state).toEqual({ kind: "degraded", reason: "list_failed", error });
    // It is asked again after long, and recovers without a restart.
    await bench.clock.advance(600_000);
    expect(bench.newest.lists).toHaveLength(3);
    await bench.newest.give("back");
    expect(bench.server.state).toEqual({ kind: "ready", tools: 1 });
    expect(bench.processes).toHaveLength(1);
    expect(bench.newest.closes).toBe(0);
  });

  it("L-16: gives every list its deadline", async () => {
    const bench = new Bench({ listTimeoutMs: 5_000 });
    await settle();
    await bench.newest.initialize();
    expect(bench.newest.lists[0]?.options).toMatchObject({ totalTimeoutMs: 5_000 });
  });

  it("L-16: is started again with growing pauses after its process died, once the old one is gone", async () => {
    const bench = await Bench.ready();
    const first = bench.newest;
    first.isStubborn = true;
    await first.die();
    expect(bench.server.state).toMatchObject({ kind: "offline", next: "restart", delayMs: 500 });
    await bench.clock.advance(500);
    expect(bench.server.state).toEqual({ kind: "starting" });
    // What of the old one is left could hold its port, or its lock.
    expect(bench.processes).toHaveLength(1);
    first.letGo();
    await settle();
    expect(bench.processes).toHaveLength(2);
    await bench.newest.die();
    expect(bench.server.state).toMatchObject({ kind: "offline", next: "restart", delayMs: 1_000 });
    await bench.clock.advance(1_000);
    await bench.newest.initialize();
    await bench.newest.give("again");
    expect(bench.kinds).toEqual(["echo", "ready", "offline", "starting", "offline", "starting", "again", "ready"]);
  });

  it("L-16: rests when the budget is used up; a user's restart, a call and a try now and then renew it", async () => {
    const options = { maxRestarts: 1, firstRestartDelayMs: 10, longestRestartDelayMs: 10, probeIntervalMs: 60_000 };
    const bench = new Bench(options);
    await settle();
    const spend = async (): Promise<void> => {
      await bench.newest.die();
      await bench.clock.advance(10);
      await bench.newest.die();
      expect(bench.server.state).toMatchObject({ kind: "offline", next: "probe" });
    };
    await spend();
    expect(bench.processes).toHaveLength(2);

    bench.server.restart();
    await settle();
    expect(bench.processes).toHaveLength(3);
    await spend();

    const call = bench.server.callTool(ECHO);
    await settle();
    expect(bench.processes).toHaveLength(5);
    expect(await standing(call)).toBe("pending");
    await spend();
    expect(await verdict(call)).toEqual(["process_exited", "not_sent"]);

    await bench.clock.advance(59_999);
    expect(bench.processes).toHaveLength(6);
    await bench.clock.advance(1);
    expect(bench.processes).toHaveLength(7);
    await bench.newest.initialize();
    await bench.newest.give("echo");
    await spend();
    expect(bench.processes).toHaveLength(8);
  });

  it("L-16: is not started again when restarts are off, but for the user", async () => {
    const bench = await Bench.ready({ restart: false });
    await bench.newest.die(exit(7));
    expect(bench.server.state).toMatchObject({ kind: "offline", next: "none", delayMs: undefined });
    expect(await verdict(bench.server.callTool(ECHO))).toEqual(["process_exited", "not_sent"]);
    await bench.clock.advance(86_400_000);
    expect(bench.processes).toHaveLength(1);
    bench.server.restart();
    await settle();
    expect(bench.processes).toHaveLength(2);
  });

  it("L-16: is not started again for what no start could do", async () => {
    const bench = new Bench();
    await settle();
    const details = { option: "cwd", reason: "must be a path" };
    await bench.newest.fail(new RemoteConnectorError("invalid_options", { message: "no", details }));
    expect(bench.server.state).toMatchObject({ kind: "offline", next: "none" });
  });

  it("L-16: takes what its port throws for the end of the start", async () => {
    const bench = new Bench();
    await settle();
    await bench.newest.fail("odd");
    expect(bench.server.state).toMatchObject({ kind: "offline", next: "restart", error: { code: "internal_error" } });
  });

  it("L-16: is switched off and on, and the end of what it was is waited for", async () => {
    const bench = await Bench.ready();
    const first = bench.newest;
    first.isStubborn = true;
    const call = bench.server.client();
    await expect(call).resolves.toBe(first);
    const off = bench.server.disable();
    expect(bench.server.state).toEqual({ kind: "disabled" });
    expect(first.closes).toBe(1);
    expect(await standing(off)).toBe("pending");
    first.letGo();
    await expect(off).resolves.toBeUndefined();
    bench.server.restart();
    await settle();
    expect(bench.processes).toHaveLength(1);
    bench.server.enable();
    bench.server.enable();
    await settle();
    expect(bench.processes).toHaveLength(2);
    await bench.server.close();
    bench.server.enable();
    bench.server.restart();
    await bench.clock.advance(86_400_000);
    expect(bench.processes).toHaveLength(2);
    expect(bench.clock.pending).toBe(0);
  });

  it("L-16: starts nothing when it is switched off before the old process is gone", async () => {
    const bench = await Bench.ready();
    const first = bench.newest;
    first.isStubborn = true;
    bench.server.restart();
    const off = bench.server.disable();
    first.letGo();
    await expect(off).resolves.toBeUndefined();
    expect(bench.processes).toHaveLength(1);
  });

  it("L-16: ends a start that it no longer wants, and closes what came of it all the same", async () => {
    const bench = new Bench();
    await settle();
    const first = bench.newest;
    bench.server.restart();
    await settle();
    expect(first.opening.signal.aborted).toBe(true);
    expect(bench.processes).toHaveLength(2);
    const second = bench.newest;
    // It is open in the very moment in which it is given up.
    const opened = second.initialize();
    const off = bench.server.disable();
    await opened;
    await expect(off).resolves.toBeUndefined();
    expect(second.closes).toBe(1);
    expect(bench.server.state).toEqual({ kind: "disabled" });
  });

  it("L-16: hears nothing more of a process that it gave up", async () => {
    const bench = await Bench.ready();
    const first = bench.newest;
    first.opening.onToolsChanged();
    await bench.clock.advance(0);
    bench.server.restart();
    await settle();
    first.opening.onToolsChanged();
    await first.give("ghost");
    await first.die();
    await bench.clock.advance(5_000);
    expect(bench.kinds).toEqual(["echo", "ready", "starting"]);
    expect(bench.newest.lists).toEqual([]);
  });

  it("L-16: a storm of 200 changes makes two lists at most, none of them inside the read loop", async () => {
    const bench = await Bench.ready();
    for (let n = 0; n < 200; n += 1) bench.newest.opening.onToolsChanged();
    expect(bench.newest.lists).toHaveLength(1);
    await bench.clock.advance(0);
    expect(bench.newest.lists).toHaveLength(2);
    // These come while the list is under way.
    for (let n = 0; n < 200; n += 1) bench.newest.opening.onToolsChanged();
    await bench.newest.give("b");
    await bench.clock.advance(60_000);
    expect(bench.newest.lists).toHaveLength(3);
    await bench.newest.give("c");
    await bench.clock.advance(60_000);
    expect(bench.newest.lists).toHaveLength(3);
    expect(bench.kinds).toEqual(["echo", "ready", "b", "c"]);
  });

  it("L-16: a change that came before the server was open is in its first list", async () => {
    const bench = new Bench();
    await settle();
    bench.newest.opening.onToolsChanged();
    expect(bench.newest.lists).toHaveLength(0);
    await bench.newest.initialize();
    expect(bench.newest.lists).toHaveLength(1);
    // One that comes while that is under way has a list of its own.
    bench.newest.opening.onToolsChanged();
    await bench.newest.give("a");
    await bench.clock.advance(0);
    expect(bench.newest.lists).toHaveLength(2);
  });

  it("L-16: a list that finds the process gone is its end, where nothing else tells of that", async () => {
    const bench = new Bench();
    await settle();
    await bench.newest.initialize();
    bench.newest.lists[0]?.fail(exit());
    await settle();
    expect(bench.server.state).toMatchObject({ kind: "offline", next: "restart" });
  });

  it("L-16: handlers that throw or reject are diagnostics, and may act on the server", async () => {
    const bench = new Bench({
      onState: ({ kind }) => {
        if (kind === "ready") bench.server.restart();
        throw new Error("state");
      },
      onTools: () => Promise.reject(new Error("tools")),
    });
    await settle();
    await bench.newest.initialize();
    await bench.newest.give("a");
    expect(bench.processes).toHaveLength(2);
    expect(bench.diagnostics.map(({ kind, subject }) => [kind, subject])).toEqual(
      expect.arrayContaining([
        ["handler_failed", "onState"],
        ["handler_failed", "onTools"],
      ]),
    );
  });
});

describe("a call of a supervised server", () => {
  it("L-16: waits for a start, and goes with what is left of its time", async () => {
    const bench = new Bench();
    const settled: Settled[] = [];
    const call = bench.server.callTool(ECHO, { totalTimeoutMs: 10_000, onSettled: (how) => settled.push(how) });
    await bench.clock.advance(4_000);
    await bench.newest.initialize();
    await bench.newest.give("echo");
    expect(bench.newest.calls[0]?.call).toBe(ECHO);
    expect(bench.newest.calls[0]?.options).toEqual({ totalTimeoutMs: 6_000 });
    bench.newest.calls[0]?.answer("done");
    await expect(call).resolves.toBe("done");
    expect(settled).toEqual([{ outcome: "resolved", delivery: "answered" }]);
  });

  it("L-16: waits for a restart within its own deadline, which is `timeout`, not sent, and says what holds it up", async () => {
    const bench = await Bench.ready();
    const gone = exit();
    await bench.newest.die(gone);
    const call = bench.server.callTool(ECHO, { connectTimeoutMs: 2_000 });
    await bench.clock.advance(500);
    expect(bench.processes).toHaveLength(2);
    await bench.clock.advance(1_499);
    expect(await standing(call)).toBe("pending");
    await bench.clock.advance(1);
    expect(await verdict(call)).toEqual(["timeout", "not_sent"]);
    await expect(call).rejects.toMatchObject({ cause: gone, details: { option: "connectTimeoutMs", limitMs: 2_000 } });
    const other = verdict(bench.server.client({ totalTimeoutMs: 300 }));
    bench.clock.step(300);
    expect(await other).toEqual(["timeout", "not_sent"]);
    await bench.newest.initialize();
    await bench.newest.give("echo");
    // What ended long ago holds nothing up.
    bench.server.restart();
    const last = expect(bench.server.client({ connectTimeoutMs: 10 })).rejects.not.toHaveProperty("cause");
    bench.clock.step(10);
    await last;
  });

  it("L-16: many of them wait behind one listener, and an abort is theirs alone", async () => {
    const bench = new Bench();
    const over = new AbortController();
    const { signal } = over;
    const waiting = Array.from({ length: 50 }, () => bench.server.callTool(ECHO, { signal }));
    const other = bench.server.client();
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    over.abort("enough");
    for (const call of waiting) {
      await expect(call).rejects.toBe("enough");
      expect(deliveryOf(call)).toBe("not_sent");
    }
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    expect(await verdict(bench.server.client({ signal }))).toBe("enough");
    await bench.newest.initialize();
    await bench.newest.give("echo");
    await expect(other).resolves.toBe(bench.newest);
    expect(await verdict(bench.server.client({ signal }))).toBe("enough");
    expect(bench.newest.calls).toHaveLength(0);
    expect(bench.clock.pending).toBe(0);
  });

  it("L-17: that doesn't wait fails with `not_ready` and the application's text, and one for a gone process otherwise", async () => {
    const bench = new Bench({ notReadyText: "The tools are being fetched.", enabled: false });
    const notReady = (state: string) => ({
      code: "not_ready",
      delivery: "not_sent",
      message: "The tools are being fetched.",
      details: { state, text: "The tools are being fetched." },
    });
    await expect(bench.server.callTool(ECHO)).rejects.toMatchObject(notReady("disabled"));
    bench.server.enable();
    await settle();
    const now = { waits: false };
    await expect(bench.server.callTool(ECHO, now)).rejects.toMatchObject(notReady("starting"));
    await bench.newest.initialize();
    await expect(bench.server.client(now)).rejects.toMatchObject(notReady("starting"));
    const waiting = bench.server.callTool(ECHO);
    await bench.newest.give("echo");
    await expect(bench.server.client(now)).resolves.toBe(bench.newest);
    bench.newest.calls[0]?.answer("waited");
    await expect(waiting).resolves.toBe("waited");
    await bench.newest.die(exit(9));
    const call = bench.server.callTool(ECHO, now);
    expect(await verdict(call)).toEqual(["process_exited", "not_sent"]);
    await expect(call).rejects.toMatchObject({ details: { exitCode: 9 } });
    expect(bench.server.state.kind).toBe("offline");
  });

  it("L-16: that doesn't wait renews a budget that is used up all the same", async () => {
    const bench = new Bench({ maxRestarts: 0 });
    await settle();
    await bench.newest.die();
    expect(await verdict(bench.server.callTool(ECHO, { waits: false }))).toEqual(["process_exited", "not_sent"]);
    await settle();
    expect(bench.processes).toHaveLength(2);
  });

  it("L-16: may be made while a state is told of", async () => {
    const calls: Promise<unknown>[] = [];
    const bench = new Bench({
      maxRestarts: 0,
      onState: ({ kind }) => {
        if (kind === "offline" && calls.length === 0) calls.push(bench.server.callTool(ECHO));
      },
    });
    await settle();
    await bench.newest.die();
    expect(bench.processes).toHaveLength(2);
    await bench.newest.initialize();
    await bench.newest.give("echo");
    bench.newest.calls[0]?.answer("made");
    await expect(calls[0]).resolves.toBe("made");
  });

  it("L-16: may act on the server in the moment in which it is made; states are told in their order", async () => {
    const bench = new Bench();
    const call = bench.server.use((client) => {
      bench.server.restart();
      return Promise.resolve(client);
    });
    await settle();
    const first = bench.newest;
    await first.initialize();
    await first.give("echo");
    await expect(call).resolves.toBe(first);
    expect(bench.kinds).toEqual(["echo", "ready", "starting"]);
  });

  it("L-16: that waits is refused when the server is switched off or closed", async () => {
    const bench = new Bench();
    const first = bench.server.callTool(ECHO);
    await bench.server.disable();
    expect(await verdict(first)).toEqual(["not_ready", "not_sent"]);
    bench.server.enable();
    const second = bench.server.callTool(ECHO);
    await bench.server.close();
    expect(await verdict(second)).toEqual(["cancelled", "not_sent"]);
    expect(await verdict(bench.server.callTool(ECHO))).toEqual(["cancelled", "not_sent"]);
  });

  it("L-16: is refused when too many wait, by the option that allows more", async () => {
    const bench = new Bench({ maxWaitingCalls: 2 });
    const waiting = [bench.server.client(), bench.server.client()];
    const call = bench.server.client();
    expect(await verdict(call)).toEqual(["limit_exceeded", "not_sent"]);
    await expect(call).rejects.toMatchObject({ details: { option: "maxWaitingCalls", limit: 2 } });
    const over = new AbortController();
    await bench.server.disable();
    await Promise.allSettled(waiting);
    bench.server.enable();
    // Those that are over make room.
    const next = [bench.server.client({ signal: over.signal }), bench.server.client()];
    next[1]?.catch(() => undefined);
    over.abort();
    await expect(next[0]).rejects.toBe(over.signal.reason);
    expect(await standing(bench.server.client())).toBe("pending");
    await bench.server.close();
    await expect(next[1]).rejects.toMatchObject({ code: "cancelled" });
  });

  it("F-1: that finds its process gone before it was sent is made once more, on the next process", async () => {
    const bench = await Bench.ready();
    const call = bench.server.callTool(ECHO);
    bench.newest.calls[0]?.fail(exit());
    await settle();
    expect(bench.server.state).toMatchObject({ kind: "offline", next: "restart" });
    await bench.clock.advance(500);
    await bench.newest.initialize();
    await bench.newest.give("echo");
    expect(bench.newest.calls).toHaveLength(1);
    bench.newest.calls[0]?.fail(exit(2));
    expect(await verdict(call)).toEqual(["process_exited", "not_sent"]);
    expect(bench.server.state).toMatchObject({ kind: "offline", error: { details: { exitCode: 2 } } });
  });

  it("F-1: that was given to a process which died is not made again", async () => {
    const bench = await Bench.ready();
    const settled: Settled[] = [];
    const call = bench.server.callTool(ECHO, { onSettled: (how) => settled.push(how) });
    const { message, details } = exit();
    bench.newest.calls[0]?.fail(new RemoteConnectorError("process_exited", { message, details, delivery: "unknown" }));
    expect(await verdict(call)).toEqual(["process_exited", "unknown"]);
    expect(settled).toMatchObject([{ outcome: "rejected", delivery: "unknown" }]);
    expect(bench.server.state.kind).toBe("offline");
  });

  it("hands on any other failure as it is, a throw included", async () => {
    const bench = await Bench.ready();
    const failed = bench.server.callTool(ECHO);
    bench.newest.calls[0]?.fail("reason");
    await expect(failed).rejects.toBe("reason");
    expect(deliveryOf(failed)).toBe("unknown");
    const thrown = bench.server.use(() => {
      throw new Error("thrown");
    });
    await expect(thrown).rejects.toThrow("thrown");
    expect(bench.server.state.kind).toBe("ready");
  });

  it.each([
    ["waits", { waits: "no" }],
    ["connectTimeoutMs", { connectTimeoutMs: 0 }],
    ["totalTimeoutMs", { totalTimeoutMs: -1 }],
  ])("is refused for a %s that can't be meant", async (option, options) => {
    const bench = await Bench.ready();
    const callTool = Reflect.get(bench.server, "callTool");
    const call: Promise<unknown> = Reflect.apply(callTool, bench.server, [ECHO, options]);
    expect(await verdict(call)).toEqual(["invalid_options", "not_sent"]);
    await expect(call).rejects.toMatchObject({ details: { option } });
    expect(bench.newest.calls).toHaveLength(0);
  });
});
