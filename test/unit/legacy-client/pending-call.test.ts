import { describe, expect, it } from "vitest";
import { deliveryOf, RemoteConnectorError } from "../../../src/errors.js";
import type { CallSpec } from "../../../src/legacy-client/connection.js";
import { type CallHost, type OpenCall, PendingCall } from "../../../src/legacy-client/pending-call.js";
import { readResult } from "../../../src/legacy-client/read-answer.js";
import type { Diagnostic, JsonObject } from "../../../src/protocol/index.js";
import { Lifetimes, Telemetry } from "../../../src/transport/index.js";
import { FakeClock } from "../../support/fake-clock.js";

/** What a call sees of a connection, written down. */
class Host implements CallHost {
  readonly clock = new FakeClock();
  readonly lifetimes = new Lifetimes(this.clock);
  readonly log: string[] = [];
  readonly diagnostics: Diagnostic[] = [];

  readonly telemetry = new Telemetry({ tracing: "off", logger: undefined }, "stdio:test", this.clock);

  revision(): undefined {
    return undefined;
  }

  now(): number {
    return this.clock.now();
  }

  onSending(call: OpenCall): void {
    this.log.push(`sending ${String(call.id)}`);
  }

  onSettled(call: OpenCall): void {
    this.log.push(`settled ${String(call.id)}`);
  }

  onSendFailed(call: OpenCall, cause: Error): void {
    this.log.push(`send failed ${String(call.id)}: ${cause.message}`);
  }

  cancelRequest(id: number): void {
    this.log.push(`cancel ${String(id)}`);
  }

  report(diagnostic: Diagnostic): void {
    this.diagnostics.push(diagnostic);
  }
}

const SENT = '{"jsonrpc":"2.0","id":4,"method":"m"}';
const LINE = new TextEncoder().encode('{"result":{}}');

function start(spec: Partial<CallSpec<JsonObject>> = {}, host = new Host()) {
  const limits = { connectTimeoutMs: 1_000, idleTimeoutMs: 5_000, totalTimeoutMs: 60_000 };
  const request = { method: "m", params: undefined, meta: undefined };
  const call = new PendingCall<JsonObject>(
    4,
    { ...request, cancellable: true, limits, totalOption: "totalTimeoutMs", read: readResult, ...spec },
    host,
  );
  // Looked at later; until then it must not count as unhandled.
  const outcome = call.promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  return { call, host, outcome, begun: call.begin() };
}

function failure(code: string, delivery: string, details: object = {}): unknown {
  return { error: expect.objectContaining({ code, delivery, details: expect.objectContaining(details) }) };
}

describe("PendingCall", () => {
  it("resolves with the answer, and leaves neither timer nor listener", async () => {
    const { call, host, outcome } = start();
    expect(call.take()).toBe(SENT);
    call.onAnswer({ kind: "result", result: { a: 1 } }, LINE, undefined);
    expect(await outcome).toEqual({ value: { a: 1 } });
    expect(host.log).toEqual(["sending 4", "settled 4"]);
    expect(host.clock.pending).toBe(0);
    expect(host.lifetimes.size).toBe(0);
  });

  it("F-3: rejects with the server's error: answered", async () => {
    const { call, outcome } = start();
    call.take();
    call.onAnswer({ kind: "error", error: { code: -32050, message: "m", data: [1] } }, LINE, undefined);
    const details = { rpcCode: -32050, rpcMessage: "m", rpcData: [1] };
    expect(await outcome).toEqual(failure("peer_error", "answered", details));
  });

  it("W-11: rejects an invalid answer: unknown", async () => {
    const { call, outcome } = start();
    call.take();
    call.onAnswer({ kind: "invalid", reason: "r" }, LINE, undefined);
    expect(await outcome).toEqual(failure("invalid_answer", "unknown", { reason: "r" }));
    expect(deliveryOf(call.promise)).toBe("unknown");
  });

  it("settles with a fault of its reader, too", async () => {
    const cause = new TypeError("bug");
    const read = (): never => {
      throw cause;
    };
    const { call, outcome } = start({ read });
    call.take();
    call.onAnswer({ kind: "result", result: {} }, LINE, undefined);
    expect(await outcome).toEqual({ error: expect.objectContaining({ code: "internal_error", cause }) });
  });

  it.each([
    ["before", false, "not_sent", ["settled 4"]],
    ["after", true, "unknown", ["sending 4", "cancel 4", "settled 4"]],
  ])("F-2, L-7: an abort %s the line was handed over", async (_name, taken, delivery, log) => {
    for (const reason of [new Error("enough"), "enough", 0, null]) {
      const controller = new AbortController();
      const limits = { connectTimeoutMs: 1, idleTimeoutMs: 1, totalTimeoutMs: 1, signal: controller.signal };
      const { call, host, outcome } = start({ limits });
      if (taken) call.take();
      controller.abort(reason);
      expect(await outcome).toEqual({ error: reason });
      expect(deliveryOf(call.promise)).toBe(delivery);
      expect(host.log).toEqual(log);
      expect(host.clock.pending).toBe(0);
    }
  });

  it("F-2: a signal that fired before sends nothing", async () => {
    const reason = new Error("enough");
    const limits = { connectTimeoutMs: 1, idleTimeoutMs: 1, totalTimeoutMs: 1, signal: AbortSignal.abort(reason) };
    const { call, host, outcome, begun } = start({ limits });
    expect(begun).toBe(false);
    expect(call.take()).toBeUndefined();
    expect(await outcome).toEqual({ error: reason });
    expect(deliveryOf(call.promise)).toBe("not_sent");
    expect(host.log).toEqual(["settled 4"]);
  });

  it("F-7: passes the connect deadline while the server does not read: not_sent", async () => {
    const { call, host, outcome } = start();
    call.touch();
    await host.clock.advance(1_500);
    const details = { phase: "connect", option: "connectTimeoutMs", limitMs: 1_000 };
    expect(await outcome).toEqual(failure("timeout", "not_sent", details));
    expect(call.take()).toBeUndefined();
    expect(host.log).toEqual(["settled 4"]);
  });

  it("F-7, L-7: passes the idle deadline in silence: unknown, and the server is told", async () => {
    const { call, host, outcome } = start();
    call.take();
    await host.clock.advance(4_000);
    call.touch();
    await host.clock.advance(4_000);
    expect(host.log).toEqual(["sending 4"]);
    await host.clock.advance(2_000);
    const details = { phase: "idle", option: "idleTimeoutMs", limitMs: 5_000 };
    expect(await outcome).toEqual(failure("timeout", "unknown", details));
    expect(host.log).toEqual(["sending 4", "cancel 4", "settled 4"]);
  });

  it("F-7: passes the total deadline in spite of signs of life, and names the option that set it", async () => {
    const { call, host, outcome } = start({ totalTimeoutMs: 90_000, totalOption: "lifecycleTimeoutMs" });
    call.take();
    for (let n = 0; n < 20; n += 1) {
      await host.clock.advance(4_000);
      call.touch();
    }
    const details = { phase: "total", option: "lifecycleTimeoutMs", limitMs: 90_000 };
    expect(await outcome).toEqual(failure("timeout", "unknown", details));
  });

  it("L-7: never cancels what must not be cancelled", async () => {
    const { call, host, outcome } = start({ cancellable: false });
    call.take();
    await host.clock.advance(6_000);
    expect(await outcome).toEqual(failure("timeout", "unknown"));
    expect(host.log).toEqual(["sending 4", "settled 4"]);
  });

  it("asks admit in the last moment; a reason refuses: not_sent", async () => {
    const asked: string[] = [];
    const admit = (): string | undefined => {
      asked.push("asked");
      return "revoked";
    };
    const { call, host, outcome } = start({ admit });
    expect(asked).toEqual([]);
    expect(call.take()).toBeUndefined();
    expect(asked).toEqual(["asked"]);
    expect(await outcome).toEqual(failure("not_admitted", "not_sent", { reason: "revoked" }));
    expect(host.log).toEqual(["settled 4"]);
  });

  it.each<[string, (() => string | undefined) | undefined, string | undefined]>([
    ["permits", () => undefined, SENT],
    ["gives an empty reason", () => "", undefined],
    [
      "throws",
      () => {
        throw new Error("x");
      },
      undefined,
    ],
  ])("asks admit, which %s", async (_name, admit, line) => {
    const { call, outcome } = start({ admit });
    expect(call.take()).toBe(line);
    if (line === undefined) expect(await outcome).toEqual(failure("not_admitted", "not_sent"));
  });

  it.each([
    [false, "not_sent"],
    [true, "unknown"],
  ])("F-1: its end from outside has the verdict of the moment (handed over: %s)", async (taken, delivery) => {
    const { call, host, outcome } = start();
    if (taken) call.take();
    await host.clock.advance(700);
    const details = { exitCode: 1, signal: undefined, stderrTail: "" };
    call.failWith(new RemoteConnectorError("process_exited", { message: "gone", delivery: "answered", details }));
    const evidence = { handedOver: taken, headersSeen: false, messages: 0, elapsedMs: 700, attempts: 1 };
    expect(await outcome).toEqual(failure("process_exited", delivery, { evidence }));
  });

  it("is settled once: what comes later changes nothing", async () => {
    const { call, host, outcome } = start({ onProgress: () => host.log.push("progress") });
    call.take();
    call.onAnswer({ kind: "result", result: { a: 1 } }, LINE, undefined);
    call.onAnswer({ kind: "result", result: { a: 2 } }, LINE, undefined);
    call.onProgress({ progress: 1 });
    call.failed(new Error("late"));
    call.fail("cancelled", "late", { reason: "late" });
    await host.clock.advance(100_000);
    expect(await outcome).toEqual({ value: { a: 1 } });
    expect(host.log).toEqual(["sending 4", "settled 4"]);
  });

  it("L-14: passes a failed write on", () => {
    const { call, host } = start();
    call.take();
    call.failed(new Error("EPIPE"));
    expect(host.log).toEqual(["sending 4", "send failed 4: EPIPE"]);
  });

  it("W-18: passes progress on, which keeps the call alive; what does not increase is reported once", async () => {
    const seen: unknown[] = [];
    const { call, host, outcome } = start({ onProgress: (progress) => seen.push(progress.progress) });
    call.take();
    for (const progress of [0, 1, 1, 0.5]) {
      await host.clock.advance(4_000);
      call.onProgress({ progress });
    }
    call.onAnswer({ kind: "result", result: {} }, LINE, undefined);
    expect(await outcome).toEqual({ value: {} });
    expect(seen).toEqual([0, 1, 1, 0.5]);
    expect(host.diagnostics.map(({ kind }) => kind)).toEqual(["progress_not_increasing"]);
  });

  it("W-14: a handler that throws or rejects is a diagnostic", async () => {
    const { call, host, outcome } = start({
      onProgress: () => {
        throw new Error("x");
      },
      onNotification: (): unknown => Promise.reject(new Error("y")),
    });
    call.take();
    call.onProgress({ progress: 1 });
    call.onNotification({ method: "n", params: undefined });
    await host.clock.advance(0);
    call.onAnswer({ kind: "result", result: {} }, LINE, undefined);
    expect(await outcome).toEqual({ value: {} });
    expect(host.diagnostics).toMatchObject([
      { kind: "handler_failed", subject: "onProgress" },
      { kind: "handler_failed", subject: "onNotification" },
    ]);
  });

  it("hears of no notification that came before it was sent", () => {
    const seen: unknown[] = [];
    const { call } = start({ onNotification: (notification) => seen.push(notification.method) });
    call.onNotification({ method: "early", params: undefined });
    call.take();
    call.onNotification({ method: "in time", params: undefined });
    expect(seen).toEqual(["in time"]);
  });

  it("W-45: gives its reader the line and what was tolerated", async () => {
    const { call, host, outcome } = start({
      read: (received) => {
        received.note({ kind: "entry_dropped", message: "e" });
        return { line: received.line, kinds: received.diagnostics.map(({ kind }) => kind) };
      },
    });
    call.take();
    call.onAnswer({ kind: "result", result: {} }, LINE, { kind: "id_echoed_as_string", message: "i" });
    expect(await outcome).toEqual({ value: { line: LINE, kinds: ["id_echoed_as_string", "entry_dropped"] } });
    expect(host.diagnostics.map(({ kind }) => kind)).toEqual(["id_echoed_as_string", "entry_dropped"]);
  });
});
