import { describe, expect, it } from "vitest";
import { FaultBook, faultShape } from "../../../src/gateway/faults.js";

describe("FaultBook", () => {
  const meet = (book: FaultBook, connectorId: string) => book.takeRequest("connector", { connectorId });

  it("C-5: gives each request at most one fault, oldest first, as often as was said", () => {
    const book = new FaultBook();
    book.add({ kind: "status", status: 500, connectorId: "a", times: 2 });
    book.add({ kind: "drop_connection", times: 1 });
    expect(meet(book, "b")?.kind).toBe("drop_connection");
    expect(meet(book, "b")).toBeUndefined();
    expect(meet(book, "a")?.kind).toBe("status");
    expect(book.list()).toEqual([{ kind: "status", status: 500, connectorId: "a", times: 1 }]);
    expect(meet(book, "a")?.kind).toBe("status");
    expect(meet(book, "a")).toBeUndefined();
    expect(book.list()).toEqual([]);
  });

  it("C-5: is emptied at once", () => {
    const book = new FaultBook();
    book.add({ kind: "delay", ms: 1, times: 9 });
    book.clear();
    expect(meet(book, "a")).toBeUndefined();
  });

  it("C-5: a fault is for its place, its account and its connector, and for any where it says none", () => {
    const book = new FaultBook();
    book.add({ kind: "delay", ms: 1, on: "snapshot", accountId: "ada", times: 1 });
    book.add({ kind: "status", status: 500, on: "any", connectorId: "a", times: 1 });
    expect(book.takeRequest("connector", { accountId: "ada", connectorId: "b" })).toBeUndefined();
    expect(book.takeRequest("snapshot", { accountId: "bob" })).toBeUndefined();
    expect(book.takeRequest("snapshot", {})).toBeUndefined();
    expect(book.takeRequest("snapshot", { accountId: "ada" })?.kind).toBe("delay");
    expect(book.takeRequest("sessions", { accountId: "bob", connectorId: "a" })?.kind).toBe("status");
    expect(book.list()).toEqual([]);
  });

  it("C-5: a portal is met before all else, on every path that it doesn't leave out", () => {
    const book = new FaultBook();
    book.add({ kind: "captive_portal", times: 1 });
    book.add({ kind: "captive_portal", on: "hints", times: 1 });
    expect(book.takeRequest("snapshot", {})).toBeUndefined();
    expect(book.takePortal("any", {})?.kind).toBe("captive_portal");
    expect(book.takePortal("snapshot", {})).toBeUndefined();
    expect(book.takePortal("hints", {})?.kind).toBe("captive_portal");
  });

  it("C-5: faults of snapshots and of hints are met by nothing else", () => {
    const book = new FaultBook();
    book.add({ kind: "stale_snapshot", times: 1 });
    book.add({ kind: "suppress_hint", connectorId: "a", times: 1 });
    expect(book.takeRequest("snapshot", {})).toBeUndefined();
    expect(book.takePortal("snapshot", {})).toBeUndefined();
    expect(book.takeHint({ connectorId: "b" })).toBeUndefined();
    expect(book.takeHint({ connectorId: "a" })?.kind).toBe("suppress_hint");
    expect(book.takeSnapshot({})?.kind).toBe("stale_snapshot");
    expect(book.list()).toEqual([]);
  });
});

describe("faultShape", () => {
  it.each([
    [
      { kind: "status", status: 503 },
      { kind: "status", status: 503, times: 1 },
    ],
    [
      { kind: "delay", ms: 5, connectorId: "a", times: 3 },
      { kind: "delay", ms: 5, connectorId: "a", times: 3 },
    ],
    [{ kind: "drop_connection" }, { kind: "drop_connection", times: 1 }],
    [
      { kind: "captive_portal", location: "http://portal.test/", on: "snapshot" },
      { kind: "captive_portal", location: "http://portal.test/", on: "snapshot", times: 1 },
    ],
    [
      { kind: "stale_snapshot", revisionsBack: 2, accountId: "ada" },
      { kind: "stale_snapshot", revisionsBack: 2, accountId: "ada", times: 1 },
    ],
  ])("C-5: takes %j", (value, fault) => {
    expect(faultShape.parse(value)).toEqual(fault);
  });

  it.each([
    {},
    { kind: "explode" },
    { kind: "status" },
    { kind: "status", status: 200 },
    { kind: "status", status: 503, times: 0 },
    { kind: "delay", ms: -1 },
    { kind: "delay", ms: 5, status: 503 },
    { kind: "drop_connection", connector: "a" },
    { kind: "status", status: 503, on: "elsewhere" },
    { kind: "suppress_hint", on: "hints" },
    { kind: "stale_snapshot", revisionsBack: 0 },
  ])("C-5: refuses %j", (value) => {
    expect(faultShape.safeParse(value).success).toBe(false);
  });
});
