import { describe, expect, it } from "vitest";
import { ListNews } from "../../../../src/connector-host/aggregation/list-news.js";
import { Listeners } from "../../../../src/connector-host/local-server/listeners.js";
import type { Binding } from "../../../../src/connector-host/local-server/index.js";
import { FakeClock } from "../../../support/fake-clock.js";

const bindingOf = (agentSessionId: string): Binding => ({
  workspaceId: "w",
  agentSessionId,
  invocation: undefined,
  login: undefined,
});

/** News for agents, where what each connector lists is laid down by the test. */
function news() {
  const clock = new FakeClock();
  const listeners = new Listeners();
  const listed = new Map<string, string>();
  const asked: string[] = [];
  /** Connectors of which nobody has to ask what they list. */
  const known = new Set<string>();
  /** What those wait for who ask what a connector lists. */
  const waits = new Map<string, Promise<unknown>>();
  const onAsk = { run: (_key: string): void => undefined };
  const reached = new Map<Binding, readonly string[]>();
  const followed = new Map<Binding, readonly string[]>();
  const all = new ListNews({
    kind: "tools",
    clock,
    reach: {
      scopesOf: (binding) => reached.get(binding) ?? ["s"],
      followedBy: (binding) => followed.get(binding) ?? reached.get(binding) ?? ["s"],
    },
    isKnown: (key) => known.has(key),
    differs: async (scopes, key, digest) => {
      asked.push(key);
      onAsk.run(key);
      await waits.get(key);
      return (scopes.includes("s") ? (listed.get(key) ?? "") : "") !== digest;
    },
  });
  all.listenFor(listeners);
  const agent = (name: string, view?: Record<string, string>) => {
    const binding = bindingOf(name);
    const give = (given: Record<string, string>): void => all.giving(binding)(new Map(Object.entries(given)));
    if (view !== undefined) give(view);
    const told: string[] = [];
    const run = { onTold: (): void => undefined };
    const listen = () =>
      listeners.add({
        binding,
        lists: new Set(["tools"]),
        notify(method) {
          told.push(method);
          run.onTold();
        },
      });
    return { binding, told, give, run, listen, stop: listen() };
  };
  return { clock, listeners, listed, asked, known, onAsk, waits, reached, followed, all, agent };
}

describe("ListNews", () => {
  it("H-25: tells those whose part differs from what they were given, once for a burst", async () => {
    const { agent, all, clock, listed } = news();
    const [same, other, never] = [agent("same", { a: "1" }), agent("other", { a: "0" }), agent("never")];
    listed.set("a", "1");
    all.note("s", "a", true);
    all.note("s", "a", false);
    all.note("s", "b", false);
    await clock.advance(20);
    expect([same.told.length, other.told.length, never.told.length]).toEqual([0, 1, 1]);
    expect(clock.pending).toBe(0);
  });

  it("H-25: what only may have changed is told to nobody who has nothing to compare", async () => {
    const { agent, all, asked, clock } = news();
    const never = agent("never");
    all.note("s", "a", false);
    await clock.advance(20);
    expect([never.told, asked]).toEqual([[], []]);
  });

  it("H-25: a connector that went is news for those that had it, and for nobody else", async () => {
    const { agent, all, clock } = news();
    const [had, had_not] = [agent("had", { a: "1" }), agent("had not", { b: "1" })];
    all.note("s", "a", true);
    await clock.advance(20);
    expect([had.told.length, had_not.told.length]).toEqual([1, 0]);
  });

  it("H-25: asks of nobody that is told already, and of nothing out of reach", async () => {
    const { agent, all, asked, clock, reached } = news();
    const far = agent("far", { a: "0" });
    reached.set(far.binding, ["elsewhere"]);
    const near = agent("near", { a: "0" });
    for (const key of ["a", "b"]) all.note("s", key, true);
    await clock.advance(20);
    expect([far.told.length, near.told.length]).toEqual([0, 1]);
    expect(asked).toContain("a");
  });

  it("H-25 P-8: one whose scope went out of reach is told of what it had there", async () => {
    const { agent, all, clock, followed, reached } = news();
    const left = agent("left", { a: "1" });
    reached.set(left.binding, []);
    followed.set(left.binding, ["s"]);
    all.note("s", "a", true);
    await clock.advance(20);
    expect(left.told).toHaveLength(1);
  });

  it("H-25: nothing is looked at while nobody listens, and nobody is told after the end", async () => {
    const { agent, all, asked, clock } = news();
    all.note("s", "a", true);
    expect(clock.pending).toBe(0);
    const late = agent("late", { a: "0" });
    all.note("s", "a", true);
    all.close();
    await clock.advance(20);
    expect([late.told, asked, clock.pending]).toEqual([[], [], 0]);
  });

  it("H-25 MB-141: one that says nothing delays the news of no other, and is asked once for all", async () => {
    const { agent, all, asked, clock, listed, waits } = news();
    const agents = ["x", "y", "z"].map((name) => agent(name, { a: "0", silent: "0" }));
    let fail = (_error: unknown): void => undefined;
    waits.set(
      "silent",
      new Promise((_resolve, reject) => {
        fail = reject;
      }),
    );
    all.note("s", "silent", true);
    await clock.advance(20);
    listed.set("a", "1");
    all.note("s", "a", true);
    await clock.advance(40);
    expect(agents.map(({ told }) => told.length)).toEqual([1, 1, 1]);
    fail("timeout");
    await clock.advance(20);
    expect(asked.filter((key) => key === "silent")).toHaveLength(1);
    // What it lists is asked for again, but not forever.
    waits.set("silent", Promise.reject(new Error("down")));
    waits.get("silent")?.catch(() => undefined);
    for (let minute = 0; minute < 10; minute += 1) await clock.advance(60_000);
    expect(asked.filter((key) => key === "silent")).toHaveLength(3);
    expect(clock.pending).toBe(0);
  });

  it("H-25: a change that could not be looked at is told when it can be", async () => {
    const { agent, all, clock, listed, waits } = news();
    const { told } = agent("x", { a: "0" });
    waits.set("a", Promise.reject(new Error("restarting")));
    waits.get("a")?.catch(() => undefined);
    all.note("s", "a", true);
    await clock.advance(20);
    waits.delete("a");
    listed.set("a", "1");
    await clock.advance(30_000);
    expect(told).toHaveLength(1);
  });

  it("H-25: a list that an agent was given while its change was looked at is what counts", async () => {
    const { agent, all, clock, listed, waits } = news();
    const { give, told } = agent("x", { a: "0" });
    let go = (): void => undefined;
    waits.set(
      "a",
      new Promise<void>((resolve) => {
        go = resolve;
      }),
    );
    listed.set("a", "1");
    all.note("s", "a", true);
    await clock.advance(20);
    give({ a: "1" });
    go();
    await clock.advance(20);
    expect(told).toEqual([]);
  });

  it("H-25: what came after the list and before the agent listened is told when it listens", async () => {
    const { agent, all, clock, listed } = news();
    const { give, listen, stop, told, binding } = agent("x");
    stop();
    const giving = all.giving(binding);
    listed.set("b", "1");
    all.note("s", "b", true);
    giving(new Map([["a", "1"]]));
    const end = listen();
    await clock.advance(20);
    expect(told).toHaveLength(1);
    end();
    give({ a: "1", b: "1" });
    listen();
    await clock.advance(1_000);
    expect(told).toHaveLength(1);
  });

  it("H-25: a list that is another each time it is read is told less and less often", async () => {
    const { agent, all, clock, listed } = news();
    let version = 0;
    const agents = ["x", "y"].map((name) => agent(name, { a: "0", b: "0" }));
    for (const { give, run } of agents) {
      // Whoever is told lists again, and that finds yet another list.
      run.onTold = () => {
        version += 1;
        listed.set("a", String(version));
        give({ a: String(version), b: "0" });
        all.note("s", "a", true);
      };
    }
    listed.set("b", "0");
    listed.set("a", "new");
    all.note("s", "a", true);
    for (let second = 0; second < 120; second += 1) await clock.advance(1_000);
    const count = version;
    expect(count).toBeGreaterThan(5);
    expect(count).toBeLessThan(30);
    // Others are told of at once.
    listed.set("b", "1");
    all.note("s", "b", true);
    await clock.advance(20);
    expect(version).toBeGreaterThan(count);
  });

  it("H-25: a server that says that its list changed whenever it is asked is asked less and less often", async () => {
    const { agent, all, asked, clock, listed, onAsk } = news();
    const { told } = agent("x", { a: "1" });
    listed.set("a", "1");
    onAsk.run = (key) => all.note("s", key, true);
    all.note("s", "a", true);
    for (let second = 0; second < 120; second += 1) await clock.advance(1_000);
    expect(asked.length).toBeGreaterThan(20);
    expect(asked.length).toBeLessThan(50);
    expect(told).toEqual([]);
  });

  it("H-25: looking at what is known costs no server anything, and is not put off", async () => {
    const { agent, all, clock, known, listed } = news();
    known.add("a");
    listed.set("a", "1");
    const { binding, listen, stop, told } = agent("x", { a: "1" });
    all.note("s", "a", false);
    // Sessions of the same agent come and go, and each is looked after.
    for (let index = 0; index < 50; index += 1) {
      await clock.advance(20);
      stop();
      listen()();
    }
    listen();
    listed.set("a", "2");
    all.note("s", "a", true);
    await clock.advance(20);
    expect([told.length, binding.agentSessionId]).toEqual([1, "x"]);
  });

  it("H-25: one that is looked at while no follower listens is not one more", async () => {
    const { agent, all, clock, listed, reached } = news();
    const far = agent("far", { a: "0" });
    reached.set(far.binding, ["elsewhere"]);
    for (let index = 0; index < 50; index += 1) {
      all.note("s", "a", true);
      await clock.advance(20);
    }
    reached.delete(far.binding);
    listed.set("a", "1");
    all.note("s", "a", true);
    await clock.advance(20);
    expect(far.told).toHaveLength(1);
  });

  it("H-25: who was told while its list was made, and is given the one before, is told once more", async () => {
    const { agent, all, clock, listed } = news();
    const { binding, told } = agent("x", { a: "0" });
    const giving = all.giving(binding);
    listed.set("a", "1");
    all.note("s", "a", true);
    await clock.advance(20);
    expect(told).toHaveLength(1);
    giving(new Map([["a", "0"]]));
    await clock.advance(20);
    expect(told).toHaveLength(2);
    all.giving(binding)(new Map([["a", "1"]]));
    await clock.advance(1_000);
    expect([told.length, clock.pending]).toEqual([2, 0]);
  });
});
