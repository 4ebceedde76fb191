import { describe, expect, it } from "vitest";
import { decodeTransition, encodeTransition } from "../../../src/reconcile/event-form.js";
import type { TransitionFact } from "../../../src/reconcile/index.js";

const of = { scope: "account:a", key: "k\0\ud800", generation: 7 };
const error = { code: "timeout", message: "Too late." };

const FACTS: { readonly [Kind in TransitionFact["kind"]]: Extract<TransitionFact, { kind: Kind }> } = {
  planned: { ...of, kind: "planned", enabled: false, identity: "", revokes: 0 },
  run_started: { ...of, kind: "run_started", runToken: 8 },
  observed: { ...of, kind: "observed", readiness: "degraded" },
  starting: { ...of, kind: "starting" },
  requeued: { ...of, kind: "requeued", nextAttemptAt: 9 },
  terminal: { ...of, kind: "terminal", reason: "gone" },
  failed: { ...of, kind: "failed", error, counts: true, attempts: 2, parked: false, nextAttemptAt: 9 },
  lost: { ...of, kind: "lost", error },
  removed: { kind: "removed", scope: "s", key: "" },
};

const bare: readonly TransitionFact[] = [
  { ...FACTS.planned, revokes: undefined },
  { ...FACTS.lost, error: undefined },
];

describe("The form in which transitions are kept", () => {
  it.each([...Object.values(FACTS), ...bare])("R-8: $kind is read as it was told", (fact) => {
    expect(decodeTransition({ seq: 3, at: 4, fact: encodeTransition(fact) })).toStrictEqual({ ...fact, seq: 3, at: 4 });
  });

  it.each([
    { kind: "planned", form: '{"scope":"s","key":"k","generation":7,"kind":"planned","enabled":true,"identity":"i"}' },
    {
      kind: "planned",
      form: '{"scope":"s","key":"k","generation":7,"kind":"planned","enabled":true,"identity":"i","revokes":6}',
    },
    { kind: "run_started", form: '{"scope":"s","key":"k","generation":7,"kind":"run_started","runToken":8}' },
    { kind: "observed", form: '{"scope":"s","key":"k","generation":7,"kind":"observed","readiness":"off"}' },
    { kind: "starting", form: '{"scope":"s","key":"k","generation":7,"kind":"starting"}' },
    { kind: "requeued", form: '{"scope":"s","key":"k","generation":7,"kind":"requeued","nextAttemptAt":9}' },
    { kind: "terminal", form: '{"scope":"s","key":"k","generation":7,"kind":"terminal","reason":"gone"}' },
    {
      kind: "failed",
      form:
        '{"scope":"s","key":"k","generation":7,"kind":"failed","error":{"code":"timeout","message":"m"},' +
        '"counts":true,"attempts":2,"parked":false,"nextAttemptAt":9}',
    },
    {
      kind: "lost",
      form: '{"scope":"s","key":"k","generation":7,"kind":"lost","error":{"code":"timeout","message":"m"}}',
    },
    { kind: "removed", form: '{"kind":"removed","scope":"s","key":"k"}' },
  ])("R-8: $kind is kept as format 3 of the store was released", ({ kind, form }) => {
    const event = decodeTransition({ seq: 3, at: 4, fact: form });
    if (event === undefined) throw new Error("not read");
    const { seq: _seq, at: _at, ...fact } = event;
    expect(fact.kind).toBe(kind);
    expect(JSON.parse(encodeTransition(fact))).toEqual(JSON.parse(form));
  });

  it.each(Object.values(FACTS))("R-8: $kind is not read when a member is missing, or something else", (fact) => {
    for (const member of Object.keys(fact)) {
      const optional =
        (fact.kind === "planned" && member === "revokes") || (fact.kind === "lost" && member === "error");
      const without = JSON.stringify({ ...fact, [member]: undefined });
      expect(decodeTransition({ seq: 3, at: 4, fact: without }) === undefined).toBe(!optional);
      const odd = JSON.stringify({ ...fact, [member]: { odd: true } });
      expect(decodeTransition({ seq: 3, at: 4, fact: odd })).toBeUndefined();
    }
  });

  it.each(["", "{", "null", "7", "[]", "{}", '{"kind":"toString"}', '{"kind":"fenced","scope":"s","key":"k"}'])(
    "R-8: %j is no transition",
    (fact) => {
      expect(decodeTransition({ seq: 3, at: 4, fact })).toBeUndefined();
    },
  );

  it("R-8: members of a later version are left out", () => {
    const fact = '{"kind":"removed","scope":"s","key":"k","seq":9,"later":true}';
    expect(decodeTransition({ seq: 3, at: 4, fact })).toStrictEqual({
      kind: "removed",
      scope: "s",
      key: "k",
      seq: 3,
      at: 4,
    });
  });
});
