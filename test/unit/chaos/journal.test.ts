import { describe, expect, it } from "vitest";
import { CommittedRows } from "../../chaos/committed-rows.js";
import { Generations } from "../../chaos/generations.js";
import { parseJournal, plain, PRUNED, rowName } from "../../chaos/journal.js";

describe("a journal", () => {
  it("is read up to the line that the end of its writer tore", () => {
    const whole = '{"t":"begin","tx":1}\n';
    expect(parseJournal(`${whole}{"t":"comm`)).toEqual({ lines: [{ t: "begin", tx: 1 }], bytes: whole.length });
    expect(parseJournal("")).toEqual({ lines: [], bytes: 0 });
  });

  it("has rows in one form, whoever wrote them", () => {
    const row = { b: 2n ** 63n, a: { d: undefined, c: [1n, "x"] } };
    expect(JSON.stringify(plain(row))).toBe('{"a":{"c":["1n","x"]},"b":"9223372036854775808n"}');
    expect(plain(undefined)).toBeNull();
  });
});

describe("rows by their transactions", () => {
  it("lose all events up to a number", () => {
    const rows = new CommittedRows();
    const event = (seq: number) => ({ name: rowName("event", String(seq)), row: { seq } });
    rows.begin();
    rows.write([event(9), event(10), event(11), { name: rowName(PRUNED, "10"), row: null }]);
    rows.commit(() => undefined);
    expect([...rows.rows.keys()]).toEqual([rowName("event", "11")]);
  });
});

describe("generations", () => {
  it("are new when they differ from the last that passed by", () => {
    const generations = new Generations();
    const row = (generation: number) => ({
      scope: "s",
      key: "k",
      desired: { generation, identity: `i${String(generation)}` },
    });
    generations.note(row(1));
    generations.note("something else");
    expect([generations.isNew(row(1)), generations.isNew(row(2))]).toEqual([false, true]);
    expect([generations.identityOf(1), generations.identityOf(2)]).toEqual(["i1", undefined]);
  });
});
