import { describe, expect, it } from "vitest";
import { isSameState, type SupervisedState } from "../../../../src/connect/supervision/supervised-state.js";
import { exit } from "./server-bench.js";

const [one, other] = [exit(1), exit(2)];

const STATES: readonly SupervisedState[] = [
  { kind: "disabled" },
  { kind: "starting" },
  { kind: "ready", tools: 1 },
  { kind: "ready", tools: 2 },
  { kind: "degraded", reason: "empty_list" },
  { kind: "degraded", reason: "list_failed", error: one },
  { kind: "degraded", reason: "list_failed", error: other },
  { kind: "offline", error: one, next: "restart", delayMs: 1 },
  { kind: "offline", error: one, next: "probe", delayMs: 1 },
  { kind: "offline", error: other, next: "restart", delayMs: 1 },
];

describe("isSameState", () => {
  it.each(STATES.map((state, index) => [index, state] as const))(
    "L-16: tells state %s from all others",
    (index, state) => {
      expect(STATES.map((each) => isSameState(state, each))).toEqual(STATES.map((_, n) => n === index));
      expect(isSameState(state, { ...state })).toBe(true);
    },
  );
});
