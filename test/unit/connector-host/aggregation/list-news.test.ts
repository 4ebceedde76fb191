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
  const reached = new Map<Binding, readonly string[]>();
  const followed = new Map<Binding, readonly string[]>();
  const all = new ListNews({
    kind: "tools",
    clock,
    reach: {
      scopesOf: (binding) => reached.get(binding) ?? ["s"],
      followedBy: (binding) => followed.get(binding) ?? reached.get(binding) ?? ["s"],
    },
    differs: async (scopes, key, digest) => {
      asked.push(key);
      return (scopes.includes("s") ? (listed.get(key) ?? "") : "") !== digest;
    },
  });
  all.listenFor(listeners);
  const agent = (name: string, view?: Record<string, string>) => {
    const binding = bindingOf(name);
    if (view !== undefined) all.given(binding, new Map(Object.entries(view)));
    const told: string[] = [];
    listeners.add({ binding, lists: new Set(["tools"]), notify: (method) => told.push(method) });
    return { binding, told };
  };
  return { clock, listeners, listed, asked, reached, followed, all, agent };
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
});
