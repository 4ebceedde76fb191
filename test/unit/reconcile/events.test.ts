import { describe, expect, it } from "vitest";
import { EventLog, type ReconcileEvent } from "../../../src/reconcile/events.js";
import { type EventGap } from "../../../src/reconcile/event-history.js";
import { FakeClock, settle } from "../../support/fake-clock.js";
import { CONFIG } from "./rows.js";

function removed(key: string): { readonly kind: "removed"; readonly scope: string; readonly key: string } {
  return { kind: "removed", scope: "s", key };
}

describe("EventLog", () => {
  it("R-8: numbers events and gives them to everyone at once", () => {
    const log = new EventLog(new FakeClock(7), CONFIG);
    const heard: ReconcileEvent[] = [];
    log.emit(removed("before"));
    log.subscribe((event) => heard.push(event));
    log.emit(removed("a"));
    log.emit(removed("b"));
    expect(heard).toEqual([
      { ...removed("a"), seq: 2, at: 7 },
      { ...removed("b"), seq: 3, at: 7 },
    ]);
  });

  it("R-8: keeps the order for everyone when a subscriber causes an event", () => {
    const log = new EventLog(new FakeClock(), CONFIG);
    const heard: number[] = [];
    log.subscribe((event) => {
      if (event.seq === 1) log.emit(removed("caused"));
    });
    log.subscribe((event) => heard.push(event.seq));
    log.emit(removed("first"));
    expect(heard).toEqual([1, 2]);
  });

  it("drops a subscriber that throws, and tells the others", () => {
    const log = new EventLog(new FakeClock(), CONFIG);
    const heard: string[] = [];
    const error = new Error("mine");
    log.subscribe(() => {
      throw error;
    });
    log.subscribe((event) => heard.push(event.kind));
    log.emit(removed("a"));
    log.emit(removed("b"));
    expect(heard).toEqual(["removed", "listener_dropped", "removed"]);
  });

  it("ends a subscription, and only that one", () => {
    const log = new EventLog(new FakeClock(), CONFIG);
    let heard = 0;
    const listener = (): void => {
      heard += 1;
    };
    const end = log.subscribe(listener);
    log.subscribe(listener);
    end();
    end();
    log.emit(removed("a"));
    expect(heard).toBe(1);
  });
});

/** Reads until the reader ends, or has nothing more to read for now. */
function readInto(
  heard: (ReconcileEvent | EventGap)[],
  reader: AsyncIterable<ReconcileEvent | EventGap>,
): { readonly ended: Promise<void> } {
  const read = async (): Promise<void> => {
    for await (const each of reader) heard.push(each);
  };
  return { ended: read() };
}

describe("EventLog.follow", () => {
  it("R-8: reads from now on, in order, whatever comes while it reads", async () => {
    const log = new EventLog(new FakeClock(7), CONFIG);
    const heard: (ReconcileEvent | EventGap)[] = [];
    log.emit(removed("before"));
    readInto(heard, log.follow());
    log.emit(removed("a"));
    await settle();
    log.emit(removed("b"));
    log.emit(removed("c"));
    await settle();
    expect(heard).toEqual([
      { ...removed("a"), seq: 2, at: 7 },
      { ...removed("b"), seq: 3, at: 7 },
      { ...removed("c"), seq: 4, at: 7 },
    ]);
  });

  it("R-8: goes on after an event that was heard before", async () => {
    const log = new EventLog(new FakeClock(), CONFIG);
    for (const key of ["a", "b", "c"]) log.emit(removed(key));
    const heard: (ReconcileEvent | EventGap)[] = [];
    readInto(heard, log.follow({ after: 1 }));
    await settle();
    expect(heard.map(({ seq }) => seq)).toEqual([2, 3]);
  });

  it("R-8: a reader that fell behind by count gets a gap up to the last event, and then what follows", async () => {
    const log = new EventLog(new FakeClock(), { ...CONFIG, maxKeptEvents: 2 });
    for (const key of ["a", "b", "c"]) log.emit(removed(key));
    const heard: (ReconcileEvent | EventGap)[] = [];
    readInto(heard, log.follow({ after: 0 }));
    await settle();
    expect(heard).toEqual([{ kind: "gap", after: 0, seq: 3 }]);
    log.emit(removed("d"));
    await settle();
    expect(heard.slice(1)).toMatchObject([{ kind: "removed", key: "d", seq: 4 }]);
    expect(log.kept).toBe(2);
  });

  it("R-8: an event of more than an hour ago is gone, also when nothing happened since", async () => {
    const clock = new FakeClock();
    const log = new EventLog(clock, CONFIG);
    log.emit(removed("a"));
    clock.step(3_600_000);
    log.prune();
    expect(log.kept).toBe(1);
    clock.step(1);
    const heard: (ReconcileEvent | EventGap)[] = [];
    readInto(heard, log.follow({ after: 0 }));
    await settle();
    expect(heard).toEqual([{ kind: "gap", after: 0, seq: 1 }]);
    expect(log.kept).toBe(0);
  });

  it("R-8: who has heard everything misses nothing, however old it gets", async () => {
    const clock = new FakeClock();
    const log = new EventLog(clock, CONFIG);
    const heard: (ReconcileEvent | EventGap)[] = [];
    readInto(heard, log.follow());
    log.emit(removed("a"));
    await settle();
    clock.step(7_200_000);
    log.emit(removed("b"));
    await settle();
    expect(heard.map(({ kind }) => kind)).toEqual(["removed", "removed"]);
  });

  it("R-8: a place that this log never reached is one of another process, and a gap", async () => {
    const log = new EventLog(new FakeClock(), CONFIG);
    log.emit(removed("a"));
    const heard: (ReconcileEvent | EventGap)[] = [];
    readInto(heard, log.follow({ after: 40 }));
    await settle();
    log.emit(removed("b"));
    await settle();
    expect(heard).toMatchObject([{ kind: "gap", after: 40, seq: 1 }, { key: "b" }]);
  });

  it("ends with its signal, while it waits too, and with the log after what was left to read", async () => {
    const log = new EventLog(new FakeClock(), CONFIG);
    const controller = new AbortController();
    const heard: (ReconcileEvent | EventGap)[] = [];
    const { ended } = readInto(heard, log.follow({ signal: controller.signal }));
    await settle();
    controller.abort();
    await ended;
    expect(heard).toEqual([]);
    const rest: (ReconcileEvent | EventGap)[] = [];
    const other = readInto(rest, log.follow());
    log.emit(removed("a"));
    log.end();
    await other.ended;
    expect(rest).toMatchObject([{ key: "a" }]);
    const aborted = log.follow({ after: 0, signal: controller.signal });
    expect(await aborted.next()).toEqual({ done: true, value: undefined });
  });

  it("refuses what is no place in the order, and options that there are not", () => {
    const log = new EventLog(new FakeClock(), CONFIG);
    for (const after of [-1, 0.5, Number.NaN]) {
      expect(() => log.follow({ after })).toThrow(expect.objectContaining({ code: "invalid_argument" }));
    }
    const misspelt: object = { afer: 1 };
    expect(() => log.follow(misspelt)).toThrow(expect.objectContaining({ code: "invalid_options" }));
  });
});
