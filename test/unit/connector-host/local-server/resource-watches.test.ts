import { describe, expect, it } from "vitest";
import type { Binding, ResourceDirectory, ResourceWatch } from "../../../../src/connector-host/local-server/index.js";
import { ResourceWatches } from "../../../../src/connector-host/local-server/resource-watches.js";
import { FakeClock, settle } from "../../../support/fake-clock.js";

const BINDING: Binding = { workspaceId: "w", agentSessionId: "s", invocation: undefined, login: undefined };

/** Watches over a directory in which each watch ends as the test says. */
function watching() {
  const clock = new FakeClock();
  const begun: { uri: string; watch: ResourceWatch; accept: () => void; refuse: (error: unknown) => void }[] = [];
  const resources: ResourceDirectory = {
    list: () => Promise.reject(new Error("not asked")),
    listTemplates: () => Promise.reject(new Error("not asked")),
    read: () => Promise.reject(new Error("not asked")),
    subscribe: (_binding, uri, watch) =>
      new Promise((accept, refuse) => {
        watch.signal.addEventListener("abort", () => refuse(watch.signal.reason));
        begun.push({ uri, watch, accept, refuse });
      }),
  };
  const updates: string[] = [];
  const onUpdated = (uri: string): unknown => updates.push(uri);
  const limits = { maxResourceSubscriptions: 2, subscribeTimeoutMs: 1_000 };
  const watches = new ResourceWatches({ binding: BINDING, resources, clock, ...limits, onUpdated });
  return { clock, begun, updates, watches };
}

describe("H-28: the resources that an agent watches", () => {
  it("are each watched once, however often they are asked for", async () => {
    const { watches, begun, updates } = watching();
    const [first, second] = [watches.add("a:", "key"), watches.add("a:", undefined)];
    expect(begun.map(({ uri, watch }) => [uri, watch.connectorKey])).toEqual([["a:", "key"]]);
    begun[0]?.accept();
    await Promise.all([first, second, watches.add("a:", undefined)]);
    begun[0]?.watch.onUpdated();
    expect([begun.length, watches.uris, updates]).toEqual([1, ["a:"], ["a:"]]);
  });

  it("are told of no more once they are removed", async () => {
    const { watches, begun, updates } = watching();
    const adding = watches.add("a:", undefined);
    begun[0]?.accept();
    await adding;
    watches.remove("a:");
    watches.remove("other:");
    begun[0]?.watch.onUpdated();
    expect([begun[0]?.watch.signal.aborted, watches.uris, updates]).toEqual([true, [], []]);
    void watches.add("a:", undefined);
    expect([begun.length, begun[1]?.watch.signal.aborted]).toEqual([2, false]);
    begun[1]?.accept();
  });

  it("make room when their owner refuses", async () => {
    const { watches, begun, updates } = watching();
    const refusal = new Error("no");
    const adding = watches.add("a:", undefined);
    begun[0]?.refuse(refusal);
    await expect(adding).rejects.toBe(refusal);
    begun[0]?.watch.onUpdated();
    expect([watches.uris, updates]).toEqual([[], []]);
  });

  it("H-16: are bounded, and those whose owners did not answer yet count", async () => {
    const { watches, begun } = watching();
    const waiting = [watches.add("a:", undefined), watches.add("b:", undefined)];
    await expect(watches.add("c:", undefined)).rejects.toMatchObject({
      code: "limit_exceeded",
      delivery: "not_sent",
      details: { option: "maxResourceSubscriptions", limit: 2 },
    });
    expect(begun.length).toBe(2);
    for (const { accept } of begun) accept();
    await Promise.all(waiting);
  });

  it("are given up when their owner takes too long, and not when it took part", async () => {
    const { watches, begun, clock } = watching();
    const taken = watches.add("a:", undefined);
    begun[0]?.accept();
    await taken;
    const late = watches.add("b:", undefined);
    late.catch(() => undefined);
    await clock.advance(999);
    await settle();
    expect(begun[1]?.watch.signal.aborted).toBe(false);
    await clock.advance(1);
    await expect(late).rejects.toMatchObject({ code: "timeout", delivery: "unknown" });
    expect([begun[0]?.watch.signal.aborted, watches.uris, clock.pending]).toEqual([false, ["a:"], 0]);
  });

  it("are not watched when they are removed before their owner takes part", async () => {
    const { watches, begun } = watching();
    const adding = watches.add("a:", undefined);
    // An owner that does not look at the signal in time.
    begun[0]?.accept();
    watches.remove("a:");
    await expect(adding).rejects.toMatchObject({ code: "cancelled" });
  });

  it("can't be watched without a directory of resources", async () => {
    const limits = { maxResourceSubscriptions: 2, subscribeTimeoutMs: 1_000 };
    const onUpdated = (): void => undefined;
    const parts = { binding: BINDING, clock: new FakeClock(), ...limits, onUpdated };
    const watches = new ResourceWatches({ ...parts, resources: undefined });
    await expect(watches.add("a:", undefined)).rejects.toMatchObject({ code: "unsupported", delivery: "not_sent" });
  });

  it("all end together", async () => {
    const { watches, begun, clock } = watching();
    const adding = [watches.add("a:", undefined), watches.add("b:", undefined)];
    begun[0]?.accept();
    await adding[0];
    watches.clear();
    await expect(adding[1]).rejects.toMatchObject({ code: "cancelled", details: { reason: "unsubscribed" } });
    expect([begun.map(({ watch }) => watch.signal.aborted), watches.uris, clock.pending]).toEqual([
      [true, true],
      [],
      0,
    ]);
  });
});
