import { describe, expect, it } from "vitest";
import { KeyedQueue } from "../../../src/reconcile/keyed-queue.js";
import type { LaneContext } from "../../../src/reconcile/lane-run.js";
import { FakeClock, settle } from "../../support/fake-clock.js";

const LIMITS = {
  maxWorking: 2,
  maxNeeded: 1,
  maxWaiting: 2,
  yieldAfterMs: 2_000,
  runTimeoutMs: 120_000,
  abandonAfterMs: 3_000,
};

/** One run, under the test's control. */
interface Run {
  readonly job: string;
  readonly lane: LaneContext;
  end(): void;
}

function setUp(changes: Partial<typeof LIMITS> = {}) {
  const clock = new FakeClock();
  const runs: Run[] = [];
  const abandoned: string[] = [];
  const queue = new KeyedQueue<string>({
    clock,
    limits: { ...LIMITS, ...changes },
    work: (job, lane) =>
      new Promise((resolve) => {
        runs.push({ job, lane, end: resolve });
      }),
    onAbandoned: (job) => abandoned.push(job),
  });
  const add = (...ids: readonly string[]): void => {
    for (const id of ids) queue.add(id, id);
  };
  const jobs = (): readonly string[] => runs.map((run) => run.job);
  const end = async (index: number): Promise<void> => {
    runs[index]?.end();
    await settle();
  };
  return { clock, runs, abandoned, queue, add, jobs, end };
}

describe("KeyedQueue", () => {
  it("R-3: begins in the order of adding, as many as there are slots", async () => {
    const { add, jobs, end } = setUp();
    add("a", "b", "c", "d");
    expect(jobs()).toEqual([]);
    await settle();
    expect(jobs()).toEqual(["a", "b"]);
    await end(1);
    expect(jobs()).toEqual(["a", "b", "c"]);
    await end(0);
    expect(jobs()).toEqual(["a", "b", "c", "d"]);
  });

  it("R-3: makes one run of many adds, with the last job", async () => {
    const { queue, jobs } = setUp();
    queue.add("k", "first");
    queue.add("k", "second");
    queue.add("k", "third");
    await settle();
    expect(jobs()).toEqual(["third"]);
    expect(queue.stateOf("k")).toBe("running");
  });

  it("R-3 ★ item 13: runs a key once more that was added while it ran, at the end of the queue", async () => {
    const { add, jobs, end } = setUp({ maxWorking: 1 });
    add("a");
    await settle();
    add("a", "b", "a");
    await settle();
    expect(jobs()).toEqual(["a"]);
    await end(0);
    expect(jobs()).toEqual(["a", "b"]);
    await end(1);
    expect(jobs()).toEqual(["a", "b", "a"]);
    await end(2);
    expect(jobs()).toHaveLength(3);
  });

  it("R-3: begins what is urgent at once, without a slot", async () => {
    const { queue, add, runs, jobs } = setUp({ maxWorking: 1 });
    add("a", "b");
    await settle();
    queue.add("off", "off", "urgent");
    queue.add("b", "b", "urgent");
    await settle();
    expect(jobs()).toEqual(["a", "off", "b"]);
    expect(runs.map((run) => run.lane.holdsSlot)).toEqual([true, false, false]);
  });

  it("R-4: begins what is needed before its turn, at slots that others can't take", async () => {
    const { queue, add, runs, jobs, end } = setUp({ maxWorking: 1, maxNeeded: 1 });
    add("a", "b", "c", "d");
    await settle();
    queue.add("d", "d", "needed");
    queue.add("c", "c", "needed");
    await settle();
    expect(jobs()).toEqual(["a", "d"]);
    expect(runs[1]?.lane.holdsSlot).toBe(true);
    // A place of its own kind becomes free; the others wait for theirs.
    await end(1);
    expect(jobs()).toEqual(["a", "d", "c"]);
    await end(2);
    expect(jobs()).toEqual(["a", "d", "c"]);
    await end(0);
    expect(jobs()).toEqual(["a", "d", "c", "b"]);
  });

  it("R-3: serves the others in order, however much is needed", async () => {
    const { queue, add, jobs, end } = setUp({ maxWorking: 1, maxNeeded: 1 });
    add("a", "b");
    for (const id of ["x", "y", "z"]) queue.add(id, id, "needed");
    await settle();
    expect(jobs()).toEqual(["x", "a"]);
    await end(1);
    expect(jobs()).toEqual(["x", "a", "b"]);
    // What is needed has its place in the order too.
    await end(2);
    expect(jobs()).toEqual(["x", "a", "b", "y"]);
    await end(0);
    expect(jobs()).toEqual(["x", "a", "b", "y", "z"]);
  });

  it("R-4: remembers that a key was needed while it ran, and what it is cancelled for", async () => {
    const { queue, add, jobs, end } = setUp({ maxWorking: 1, maxNeeded: 1 });
    add("a");
    await settle();
    queue.add("a", "a", "needed");
    add("a", "b");
    await end(0);
    expect(jobs()).toEqual(["a", "a", "b"]);
    queue.add("c", "c", "needed");
    await settle();
    queue.cancel("c", "shut");
    await end(1);
    await end(2);
    await queue.whenIdle();
    expect(jobs()).toEqual(["a", "a", "b"]);
  });

  it("R-3: remembers that something urgent was added while the key ran", async () => {
    const { queue, add, runs, jobs, end } = setUp({ maxWorking: 1 });
    add("a");
    await settle();
    queue.add("a", "a", "urgent");
    add("a", "b");
    await end(0);
    expect(jobs().toSorted()).toEqual(["a", "a", "b"]);
    expect(runs.filter((run) => run.job === "a").map((run) => run.lane.holdsSlot)).toEqual([true, false]);
  });

  it("R-3: aborts a run, and runs what was added since", async () => {
    const { queue, add, runs, jobs, end } = setUp();
    add("a");
    await settle();
    const reason = { newer: true };
    add("a");
    queue.abort("a", reason);
    queue.abort("a", "another");
    queue.abort("unknown", reason);
    expect(runs[0]?.lane.signal.reason).toBe(reason);
    await end(0);
    expect(jobs()).toEqual(["a", "a"]);
    expect(runs[1]?.lane.signal.aborted).toBe(false);
  });

  it("cancels what is queued and what runs, and forgets what was added before", async () => {
    const { queue, add, runs, jobs, end } = setUp({ maxWorking: 1 });
    add("a", "b");
    await settle();
    add("a");
    queue.cancel("a", "shut");
    queue.cancel("b", "shut");
    expect(runs[0]?.lane.signal.reason).toBe("shut");
    expect(queue.stateOf("b")).toBe("idle");
    await end(0);
    await queue.whenIdle();
    expect(jobs()).toEqual(["a"]);
  });

  it("R-3: aborts a run at its deadline, and frees lane and slot three seconds later", async () => {
    const { clock, queue, add, runs, abandoned, jobs, end } = setUp({ maxWorking: 1 });
    add("a", "b");
    await settle();
    add("a");
    await clock.advance(119_999);
    expect(runs[0]?.lane.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(runs[0]?.lane.signal.reason).toMatchObject({ code: "timeout", details: { option: "runTimeoutMs" } });
    await clock.advance(2_999);
    expect(abandoned).toEqual([]);
    expect(jobs()).toEqual(["a"]);
    await clock.advance(1);
    expect(abandoned).toEqual(["a"]);
    expect(jobs()).toEqual(["a", "b"]);
    await end(1);
    expect(jobs()).toEqual(["a", "b", "a"]);
    // The abandoned run ends at last: its successor is not taken for it.
    await end(0);
    expect(queue.stateOf("a")).toBe("running");
    await end(2);
    await queue.whenIdle();
    expect(clock.pending).toBe(0);
  });

  it("R-3: abandons a run that ignores an abort, three seconds after it", async () => {
    const { clock, queue, add, abandoned } = setUp();
    add("a");
    await settle();
    queue.abort("a", "newer");
    await clock.advance(2_999);
    expect(abandoned).toEqual([]);
    await clock.advance(1);
    expect(abandoned).toEqual(["a"]);
    expect(queue.stateOf("a")).toBe("idle");
    await clock.advance(1_000_000);
    expect(abandoned).toEqual(["a"]);
  });

  it("frees the lane of work that rejects", async () => {
    const clock = new FakeClock();
    const queue = new KeyedQueue<string>({
      clock,
      limits: LIMITS,
      work: () => Promise.reject(new Error("bug")),
      onAbandoned: () => {},
    });
    queue.add("a", "a");
    await queue.whenIdle();
    expect(clock.pending).toBe(0);
  });

  it("closes: cancels everything, takes nothing more, and waits for what runs", async () => {
    const { clock, queue, add, runs, abandoned, jobs, end } = setUp({ maxWorking: 2 });
    add("a", "b", "c");
    await settle();
    let closed = false;
    const closing = queue.close("closed").then(() => {
      closed = true;
    });
    add("a", "d");
    expect(runs.map((run) => run.lane.signal.reason)).toEqual(["closed", "closed"]);
    await end(0);
    expect(closed).toBe(false);
    await clock.advance(3_000);
    await closing;
    expect(abandoned).toEqual(["b"]);
    expect(jobs()).toEqual(["a", "b"]);
  });

  it("is idle when nothing is queued and nothing runs", async () => {
    const { queue, add, end } = setUp();
    await queue.whenIdle();
    add("a");
    let idle = false;
    const waiting = queue.whenIdle().then(() => {
      idle = true;
    });
    await settle();
    add("a");
    await end(0);
    expect(idle).toBe(false);
    await end(1);
    await waiting;
  });
});

describe("a run that waits", () => {
  /** Work whose promise the test settles. */
  function pending<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
    let resolve: (value: T) => void = () => {};
    let reject: (error: unknown) => void = () => {};
    const promise = new Promise<T>((onValue, onError) => {
      resolve = onValue;
      reject = onError;
    });
    return { promise, resolve, reject };
  }

  it("R-3: keeps its slot for two seconds, then lets another run work", async () => {
    const { clock, add, runs, jobs } = setUp({ maxWorking: 1 });
    add("a", "b");
    await settle();
    const connect = pending<string>();
    const waited = runs[0]?.lane.waiting(connect.promise);
    await clock.advance(1_999);
    expect(jobs()).toEqual(["a"]);
    await clock.advance(1);
    expect(jobs()).toEqual(["a", "b"]);
    connect.resolve("connected");
    let back = false;
    const done = waited?.then((value) => {
      back = true;
      expect(value).toBe("connected");
    });
    await settle();
    expect(back).toBe(false);
    runs[1]?.end();
    await done;
    expect(back).toBe(true);
  });

  it("R-3: goes on at once when the wait is short, or a slot is free", async () => {
    const { clock, add, runs } = setUp({ maxWorking: 1, maxWaiting: 1 });
    add("a");
    await settle();
    await expect(runs[0]?.lane.waiting(Promise.resolve(1))).resolves.toBe(1);
    add("b");
    await clock.advance(10_000);
    expect(runs).toHaveLength(1);
    runs[0]?.end();
    await settle();
    const connect = pending<number>();
    const waited = runs[1]?.lane.waiting(connect.promise);
    await clock.advance(5_000);
    connect.resolve(2);
    await expect(waited).resolves.toBe(2);
    // And has it: nobody else works.
    add("c");
    await settle();
    expect(runs).toHaveLength(2);
    // It may give it up again.
    void runs[1]?.lane.waiting(pending().promise);
    await clock.advance(2_000);
    expect(runs).toHaveLength(3);
  });

  it("R-3: gets its slot back before those who have not begun", async () => {
    const { clock, add, runs, jobs, end } = setUp({ maxWorking: 1 });
    add("a", "b", "c");
    await settle();
    const connect = pending<void>();
    const waited = runs[0]?.lane.waiting(connect.promise).then(() => add("after a"));
    await clock.advance(2_000);
    connect.resolve();
    await settle();
    await end(1);
    await waited;
    expect(jobs()).toEqual(["a", "b"]);
    await end(0);
    expect(jobs()).toEqual(["a", "b", "c"]);
  });

  it("R-4: gives up and takes back only a slot of its own kind", async () => {
    const { clock, queue, add, runs, jobs, end } = setUp({ maxWorking: 1, maxNeeded: 1, maxWaiting: 1 });
    add("a", "b");
    await settle();
    const hung = runs[0]?.lane.waiting(pending().promise);
    await clock.advance(2_000);
    expect(jobs()).toEqual(["a", "b"]);
    // Everything hangs, and nobody else may give a place up.
    add("c");
    for (const id of ["x", "y"]) queue.add(id, id, "needed");
    await settle();
    expect(jobs()).toEqual(["a", "b", "x"]);
    const connect = pending<void>();
    const waited = runs[2]?.lane.waiting(connect.promise);
    await clock.advance(2_000);
    expect(jobs()).toEqual(["a", "b", "x", "y"]);
    connect.resolve();
    await settle();
    await end(3);
    await waited;
    expect(jobs()).toEqual(["a", "b", "x", "y"]);
    await end(2);
    await end(1);
    expect(jobs()).toEqual(["a", "b", "x", "y", "c"]);
    expect(hung).toBeInstanceOf(Promise);
  });

  it("R-3: keeps its slot when too many have given theirs up", async () => {
    const { clock, add, runs, jobs } = setUp({ maxWorking: 1, maxWaiting: 1 });
    add("a", "b", "c");
    await settle();
    const waits = [runs[0]?.lane.waiting(pending().promise)];
    await clock.advance(2_000);
    waits.push(runs[1]?.lane.waiting(pending().promise));
    await clock.advance(10_000);
    expect(jobs()).toEqual(["a", "b"]);
    expect(waits).toHaveLength(2);
  });

  it("passes a rejection on, after it got its slot back", async () => {
    const { clock, add, runs, end } = setUp({ maxWorking: 1 });
    add("a", "b");
    await settle();
    const connect = pending<void>();
    const waited = runs[0]?.lane.waiting(connect.promise).catch((error: unknown) => error);
    await clock.advance(2_000);
    connect.reject("refused");
    await settle();
    await end(1);
    expect(await waited).toBe("refused");
  });

  it("R-3: ends its wait when it is aborted, whatever it waits for, and needs no slot to end", async () => {
    const { clock, queue, add, runs, jobs } = setUp({ maxWorking: 1 });
    add("a", "b", "c");
    await settle();
    const connect = pending<void>();
    const inWait = runs[0]?.lane.waiting(connect.promise).catch((error: unknown) => error);
    await clock.advance(2_000);
    queue.abort("a", "newer");
    expect(await inWait).toBe("newer");
    runs[0]?.end();
    await settle();
    expect(jobs()).toEqual(["a", "b"]);
    // Waiting for its slot, too.
    const other = pending<void>();
    const forSlot = runs[1]?.lane.waiting(other.promise).catch((error: unknown) => error);
    await clock.advance(2_000);
    expect(jobs()).toEqual(["a", "b", "c"]);
    other.resolve();
    await settle();
    queue.abort("b", "newer too");
    expect(await forSlot).toBe("newer too");
    connect.reject("late");
    runs[1]?.end();
    runs[2]?.end();
    await queue.whenIdle();
    expect(clock.pending).toBe(0);
    // The slot was not given to a run that had ended.
    add("d");
    await settle();
    expect(jobs()).toEqual(["a", "b", "c", "d"]);
  });

  it("rejects a wait that begins after the abort", async () => {
    const { queue, add, runs } = setUp();
    add("a");
    await settle();
    queue.abort("a", "newer");
    await expect(runs[0]?.lane.waiting(Promise.resolve(1))).rejects.toBe("newer");
    await expect(runs[0]?.lane.waiting(Promise.reject(new Error("other")))).rejects.toBe("newer");
  });

  it("R-3: may wait for several things at once, and has one slot all the same", async () => {
    const { clock, add, runs, jobs, end } = setUp({ maxWorking: 1 });
    add("a", "b", "c");
    await settle();
    const one = pending<number>();
    const two = pending<number>();
    const both = Promise.all([runs[0]?.lane.waiting(one.promise), runs[0]?.lane.waiting(two.promise)]);
    await clock.advance(2_000);
    expect(jobs()).toEqual(["a", "b"]);
    one.resolve(1);
    two.resolve(2);
    await settle();
    await end(1);
    expect(await both).toEqual([1, 2]);
    expect(jobs()).toEqual(["a", "b"]);
    await end(0);
    expect(jobs()).toEqual(["a", "b", "c"]);
    await end(2);
    expect(clock.pending).toBe(0);
  });

  it("R-3: without a slot simply waits", async () => {
    const { clock, queue, runs } = setUp();
    queue.add("off", "off", "urgent");
    await settle();
    const connect = pending<number>();
    const waited = runs[0]?.lane.waiting(connect.promise);
    await clock.advance(10_000);
    connect.resolve(3);
    await expect(waited).resolves.toBe(3);
  });

  it.each(["ends", "is abandoned"])("leaves no claim on a place behind when it %s while it waits", async (how) => {
    const { clock, queue, add, runs, jobs, end } = setUp({ maxWorking: 1, maxWaiting: 1 });
    add("a");
    await settle();
    const first = runs[0]?.lane.waiting(pending().promise).catch((error: unknown) => error);
    await clock.advance(2_000);
    queue.abort("a", "newer");
    expect(await first).toBe("newer");
    if (how === "ends") await end(0);
    else await clock.advance(3_000);
    add("b", "c");
    await settle();
    expect(jobs()).toEqual(["a", "b"]);
    // The only place among those who wait is free again.
    const second = runs[1]?.lane.waiting(pending().promise).catch((error: unknown) => error);
    await clock.advance(2_000);
    expect(jobs()).toEqual(["a", "b", "c"]);
    queue.abort("b", "newer");
    expect(await second).toBe("newer");
  });

  it("leaves its place among those who wait when it gets its slot back", async () => {
    const { clock, add, runs, jobs, end } = setUp({ maxWorking: 1, maxWaiting: 1 });
    add("a", "b", "c");
    await settle();
    const one = pending<void>();
    const waited = runs[0]?.lane.waiting(one.promise);
    await clock.advance(2_000);
    one.resolve();
    await settle();
    await end(1);
    await waited;
    const two = pending<void>();
    const again = runs[0]?.lane.waiting(two.promise);
    await clock.advance(2_000);
    expect(jobs()).toEqual(["a", "b", "c"]);
    two.resolve();
    await settle();
    await end(2);
    await again;
  });
});
