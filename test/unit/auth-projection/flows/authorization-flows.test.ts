import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { effectiveRow, type FlowSessions, type Snapshot } from "../../../../src/auth-projection/index.js";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { settle } from "../../../support/fake-clock.js";
import { Deferred } from "../../../../src/auth-projection/flows/deferred.js";
import { HeldSecret } from "../../../../src/auth-projection/flows/secret.js";
import { broken, PAGE, refusal, session, succeeded, track, wantsSecret, World } from "./world.js";

const SECOND = 1_000;
const MINUTE = 60_000;
const options = { connectorVersion: "1.0.0" };

let world: World;

beforeEach(() => {
  world = new World();
});

/** Signs in, and lets the first snapshot come. */
async function ready(): Promise<void> {
  world.login();
  await world.clock.advance(0);
  expect(world.fetches).toBe(1);
}

afterEach(async () => {
  await world.close();
  expect(world.clock.pending).toBe(0);
  expect(world.troubles).toEqual([]);
});

/** Requests that a test does not make. */
const unusedSessions: FlowSessions = {
  begin: () => Promise.reject(new Error("unused")),
  complete: () => Promise.reject(new Error("unused")),
  observe: () => Promise.reject(new Error("unused")),
  end: () => Promise.reject(new Error("unused")),
  disconnect: () => Promise.reject(new Error("unused")),
};

/** A flow that waits for its person at a page. */
async function waiting(): Promise<{ readonly result: ReturnType<typeof track> }> {
  const started = await world.flows.start("github", options);
  expect(started.nextAction).toEqual({ type: "redirect", url: PAGE });
  return { result: track(started.result) };
}

describe("a flow with a page", () => {
  beforeEach(ready);

  it("P-10: its row is there before the first request, its session after it, its result at the end", async () => {
    world.sessions.onBegin = "hangs";
    const starting = track(world.flows.start("github", options));
    await settle();
    expect(await world.row()).toMatchObject({
      state: "starting",
      clientRequestId: "r-1",
      createdAt: world.clock.now(),
    });
    expect(world.sessions.begun).toEqual([
      {
        connectorKey: "github",
        connectorVersion: "1.0.0",
        clientRequestId: "r-1",
        replaces: false,
        hasSecret: false,
      },
    ]);
    expect(starting).toMatchObject({ value: undefined, error: undefined });
    await world.flows.cancel("github");
    expect(starting.error).toMatchObject({ code: "authorization_failed", details: { reason: "cancelled" } });
    expect(await world.row()).toMatchObject({ state: "cancelled", reason: "cancelled", sessionId: undefined });

    world.sessions.onBegin = session();
    const { result } = await waiting();
    expect(await world.row("r-2")).toMatchObject({ state: "waiting", sessionId: "s-1", nextAction: "redirect" });
    // The end of the first one fetches a snapshot, too.
    await world.clock.advance(1_500);
    world.show("c-1");
    world.sessions.onObserve = succeeded();
    await world.clock.advance(2 * SECOND);
    expect(result.value).toEqual({ authorized: true, published: true, reason: undefined });
    expect(await world.row("r-2")).toMatchObject({ state: "connected", connectionId: "c-1", reason: undefined });
    expect(world.changes.map(({ clientRequestId, state }) => `${clientRequestId} ${state}`)).toEqual([
      "r-1 starting",
      "r-1 cancelled",
      "r-2 starting",
      "r-2 waiting",
      "r-2 authorized",
      "r-2 connected",
    ]);
  });

  it("P-10: it is looked at every two seconds, for ten minutes, and its session is ended then", async () => {
    const { result } = await waiting();
    await world.clock.advance(1_999);
    expect(world.sessions.count("observe")).toBe(0);
    await world.clock.advance(1);
    expect(world.sessions.count("observe")).toBe(1);
    await world.clock.advance(10 * SECOND);
    expect(world.sessions.count("observe")).toBe(6);
    await world.clock.advance(10 * MINUTE - 12 * SECOND - 1);
    expect(await world.row()).toMatchObject({ state: "waiting" });
    await world.clock.advance(1);
    expect(await world.row()).toMatchObject({ state: "failed", reason: "expired" });
    expect(world.sessions.asked.at(-1)).toBe("end s-1");
    expect(result.error).toMatchObject({ code: "authorization_failed", details: { reason: "expired" } });
    await world.clock.advance(MINUTE);
    expect(world.sessions.asked.at(-1)).toBe("end s-1");
  });

  it("P-10: a wall that is set back does not make it longer", async () => {
    const { result } = await waiting();
    await world.clock.advance(SECOND);
    world.wallAheadMs = -86_400_000;
    await world.clock.advance(11 * SECOND);
    expect(world.sessions.count("observe")).toBeGreaterThan(4);
    await world.clock.advance(10 * MINUTE);
    expect(result.error).toMatchObject({ details: { reason: "expired" } });
  });

  it("P-9: a connection that was granted wakes the sync at once, and ever more seldom until it is shown", async () => {
    const { result } = await waiting();
    await world.clock.advance(MINUTE);
    const { fetches } = world;
    world.sessions.onObserve = succeeded();
    await world.clock.advance(2 * SECOND);
    expect(world.fetches).toBe(fetches + 1);
    const atFetches = [world.clock.now()];
    for (let last = world.fetches; result.value === undefined; last = world.fetches) {
      await world.clock.advance(250);
      if (world.fetches > last) atFetches.push(world.clock.now());
    }
    expect(result.value).toEqual({ authorized: true, published: false, reason: "connection_not_shown" });
    const gaps = atFetches.slice(1).map((at, index) => at - (atFetches[index] ?? 0));
    expect(gaps).toEqual([1_000, 1_500, 3_000, 6_000, 12_000, 24_000, 45_000].map((gap) => expect.closeTo(gap, -3)));
    // What is shown later is taken in all the same.
    world.show("c-1");
    await world.clock.advance(MINUTE);
    expect(await world.row()).toMatchObject({ state: "connected" });
  });

  it("P-11: another connection than the one that was granted is not it; the wait is bounded", async () => {
    const { result } = await waiting();
    world.show("c-other");
    world.sessions.onObserve = succeeded();
    await world.clock.advance(2 * SECOND);
    expect(await world.row()).toMatchObject({ state: "authorized", connectionId: "c-1" });
    await world.clock.advance(2 * MINUTE);
    expect(result.value).toEqual({ authorized: true, published: false, reason: "connection_not_shown" });
    await world.clock.advance(10 * MINUTE);
    expect(await world.row()).toMatchObject({ state: "failed", reason: "connection_not_shown" });
  });

  it("P-11 ★: what the snapshot shows completes it without another look at the session", async () => {
    await world.clock.advance(SECOND);
    const { result } = await waiting();
    world.show("c-1");
    world.hint();
    await world.clock.advance(0);
    expect(result.value).toEqual({ authorized: true, published: true, reason: undefined });
    expect(await world.row()).toMatchObject({ state: "connected", connectionId: "c-1" });
    expect(world.sessions.asked).toEqual(["begin r-1"]);
  });

  it("P-11: what was there before is not its result, nor a newer version of that", async () => {
    world.show("c-1");
    world.hint();
    await world.clock.advance(SECOND);
    const { result } = await waiting();
    expect(await world.row()).toMatchObject({ priorConnectionId: "c-1" });
    world.show("c-1", 2);
    world.hint();
    await world.clock.advance(SECOND);
    expect(result.value).toBeUndefined();
    expect(await world.row()).toMatchObject({ state: "waiting" });
    world.sessions.onObserve = succeeded();
    await world.clock.advance(2 * SECOND);
    expect(result.value).toMatchObject({ authorized: true, published: true });
  });

  it("P-11: one that begins before the first snapshot waits for it, for five seconds", async () => {
    world.signOut();
    world.show("c-1");
    const starting = track(world.flows.start("github", options));
    await settle();
    expect(world.sessions.asked).toEqual([]);
    await world.clock.advance(1_000);
    expect(starting.value?.nextAction).toEqual({ type: "redirect", url: PAGE });
    expect(await world.row()).toMatchObject({ state: "waiting", priorConnectionId: "c-1" });

    world.signOut();
    world.shown = new Error("down");
    const unready = track(world.flows.start("linear", options));
    await world.clock.advance(4_999);
    expect(unready.value).toBeUndefined();
    await world.clock.advance(1);
    expect(unready.value?.nextAction).toEqual({ type: "redirect", url: PAGE });
  });

  it("P-11 ★: one that began without a snapshot does not take what was there before for its result", async () => {
    world.signOut();
    world.shown = new Error("down");
    const starting = track(world.flows.start("github", options));
    await world.clock.advance(5 * SECOND);
    const result = track(starting.value?.result ?? Promise.reject(new Error("not begun")));
    world.show("c-1");
    await world.clock.advance(MINUTE);
    expect(world.fetches).toBeGreaterThan(1);
    expect(await world.row()).toMatchObject({ state: "waiting", priorConnectionId: undefined });
    expect(result).toMatchObject({ value: undefined, error: undefined });
    world.shown = new Error("down");
    world.sessions.onObserve = succeeded();
    await world.clock.advance(10 * SECOND);
    expect(await world.row()).toMatchObject({ state: "authorized" });
    world.show("c-1", 2);
    await world.clock.advance(MINUTE);
    expect(result.value).toEqual({ authorized: true, published: true, reason: undefined });
  });

  it.each(["begin", "observe"] as const)("P-10: a request without an end ends with its flow: %s", async (method) => {
    world.sessions.next[method].push("hangs");
    const starting = track(world.flows.start("github", options));
    await world.clock.advance(10 * MINUTE);
    expect(await world.row()).toMatchObject({ state: "failed", reason: "expired" });
    if (method === "begin") {
      expect(starting.error).toMatchObject({ code: "authorization_failed", details: { reason: "expired" } });
    } else await expect(starting.value?.result).rejects.toMatchObject({ details: { reason: "expired" } });
  });

  it("P-11: an immediate success needs nothing of the person", async () => {
    world.show("c-1");
    world.sessions.onBegin = succeeded();
    const started = await world.flows.start("github", options);
    expect(started.nextAction).toBeUndefined();
    const result = track(started.result);
    await world.clock.advance(2 * SECOND);
    expect(result.value).toEqual({ authorized: true, published: true, reason: undefined });
    expect(world.sessions.asked).toEqual(["begin r-1"]);
  });

  it.each([
    [session({ status: "failed", errorCode: "access_denied" }), "provider_failed", "access_denied"],
    [session({ status: "canceled" }), "session_canceled", undefined],
  ])("P-10: a session that ends otherwise ends it: %o", async (answer, reason, errorCode) => {
    const { result } = await waiting();
    world.sessions.onObserve = answer;
    await world.clock.advance(2 * SECOND);
    const details = { connectorKey: "github", reason, errorCode };
    expect(result.error).toMatchObject({ code: "authorization_failed", delivery: "answered", details });
    expect(await world.row()).toMatchObject({ state: "failed", reason, errorCode });
    // There is nothing to end, and another may begin.
    expect(world.sessions.count("end")).toBe(0);
    await waiting();
  });
});

describe("a connection that was there before, and is granted anew", () => {
  beforeEach(async () => {
    world.show("c-1");
    await ready();
  });

  const version = async (): Promise<bigint | undefined> => (await world.store.rows("acc"))[0]?.connectionVersion;

  it("P-11 ★: counts as shown when it was fetched anew, not by the row that was there", async () => {
    world.routes.standing = undefined;
    const { result } = await waiting();
    world.shown = new Error("down");
    world.sessions.onObserve = succeeded();
    const { fetches } = world;
    await world.clock.advance(10 * SECOND);
    expect(world.fetches).toBeGreaterThan(fetches + 1);
    expect(await world.row()).toMatchObject({ state: "authorized", connectionId: "c-1", priorConnectionId: "c-1" });
    expect(world.routes.waiting).toEqual([]);
    world.show("c-1", 2);
    await world.clock.advance(MINUTE);
    expect(await version()).toBe(2n);
    expect(world.routes.waiting.map(({ what }) => what)).toEqual(["published github c-1"]);
    world.routes.waiting[0]?.settle({ reached: true, reason: undefined });
    await settle();
    expect(result.value).toEqual({ authorized: true, published: true, reason: undefined });
  });

  it("P-11: a fetch that had begun before the grant does not count", async () => {
    const coming = new Deferred<Snapshot>();
    await waiting();
    await world.clock.advance(SECOND);
    world.show("c-1", 2);
    const old = world.shown;
    world.shown = coming.promise;
    world.hint();
    await world.clock.advance(SECOND);
    expect(world.fetches).toBe(2);
    world.sessions.onObserve = succeeded();
    await world.clock.advance(2 * SECOND);
    expect(await world.row()).toMatchObject({ state: "authorized" });
    world.shown = new Error("down");
    if (!("revision" in old)) throw new Error("no snapshot");
    coming.resolve(old);
    await settle();
    expect(await version()).toBe(2n);
    expect(await world.row()).toMatchObject({ state: "authorized" });
    world.shown = old;
    await world.clock.advance(MINUTE);
    expect(await world.row()).toMatchObject({ state: "connected" });
  });

  it("P-11: nor does the row that a process before left behind", async () => {
    await world.close();
    world.signOut();
    world.shown = new Error("down");
    await world.leave({ state: "authorized", sessionId: "s-9", connectionId: "c-1", priorConnectionId: "c-1" });
    world.login();
    await world.clock.advance(10 * SECOND);
    expect(await world.row("left")).toMatchObject({ state: "authorized" });
    world.show("c-1", 2);
    await world.clock.advance(MINUTE);
    expect(await world.row("left")).toMatchObject({ state: "connected" });
  });
});

describe("requests that fail", () => {
  beforeEach(ready);

  it("P-10: a begin is repeated under the same id, after pauses that grow, while somebody waits", async () => {
    world.sessions.onBegin = broken();
    const starting = track(world.flows.start("github", options));
    await world.clock.advance(30 * SECOND);
    expect(world.sessions.begun.map(({ clientRequestId }) => clientRequestId)).toEqual(Array(6).fill("r-1"));
    expect(starting).toMatchObject({ value: undefined, error: undefined });
    world.sessions.onBegin = session();
    await world.clock.advance(MINUTE);
    expect(starting.value?.nextAction).toEqual({ type: "redirect", url: PAGE });
  });

  it("P-10: one that can't be reached for a minute is given up", async () => {
    world.sessions.onBegin = broken("not_sent");
    const starting = track(world.flows.start("github", options));
    await world.clock.advance(2 * MINUTE);
    expect(starting.error).toMatchObject({ code: "connect_failed", delivery: "not_sent" });
    expect(await world.row()).toMatchObject({ state: "failed", reason: "unreachable", errorCode: "connect_failed" });
  });

  it.each([
    [refusal(409, "authorization_in_progress"), "refused", "authorization_in_progress"],
    [refusal(503, "closed", false), "refused", "closed"],
    [refusal(422), "refused", "http_422"],
  ])("P-10: a refusal that lasts ends it at once: %o", async (error, reason, errorCode) => {
    world.sessions.onBegin = error;
    await expect(world.flows.start("github", options)).rejects.toBe(error);
    expect(await world.row()).toMatchObject({ state: "failed", reason, errorCode });
    expect(world.sessions.asked).toEqual(["begin r-1"]);
  });

  it("P-10: a wall that is set back does not make that minute longer", async () => {
    world.sessions.onBegin = broken("not_sent");
    const starting = track(world.flows.start("github", options));
    await world.clock.advance(SECOND);
    world.wallAheadMs = -86_400_000;
    await world.clock.advance(2 * MINUTE);
    expect(starting.error).toMatchObject({ code: "connect_failed" });
  });

  it.each([
    ["nothing was asked", [], "not_sent"],
    ["no request went out", [broken("not_sent")], "not_sent"],
    ["an answer is missing", ["hangs"], "unknown"],
    ["an answer is missing, and the next request did not go out", [broken(), broken("not_sent")], "unknown"],
    ["it was refused for the moment", [broken(), refusal(429)], "answered"],
  ] as const)(
    "F-1: a failed authorization says what is known of its requests: %s",
    async (_what, answers, delivery) => {
      world.sessions.next.begin.push(...answers);
      if (answers.length === 0) world.signOut();
      const starting = track(world.flows.start("github", options));
      if (answers.length > 0) await world.clock.advance(answers.length === 1 ? 0 : 2 * SECOND);
      expect(world.sessions.begun).toHaveLength(answers.length);
      await world.flows.cancel("github");
      expect(starting.error).toMatchObject({ code: "authorization_failed", delivery });
    },
  );

  it("F-1: one whose secret may have arrived is unknown until a look tells", async () => {
    world.sessions.onBegin = wantsSecret();
    world.sessions.onComplete = broken();
    const lost = await world.flows.start("github", { ...options, secret: "k" });
    const first = track(lost.result);
    await world.clock.advance(10 * SECOND);
    await world.flows.cancel("github");
    expect(first.error).toMatchObject({ code: "authorization_failed", delivery: "unknown" });

    const declined = await world.flows.start("github", { ...options, secret: "k" });
    const second = track(declined.result);
    world.sessions.onObserve = session({ status: "failed", nextAction: undefined });
    await world.clock.advance(10 * SECOND);
    expect(second.error).toMatchObject({ code: "authorization_failed", delivery: "answered" });
  });

  it("P-10: looks that fail in passing go on; one that lasts ends it", async () => {
    const { result } = await waiting();
    world.sessions.onObserve = refusal(503);
    await world.clock.advance(MINUTE);
    expect(result.error).toBeUndefined();
    expect(world.sessions.count("observe")).toBeLessThan(8);
    world.sessions.onObserve = refusal(404, "unknown_session");
    await world.clock.advance(MINUTE);
    expect(result.error).toMatchObject({ details: { reason: "refused", errorCode: "unknown_session" } });
    expect(world.sessions.asked.at(-1)).toBe("end s-1");
  });

  it("P-10: a row that can't be written stops the begin, and nothing is sent", async () => {
    const { flows } = world;
    await settle();
    world.store.failures.push(new Error("full"));
    await expect(flows.start("github", options)).rejects.toThrow("full");
    expect(world.sessions.asked).toEqual([]);
    await waiting();
  });

  it("P-10: a row that can't be written later is written a little later, before the person is sent anywhere", async () => {
    world.signOut();
    const flows = world.login({
      onChange: ({ state }) => {
        if (state === "starting") world.store.failures.push(new Error("busy"));
      },
    });
    await world.clock.advance(SECOND);
    const starting = track(flows.start("github", options));
    await settle();
    expect(starting.value).toBeUndefined();
    await world.clock.advance(500);
    expect(starting.value?.nextAction).toEqual({ type: "redirect", url: PAGE });
    expect(await world.row()).toMatchObject({ state: "waiting", sessionId: "s-1" });
    expect(world.troubles.splice(0)).toEqual([new Error("busy")]);
  });
});

describe("one flow at a time", () => {
  beforeEach(ready);

  it("P-11: a second one of the connector is refused, one of another is not", async () => {
    await waiting();
    await expect(world.flows.start("github", options)).rejects.toMatchObject({
      code: "authorization_in_progress",
      delivery: "not_sent",
      details: { connectorKey: "github", clientRequestId: "r-1" },
    });
    await world.flows.start("linear", options);
    expect(world.sessions.begun.map(({ connectorKey }) => connectorKey)).toEqual(["github", "linear"]);
  });

  it("P-11: of many begins at once one is made", async () => {
    const begins = Array.from({ length: 5 }, () => track(world.flows.start("github", options)));
    await settle();
    expect(begins.filter(({ value }) => value !== undefined)).toHaveLength(1);
    expect(begins.filter(({ error }) => error !== undefined)).toHaveLength(4);
    expect(world.sessions.count("begin")).toBe(1);
  });

  it("P-11 ★: one that replaces interrupts a begin that is stuck", async () => {
    world.sessions.next.begin.push("hangs");
    const stuck = track(world.flows.start("github", options));
    await settle();
    const started = await world.flows.start("github", { ...options, replace: true });
    expect(stuck.error).toMatchObject({ code: "authorization_failed", details: { reason: "replaced" } });
    expect(started.clientRequestId).toBe("r-2");
    expect(world.sessions.begun[1]).toMatchObject({ replaces: true });
    expect(await world.row()).toMatchObject({ state: "cancelled", reason: "replaced" });
  });

  it("P-11 ★: one that replaces ends the old session first", async () => {
    const { result } = await waiting();
    await world.flows.start("github", { ...options, replace: true });
    expect(world.sessions.asked).toEqual(["begin r-1", "end s-1", "begin r-2"]);
    expect(result.error).toMatchObject({ code: "authorization_failed", details: { reason: "replaced" } });
  });

  it("P-11: nor does one that waits to be ended once more", async () => {
    await waiting();
    world.sessions.next.end.push(broken(), broken());
    void world.flows.cancel("github");
    await settle();
    expect(world.sessions.asked).toEqual(["begin r-1", "end s-1"]);
    await world.flows.start("github", { ...options, replace: true });
    expect(world.sessions.asked).toEqual(["begin r-1", "end s-1", "end s-1", "begin r-2"]);
  });

  it("P-11: nor one whose end fails while another waits", async () => {
    await waiting();
    world.sessions.next.end.push("hangs", broken());
    void world.flows.cancel("github");
    await settle();
    const replacing = track(world.flows.start("github", { ...options, replace: true }));
    await settle();
    expect(replacing.value).toBeUndefined();
    world.sessions.fail(broken());
    await settle();
    expect(replacing.value?.clientRequestId).toBe("r-2");
    expect(world.sessions.asked).toEqual(["begin r-1", "end s-1", "begin r-2"]);
  });

  it("P-10: one that waited for its predecessor has its own minute, and its own ten", async () => {
    world.sessions.next.disconnect.push(...Array.from({ length: 6 }, () => broken()));
    void world.flows.disconnect("github").catch(() => undefined);
    await settle();
    const starting = track(world.flows.start("github", { ...options, replace: true }));
    await world.clock.advance(45 * SECOND);
    expect(world.sessions.begun).toEqual([]);
    world.sessions.next.begin.push(...Array.from({ length: 5 }, () => broken()));
    for (let waited = 0; world.sessions.begun.length === 0 && waited < 60; waited += 1) {
      await world.clock.advance(SECOND);
    }
    const { createdAt = 0 } = (await world.row()) ?? {};
    expect(world.clock.now() - createdAt).toBeLessThanOrEqual(SECOND);
    await world.clock.advance(45 * SECOND);
    expect(starting.value?.nextAction).toEqual({ type: "redirect", url: PAGE });
  });

  it("P-11: an old session that can't be ended does not stand in the way", async () => {
    await waiting();
    world.sessions.next.end.push(broken());
    await world.flows.start("github", { ...options, replace: true });
    expect(world.sessions.asked).toEqual(["begin r-1", "end s-1", "begin r-2"]);
  });

  it("P-11: of three that replace each other the last one stays, and each session is ended", async () => {
    await waiting();
    const all = [1, 2, 3].map(() => track(world.flows.start("github", { ...options, replace: true })));
    await world.clock.advance(0);
    expect(all.map(({ value }) => value?.clientRequestId)).toEqual([undefined, undefined, "r-4"]);
    expect(world.sessions.asked).toEqual(["begin r-1", "end s-1", "begin r-4"]);
    // Those that were replaced before they began have no row.
    expect((await world.flows.list()).map(({ clientRequestId, state }) => [clientRequestId, state])).toEqual(
      expect.arrayContaining([
        ["r-1", "cancelled"],
        ["r-4", "waiting"],
      ]),
    );
    expect(await world.flows.list()).toHaveLength(2);
  });

  it("P-10: a cancelled one makes room; to cancel nothing is nothing", async () => {
    const { result } = await waiting();
    await world.flows.cancel("github");
    expect(world.sessions.asked).toEqual(["begin r-1", "end s-1"]);
    expect(result.error).toMatchObject({ details: { reason: "cancelled" } });
    await world.flows.cancel("github");
    await world.flows.cancel("linear");
    await waiting();
  });

  it("P-9: an end that came to nothing wakes the sync, too", async () => {
    await waiting();
    await world.clock.advance(SECOND);
    const { fetches } = world;
    await world.flows.cancel("github");
    await world.clock.advance(0);
    expect(world.fetches).toBe(fetches + 1);
  });

  it("P-10: an end that fails in passing is repeated, and left at last", async () => {
    await waiting();
    world.sessions.next.end.push(broken(), broken(), broken(), broken(), broken());
    const cancelled = track(world.flows.cancel("github"));
    await world.clock.advance(MINUTE);
    expect(cancelled.error).toBeUndefined();
    expect(world.sessions.count("end")).toBe(4);
    expect(await world.row()).toMatchObject({ state: "cancelled" });
  });

  it("P-11: the caller's signal ends waiting and flow, with its own reason", async () => {
    const caller = new AbortController();
    const started = await world.flows.start("github", { ...options, signal: caller.signal });
    const result = track(started.result);
    caller.abort("enough");
    await settle();
    expect(result.error).toBe("enough");
    expect(await world.row()).toMatchObject({ state: "cancelled", reason: "cancelled" });
    expect(getEventListeners(caller.signal, "abort")).toEqual([]);

    const early = AbortSignal.abort("before");
    await expect(world.flows.start("github", { ...options, signal: early })).rejects.toBe("before");
    expect(world.sessions.count("begin")).toBe(1);
  });

  it("P-12: a disconnect that comes with a cancellation is not forgotten for it", async () => {
    const caller = new AbortController();
    world.sessions.onBegin = succeeded();
    await world.flows.start("github", { ...options, signal: caller.signal });
    await settle();
    caller.abort("enough");
    const disconnecting = track(world.flows.disconnect("github"));
    await world.clock.advance(SECOND);
    expect(disconnecting.value).toMatchObject({ observed: true });
  });

  it("F-2: the caller's signal is heard while what an earlier process left is still being read", async () => {
    world.signOut();
    world.store.readFailures.push(...Array.from({ length: 5 }, () => new Error("busy")));
    const flows = world.login();
    const caller = new AbortController();
    const secret = Uint8Array.of(97);
    const starting = track(flows.start("github", { ...options, secret, signal: caller.signal }));
    await settle();
    caller.abort("enough");
    await settle();
    expect(starting.error).toBe("enough");
    expect(getEventListeners(caller.signal, "abort")).toEqual([]);
    await world.clock.advance(MINUTE);
    expect(world.sessions.asked).toEqual([]);
    world.troubles.length = 0;
  });

  it("F-2: one that had fired before is heard then, too", async () => {
    world.signOut();
    world.store.readFailures.push(...Array.from({ length: 5 }, () => new Error("busy")));
    const signal = AbortSignal.abort("before");
    const starting = track(world.login().start("github", { ...options, signal }));
    await settle();
    expect(starting.error).toBe("before");
    world.store.readFailures.length = 0;
    world.troubles.length = 0;
  });

  it("F-8: the caller's signal has no listener when the result is there, also of a flow that goes on", async () => {
    const { signal } = new AbortController();
    world.sessions.onBegin = succeeded();
    const { result } = await world.flows.start("github", { ...options, signal });
    const seen = track(result);
    await world.clock.advance(2 * MINUTE);
    expect(seen.value).toMatchObject({ published: false, reason: "connection_not_shown" });
    expect(await world.row()).toMatchObject({ state: "authorized" });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("P-11: a signal that fires after the grant ends only the waiting", async () => {
    const caller = new AbortController();
    const started = await world.flows.start("github", { ...options, signal: caller.signal });
    const result = track(started.result);
    world.sessions.onObserve = succeeded();
    await world.clock.advance(2 * SECOND);
    caller.abort("enough");
    await settle();
    expect(result.error).toBe("enough");
    world.show("c-1");
    await world.clock.advance(5 * SECOND);
    expect(await world.row()).toMatchObject({ state: "connected" });
  });

  it.each([
    ["connectorKey", "Not A Key", options],
    ["connectorVersion", "github", { connectorVersion: "" }],
  ])("P-10: %s is checked before anything is written", async (argument, key, given) => {
    await expect(world.flows.start(key, given)).rejects.toMatchObject({
      code: "invalid_argument",
      details: { argument },
    });
    expect(await world.flows.list()).toEqual([]);
  });

  it("P-10: a misspelt option is refused with the right name", async () => {
    const misspelt = { ...options, replaces: true };
    await expect(world.flows.start("github", misspelt)).rejects.toMatchObject({
      code: "invalid_options",
      details: { option: "replaces", suggestion: "replace" },
    });
  });
});

describe("convergence", () => {
  beforeEach(async () => {
    await ready();
    world.show("c-1");
    world.sessions.onBegin = succeeded();
  });

  it("P-11: the result waits for the route, of this connection", async () => {
    world.routes.standing = undefined;
    const { result } = await world.flows.start("github", options);
    const seen = track(result);
    await world.clock.advance(MINUTE);
    expect(world.routes.waiting.map(({ what }) => what)).toEqual(["published github c-1"]);
    expect(seen.value).toBeUndefined();
    // Another flow may begin meanwhile: this one is over as far as the control plane is concerned.
    expect(await world.row()).toMatchObject({ state: "connected" });
    world.routes.waiting[0]?.settle({ reached: true, reason: undefined });
    await settle();
    expect(seen.value).toEqual({ authorized: true, published: true, reason: undefined });
  });

  it.each([
    ["says why", { reached: false, reason: "release_mismatch" } as const, "release_mismatch"],
    ["says nothing", { reached: false, reason: undefined } as const, "not_converged"],
    ["fails", new Error("no"), "not_converged"],
  ])("P-11: a route that will not come: the watcher %s", async (_what, outcome, reason) => {
    world.routes.standing = outcome;
    const { result } = await world.flows.start("github", options);
    const seen = track(result);
    await world.clock.advance(2 * SECOND);
    expect(seen.value).toEqual({ authorized: true, published: false, reason });
  });

  it.each([
    ["has a last word", { reached: false, reason: "offline" } as const, "offline", 120_000],
    ["is silent", undefined, "not_converged", 121_000],
  ])("P-11: after two minutes the result is there: the watcher %s", async (_what, lastWord, reason, atMs) => {
    world.routes.standing = undefined;
    world.routes.lastWord = lastWord;
    const { result } = await world.flows.start("github", options);
    const seen = track(result);
    await world.clock.advance(atMs - 1);
    expect(seen.value).toBeUndefined();
    await world.clock.advance(1);
    expect(seen.value).toEqual({ authorized: true, published: false, reason });
    expect(world.routes.signals[0]?.aborted).toBe(true);
  });
});

describe("secrets", () => {
  beforeEach(async () => {
    await ready();
    world.sessions.onBegin = wantsSecret();
    world.show("c-1");
  });

  it("P-10 ★: one that is given at once is sent once, kept nowhere and overwritten", async () => {
    const secret = new TextEncoder().encode('k"e\\y\u0001ü');
    const starting = world.flows.start("github", { ...options, secret });
    expect([...secret]).toEqual(Array(secret.length).fill(0));
    const started = await starting;
    expect(started.nextAction).toBeUndefined();
    const result = track(started.result);
    await world.clock.advance(2 * SECOND);
    expect(result.value).toMatchObject({ authorized: true, published: true });
    expect(world.sessions.asked).toEqual(["begin r-1", "complete s-1"]);
    expect(world.sessions.begun[0]).toMatchObject({ hasSecret: true });
    expect(world.sessions.secrets).toEqual(['k"e\\y\u0001ü']);
    for (const bytes of world.sessions.given) expect([...bytes]).toEqual(Array(bytes.length).fill(0));
    expect(JSON.stringify([await world.flows.list(), world.changes])).not.toContain("k");
  });

  it("P-10: one that a person types is given later", async () => {
    const started = await world.flows.start("github", options);
    expect(started.nextAction).toEqual({ type: "submit_secret" });
    await world.clock.advance(SECOND);
    await world.flows.submitSecret("github", "typed");
    expect(world.sessions.secrets).toEqual(["typed"]);
    await world.clock.advance(2 * SECOND);
    expect(await world.row()).toMatchObject({ state: "connected" });
  });

  it("P-10: one that nobody waits for is refused, and overwritten all the same", async () => {
    const secret = Uint8Array.of(97, 98);
    const none = world.flows.submitSecret("github", secret);
    expect([...secret]).toEqual([0, 0]);
    await expect(none).rejects.toMatchObject({ code: "invalid_argument", delivery: "not_sent" });
    world.sessions.onBegin = session();
    await waiting();
    await expect(world.flows.submitSecret("github", "x")).rejects.toMatchObject({ code: "invalid_argument" });
    expect(world.sessions.count("complete")).toBe(0);
  });

  it.each([
    ["an empty text", ""],
    ["too many bytes", new Uint8Array(16_385)],
    ["no text", Uint8Array.of(0xff)],
  ])("P-10: what can't be a secret is refused before anything is written: %s", async (_what, secret) => {
    await expect(world.flows.start("github", { ...options, secret })).rejects.toMatchObject({
      code: "invalid_argument",
      details: { argument: "secret" },
    });
    expect(await world.flows.list()).toEqual([]);
  });

  it("P-10 ★: one whose answer is lost is found out about by looking, never sent again", async () => {
    const started = await world.flows.start("github", { ...options, secret: "k" });
    const result = track(started.result);
    world.sessions.next.complete.push(broken());
    world.sessions.onObserve = session({ status: "processing", nextAction: undefined });
    await world.clock.advance(10 * SECOND);
    expect(result.value).toBeUndefined();
    world.sessions.onObserve = succeeded();
    await world.clock.advance(5 * SECOND);
    expect(result.value).toMatchObject({ authorized: true, published: true });
    expect(world.sessions.count("complete")).toBe(1);
  });

  it("P-10: one that was answered with what can't be read is found out about, too", async () => {
    const unread = { message: "no", delivery: "answered", details: { reason: "no" } } as const;
    world.sessions.next.complete.push(new RemoteConnectorError("invalid_session", unread));
    world.sessions.onObserve = succeeded();
    const started = await world.flows.start("github", { ...options, secret: "k" });
    const result = track(started.result);
    await world.clock.advance(5 * SECOND);
    expect(result.value).toMatchObject({ authorized: true, published: true });
    expect(world.sessions.count("complete")).toBe(1);
  });

  it("P-10: a lost one that did not arrive ends the flow after half a minute", async () => {
    world.sessions.next.complete.push(broken());
    const started = await world.flows.start("github", { ...options, secret: "k" });
    const result = track(started.result);
    await world.clock.advance(29 * SECOND);
    expect(result.error).toBeUndefined();
    await expect(world.flows.submitSecret("github", "k")).rejects.toMatchObject({ code: "invalid_argument" });
    await world.clock.advance(3 * SECOND);
    expect(result.error).toMatchObject({ details: { reason: "secret_lost" } });
    expect(world.sessions.count("complete")).toBe(1);
    expect(world.sessions.asked.at(-1)).toBe("end s-1");
  });

  it("P-10: one that was certainly not sent is sent when that is possible", async () => {
    world.sessions.next.complete.push(broken("not_sent"), refusal(429));
    const started = await world.flows.start("github", { ...options, secret: "k" });
    const result = track(started.result);
    await world.clock.advance(5 * SECOND);
    expect(result.value).toMatchObject({ authorized: true });
    expect(world.sessions.secrets).toEqual(["k", "k", "k"]);
  });

  it("P-10: one that is refused ends the flow, and tells who gave it", async () => {
    const error = refusal(422, "invalid_key");
    world.sessions.onComplete = error;
    const started = await world.flows.start("github", options);
    const result = track(started.result);
    await expect(world.flows.submitSecret("github", "bad")).rejects.toBe(error);
    await settle();
    const details = { connectorKey: "github", reason: "refused", errorCode: "invalid_key" };
    expect(result.error).toMatchObject({ code: "authorization_failed", details });
    expect(world.sessions.asked.at(-1)).toBe("end s-1");
  });

  it("P-10: one that the session does not want is overwritten, and the person is sent to the page", async () => {
    world.sessions.onBegin = session();
    const started = await world.flows.start("github", { ...options, secret: "k" });
    expect(started.nextAction).toEqual({ type: "redirect", url: PAGE });
    await world.clock.advance(10 * SECOND);
    expect(world.sessions.count("complete")).toBe(0);
  });

  it("P-10 ★: one that is not needed, because the account had granted it already, is overwritten at once", async () => {
    world.showNothing();
    world.sessions.onBegin = succeeded();
    const wiping = vi.spyOn(HeldSecret.prototype, "wipe");
    await world.flows.start("github", { ...options, secret: "k" });
    expect(await world.row()).toMatchObject({ state: "authorized" });
    expect(wiping.mock.contexts.map((one) => one instanceof HeldSecret && [...one.bytes])).toEqual([[0]]);
    wiping.mockRestore();
  });

  it("P-10 ★: one of a flow that is refused is overwritten", async () => {
    await world.flows.start("github", options);
    const wiping = vi.spyOn(HeldSecret.prototype, "wipe");
    await expect(world.flows.start("github", { ...options, secret: "k" })).rejects.toMatchObject({
      code: "authorization_in_progress",
    });
    expect(wiping.mock.contexts.map((one) => one instanceof HeldSecret && [...one.bytes])).toEqual([[0]]);
    wiping.mockRestore();
  });

  it("P-10 ★: one that waits to be sent is overwritten when the flow is given up, before its session is ended", async () => {
    world.sessions.onComplete = broken("not_sent");
    await world.flows.start("github", { ...options, secret: "k" });
    await settle();
    expect(world.sessions.secrets).toEqual(["k"]);
    world.sessions.next.end.push("hangs");
    void world.flows.cancel("github").catch(() => undefined);
    await settle();
    expect(world.sessions.asked.at(-1)).toBe("end s-1");
    expect([...(world.sessions.given[0] ?? [])]).toEqual([0]);
  });

  it("P-8: one under way is overwritten when the login ends", async () => {
    world.sessions.onComplete = "hangs";
    const started = await world.flows.start("github", { ...options, secret: "k" });
    const result = track(started.result);
    await settle();
    world.signOut();
    await settle();
    expect([...(world.sessions.given[0] ?? [])]).toEqual([0]);
    expect(result.error).toMatchObject({ code: "login_ended" });
  });
});

describe("secrets that wait", () => {
  beforeEach(async () => {
    await ready();
    world.sessions.onBegin = wantsSecret();
  });

  it("P-8: one that waits to be sent is overwritten when the login ends, and who gave it is told", async () => {
    world.sessions.onComplete = broken("not_sent");
    await world.flows.start("github", options);
    const submitting = track(world.flows.submitSecret("github", "key"));
    await settle();
    expect(world.sessions.secrets).toEqual(["key"]);
    world.signOut();
    await settle();
    expect(submitting.error).toMatchObject({ code: "login_ended" });
    expect(world.sessions.given.map((bytes) => [...bytes])).toEqual([[0, 0, 0]]);
  });

  it("P-10: who gave a lost one is told when the snapshot shows its connection", async () => {
    await world.flows.start("github", options);
    world.sessions.next.complete.push(broken());
    const submitting = track(world.flows.submitSecret("github", "key").then(() => "taken"));
    await world.clock.advance(SECOND);
    expect(submitting).toMatchObject({ value: undefined, error: undefined });
    world.show("c-1");
    world.hint();
    await world.clock.advance(SECOND);
    expect(submitting.value).toBe("taken");
    expect(world.sessions.count("complete")).toBe(1);
  });

  it("P-10: who gave a lost one is told when a look shows that it arrived", async () => {
    await world.flows.start("github", options);
    world.sessions.next.complete.push(broken());
    world.sessions.onObserve = session({ status: "processing", nextAction: undefined });
    await world.flows.submitSecret("github", "key");
    expect(await world.row()).toMatchObject({ state: "waiting" });
    expect(world.sessions.asked.slice(1)).toEqual(["complete s-1", "observe s-1"]);
  });

  it("P-10: a row that can't be written keeps nobody waiting who closes", async () => {
    world.signOut();
    const flows = world.login({
      onChange: ({ state }) => {
        if (state === "starting") world.store.failures.push(...Array.from({ length: 9 }, () => new Error("full")));
      },
    });
    await world.clock.advance(SECOND);
    const starting = track(flows.start("github", options));
    await settle();
    await flows.close();
    expect(starting.error).toMatchObject({ code: "cancelled" });
    world.store.failures.length = 0;
    expect(world.troubles.splice(0)).toHaveLength(1);
  });

  it("P-10: a listener that throws stops no flow", async () => {
    world.signOut();
    const thrown: unknown[] = [];
    const microtask = vi.spyOn(globalThis, "queueMicrotask").mockImplementation((run) => {
      try {
        run();
      } catch (error) {
        thrown.push(error);
      }
    });
    const flows = world.login({
      onChange: ({ state }) => {
        throw new Error(state);
      },
    });
    await world.clock.advance(SECOND);
    const { nextAction } = await flows.start("github", options);
    microtask.mockRestore();
    expect(nextAction).toEqual({ type: "submit_secret" });
    expect(thrown).toEqual([new Error("starting"), new Error("waiting")]);
  });
});

describe("what an earlier process left", () => {
  it("P-10: a flow without a session is asked for again under the same id", async () => {
    await world.leave({});
    world.login();
    await world.clock.advance(0);
    expect(world.sessions.asked).toEqual(["begin left"]);
    expect(await world.row("left")).toMatchObject({ state: "waiting", sessionId: "s-1" });
    world.show("c-1");
    world.sessions.onObserve = succeeded();
    await world.clock.advance(5 * SECOND);
    expect(await world.row("left")).toMatchObject({ state: "connected" });
  });

  it("P-10: but not when its row is ten minutes old", async () => {
    await world.leave({ createdAt: world.clock.now() - 10 * MINUTE });
    world.login();
    await world.clock.advance(0);
    expect(world.sessions.asked).toEqual([]);
    expect(await world.row("left")).toMatchObject({ state: "failed", reason: "expired" });
  });

  it("P-10: asked again it may fail in passing, until it expires", async () => {
    await world.leave({});
    world.sessions.onBegin = broken();
    world.login();
    await world.clock.advance(9 * MINUTE);
    expect(await world.row("left")).toMatchObject({ state: "starting" });
    await world.clock.advance(MINUTE);
    expect(await world.row("left")).toMatchObject({ state: "failed", reason: "expired" });
  });

  it("P-10: one with a session is looked at, at once", async () => {
    await world.leave({ state: "waiting", sessionId: "s-9", nextAction: "redirect" });
    world.show("c-1");
    world.sessions.onObserve = succeeded();
    world.login();
    await world.clock.advance(3 * SECOND);
    expect(world.sessions.asked).toEqual(["observe s-9"]);
    expect(await world.row("left")).toMatchObject({ state: "connected", connectionId: "c-1" });
  });

  it("P-10 ★: one whose connection the snapshot shows is done, without asking", async () => {
    world.show("c-1");
    world.login();
    await world.clock.advance(0);
    await world.close();
    await world.leave({ state: "waiting", sessionId: "s-9", nextAction: "redirect" });
    world.login();
    await world.clock.advance(0);
    expect(world.sessions.asked).toEqual([]);
    expect(await world.row("left")).toMatchObject({ state: "connected", connectionId: "c-1" });
  });

  it("P-10: a connection that was there before it is not its result", async () => {
    world.show("c-1");
    world.login();
    await world.clock.advance(0);
    await world.close();
    await world.leave({ state: "waiting", sessionId: "s-9", nextAction: "redirect", priorConnectionId: "c-1" });
    world.login();
    await world.clock.advance(0);
    expect(await world.row("left")).toMatchObject({ state: "waiting" });
    world.show("c-2");
    await world.clock.advance(6 * MINUTE);
    expect(await world.row("left")).toMatchObject({ state: "connected", connectionId: "c-2" });
  });

  it("P-10: one that was granted waits for the snapshot only", async () => {
    await world.leave({ state: "authorized", sessionId: "s-9", connectionId: "c-1" });
    world.login();
    await world.clock.advance(3 * SECOND);
    world.show("c-1");
    await world.clock.advance(10 * SECOND);
    expect(world.sessions.asked).toEqual([]);
    expect(await world.row("left")).toMatchObject({ state: "connected" });
  });

  it.each([
    ["a session that waits for it", { state: "waiting", sessionId: "s-9", nextAction: "submit_secret" } as const, 0],
    ["no session yet", {} as const, 1],
  ])("P-10: the secret of one is gone: %s", async (_what, members, begins) => {
    await world.leave(members);
    world.sessions.onBegin = wantsSecret();
    world.sessions.onObserve = session({ nextAction: undefined });
    world.login();
    await world.clock.advance(0);
    expect(world.sessions.count("begin")).toBe(begins);
    expect(world.sessions.count("end")).toBe(1);
    expect(await world.row("left")).toMatchObject({ state: "failed", reason: "secret_lost" });
  });

  it("P-10: a secret that had arrived is waited for", async () => {
    await world.leave({ state: "waiting", sessionId: "s-9", nextAction: "submit_secret" });
    world.sessions.onObserve = session({ status: "processing", nextAction: undefined });
    world.login();
    await world.clock.advance(10 * SECOND);
    expect(await world.row("left")).toMatchObject({ state: "waiting" });
    expect(world.sessions.count("observe")).toBeGreaterThan(3);
  });

  it.each(["connected", "failed", "cancelled"] as const)("P-10: one that is %s is over", async (state) => {
    await world.leave({
      state,
      sessionId: "s-9",
      connectionId: "c-1",
      reason: state === "connected" ? undefined : "replaced",
    });
    await ready();
    await waiting();
    expect(world.sessions.asked).toEqual(["begin r-1"]);
    expect(world.routes.waiting).toEqual([]);
    expect(world.changes.map(({ clientRequestId }) => clientRequestId)).toEqual(["r-1", "r-1"]);
  });

  it("P-10: a session that was to be ended is ended", async () => {
    await world.leave({ state: "cancelling", sessionId: "s-9", reason: "replaced" });
    world.login();
    await world.clock.advance(0);
    expect(world.sessions.asked).toEqual(["end s-9"]);
    expect(await world.row("left")).toMatchObject({ state: "cancelled", reason: "replaced" });
  });

  it("P-11: it is in the way of another, which may replace it", async () => {
    await world.leave({ state: "waiting", sessionId: "s-9", nextAction: "redirect" });
    await ready();
    await expect(world.flows.start("github", options)).rejects.toMatchObject({ code: "authorization_in_progress" });
    await world.flows.start("github", { ...options, replace: true });
    expect(world.sessions.asked).toContain("end s-9");
  });

  it("P-10: rows that can't be read are read a little later; who begins meanwhile waits", async () => {
    await world.leave({ state: "cancelling", sessionId: "s-9", reason: "cancelled" });
    world.store.readFailures.push(new Error("busy"), new Error("busy"));
    const starting = track(world.flows.start("linear", options));
    await settle();
    expect(starting.value).toBeUndefined();
    await world.clock.advance(3 * SECOND);
    expect(starting.value).toBeDefined();
    expect(world.troubles.splice(0)).toHaveLength(2);
    expect(await world.row("left")).toMatchObject({ state: "cancelled" });
  });

  it("P-10: rows that can't be read for a minute let nobody begin, until they can", async () => {
    world.store.readFailures.push(...Array.from({ length: 7 }, () => new Error("broken")));
    const early = [track(world.flows.start("linear", options)), track(world.flows.disconnect("linear"))];
    await world.clock.advance(20 * SECOND);
    expect(early).toMatchObject([{ error: undefined }, { error: undefined }]);
    await world.clock.advance(50 * SECOND);
    expect(early).toMatchObject([{ error: new Error("broken") }, { error: new Error("broken") }]);
    await expect(world.flows.start("linear", options)).rejects.toThrow("broken");
    expect(world.sessions.asked).toEqual([]);
    await world.clock.advance(2 * MINUTE);
    expect((await world.flows.start("linear", options)).nextAction).toEqual({ type: "redirect", url: PAGE });
    expect(world.troubles.splice(0)).toHaveLength(7);
  });

  it("R-8, R-11: what is over for a day is gone when another begins", async () => {
    await world.leave({ state: "failed", reason: "expired", updatedAt: world.clock.now() - 24 * 60 * MINUTE });
    await ready();
    await waiting();
    expect((await world.flows.list()).map(({ clientRequestId }) => clientRequestId)).toEqual(["r-1"]);
  });
});

describe("a disconnect", () => {
  beforeEach(async () => {
    world.show("c-1");
    await ready();
    world.showNothing();
  });

  const counts = async (): Promise<string | undefined> =>
    world.store.read(async (tx) => {
      const row = await tx.projections.get("acc", "github");
      return row && effectiveRow(row, await tx.overlays.get("acc", "github")).state;
    });

  it("P-12 ★: lowers the row at once, wakes the sync, and resolves when that was observed", async () => {
    world.routes.standing = undefined;
    world.shown = new Error("down");
    const disconnecting = track(world.flows.disconnect("github"));
    await settle();
    expect(world.sessions.asked).toEqual(["disconnect github"]);
    expect(await counts()).toBe("disconnected");
    expect(await world.store.read((tx) => tx.overlays.get("acc", "github"))).toMatchObject({
      state: "disconnected",
      connectionId: "c-1",
      connectionVersion: 1n,
      phase: "standing",
    });
    await world.clock.advance(SECOND);
    expect(world.fetches).toBe(2);
    expect(world.routes.waiting.map(({ what }) => what)).toEqual(["withdrawn github"]);
    expect(disconnecting.value).toBeUndefined();
    world.routes.waiting[0]?.settle({ reached: true, reason: undefined });
    await settle();
    expect(disconnecting.value).toEqual({ observed: true, reason: undefined });
  });

  it("P-12: after two minutes it says why it was not observed", async () => {
    world.routes.standing = undefined;
    world.routes.lastWord = { reached: false, reason: "still_published" };
    const disconnecting = track(world.flows.disconnect("github"));
    await world.clock.advance(2 * MINUTE - 1);
    expect(disconnecting.value).toBeUndefined();
    await world.clock.advance(1);
    expect(disconnecting.value).toEqual({ observed: false, reason: "still_published" });
  });

  it.each([
    ["is silent", undefined],
    ["fails", new Error("no")],
  ])("P-12: a watcher that %s", async (_what, standing) => {
    world.routes.standing = standing;
    const disconnecting = track(world.flows.disconnect("github"));
    await world.clock.advance(2 * MINUTE + SECOND);
    expect(disconnecting.value).toEqual({ observed: false, reason: "not_observed" });
  });

  it("P-12: the request is repeated while it fails in passing: it does no harm", async () => {
    world.sessions.next.disconnect.push(broken(), refusal(503), broken("not_sent"));
    const disconnecting = track(world.flows.disconnect("github"));
    await world.clock.advance(10 * SECOND);
    expect(world.sessions.count("disconnect")).toBe(4);
    expect(disconnecting.value).toMatchObject({ observed: true });
  });

  it("P-12: for a minute, and then it rejects; nothing is lowered", async () => {
    const error = broken();
    world.sessions.next.disconnect.push(...Array<Error>(20).fill(error));
    const disconnecting = track(world.flows.disconnect("github"));
    await world.clock.advance(MINUTE);
    expect(disconnecting.error).toBe(error);
    expect(world.sessions.count("disconnect")).toBeLessThan(8);
    expect(await counts()).toBe("connected");
    // The lane is free.
    await waiting();
  });

  it("P-12: a refusal that lasts rejects at once", async () => {
    const error = refusal(403, "not_yours");
    world.sessions.next.disconnect.push(error);
    await expect(world.flows.disconnect("github")).rejects.toBe(error);
    expect(await counts()).toBe("connected");
  });

  it("P-6: a connection that came meanwhile is not lowered", async () => {
    world.sessions.next.disconnect.push(broken());
    const disconnecting = track(world.flows.disconnect("github"));
    world.show("c-2");
    world.hint();
    await world.clock.advance(1_500);
    expect(disconnecting.value).toMatchObject({ observed: true });
    expect(await counts()).toBe("connected");
    expect(await world.store.read((tx) => tx.overlays.list("acc"))).toEqual([]);
  });

  it("P-12: what was never connected can be disconnected", async () => {
    expect(await world.flows.disconnect("linear")).toMatchObject({ observed: true });
    expect(world.sessions.asked).toEqual(["disconnect linear"]);
  });

  it("P-12 ★: a flow of the connector ends first", async () => {
    const { result } = await waiting();
    await world.flows.disconnect("github");
    expect(world.sessions.asked).toEqual(["begin r-1", "end s-1", "disconnect github"]);
    expect(result.error).toMatchObject({ code: "authorization_failed", details: { reason: "disconnected" } });
    expect(await world.row()).toMatchObject({ state: "cancelled", reason: "disconnected" });
  });

  it("P-12: one that was granted, too", async () => {
    world.sessions.onBegin = succeeded("c-9");
    const started = await world.flows.start("github", options);
    const result = track(started.result);
    await world.flows.disconnect("github");
    expect(world.sessions.asked).toEqual(["begin r-1", "disconnect github"]);
    expect(result.error).toMatchObject({ details: { reason: "disconnected" } });
  });

  it("P-12: two at once ask once, and have one result", async () => {
    const { flows } = world;
    const both = await Promise.all([flows.disconnect("github"), flows.disconnect("github")]);
    expect(both[0]).toBe(both[1]);
    expect(world.sessions.asked).toEqual(["disconnect github"]);
  });

  it("P-12: two at once are one; a flow may begin when the control plane has answered, or waits for that", async () => {
    world.sessions.next.disconnect.push("hangs");
    world.routes.standing = undefined;
    const both = [track(world.flows.disconnect("github")), track(world.flows.disconnect("github"))];
    await settle();
    expect(world.sessions.count("disconnect")).toBe(1);
    await expect(world.flows.start("github", options)).rejects.toMatchObject({
      code: "authorization_in_progress",
      details: { connectorKey: "github", clientRequestId: undefined },
    });
    const replacing = track(world.flows.start("github", { ...options, replace: true }));
    await settle();
    expect(world.sessions.count("begin")).toBe(0);
    world.signOut();
    await settle();
    expect(both.map(({ error }) => error)).toEqual(Array(2).fill(expect.objectContaining({ code: "login_ended" })));
    expect(replacing.error).toMatchObject({ code: "login_ended" });
    expect(world.sessions.count("begin")).toBe(0);
  });

  it("P-12: a flow begins while a disconnect only waits to be observed", async () => {
    world.routes.standing = undefined;
    const disconnecting = track(world.flows.disconnect("github"));
    await settle();
    await waiting();
    expect(world.sessions.asked).toEqual(["disconnect github", "begin r-1"]);
    world.signOut();
    await settle();
    expect(disconnecting.error).toMatchObject({ code: "login_ended" });
  });

  it("P-12: a row that can't be lowered is left to the snapshot, which is fetched", async () => {
    const { flows } = world;
    world.store.failures.push(new Error("full"));
    expect(await flows.disconnect("github")).toMatchObject({ observed: true });
    expect(world.troubles.splice(0)).toEqual([new Error("full")]);
    await world.clock.advance(SECOND);
    expect(await counts()).toBe("disconnected");
  });

  it("P-12: a key that is none is refused", async () => {
    await expect(world.flows.disconnect("Not A Key")).rejects.toMatchObject({ code: "invalid_argument" });
  });
});

describe("the end of a login", () => {
  beforeEach(ready);

  it("P-11 ★: rejects with its own code, leaves the row, and the next login goes on", async () => {
    const { result } = await waiting();
    world.signOut();
    await settle();
    expect(result.error).toMatchObject({ code: "login_ended", details: { connectorKey: "github" } });
    expect(await world.row()).toMatchObject({ state: "waiting" });
    const asked = world.sessions.asked.length;
    await world.clock.advance(MINUTE);
    expect(world.sessions.asked).toHaveLength(asked);

    world.show("c-1");
    world.sessions.onObserve = succeeded();
    world.login();
    await world.clock.advance(3 * SECOND);
    expect(await world.row()).toMatchObject({ state: "connected" });
  });

  it("P-11: a begin that is stuck, and one that comes later, are rejected too", async () => {
    const { flows } = world;
    world.sessions.onBegin = "hangs";
    const stuck = track(flows.start("github", options));
    await settle();
    world.signOut();
    await settle();
    expect(stuck.error).toMatchObject({ code: "login_ended" });
    await expect(flows.start("github", options)).rejects.toMatchObject({ code: "login_ended" });
    await expect(flows.disconnect("github")).rejects.toMatchObject({ code: "login_ended" });
    await expect(flows.cancel("github")).rejects.toMatchObject({ code: "login_ended" });
  });

  it("P-11: a result that waits for its route is rejected", async () => {
    world.show("c-1");
    world.sessions.onBegin = succeeded();
    world.routes.standing = undefined;
    const started = await world.flows.start("github", options);
    const result = track(started.result);
    await world.clock.advance(2 * SECOND);
    world.signOut();
    await settle();
    expect(result.error).toMatchObject({ code: "login_ended" });
    expect(world.routes.signals[0]?.aborted).toBe(true);
  });

  it("P-10: closing is another end of the work, with another code", async () => {
    const { result } = await waiting();
    const { flows } = world;
    const closing = flows.close();
    await closing;
    expect(result.error).toMatchObject({ code: "cancelled", details: { reason: "flows_closed" } });
    await expect(flows.start("github", options)).rejects.toMatchObject({ code: "cancelled" });
    await flows.close();
  });

  it("P-12: closing waits for a disconnect that is at work in the store", async () => {
    const held = new Deferred<undefined>();
    world.show("c-1");
    world.hint();
    await world.clock.advance(SECOND);
    void world.store.write(() => held.promise);
    const disconnecting = track(world.flows.disconnect("github"));
    await settle();
    let isClosed = false;
    const closing = world.flows.close().then(() => (isClosed = true));
    await settle();
    expect(disconnecting.error).toMatchObject({ code: "cancelled" });
    expect(isClosed).toBe(false);
    held.resolve(undefined);
    await closing;
  });

  it("P-8: a row whose turn in the store comes later is not written", async () => {
    const held = new Deferred<undefined>();
    void world.store.write(() => held.promise);
    const starting = track(world.flows.start("github", options));
    await settle();
    world.signOut();
    held.resolve(undefined);
    await settle();
    expect(starting.error).toMatchObject({ code: "login_ended" });
    expect(await world.store.read((tx) => tx.flows.list("acc"))).toEqual([]);
  });

  it("P-8: nor is what comes of it", async () => {
    const held = new Deferred<undefined>();
    world.sessions.next.begin.push("hangs");
    void world.flows.start("github", options).catch(() => undefined);
    await settle();
    void world.store.write(() => held.promise);
    world.sessions.fail(refusal(422));
    await settle();
    world.signOut();
    held.resolve(undefined);
    await settle();
    expect(await world.row()).toMatchObject({ state: "starting" });
  });

  it("P-12: a disconnect that is stopped while it lowers the row does not wait to be observed", async () => {
    const held = new Deferred<undefined>();
    world.show("c-1");
    world.hint();
    await world.clock.advance(SECOND);
    world.routes.standing = undefined;
    await world.flows.close();
    world.signOut();
    const { sessions } = world;
    const flows = world.login({
      sessions: {
        ...unusedSessions,
        disconnect: async (...request) => {
          await sessions.disconnect(...request);
          void world.store.write(() => held.promise);
        },
      },
    });
    await world.clock.advance(SECOND);
    const disconnecting = track(flows.disconnect("github"));
    await settle();
    const closing = track(flows.close().then(() => "closed"));
    await settle();
    expect(disconnecting.error).toMatchObject({ code: "cancelled" });
    expect(closing.value).toBeUndefined();
    held.resolve(undefined);
    await settle();
    expect(closing.value).toBe("closed");
  });

  it("P-8: a login that has ended already begins nothing", async () => {
    const login = world.logins.signIn("acc");
    world.logins.signOut();
    const flows = world.login({ login });
    await expect(flows.start("github", options)).rejects.toMatchObject({ code: "login_ended" });
    expect(world.sessions.asked).toEqual([]);
  });
});
