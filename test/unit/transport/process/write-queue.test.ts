import { describe, expect, it } from "vitest";
import { type Outgoing, WriteQueue } from "../../../../src/transport/process/write-queue.js";

/** A sink that takes so many texts before it wants no more. */
class Sink {
  readonly written: string[] = [];
  readonly done: ((cause?: Error) => void)[] = [];
  room: number;

  constructor(room = Infinity) {
    this.room = room;
  }

  write(text: string, done: (cause?: Error | null) => void): boolean {
    this.written.push(text);
    this.done.push(done);
    this.room -= 1;
    return this.room > 0;
  }
}

class Line implements Outgoing {
  readonly text: string | undefined;
  readonly log: string[] = [];

  constructor(text: string | undefined) {
    this.text = text;
  }

  take(): string | undefined {
    this.log.push("taken");
    return this.text;
  }

  failed(cause: Error): void {
    this.log.push(`failed: ${cause.message}`);
  }

  written(): void {
    this.log.push("written");
  }
}

describe("WriteQueue", () => {
  it("L-14: takes a line when it is written, and not before", () => {
    const sink = new Sink(1);
    const queue = new WriteQueue(sink, { maxQueuedMessages: 10 });
    const [first, second, third] = [new Line("a"), new Line("b"), new Line("c")];
    for (const line of [first, second, third]) expect(queue.push(line)).toEqual({ kind: "accepted" });
    expect(sink.written).toEqual(["a\n"]);
    expect([first.log, second.log, third.log]).toEqual([["taken"], [], []]);
    expect(queue.size).toBe(2);
    sink.room = 2;
    queue.drained();
    expect(sink.written).toEqual(["a\n", "b\n", "c\n"]);
    expect(queue.size).toBe(0);
  });

  it("W-7: tells a line when it left, also when the sink says so with no cause", () => {
    const sink = new Sink();
    const queue = new WriteQueue(sink, { maxQueuedMessages: 10 });
    const [first, second] = [new Line("a"), new Line("b")];
    queue.push(first);
    queue.push(second);
    expect(first.log).toEqual(["taken"]);
    sink.done[0]?.();
    expect([first.log, second.log]).toEqual([["taken", "written"], ["taken"]]);
    queue.push({ take: () => "c", failed: () => undefined });
    sink.done[2]?.();
    expect(sink.written).toHaveLength(3);
  });

  it("L-14: gives back what is not written yet, and only that", () => {
    const sink = new Sink(1);
    const queue = new WriteQueue(sink, { maxQueuedMessages: 10 });
    const [first, second] = [new Line("a"), new Line("b")];
    queue.push(first);
    queue.push(second);
    expect(queue.remove(first)).toBe(false);
    expect(queue.remove(second)).toBe(true);
    queue.drained();
    expect(sink.written).toEqual(["a\n"]);
    expect(second.log).toEqual([]);
  });

  it("skips a line that withdraws itself in its last moment", () => {
    const sink = new Sink();
    const queue = new WriteQueue(sink, { maxQueuedMessages: 10 });
    queue.push(new Line(undefined));
    queue.push(new Line("b"));
    expect(sink.written).toEqual(["b\n"]);
  });

  it("F-10: refuses a line beyond the limit without calling it", () => {
    const queue = new WriteQueue(new Sink(1), { maxQueuedMessages: 1 });
    const third = new Line("c");
    queue.push(new Line("a"));
    queue.push(new Line("b"));
    expect(queue.push(third)).toEqual({ kind: "full" });
    expect(third.log).toEqual([]);
  });

  it("keeps the order when a line pushes another while it is taken", () => {
    const sink = new Sink();
    const queue = new WriteQueue(sink, { maxQueuedMessages: 10 });
    const inner = new Line("inner");
    const outer: Outgoing = {
      take: () => {
        queue.push(inner);
        return "outer";
      },
      failed: () => undefined,
    };
    queue.push(outer);
    expect(sink.written).toEqual(["outer\n", "inner\n"]);
  });

  it("L-14: tells the line whose write failed, and all that wait when the pipe breaks", () => {
    const sink = new Sink(1);
    const queue = new WriteQueue(sink, { maxQueuedMessages: 10 });
    const [first, second, third] = [new Line("a"), new Line("b"), new Line("c")];
    queue.push(first);
    queue.push(second);
    const cause = new Error("EPIPE");
    sink.done[0]?.(cause);
    queue.break(cause);
    expect(first.log).toEqual(["taken", "failed: EPIPE"]);
    expect(second.log).toEqual(["failed: EPIPE"]);
    expect(queue.push(third)).toEqual({ kind: "broken", cause });
    queue.drained();
    expect(sink.written).toEqual(["a\n"]);
  });

  it("drops what waits without a call when its owner closes it", () => {
    const sink = new Sink(1);
    const queue = new WriteQueue(sink, { maxQueuedMessages: 10 });
    const second = new Line("b");
    queue.push(new Line("a"));
    queue.push(second);
    queue.close(new Error("closed"));
    queue.drained();
    expect(second.log).toEqual([]);
    expect(sink.written).toEqual(["a\n"]);
  });
});
