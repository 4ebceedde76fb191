import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../../src/store/index.js";
import { settle } from "../../support/fake-clock.js";
import { LogWorld, LOST, type Read, readInto, removed } from "./log-world.js";

describe("EventLog.subscribe", () => {
  it("R-8: numbers transitions, and gives them to everyone as soon as they are committed, in order", async () => {
    const world = new LogWorld();
    await world.remove(["before"]);
    const heard = world.listen();
    const atEnd: number[] = [];
    await world.store.write(async (tx) => {
      await world.log.record(tx, removed("a"));
      await world.log.record(tx, removed("b"));
      tx.onSettled(() => atEnd.push(heard.length));
      expect(heard).toEqual([]);
    });
    expect(atEnd).toEqual([2]);
    expect(heard).toEqual([
      { ...removed("a"), seq: 2, at: 7 },
      { ...removed("b"), seq: 3, at: 7 },
    ]);
  });

  it("R-8: a transition that was rolled back never was, and its number goes to the next", async () => {
    const world = new LogWorld();
    const heard = world.listen();
    await world.remove(["a", "b"], true);
    await world.remove(["c"]);
    expect(heard).toEqual([{ ...removed("c"), seq: 1, at: 7 }]);
    expect(await world.read({ after: 0 })).toEqual(heard);
  });

  it("R-8: numbers go on in the next process", async () => {
    const world = new LogWorld();
    await world.remove(["a", "b"]);
    world.restart();
    const heard = world.listen();
    await world.remove(["c"]);
    expect(heard).toEqual([{ ...removed("c"), seq: 3, at: 7 }]);
  });

  it("R-8: keeps the order for everyone when a subscriber causes an event", async () => {
    const world = new LogWorld();
    const heard: string[] = [];
    world.log.subscribe((event) => {
      if (event.kind === "removed" && event.key === "a") world.log.notify(LOST);
    });
    world.log.subscribe((event) => heard.push(event.kind));
    await world.remove(["a", "b"]);
    expect(heard).toEqual(["removed", "superseded", "removed"]);
  });

  it("R-8: a notice has the number of the last transition that was told before it, and is not kept", async () => {
    const world = new LogWorld();
    const heard = world.listen();
    world.log.notify(LOST);
    await world.store.write(async (tx) => {
      await world.log.record(tx, removed("a"));
      // Its transaction is still open: nobody has heard of it, and it may never have been.
      world.log.notify(LOST);
      tx.onSettled(() => world.log.notify(LOST));
      await world.log.record(tx, removed("b"));
    });
    world.log.notify(LOST);
    expect(heard.map(({ kind, seq }) => `${kind} ${String(seq)}`)).toEqual([
      "superseded 0",
      "superseded 0",
      "removed 1",
      "superseded 1",
      "removed 2",
      "superseded 2",
    ]);
    expect((await world.read({ after: 0 })).map(({ seq }) => seq)).toEqual([1, 2]);
  });

  it("R-8: a notice of a new process has no number until something was read or recorded", async () => {
    const world = new LogWorld();
    await world.remove(["a", "b"]);
    world.restart();
    const heard = world.listen();
    world.log.notify(LOST);
    expect(await world.log.position()).toBe(2);
    world.log.notify(LOST);
    expect(heard.map(({ seq }) => seq)).toEqual([0, 2]);
  });

  it("drops a subscriber that throws, and tells the others", async () => {
    const world = new LogWorld();
    world.log.subscribe(() => {
      throw new Error("mine");
    });
    const heard = world.listen();
    await world.remove(["a"]);
    await world.remove(["b"]);
    expect(heard.map(({ kind, seq }) => [kind, seq])).toEqual([
      ["removed", 1],
      ["listener_dropped", 1],
      ["removed", 2],
    ]);
  });

  it("R-8: a subscriber that another one brings hears what comes, and not what was on its way", async () => {
    const world = new LogWorld();
    const heard: string[] = [];
    const end = world.log.subscribe(() => {
      end();
      world.log.subscribe((event) => heard.push(event.kind === "removed" ? event.key : event.kind));
    });
    await world.remove(["a"]);
    await world.remove(["b"]);
    expect(heard).toEqual(["b"]);
  });

  it("ends a subscription, and only that one", async () => {
    const world = new LogWorld();
    let heard = 0;
    const listener = (): void => {
      heard += 1;
    };
    const end = world.log.subscribe(listener);
    world.log.subscribe(listener);
    end();
    end();
    await world.remove(["a"]);
    expect(heard).toBe(1);
  });
});

describe("EventLog.follow", () => {
  it("R-8: reads from now on, in order, whatever comes while it reads", async () => {
    const world = new LogWorld();
    const heard: Read[] = [];
    await world.remove(["before"]);
    readInto(heard, world.log.follow());
    await world.remove(["a"]);
    await settle();
    await world.remove(["b", "c"]);
    await settle();
    expect(heard).toEqual([
      { ...removed("a"), seq: 2, at: 7 },
      { ...removed("b"), seq: 3, at: 7 },
      { ...removed("c"), seq: 4, at: 7 },
    ]);
  });

  it("R-8: now is when it was asked for, also in a process that has not looked at its store yet", async () => {
    const world = new LogWorld();
    await world.remove(["a"]);
    world.restart();
    const reader = world.log.follow();
    await world.remove(["b"]);
    expect(await reader.next()).toMatchObject({ value: { key: "b", seq: 2 } });
  });

  it("R-8: now is before what is committed after that, also when it was recorded before", async () => {
    const world = new LogWorld();
    await world.remove(["a"]);
    world.restart();
    const heard: Read[] = [];
    await world.store.write(async (tx) => {
      await world.log.record(tx, removed("b"));
      readInto(heard, world.log.follow());
      await world.log.record(tx, removed("c"));
    });
    await settle();
    expect(heard).toMatchObject([
      { key: "b", seq: 2 },
      { key: "c", seq: 3 },
    ]);
  });

  it("R-8: goes on after an event that was heard before, in an earlier process too", async () => {
    const world = new LogWorld();
    await world.remove(["a", "b"]);
    world.restart();
    await world.remove(["c"]);
    expect((await world.read({ after: 1 })).map(({ seq }) => seq)).toEqual([2, 3]);
    expect(await world.read({ after: 3 })).toEqual([]);
  });

  it("R-8: reads more than one page without a break", async () => {
    const world = new LogWorld();
    for (let i = 0; i < 20; i += 1) await world.remove(Array.from({ length: 10 }, () => "k"));
    expect((await world.read({ after: 0 })).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 200 }, (_, i) => i + 1),
    );
  });

  it("R-8: a reader that fell behind by count gets a gap up to the last event, and then what follows", async () => {
    const world = new LogWorld({ maxKeptEvents: 2 });
    await world.remove(["a", "b", "c"]);
    const heard: Read[] = [];
    readInto(heard, world.log.follow({ after: 0 }));
    await settle();
    expect(heard).toEqual([{ kind: "gap", after: 0, seq: 3 }]);
    await world.remove(["d"]);
    await settle();
    expect(heard.slice(1)).toMatchObject([{ kind: "removed", key: "d", seq: 4 }]);
    expect((await world.read({ after: 2 })).map(({ seq }) => seq)).toEqual([3, 4]);
  });

  it("R-8: an event of more than an hour ago is not seen, though its row is still there", async () => {
    const world = new LogWorld();
    await world.remove(["a"]);
    world.clock.step(3_600_000);
    expect((await world.read({ after: 0 })).map(({ kind }) => kind)).toEqual(["removed"]);
    world.clock.step(1);
    expect(await world.rows()).toEqual([1]);
    expect(await world.read({ after: 0 })).toEqual([{ kind: "gap", after: 0, seq: 1 }]);
  });

  it("R-8: what expires while a reader thinks is not given to it either", async () => {
    const world = new LogWorld();
    await world.remove(["a", "b"]);
    const reader = world.log.follow({ after: 0 });
    expect(await reader.next()).toMatchObject({ value: { key: "a" } });
    world.clock.step(3_600_001);
    expect(await reader.next()).toMatchObject({ value: { kind: "gap", after: 1, seq: 2 } });
  });

  it("R-8: who has heard everything misses nothing, however old it gets", async () => {
    const world = new LogWorld();
    const heard: Read[] = [];
    readInto(heard, world.log.follow());
    await world.remove(["a"]);
    await settle();
    world.clock.step(7_200_000);
    await world.log.prune();
    await world.remove(["b"]);
    await settle();
    expect(heard.map(({ kind }) => kind)).toEqual(["removed", "removed"]);
  });

  it("R-8: a place that the store never reached is a gap", async () => {
    const world = new LogWorld();
    await world.remove(["a"]);
    const heard: Read[] = [];
    readInto(heard, world.log.follow({ after: 40 }));
    await settle();
    await world.remove(["b"]);
    await settle();
    expect(heard).toMatchObject([{ kind: "gap", after: 40, seq: 1 }, { key: "b" }]);
  });

  it("R-8: a clock that is set back loses nothing, and its events make no gap when it is right again", async () => {
    const world = new LogWorld();
    world.clock.step(20_000_000);
    await world.remove(["a"]);
    const heard: Read[] = [];
    readInto(heard, world.log.follow({ after: 0 }));
    await settle();
    world.clock.step(-10_000_000);
    await world.remove(["b"]);
    world.clock.step(10_000_000);
    await world.log.prune();
    await settle();
    expect(heard.map(({ kind, seq }) => [kind, seq])).toEqual([
      ["removed", 1],
      ["removed", 2],
    ]);
    expect((await world.read({ after: 1 })).map(({ kind }) => kind)).toEqual(["removed"]);
  });

  it("R-8: an event that can't be read is a gap when its reader comes to it, and no end", async () => {
    const world = new LogWorld();
    await world.remove(["a"]);
    for (const fact of ["{", "7", '{"kind":"novel"}', '{"kind":"removed","scope":"s"}']) {
      const before = await world.log.position();
      await world.store.write((tx) => tx.events.append(7, fact));
      await world.remove(["b"]);
      expect(await world.read({ after: before - 1 })).toMatchObject([
        { seq: before },
        { kind: "gap", after: before, seq: before + 2 },
      ]);
      expect(await world.read({ after: before + 1 })).toMatchObject([{ key: "b" }]);
    }
  });

  it("R-8: tells its reader that the store failed; another goes on after the last that was heard", async () => {
    let fails = false;
    const world = new LogWorld({}, (store) => ({
      write: (work) => store.write(work),
      read: (work) => (fails ? Promise.reject(new Error("store")) : store.read(work)),
    }));
    const reader = world.log.follow();
    await world.remove(["a"]);
    expect(await reader.next()).toMatchObject({ value: { key: "a", seq: 1 } });
    fails = true;
    await world.remove(["b"]);
    await expect(reader.next()).rejects.toThrow("store");
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    fails = false;
    expect(await world.log.follow({ after: 1 }).next()).toMatchObject({ value: { key: "b", seq: 2 } });
  });

  it("a store that fails before the first read is the reader's to hear of, and nobody else's", async () => {
    const store = createMemoryStore();
    await store.close();
    const world = new LogWorld({}, () => store);
    const unread = world.log.follow();
    await settle();
    await expect(unread.next()).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(world.log.position()).rejects.toMatchObject({ code: "store_unavailable" });
  });

  it("ends with its signal, while it waits too", async () => {
    const world = new LogWorld();
    const controller = new AbortController();
    const heard: Read[] = [];
    const { ended } = readInto(heard, world.log.follow({ signal: controller.signal }));
    await settle();
    controller.abort();
    await ended;
    await world.remove(["a"]);
    expect(heard).toEqual([]);
    const aborted = world.log.follow({ after: 0, signal: controller.signal });
    expect(await aborted.next()).toEqual({ done: true, value: undefined });
  });

  it("ends with the log, after what was left to read; who is up to date needs no store for that", async () => {
    const world = new LogWorld();
    const upToDate = world.log.follow();
    const behind = world.log.follow();
    await world.remove(["a"]);
    expect(await upToDate.next()).toMatchObject({ value: { key: "a" } });
    world.log.end();
    expect(await behind.next()).toMatchObject({ value: { key: "a" } });
    expect(await behind.next()).toEqual({ done: true, value: undefined });
    await world.store.close();
    expect(await upToDate.next()).toEqual({ done: true, value: undefined });
  });

  it("refuses what is no place in the order, and options that there are not", () => {
    const { log } = new LogWorld();
    for (const after of [-1, 0.5, Number.NaN]) {
      expect(() => log.follow({ after })).toThrow(expect.objectContaining({ code: "invalid_argument" }));
    }
    const misspelt: object = { afer: 1 };
    expect(() => log.follow(misspelt)).toThrow(expect.objectContaining({ code: "invalid_options" }));
  });
});

describe("What is kept of events", () => {
  it("R-8: what is too many goes with the transitions that come, in bulk", async () => {
    const world = new LogWorld({ maxKeptEvents: 5 });
    for (let i = 0; i < 63; i += 1) await world.remove(["k"]);
    expect(await world.rows()).toHaveLength(63);
    await world.remove(["k"]);
    expect(await world.rows()).toEqual([60, 61, 62, 63, 64]);
    await world.remove(Array.from({ length: 200 }, () => "k"));
    // Never more than so many beyond the limit.
    expect((await world.rows()).length).toBeLessThan(5 + 64);
  });

  it("R-8: what is too old goes with the transitions that come, and by itself", async () => {
    const world = new LogWorld();
    for (let i = 0; i < 100; i += 1) await world.remove(["k"]);
    world.clock.step(3_600_001);
    for (let i = 0; i < 28; i += 1) await world.remove(["k"]);
    expect((await world.rows())[0]).toBe(101);
    world.clock.step(3_600_000);
    await world.log.prune();
    expect((await world.rows())[0]).toBe(101);
    world.clock.step(1);
    await world.log.prune();
    expect(await world.rows()).toEqual([]);
    await world.remove(["after"]);
    expect(await world.rows()).toEqual([129]);
  });

  it("R-8: a rollback takes what it let go of back", async () => {
    const world = new LogWorld({ maxKeptEvents: 5 });
    for (let i = 0; i < 63; i += 1) await world.remove(["k"]);
    await world.remove(["k"], true);
    expect(await world.rows()).toHaveLength(63);
    expect((await world.read({ after: 58 })).map(({ seq }) => seq)).toEqual([59, 60, 61, 62, 63]);
  });

  it("says that it could not let go of what is too old, and goes on", async () => {
    const error = new Error("store");
    const world = new LogWorld({}, (store) => ({
      write: () => Promise.reject(error),
      read: (work) => store.read(work),
    }));
    const heard = world.listen();
    await world.log.prune();
    expect(heard).toEqual([{ kind: "trouble", scope: undefined, key: undefined, error, seq: 0, at: 7 }]);
  });
});
