import { describe, expect, it } from "vitest";
import {
  answerFeed,
  EventFeed,
  type Handler,
  messageEvent,
  notificationMessage,
  type ReceivedRequest,
} from "../../../../src/testing/index.js";
import { FakeClock } from "../../../support/fake-clock.js";
import {
  bindingOf,
  DEVICE,
  EntryParty,
  gives,
  legacy,
  type Methods,
  modern,
  serve,
  timesAsked,
} from "./entry-parties.js";

const URI = "x:1";
const LISTS: Methods = {
  "resources/list": gives(`{"resources":[{"uri":"${URI}","name":"n"}]}`),
  "resources/templates/list": gives('{"resourceTemplates":[]}'),
};

/** A server that tells of changes: how it is served, and how it is made to tell. */
interface Teller {
  readonly handler: Handler;
  /** The method by which one subscribes. */
  readonly method: string;
  tell(): void;
  /** Breaks what it tells over. */
  breakOff(): void;
}

function modernTeller(): Teller {
  const open: { readonly feed: EventFeed; readonly id: unknown }[] = [];
  const say = (feed: EventFeed, id: unknown, method: string, params: object): void =>
    feed.send(
      messageEvent(notificationMessage(method, { _meta: { "io.modelcontextprotocol/subscriptionId": id }, ...params })),
    );
  const listen = (params: object, request: ReceivedRequest) => {
    const feed = new EventFeed();
    open.push({ feed, id: request.id });
    say(feed, request.id, "notifications/subscriptions/acknowledged", {
      notifications: Reflect.get(params, "notifications"),
    });
    return answerFeed(feed);
  };
  return {
    handler: modern({ ...LISTS, "subscriptions/listen": listen }),
    method: "subscriptions/listen",
    tell: () => {
      for (const { feed, id } of open) say(feed, id, "notifications/resources/updated", { uri: URI });
    },
    breakOff: () => {
      for (const { feed } of open.splice(0)) feed.end("cut");
    },
  };
}

function legacyTeller(): Teller {
  let feed = new EventFeed();
  const answered = legacy({ ...LISTS, "resources/subscribe": () => ({}), "resources/unsubscribe": () => ({}) });
  return {
    handler: (request) => (request.verb === "GET" ? answerFeed(feed) : answered(request)),
    method: "resources/subscribe",
    tell: () => feed.send(messageEvent(notificationMessage("notifications/resources/updated", { uri: URI }))),
    breakOff: () => {
      feed.end("cut");
      feed = new EventFeed();
    },
  };
}

function watcher() {
  const controller = new AbortController();
  const heard: string[] = [];
  const watch = { signal: controller.signal, onUpdated: () => void heard.push("updated") };
  return { watch, heard, leave: () => controller.abort("left") };
}

describe.each([
  ["modern", modernTeller],
  ["legacy", legacyTeller],
])("subscriptions to resources of %s servers", (_era, tellerOf) => {
  it("H-28: one of the owner for all who listen; ended when the last one leaves", async () => {
    const teller = tellerOf();
    const server = await serve(teller.handler);
    const party = new EntryParty({ a: ["resources"] });
    await party.publish("a", server);
    const { resources } = party.directory;
    const [one, other] = [watcher(), watcher()];
    await Promise.all([
      resources.subscribe(bindingOf("1"), URI, one.watch),
      resources.subscribe(bindingOf("2"), URI, other.watch),
    ]);
    teller.tell();
    await expect.poll(() => [one.heard.length, other.heard.length], { interval: 5 }).toEqual([1, 1]);
    one.leave();
    teller.tell();
    await expect.poll(() => other.heard.length, { interval: 5 }).toBe(2);
    expect(one.heard).toHaveLength(1);
    expect(timesAsked(server, teller.method)).toBe(1);
    other.leave();
    const third = watcher();
    await resources.subscribe(bindingOf("3"), URI, third.watch);
    expect(timesAsked(server, teller.method)).toBe(2);
  });

  it("H-28: goes along to the route's successor, and tells once that something may have been missed", async () => {
    const before = tellerOf();
    const after = tellerOf();
    // It stands still: a pause would never end.
    const party = new EntryParty({ a: ["resources"] }, { clock: new FakeClock() });
    await party.publish("a", await serve(before.handler));
    const one = watcher();
    await party.directory.resources.subscribe(bindingOf(), URI, one.watch);
    const successor = await serve(after.handler);
    await party.publish("a", successor);
    await expect.poll(() => one.heard.length, { interval: 5 }).toBe(1);
    expect(timesAsked(successor, after.method)).toBe(1);
    after.tell();
    await expect.poll(() => one.heard.length, { interval: 5 }).toBe(2);
  });
});

describe("subscriptions to resources", () => {
  it("H-28: wait for the next route of a connector that was withdrawn, and for no more when nobody listens", async () => {
    const teller = modernTeller();
    const party = new EntryParty({ a: ["resources"] }, { clock: new FakeClock() });
    await party.publish("a", await serve(teller.handler));
    const one = watcher();
    await party.directory.resources.subscribe(bindingOf(), URI, one.watch);
    await party.routes.remove(DEVICE, "a", 1);
    const again = await serve(modernTeller().handler);
    await party.publish("a", again);
    await expect.poll(() => one.heard.length, { interval: 5 }).toBe(1);
    one.leave();
    await party.publish("a", await serve(modernTeller().handler));
    expect(timesAsked(again, "subscriptions/listen")).toBe(1);
  });

  it("H-28: are opened again after a pause when they break, with one word of the gap", async () => {
    const clock = new FakeClock();
    const teller = modernTeller();
    const server = await serve(teller.handler);
    const party = new EntryParty({ a: ["resources"] }, { clock });
    await party.publish("a", server);
    const one = watcher();
    await party.directory.resources.subscribe(bindingOf(), URI, one.watch);
    teller.breakOff();
    await expect.poll(() => party.failures.length, { interval: 5 }).toBe(1);
    await clock.advance(999);
    expect(timesAsked(server, "subscriptions/listen")).toBe(1);
    await clock.advance(1);
    await expect.poll(() => one.heard.length, { interval: 5 }).toBe(1);
    expect(timesAsked(server, "subscriptions/listen")).toBe(2);
    // One that never lasts is opened less and less often, and listeners are told no more often than that.
    teller.breakOff();
    await expect.poll(() => party.failures.length, { interval: 5 }).toBe(2);
    await clock.advance(1_999);
    expect([timesAsked(server, "subscriptions/listen"), one.heard.length]).toEqual([2, 1]);
    await clock.advance(1);
    await expect.poll(() => one.heard.length, { interval: 5 }).toBe(2);
    await clock.advance(60_000);
    teller.breakOff();
    await expect.poll(() => party.failures.length, { interval: 5 }).toBe(3);
    await clock.advance(1_000);
    await expect.poll(() => one.heard.length, { interval: 5 }).toBe(3);
    one.leave();
    expect(clock.pending).toBe(0);
  });

  it.each([
    ["a modern server that has none", modern(LISTS)],
    [
      "a legacy server that takes none",
      legacy({ ...LISTS, "resources/subscribe": () => Promise.reject(new Error("no")) }),
    ],
  ])("H-28: %s is told of as it is", async (_what, handler) => {
    const party = new EntryParty({ a: ["resources"] });
    await party.publish("a", await serve(handler));
    const { watch } = watcher();
    await expect(party.directory.resources.subscribe(bindingOf(), URI, watch)).rejects.toMatchObject({
      code: "unsupported",
      details: { feature: "resource subscriptions" },
    });
  });

  it("H-28: a resource of nobody, and one of several, is none to listen to; the signal ends the waiting", async () => {
    const party = new EntryParty({ a: ["resources"], b: ["resources"] });
    const server = await serve(modern({ ...LISTS, "subscriptions/listen": () => answerFeed(new EventFeed()) }));
    await party.publish("a", server);
    const { resources } = party.directory;
    await expect(resources.subscribe(bindingOf(), "x:2", watcher().watch)).rejects.toMatchObject({
      code: "resource_not_found",
    });
    const one = watcher();
    const waiting = resources.subscribe(bindingOf(), URI, one.watch);
    await expect.poll(() => timesAsked(server, "subscriptions/listen"), { interval: 5 }).toBe(1);
    one.leave();
    await expect(waiting).rejects.toBe("left");
    await party.publish("b", server);
    await expect(resources.subscribe(bindingOf(), URI, watcher().watch)).rejects.toMatchObject({
      code: "ambiguous_resource",
      details: { connectorKeys: ["a", "b"] },
    });
  });

  it("H-16: there are maxResourceSubscriptions of them at most, and room again for each that ended", async () => {
    const party = new EntryParty({ a: ["resources"] }, { maxResourceSubscriptions: 1 });
    const teller = modernTeller();
    const lists = { ...LISTS, "resources/list": gives('{"resources":[{"uri":"x:1"},{"uri":"x:2"}]}') };
    const listed = modern(lists);
    await party.publish(
      "a",
      await serve((request) => (request.method === "resources/list" ? listed(request) : teller.handler(request))),
    );
    const { resources } = party.directory;
    const one = watcher();
    await resources.subscribe(bindingOf(), "x:1", one.watch);
    await expect(resources.subscribe(bindingOf(), "x:2", watcher().watch)).rejects.toMatchObject({
      code: "limit_exceeded",
      details: { option: "maxResourceSubscriptions", limit: 1 },
    });
    one.leave();
    await resources.subscribe(bindingOf(), "x:2", watcher().watch);
  });
});
