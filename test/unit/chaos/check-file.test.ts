import { describe, expect, it } from "vitest";
import { checkFile } from "../../chaos/check-file.js";
import type { Rows } from "../../chaos/committed-rows.js";
import { rowName } from "../../chaos/journal.js";

const FACT = rowName("projection", "ada", "alpha");
const PLAN = rowName("convergence", "account:ada", "alpha");
const ENABLED = { generation: 7, enabled: true, identity: '["digest","connected","c1","2"]' };
const PUBLISHED = { generation: 7, epoch: "x", enabled: true, readiness: "ready" };

function file(fact: object | undefined, plan: object): Rows {
  return new Map<string, unknown>([...(fact === undefined ? [] : [[FACT, fact] as const]), [PLAN, plan]]);
}

const fact = (version: number, state = "connected"): object => ({
  state,
  connectionId: "c1",
  connectionVersion: `${String(version)}n`,
});

function checks(
  rows: Rows,
  facts: { rows?: Rows; rowsIfCommitted?: Rows; published?: boolean } = {},
): readonly string[] {
  const { rows: committed = rows, rowsIfCommitted = committed, published = true } = facts;
  const found = checkFile(rows, { rows: committed, rowsIfCommitted, wasPublished: () => published, flows: [] });
  return found.map(({ check }) => check);
}

describe("what a dead process left behind", () => {
  const before = file(fact(1), { desired: { generation: 6, enabled: false } });
  const after = file(fact(2), { desired: ENABLED });

  it("is what was committed, with the last transaction or without it", () => {
    expect(checks(before, { rows: before, rowsIfCommitted: after })).toEqual([]);
    expect(checks(after, { rows: before, rowsIfCommitted: after })).toEqual([]);
  });

  it.each<[string, Rows]>([
    ["half of a transaction", file(fact(2), { desired: { generation: 6, enabled: false } })],
    ["a row too few", new Map([[FACT, fact(1)]])],
    ["a row too many", new Map([...before, [rowName("overlay", "ada", "alpha"), {}]])],
  ])("is not %s", (_, rows) => {
    expect(checks(rows, { rows: before, rowsIfCommitted: after })).toContain("rows");
  });

  it.each<[string, object | undefined]>([
    ["no facts", undefined],
    ["facts of another version", fact(3)],
    ["a connection that expired", fact(2, "expired")],
  ])("is no plan to publish with %s", (_, facts) => {
    expect(checks(file(facts, { desired: ENABLED }))).toEqual(["plans"]);
  });

  it("is no plan for a connection that is lowered", () => {
    const overlay = { phase: "standing", connectionId: "c1", connectionVersion: "2n" };
    expect(checks(new Map([...after, [rowName("overlay", "ada", "alpha"), overlay]]))).toEqual(["plans"]);
    const cleared = { ...overlay, phase: "cleared" };
    expect(checks(new Map([...after, [rowName("overlay", "ada", "alpha"), cleared]]))).toEqual([]);
  });

  it("is a plan without facts for a connector that needs no authorization", () => {
    expect(checks(file(undefined, { desired: { ...ENABLED, identity: '["digest","connected",null,"0"]' } }))).toEqual(
      [],
    );
  });

  it("has a row for each flow that was asked for", () => {
    const flows = [{ account: "ada", id: "f1" }];
    const facts = (rows: Rows) => ({ rows, rowsIfCommitted: rows, wasPublished: () => true, flows });
    const kept = new Map([[rowName("flow", "ada", "f1"), {}]]);
    expect(checkFile(kept, facts(kept))).toEqual([]);
    expect(checkFile(new Map(), facts(new Map())).map(({ check }) => check)).toEqual(["flows"]);
  });

  it("is no observation of what was never published", () => {
    const rows = file(fact(2), { desired: ENABLED, observed: PUBLISHED });
    expect(checks(rows)).toEqual([]);
    expect(checks(rows, { published: false })).toEqual(["observations"]);
    const off = file(fact(2), { desired: ENABLED, observed: { ...PUBLISHED, enabled: false, readiness: "off" } });
    expect(checks(off, { published: false })).toEqual([]);
  });
});
