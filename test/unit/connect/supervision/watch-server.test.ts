import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import type { Era } from "../../../../src/connect/index.js";
import { watchServer } from "../../../../src/connect/supervision/watch-server.js";
import { RemoteConnectorError } from "../../../../src/errors.js";
import type { Subscription, SubscriptionEnd, SubscriptionFilter } from "../../../../src/modern-client/index.js";
import { ItemBuffer } from "../../../../src/modern-client/subscriptions/index.js";
import type { Notification } from "../../../../src/protocol/index.js";
import { FakeClock, settle } from "../../../support/fake-clock.js";
import { exit, standing } from "./server-bench.js";

const CHANGED: Notification = { method: "notifications/tools/list_changed", params: undefined };

/** A subscription whose far side is the test. */
class FakeSubscription implements Subscription {
  readonly filter: SubscriptionFilter;
  readonly acknowledged: Promise<SubscriptionFilter>;
  readonly closed: Promise<SubscriptionEnd>;
  readonly #buffer = new ItemBuffer<Notification>(
    { maxBufferedNotifications: 9, maxBufferedBytes: 9 },
    () => undefined,
  );
  #acknowledge: (filter: SubscriptionFilter) => void = () => undefined;
  #close: (end: SubscriptionEnd) => void = () => undefined;

  constructor(filter: SubscriptionFilter) {
    this.filter = filter;
    this.acknowledged = new Promise((resolve) => (this.#acknowledge = resolve));
    this.closed = new Promise((resolve) => (this.#close = resolve));
  }

  async acknowledge(): Promise<void> {
    this.#acknowledge(this.filter);
    await settle();
  }

  async tell(notification: Notification): Promise<void> {
    this.#buffer.push(notification, 0);
    await settle();
  }

  async end(end: SubscriptionEnd): Promise<void> {
    this.#buffer.end(end);
    this.#close(end);
    await settle();
  }

  close(): void {
    void this.end({ kind: "cancelled", reason: "closed" });
  }

  [Symbol.asyncIterator](): AsyncIterator<Notification, undefined> {
    return this.#buffer;
  }
}

function watch(era: Era) {
  const clock = new FakeClock();
  const over = new AbortController();
  const subscriptions: FakeSubscription[] = [];
  const told = { changes: 0 };
  const client = {
    era,
    listen: (filter: SubscriptionFilter) => {
      const subscription = new FakeSubscription(filter);
      subscriptions.push(subscription);
      return subscription;
    },
  };
  const { signal } = over;
  const ended = watchServer(client, { clock, signal, onToolsChanged: () => (told.changes += 1) });
  return { clock, over, subscriptions, told, ended };
}

const BROKEN: SubscriptionEnd = {
  kind: "broken",
  error: new RemoteConnectorError("limit_exceeded", {
    message: "too many",
    details: { option: "maxBufferedNotifications", limit: 9 },
  }),
};

describe("watchServer", () => {
  it.each(["modern", "legacy"] as const)("L-16: tells the end of a %s server's process", async (era) => {
    const { subscriptions, ended } = watch(era);
    const error = exit(3);
    await subscriptions[0]?.end({ kind: "broken", error });
    expect(await standing(ended)).toBe(error);
  });

  it("L-16: asks a modern server for its changes, and takes only those of tools", async () => {
    const { subscriptions, told } = watch("modern");
    expect(subscriptions[0]?.filter).toEqual({ toolsListChanged: true });
    await subscriptions[0]?.acknowledge();
    expect(told.changes).toBe(0);
    await subscriptions[0]?.tell(CHANGED);
    await subscriptions[0]?.tell({ method: "notifications/message", params: undefined });
    expect(told.changes).toBe(1);
  });

  it("L-16: asks a legacy server for nothing, whose session tells by itself", async () => {
    const { subscriptions, told } = watch("legacy");
    expect(subscriptions[0]?.filter).toEqual({});
    await subscriptions[0]?.tell(CHANGED);
    expect(told.changes).toBe(0);
  });

  it.each<[string, SubscriptionEnd]>([
    ["completed", { kind: "completed", result: {} }],
    ["ended by the server", { kind: "ended_by_server", reason: undefined }],
    ["broken by a flood", BROKEN],
  ])("L-16: subscribes again a minute after one was %s, with a change for what was missed", async (_name, end) => {
    const { clock, subscriptions, told, ended } = watch("modern");
    await subscriptions[0]?.end(end);
    await clock.advance(59_999);
    expect(subscriptions).toHaveLength(1);
    await clock.advance(1);
    expect(subscriptions).toHaveLength(2);
    await subscriptions[1]?.acknowledge();
    expect(told.changes).toBe(1);
    await subscriptions[1]?.end({ kind: "broken", error: exit() });
    expect(await standing(ended)).toMatchObject({ code: "process_exited" });
  });

  it.each<[string, SubscriptionEnd]>([
    ["refused", { kind: "refused", why: "unsupported", error: exit() }],
    ["cancelled", { kind: "cancelled", reason: "closed" }],
  ])("L-16: says nothing more after one was %s", async (_name, end) => {
    const { clock, subscriptions, ended } = watch("modern");
    await subscriptions[0]?.end(end);
    await clock.advance(3_600_000);
    expect(subscriptions).toHaveLength(1);
    expect(await standing(ended)).toBe("pending");
  });

  it("L-16: leaves no timer and no listener when it is over", async () => {
    const { clock, over, subscriptions } = watch("modern");
    await subscriptions[0]?.end(BROKEN);
    expect(clock.pending).toBe(1);
    over.abort();
    expect([clock.pending, getEventListeners(over.signal, "abort").length]).toEqual([0, 0]);
    await clock.advance(60_000);
    expect(subscriptions).toHaveLength(1);
    const other = watch("modern");
    other.over.abort();
    await other.subscriptions[0]?.end(BROKEN);
    expect(other.clock.pending).toBe(0);
  });
});
