import { describe, expect, it } from "vitest";
import {
  type Answer,
  answerFeed,
  answerStatus,
  EventFeed,
  type FeedEnd,
  messageEvent,
  notificationMessage,
} from "../../src/testing/index.js";
import { FakeClock, settle } from "../support/fake-clock.js";
import { acknowledgedMessage, meet } from "./parties.js";

const FILTER = { toolsListChanged: true };
type Ending = FeedEnd | "cancelled";

/** A subscription, the `id`-th request of its client, that is acknowledged. */
function subscriptionOf(id: number): { readonly answer: Answer; end(how: Ending): void } {
  const feed = new EventFeed();
  feed.send(messageEvent(acknowledgedMessage(id, FILTER)));
  return {
    answer: answerFeed(feed),
    end(how) {
      if (how !== "cancelled") feed.end(how);
      else feed.send(messageEvent(notificationMessage("notifications/cancelled", { requestId: id, reason: "bye" })));
    },
  };
}

describe("subscriptions", () => {
  it("MB-071: the end of a subscription goes unnoticed, and what it was about stays as it was", async () => {
    const endings: readonly (readonly [Ending, object])[] = [
      ["cancelled", { kind: "ended_by_server", reason: "bye" }],
      ["whole", { kind: "broken", error: { code: "stream_ended", delivery: "unknown" } }],
      ["reset", { kind: "broken", error: { code: "connection_broken", delivery: "unknown" } }],
    ];
    for (const [how, end] of endings) {
      const one = subscriptionOf(1);
      const { client } = await meet([one.answer]);
      const handle = client.listen(FILTER);
      await expect(handle.acknowledged).resolves.toEqual(FILTER);
      one.end(how);
      await expect(handle.closed).resolves.toMatchObject(end);

      const clock = new FakeClock();
      const [first, second] = [subscriptionOf(1), subscriptionOf(9)];
      const down = answerStatus(502);
      const ends: object[] = [];
      const delays: number[] = [];
      const party = await meet([first.answer, down, down, down, down, down, down, down, second.answer], {
        clock,
        random: () => 1,
      });
      const kept = party.client.keepListening(FILTER, {
        longestReopenDelayMs: 8_000,
        onPause: (ended, delayMs) => {
          ends.push(ended);
          delays.push(delayMs);
        },
      });
      const items = kept[Symbol.asyncIterator]();
      const next = items.next();
      await kept.acknowledged;
      first.end(how);
      for (let pause = 1; pause <= 8; pause += 1) {
        await expect.poll(() => delays.length).toBe(pause);
        clock.step((delays.at(-1) ?? 0) - 1);
        await settle();
        expect(party.server.requests).toHaveLength(pause);
        clock.step(1);
        await expect.poll(() => party.server.requests.length).toBe(pause + 1);
      }
      expect(ends[0]).toMatchObject(end);
      // The pauses grow up to their bound; what the server ends in peace it wants to be left alone after.
      const inPeace = how === "cancelled";
      expect(delays).toEqual(
        inPeace
          ? [8_000, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000]
          : [1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000, 8_000],
      );
      // One refresh for the whole gap, and nothing behind it.
      await expect(next).resolves.toEqual({ done: false, value: { kind: "refresh", acknowledged: FILTER } });
      kept.close();
      await expect(items.next()).resolves.toEqual({ done: true, value: undefined });
      await expect(kept.closed).resolves.toMatchObject({ kind: "cancelled" });
    }
  });
});
