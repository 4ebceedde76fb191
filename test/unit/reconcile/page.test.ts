import { expect, it } from "vitest";
import { backoffMs } from "../../../src/reconcile/backoff.js";
import { decideDesired } from "../../../src/reconcile/desired.js";
import { decideDue, type DueFacts } from "../../../src/reconcile/due.js";
import { accountFault, isParked } from "../../../src/reconcile/failure-budget.js";
import type {
  ConvergenceRow,
  FaultClass,
  NoticeFact,
  Outcome,
  Plan,
  TransitionFact,
} from "../../../src/reconcile/index.js";
import { CONFIG, observedOf, rowOf } from "./rows.js";
import { SCOPE, World } from "./world.js";
import { readPageTables } from "../../support/page-tables.js";

const tables = readPageTables("docs/reconcile.md");

const present: DueFacts = { epoch: "e", now: 100, holds: true, starting: false, probing: false };

it("R-2: the page tells when a key is due", () => {
  const cases: readonly (readonly [string, Partial<ConvergenceRow>, Partial<DueFacts>?])[] = [
    ["nothing", {}],
    ["anything in another epoch", { observed: observedOf({ epoch: "d" }) }],
    ["another generation", { observed: observedOf({ generation: 4 }) }],
    ["another identity", { observed: observedOf({ identity: "j" }) }],
    ["disabled, where enabled is desired", { observed: observedOf({ enabled: false, readiness: "off" }) }],
    ["enabled, and its route is not there", { observed: observedOf() }, { holds: false }],
    ["enabled, and its route is there", { observed: observedOf() }],
    ["failed for good", { observed: observedOf({ readiness: "failed" }) }, { holds: false }],
    [
      "disabled, as desired",
      {
        desired: { generation: 5, enabled: false, identity: "i" },
        observed: observedOf({ enabled: false, readiness: "off" }),
      },
      { holds: false },
    ],
  ];
  const rows = cases.map(([what, row, facts]) => {
    const verdict = decideDue(rowOf(row), { ...present, ...facts });
    return [what, verdict.kind === "converged" ? "no" : verdict.why];
  });
  expect(tables.get("When a key is due")).toEqual([["observed", "due"], ...rows]);
});

it("R-4: the page tells when a key that is due runs", () => {
  const cases: readonly (readonly [string, Partial<ConvergenceRow>, Partial<DueFacts>?])[] = [
    ["nothing is in its way", {}],
    ["someone works on it and will report", {}, { starting: true }],
    ["its next attempt is not yet due", { nextAttemptAt: 200 }],
    ["the same, and something needs it (probe)", { nextAttemptAt: 200 }, { probing: true }],
    ["the peer asked for a pause", { notBefore: 200 }],
    ["the same, and something needs it (probe)", { notBefore: 200 }, { probing: true }],
    ["its row is from the future: the clock was set back", { nextAttemptAt: 200, updatedAt: 150 }],
  ];
  const meanings = { run: "runs", starting: "waits for the report", later: "waits for that time", converged: "" };
  const rows = cases.map(([what, row, facts]) => {
    return [what, meanings[decideDue(rowOf(row), { ...present, ...facts }).kind]];
  });
  expect(tables.get("When it runs")).toEqual([["a key that is due", "then"], ...rows]);
});

it("R-1, R-3: the page tells what a plan does", () => {
  const enabled = { generation: 5, enabled: true, identity: "i" };
  const same: Plan = { enabled: true, identity: "i", transition: "supersede" };
  const cases: readonly (readonly [string, Parameters<typeof decideDesired>])[] = [
    ["nothing was desired before", [undefined, same, undefined]],
    ["the same", [enabled, same, undefined]],
    ["the same, but its generation is fenced", [enabled, same, 5]],
    ["another identity, none or supersede", [enabled, { ...same, identity: "j" }, undefined]],
    ["another identity, revoke", [enabled, { ...same, identity: "j", transition: "revoke" }, undefined]],
    ["disabled, whatever the transition", [enabled, { ...same, enabled: false }, undefined]],
    ["enabled again", [{ ...enabled, enabled: false }, same, undefined]],
  ];
  const rows = cases.map(([what, args]) => {
    const verdict = decideDesired(...args);
    if (verdict.kind === "keep") return [what, "no", "goes on", "goes on"];
    return [
      what,
      "yes",
      verdict.revokes === undefined ? "until its successor is there" : "ends with the transaction",
      verdict.fresh ? "begins anew" : "goes on",
    ];
  });
  expect(tables.get("What a plan does")).toEqual([["the plan", "new generation", "what runs", "its record"], ...rows]);
});

it("R-4: the page tells what becomes of each outcome", async () => {
  const error = new Error("no");
  const pauses: FaultClass = { counts: false, retryAfterMs: 30_000 };
  const cases: readonly (readonly [string, Outcome | undefined, (FaultClass | "off" | "routeless")?])[] = [
    ["done, ready", { kind: "done", readiness: "ready" }],
    ["done, degraded", { kind: "done", readiness: "degraded" }],
    ["done, of a disabled key", { kind: "done", readiness: "ready" }, "off"],
    ["done, but its route is not there", { kind: "done", readiness: "ready" }, "routeless"],
    ["starting", { kind: "starting" }],
    ["requeue, afterMs of 5,000", { kind: "requeue", afterMs: 5_000 }],
    ["terminal", { kind: "terminal", reason: "gone" }],
    ["rejects, does not count", undefined, { counts: false }],
    ["rejects, counts", undefined, { counts: true }],
    ["rejects, retryAfterMs of 30,000", undefined, pauses],
  ];
  const rows: string[][] = [];
  for (const [what, outcome, how] of cases) {
    const world = new World({
      random: () => 0.999_999,
      classifyFault: () => (typeof how === "object" ? how : { counts: true }),
      reconcile: async (context, { routes }) => {
        if (outcome === undefined) throw error;
        if (outcome.kind === "done" && how === undefined) routes.publish(context);
        return outcome;
      },
    });
    await world.set("k", { enabled: how !== "off" });
    const begunAt = world.clock.now();
    world.controller.activateScope(SCOPE);
    await world.idle();
    const status = await world.status("k");
    const at = status?.nextAttemptAt;
    rows.push([
      what,
      status?.readiness ?? "nothing",
      status?.activity ?? "",
      at === undefined ? "" : `${String(Math.round((at - begunAt) / 100) / 10)} s`,
      `${String(status?.attempts)}, ${String(status?.failures)}`,
      String(world.story("k").at(-1)),
    ]);
    await world.controller.close();
  }
  expect(tables.get("What becomes of an outcome")).toEqual([
    ["outcome", "observed", "the key is", "next try within", "attempts, failures", "event"],
    ...rows,
  ]);
});

it("R-4: the page tells how pauses grow and where they end", () => {
  const longest = (attempt: number): string => `${String(Math.ceil(backoffMs(attempt, () => 1, CONFIG) / 1_000))} s`;
  const attempts = [1, 2, 3, 4, 5, 6, 7, 8];
  expect(tables.get("How long it pauses")).toEqual([
    ["failure", ...attempts.map(String)],
    ["at most", ...attempts.map(longest)],
  ]);
  const before = rowOf({ attempts: 5, failures: 5 });
  const moment = { epoch: "e", now: 0, random: () => 1 };
  const after = accountFault(before, { counts: true }, moment, CONFIG);
  expect(isParked(before, CONFIG)).toBe(false);
  expect([isParked(after, CONFIG), after.nextAttemptAt]).toEqual([true, 300_000]);
});

it("R-8: the page tells which events are kept", () => {
  const kept: Record<TransitionFact["kind"], "yes"> & Record<NoticeFact["kind"], "no"> = {
    planned: "yes",
    run_started: "yes",
    observed: "yes",
    starting: "yes",
    requeued: "yes",
    terminal: "yes",
    failed: "yes",
    lost: "yes",
    removed: "yes",
    scope_activated: "no",
    scope_shut: "no",
    fenced: "no",
    superseded: "no",
    abandoned: "no",
    trouble: "no",
    listener_dropped: "no",
  };
  expect(tables.get("Events")?.map((row) => row.slice(0, 2))).toEqual([["event", "kept"], ...Object.entries(kept)]);
});

it("the page has every limit with its default", () => {
  const rows = Object.entries(CONFIG).map(([name, value]) => [name, value.toLocaleString("en-US")]);
  const [head, ...found] = tables.get("Limits") ?? [];
  expect(head?.slice(0, 2)).toEqual(["limit", "default"]);
  expect(found.map((row) => row.slice(0, 2))).toEqual(rows);
});
