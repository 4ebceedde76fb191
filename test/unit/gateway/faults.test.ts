import { describe, expect, it } from "vitest";
import { FaultBook, faultShape } from "../../../src/gateway/faults.js";

describe("FaultBook", () => {
  it("C-5: gives each request at most one fault, oldest first, as often as was said", () => {
    const book = new FaultBook();
    book.add({ kind: "status", status: 500, connectorId: "a", times: 2 });
    book.add({ kind: "drop_connection", times: 1 });
    expect(book.take("b")?.kind).toBe("drop_connection");
    expect(book.take("b")).toBeUndefined();
    expect(book.take("a")?.kind).toBe("status");
    expect(book.list()).toEqual([{ kind: "status", status: 500, connectorId: "a", times: 1 }]);
    expect(book.take("a")?.kind).toBe("status");
    expect(book.take("a")).toBeUndefined();
    expect(book.list()).toEqual([]);
  });

  it("C-5: is emptied at once", () => {
    const book = new FaultBook();
    book.add({ kind: "delay", ms: 1, times: 9 });
    book.clear();
    expect(book.take("a")).toBeUndefined();
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
  ])("C-5: refuses %j", (value) => {
    expect(faultShape.safeParse(value).success).toBe(false);
  });
});
