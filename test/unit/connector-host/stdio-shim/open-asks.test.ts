import { describe, expect, it } from "vitest";
import { OpenAsks, refusalLine, withdrawalLine } from "../../../../src/connector-host/stdio-shim/open-asks.js";

function message(members: object): Uint8Array {
  return Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...members }));
}

const cancelled = (requestId: unknown) => message({ method: "notifications/cancelled", params: { requestId } });

describe("H-23, H-27: what a host says ahead of the answer to a call", () => {
  it("is a question, whatever its id", () => {
    const asks = new OpenAsks<string>();
    for (const id of ["q", "", 0, 7]) {
      expect(asks.classify(message({ id, method: "roots/list" }))).toEqual({ kind: "question", id });
    }
  });

  it("is the end of a question that is open, and of no other", () => {
    const asks = new OpenAsks<string>();
    expect(asks.classify(cancelled("q"))).toEqual({ kind: "other" });
    asks.add("q", "call");
    expect(asks.classify(cancelled("q"))).toEqual({ kind: "withdrawal", id: "q" });
    for (const other of ["r", 0, undefined]) expect(asks.classify(cancelled(other))).toEqual({ kind: "other" });
    asks.delete("q");
    expect(asks.classify(cancelled("q"))).toEqual({ kind: "other" });
  });

  it("is something else", () => {
    const asks = new OpenAsks<string>();
    asks.add(1, "call");
    for (const members of [
      { method: "notifications/progress", params: { requestId: 1 } },
      { id: null, method: "m" },
    ]) {
      expect(asks.classify(message(members))).toEqual({ kind: "other" });
    }
    expect(asks.classify(Buffer.from("[1]"))).toEqual({ kind: "other" });
  });

  it("belongs to its call, and is forgotten with it", () => {
    const asks = new OpenAsks<string>();
    asks.add(1, "a");
    asks.add("1", "b");
    asks.add(2, "a");
    expect(asks.takeOf("a")).toEqual([1, 2]);
    expect(asks.takeOf("a")).toEqual([]);
    expect(asks.takeAll()).toEqual(["1"]);
    expect(asks.takeAll()).toEqual([]);
  });

  it("is ended, or refused, by its own id", () => {
    expect(JSON.parse(withdrawalLine(0, "why"))).toMatchObject({ params: { requestId: 0, reason: "why" } });
    expect(JSON.parse(refusalLine(""))).toMatchObject({ id: "", error: { code: -32603 } });
  });
});
