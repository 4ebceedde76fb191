import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Delivery, RemoteConnectorError } from "../../../../src/errors.js";
import type { StdioMessage } from "../../../../src/modern-client/stdio/stdio-message.js";
import { StdioNotice, StdioRequest } from "../../../../src/modern-client/stdio/stdio-request.js";
import { closedError, Lifetimes, RequestSlots } from "../../../../src/transport/index.js";
import { FakeClock } from "../../../support/fake-clock.js";

class Scene {
  readonly clock = new FakeClock();
  readonly lifetimes = new Lifetimes(this.clock);
  readonly slots: RequestSlots;
  readonly log: string[] = [];
  cause: unknown;

  constructor(maxConcurrentRequests = 1) {
    this.slots = new RequestSlots({ maxConcurrentRequests, maxQueuedRequests: 1 });
  }

  readonly host = {
    clock: this.clock,
    lifetimes: this.lifetimes,
    onTurn: () => void this.log.push("turn"),
    onSending: () => void this.log.push("sending"),
    onSendFailed: () => void this.log.push("send failed"),
    onEnded: (_message: StdioMessage, tell: boolean) => void this.log.push(tell ? "cancel" : "ended"),
    holdup: () => this.cause,
  };
  readonly owner = {
    onNotification: (method: string) => void this.log.push(method),
    onVerdict: ({ kind }: { kind: string }) => void this.log.push(kind),
    onTaken: () => void this.log.push("taken"),
    onRefusal: () => undefined,
    note: () => undefined,
    onAbort: (reason: unknown, delivery: Delivery) => void this.log.push(`abort ${String(reason)} ${delivery}`),
    onFailure: (error: RemoteConnectorError) => {
      this.cause = error.cause;
      this.log.push(`${error.code} ${error.delivery}`);
    },
  };

  message(more: { signal?: AbortSignal; admit?: () => string | undefined; isLong?: boolean; body?: string } = {}) {
    const { signal, admit, isLong = false, body = "{}" } = more;
    const limits = { connectTimeoutMs: 10, idleTimeoutMs: 20, totalTimeoutMs: 100, signal };
    return { method: "a/b", id: 7, name: undefined, mirrored: [], body, isLong, attempt: 1, limits, admit };
  }

  request(more: Parameters<Scene["message"]>[0] = {}): StdioRequest {
    const { slots } = this;
    return new StdioRequest(this.message(more), this.owner, { ...this.host, slots }).start();
  }

  /** What happened since the last look. */
  told(): string[] {
    return this.log.splice(0);
  }
}

const RESULT = { kind: "result", result: {} } as const;
const LINE = new Uint8Array();

describe("a request over stdio", () => {
  it("W-40, F-2: nothing is told of one that was not written, its number of one that was", () => {
    const scene = new Scene();
    scene.request().cancel();
    expect(scene.told()).toEqual(["turn", "ended"]);
    const written = scene.request();
    expect(written.take()).toBe("{}");
    written.cancel();
    written.cancel();
    expect(scene.told()).toEqual(["turn", "sending", "cancel"]);
    const over = scene.request();
    over.take();
    over.drop();
    expect(scene.told()).toEqual(["turn", "sending", "ended"]);
    expect([scene.clock.pending, scene.lifetimes.size]).toEqual([0, 0]);
  });

  it("F-7, F-2: the start of a process is connecting, and what held it up is the cause", () => {
    const scene = new Scene();
    const why = new Error("exited");
    scene.cause = why;
    const request = scene.request();
    scene.clock.step(10);
    expect(scene.told()).toEqual(["turn", "ended", "timeout not_sent"]);
    expect(scene.cause).toBe(why);
    expect(request.take()).toBeUndefined();
  });

  it("F-7, W-18: once written the idle deadline runs, from the last sign of life; the total one stands", () => {
    const scene = new Scene();
    const request = scene.request();
    request.touch();
    request.take();
    for (let i = 0; i < 4; i += 1) {
      scene.clock.step(19);
      request.touch();
    }
    scene.clock.step(20);
    expect(scene.told()).toEqual(["turn", "sending", "cancel", "timeout unknown"]);
    const long = scene.request();
    long.take();
    for (let i = 0; i < 10; i += 1) {
      scene.clock.step(10);
      long.touch();
    }
    expect(scene.told()).toEqual(["turn", "sending", "cancel", "timeout unknown"]);
  });

  it("F-11: the next has its turn when one is over; a long one needs none", () => {
    const scene = new Scene(1);
    const first = scene.request();
    const second = scene.request();
    scene.request({ isLong: true });
    expect(scene.told()).toEqual(["turn", "turn"]);
    scene.request();
    expect(scene.told()).toEqual(["ended", "limit_exceeded not_sent"]);
    first.cancel();
    expect(scene.told()).toEqual(["ended", "turn"]);
    second.cancel();
    const third = scene.request();
    third.cancel();
    expect(scene.told()).toEqual(["ended", "turn", "ended"]);
  });

  it("F-2: a signal that has fired, fires while it waits, or while it is answered", () => {
    const scene = new Scene();
    scene.request({ signal: AbortSignal.abort(0) });
    expect(scene.told()).toEqual(["ended", "abort 0 not_sent"]);
    const controller = new AbortController();
    const { signal } = controller;
    scene.request({ signal });
    const written = scene.request({ signal, isLong: true });
    written.take();
    controller.abort("x");
    expect(scene.told()).toEqual(["turn", "turn", "sending", "ended", "abort x not_sent", "cancel", "abort x unknown"]);
  });

  it.each([
    ["refuses", () => "fenced"],
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
  ])("F-3: a check that %s before the first byte", (_name, admit) => {
    const scene = new Scene();
    expect(scene.request({ admit }).take()).toBeUndefined();
    expect(scene.told()).toEqual(["turn", "ended", "not_admitted not_sent"]);
  });

  it("F-3: a check that ends the request itself", () => {
    const scene = new Scene();
    const request: StdioRequest = scene.request({
      admit: () => {
        request.cancel();
        return undefined;
      },
    });
    expect(request.take()).toBeUndefined();
    expect(scene.told()).toEqual(["turn", "ended"]);
  });

  it("W-40: an answer ends it, and what comes later is nobody's", () => {
    const scene = new Scene();
    const request = scene.request();
    request.onNotification("too/early", {}, 2);
    request.take();
    request.onNotification("in/time", {}, 2);
    request.onAnswer(RESULT, LINE, false);
    request.onAnswer(RESULT, LINE, false);
    request.onNotification("too/late", {}, 2);
    request.failed(new Error("EPIPE"));
    request.failWith(new Error("whatever"));
    expect(scene.told()).toEqual(["turn", "sending", "in/time", "ended", "result"]);
    expect(request.evidence()).toMatchObject({ handedOver: true, messages: 2, attempts: 1 });
  });

  it("W-40: a line holds no line end", () => {
    expect(new Scene().request({ body: '{"a":\r\n1,\n"b":"\\n"}' }).take()).toBe('{"a":  1, "b":"\\n"}');
  });

  it("F-2: a fault of whoever is told ends the request as one of ours", () => {
    const scene = new Scene();
    const fault = (): never => {
      throw new Error("ours");
    };
    scene.owner.onNotification = fault;
    const request = scene.request();
    request.take();
    request.onNotification("a/b", {}, 2);
    expect(scene.told()).toEqual(["turn", "sending", "ended", "internal_error unknown"]);
    scene.owner.onVerdict = fault;
    const other = scene.request();
    other.take();
    other.onAnswer(RESULT, LINE, false);
    expect(scene.told()).toEqual(["turn", "sending", "ended", "internal_error unknown"]);
  });
});

const ENDS: ReadonlySet<string> = new Set(["result", "abort x not_sent", "abort x unknown"]);
const isEnd = (line: string): boolean => ENDS.has(line) || /^(timeout|cancelled|limit_exceeded) /.test(line);

describe("a request over stdio, whatever happens in whatever order", () => {
  const STEPS = [
    "take",
    "cancel",
    "drop",
    "answer",
    "notification",
    "abort",
    "fail",
    "touch",
    "5 ms",
    "25 ms",
  ] as const;

  it("W-40, F-2, F-12: ends once, cancels only what was written and not answered, and leaves nothing", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...STEPS), { maxLength: 12 }), fc.boolean(), (steps, isLong) => {
        const scene = new Scene(1);
        const controller = new AbortController();
        const request = scene.request({ signal: controller.signal, isLong });
        for (const step of steps) {
          if (step === "take") request.take();
          else if (step === "cancel") request.cancel();
          else if (step === "drop") request.drop();
          else if (step === "answer" && request.isSent) request.onAnswer(RESULT, LINE, false);
          else if (step === "notification") request.onNotification("n", {}, 2);
          else if (step === "abort") controller.abort("x");
          else if (step === "fail") request.failWith(closedError());
          else if (step === "touch") request.touch();
          else if (step.endsWith("ms")) scene.clock.step(Number.parseInt(step, 10));
        }
        request.cancel();
        const told = scene.told();
        const count = (wanted: (line: string) => boolean): number => told.filter(wanted).length;
        const wasSent = told.includes("sending");
        expect(count((line) => line === "ended" || line === "cancel")).toBe(1);
        expect(count(isEnd)).toBeLessThanOrEqual(1);
        expect(count((line) => line === "sending")).toBe(wasSent ? 1 : 0);
        if (told.includes("cancel")) expect([wasSent, told.includes("result")]).toEqual([true, false]);
        const end = told.find(isEnd);
        if (end !== undefined && end !== "result") expect(end.endsWith(wasSent ? "unknown" : "not_sent")).toBe(true);
        expect([scene.lifetimes.size, scene.clock.pending]).toEqual([0, 0]);
        // Its turn is free again.
        scene.request();
        expect(scene.told()).toEqual(["turn"]);
      }),
    );
  });
});

describe("a notification over stdio", () => {
  it("W-7, F-1: is taken when its line was written, and gives its turn back; not when the pipe broke", () => {
    const scene = new Scene(1);
    const { slots } = scene;
    const notice = new StdioNotice(scene.message(), scene.owner, { ...scene.host, slots }).start();
    notice.take();
    expect(scene.told()).toEqual(["turn", "sending"]);
    notice.written();
    notice.written();
    expect(scene.told()).toEqual(["ended", "taken"]);
    const broken = new StdioNotice(scene.message(), scene.owner, { ...scene.host, slots }).start();
    broken.take();
    broken.failed(new Error("EPIPE"));
    expect(scene.told()).toEqual(["turn", "sending", "send failed"]);
    broken.failWith(closedError());
    expect(scene.told()).toEqual(["ended", "cancelled unknown"]);
    scene.request();
    expect(scene.told()).toEqual(["turn"]);
  });
});
