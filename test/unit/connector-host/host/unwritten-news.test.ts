import { describe, expect, it } from "vitest";
import { parseSnapshot, type Snapshot } from "../../../../src/auth-projection/index.js";
import { type GrantedConnection, UnwrittenNews } from "../../../../src/connector-host/host/unwritten-news.js";
import { connected } from "../../../support/scripted-gateway.js";

const granted: GrantedConnection = {
  connectorKey: "a",
  connectorVersion: "1.0.0",
  connectionId: "c-a",
  connectionVersion: 4n,
};

function snapshot(...connectors: object[]): Snapshot {
  return parseSnapshot(new TextEncoder().encode(JSON.stringify({ revision: 2, connectors })));
}

/** A fetch of the revision that {@link snapshot} has. */
const FETCHED = snapshot();

function newsOf(...connectors: object[]): UnwrittenNews {
  const news = new UnwrittenNews();
  news.noteSnapshot("e1", snapshot(...connectors));
  return news;
}

describe("UnwrittenNews", () => {
  it.each<[string, boolean, object[]]>([
    ["grants the same", false, [connected("a", 4)]],
    ["has another version of it: a new token is no end", false, [connected("a", 5)]],
    ["does not mention it", true, [connected("b", 4)]],
    ["says that it is not connected", true, [{ ...connected("a", 4), state: "disconnected" }]],
    ["says that it has expired", true, [{ ...connected("a", 4), state: "reauth_required" }]],
    ["has another connection", true, [connected("a", 4, { connectionId: "other" })]],
    ["is about another release", true, [connected("a", 4, { connectorVersion: "2.0.0" })]],
    ["can't be read there", true, [{ ...connected("a", 4), state: "sideways" }]],
  ])("R-10, P-5: a snapshot that %s: %s", (_what, denied, connectors) => {
    expect(newsOf(...connectors).denies("e1", granted)).toBe(denied);
  });

  it("R-10, P-6: a demand is about the connection version that was used, and no other", () => {
    const news = new UnwrittenNews();
    expect(news.denies("e1", granted)).toBe(false);
    news.noteDemand("e1", granted, false);
    expect(news.denies("e1", granted)).toBe(true);
    expect(news.denies("e1", { ...granted, connectionVersion: 5n })).toBe(false);
    expect(news.denies("e1", { ...granted, connectionId: "other" })).toBe(false);
    expect(news.denies("e1", { ...granted, connectorKey: "b" })).toBe(false);
  });

  it("R-10: the last snapshot counts, and demands go on beside it", () => {
    const news = newsOf();
    news.noteDemand("e1", { ...granted, connectorKey: "b" }, false);
    news.noteSnapshot("e1", snapshot(connected("a", 4), connected("b", 4, { connectionId: "c-a" })));
    expect(news.denies("e1", granted)).toBe(false);
    expect(news.denies("e1", { ...granted, connectorKey: "b" })).toBe(true);
  });

  it("P-8: it is of one epoch, and over with it or when it is cleared", () => {
    const news = newsOf();
    expect(news.denies("e2", granted)).toBe(false);
    news.noteDemand("e2", { ...granted, connectorKey: "b" }, false);
    expect(news.denies("e1", granted)).toBe(false);
    expect(news.denies("e2", granted)).toBe(false);
    news.clear();
    expect(news.settle(FETCHED)).toBe(false);
    expect(news.denies("e2", { ...granted, connectorKey: "b" })).toBe(false);
  });

  it.each(["applied or confirmed", "of no effect"])(
    "P-6: a demand is not lifted by a fetch that had begun before it, but by the next one (when it was %s)",
    (what) => {
      const news = new UnwrittenNews();
      news.noteDemand("e1", granted, true);
      if (what === "of no effect") news.endFetch();
      else expect(news.settle(FETCHED)).toBe(true);
      expect(news.denies("e1", granted)).toBe(true);
      expect(news.settle(FETCHED)).toBe(true);
      expect(news.denies("e1", granted)).toBe(false);
      expect(news.settle(FETCHED)).toBe(false);
    },
  );

  it("P-3: an older snapshot, which only the rows take for the present one, lifts nothing until it comes a third time", () => {
    const news = newsOf();
    const older = { epoch: FETCHED.epoch, revision: 1n };
    expect(news.settle(older)).toBe(true);
    expect(news.settle(older)).toBe(true);
    expect(news.denies("e1", granted)).toBe(true);
    expect(news.isAhead).toBe(true);
    expect(news.settle(older)).toBe(true);
    expect(news.denies("e1", granted)).toBe(false);
    // Nor does it take the place of the newer one when it can't be taken in either.
    const both = newsOf();
    both.noteSnapshot("e1", { ...snapshot(connected("a", 4)), revision: 1n });
    expect(both.denies("e1", granted)).toBe(true);
    // Of another epoch, or as new: at once.
    for (const fetched of [FETCHED, { ...older, epoch: "=another" }]) {
      const noted = newsOf();
      noted.settle(fetched);
      expect(noted.denies("e1", granted)).toBe(false);
    }
  });
});
