import { describe, expect, it } from "vitest";
import { EventLog, type ReconcileEvent } from "../../../src/reconcile/events.js";
import { FakeClock } from "../../support/fake-clock.js";

function removed(key: string): { readonly kind: "removed"; readonly scope: string; readonly key: string } {
  return { kind: "removed", scope: "s", key };
}

describe("EventLog", () => {
  it("R-8: numbers events and gives them to everyone at once", () => {
    const log = new EventLog(new FakeClock(7));
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
    const log = new EventLog(new FakeClock());
    const heard: number[] = [];
    log.subscribe((event) => {
      if (event.seq === 1) log.emit(removed("caused"));
    });
    log.subscribe((event) => heard.push(event.seq));
    log.emit(removed("first"));
    expect(heard).toEqual([1, 2]);
  });

  it("drops a subscriber that throws, and tells the others", () => {
    const log = new EventLog(new FakeClock());
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
    const log = new EventLog(new FakeClock());
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
