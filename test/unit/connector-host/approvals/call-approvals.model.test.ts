import fc from "fast-check";
import { expect, it } from "vitest";
import type { CallApprovals } from "../../../../src/connector-host/approvals/index.js";
import type { Binding } from "../../../../src/connector-host/local-server/index.js";
import type { FakeClock } from "../../../support/fake-clock.js";
import { APPROVING, approvedBy, askedState, DENYING, FIRST, gateParty, goingOn, outcomeOf } from "./gate-party.js";
import { bindingOf, questionOf } from "./questions.js";

const WAIT_MS = 1_000;
const ROUND_MS = 600_000;
const MAX = 2;
const MAX_ALL = 4;

/** What the model knows of a state: whose and of which call it is, and until when it is good. */
interface Known {
  readonly state: string;
  readonly phase: "asked" | "round";
  readonly binding: number;
  readonly argument: number;
  readonly endsAt: number;
  isSpent: boolean;
}

interface Model {
  readonly known: Known[];
}

interface Real {
  readonly gate: CallApprovals;
  readonly clock: FakeClock;
  readonly bindings: readonly Binding[];
}

function questionFor({ bindings }: Real, binding: number, argument: number, input = FIRST) {
  const its = bindings[binding] ?? bindingOf({ approvals: "agent" });
  return questionOf({ binding: its, argumentsText: JSON.stringify({ argument }), input });
}

function waiting({ known }: Model, now: number): Known[] {
  return known.filter(({ phase, isSpent, endsAt }) => phase === "asked" && !isSpent && endsAt > now);
}

class Ask implements fc.AsyncCommand<Model, Real> {
  readonly binding: number;
  readonly argument: number;

  constructor(binding: number, argument: number) {
    this.binding = binding;
    this.argument = argument;
  }

  check = (): boolean => true;

  async run(model: Model, real: Real): Promise<void> {
    const { binding, argument } = this;
    const now = real.clock.now();
    const all = waiting(model, now);
    const isFull = all.length >= MAX_ALL || all.filter((each) => each.binding === binding).length >= MAX;
    const passing = real.gate.pass(questionFor(real, binding, argument));
    if (isFull) {
      expect(await outcomeOf(passing)).toMatch(/^limit_exceeded /);
      return;
    }
    const state = await askedState(passing);
    model.known.push({ state, phase: "asked", binding, argument, endsAt: now + WAIT_MS, isSpent: false });
  }

  toString = (): string => `ask(${String(this.binding)}, ${String(this.argument)})`;
}

/** Somebody makes a call with one of all states that there ever were. */
class GoOn implements fc.AsyncCommand<Model, Real> {
  readonly which: number;
  readonly binding: number | undefined;
  readonly argument: number | undefined;
  readonly approves: boolean;

  constructor(which: number, binding: number | undefined, argument: number | undefined, approves: boolean) {
    this.which = which;
    this.binding = binding;
    this.argument = argument;
    this.approves = approves;
  }

  check = ({ known }: Readonly<Model>): boolean => known.length > 0;

  async run(model: Model, real: Real): Promise<void> {
    const known = model.known[this.which % model.known.length];
    if (known === undefined) return;
    const { binding = known.binding, argument = known.argument } = this;
    const now = real.clock.now();
    const input = goingOn(known.state, this.approves ? APPROVING : DENYING);
    const passing = real.gate.pass(questionFor(real, binding, argument, input));
    const isIts = binding === known.binding && argument === known.argument;
    const isGood = isIts && !known.isSpent && known.endsAt > now;
    const mayApprove = isGood && (known.phase === "round" || this.approves);
    if (!mayApprove) {
      expect(await outcomeOf(passing)).toMatch(/^(?:approval_denied|continuation_refused) \w+ not_sent$/);
    } else {
      const { continuation, sealState } = await approvedBy(passing);
      expect(continuation?.state).toBe(known.phase === "round" ? "upstream" : undefined);
      const state = sealState("upstream");
      const endsAt = now + ROUND_MS;
      model.known.push({ state, phase: "round", binding, argument, endsAt, isSpent: false });
    }
    if (isGood) known.isSpent = true;
  }

  toString = (): string => `goOn(${[this.which, this.binding, this.argument, this.approves].map(String).join(", ")})`;
}

class Pass implements fc.AsyncCommand<Model, Real> {
  readonly ms: number;

  constructor(ms: number) {
    this.ms = ms;
  }

  check = (): boolean => true;

  async run(_model: Model, { clock }: Real): Promise<void> {
    clock.step(this.ms);
  }

  toString = (): string => `pass(${String(this.ms)})`;
}

class End implements fc.AsyncCommand<Model, Real> {
  readonly binding: number;

  constructor(binding: number) {
    this.binding = binding;
  }

  check = (): boolean => true;

  async run(model: Model, real: Real): Promise<void> {
    real.gate.endOf(real.bindings[this.binding] ?? bindingOf());
    for (const known of model.known) if (known.binding === this.binding) known.isSpent = true;
  }

  toString = (): string => `end(${String(this.binding)})`;
}

it("H-32: nothing is approved but what was asked, answered in time, for this call, once; nothing is left behind", async () => {
  const binding = fc.nat({ max: 2 });
  const argument = fc.nat({ max: 1 });
  const own = <V>(arbitrary: fc.Arbitrary<V>) => fc.option(arbitrary, { nil: undefined, freq: 1 });
  const commands = fc.commands(
    [
      fc.tuple(binding, argument).map(([its, of]) => new Ask(its, of)),
      fc
        .tuple(fc.nat(), own(binding), own(argument), fc.boolean())
        .map(([which, its, of, approves]) => new GoOn(which, its, of, approves)),
      fc.nat().map((which) => new GoOn(which, undefined, undefined, true)),
      fc.constantFrom(1, WAIT_MS / 2, WAIT_MS, ROUND_MS / 2, ROUND_MS).map((ms) => new Pass(ms)),
      binding.map((its) => new End(its)),
    ],
    { maxCommands: 40 },
  );
  await fc.assert(
    fc.asyncProperty(commands, async (run) => {
      const { gate, clock } = gateParty({
        approvalTimeoutMs: WAIT_MS,
        maxPendingApprovals: MAX,
        maxAllPendingApprovals: MAX_ALL,
      });
      const bindings = [0, 1, 2].map(() => bindingOf({ approvals: "agent" }));
      const model: Model = { known: [] };
      await fc.asyncModelRun(() => ({ model, real: { gate, clock, bindings } }), run);
      expect(gate.counts.pending).toBe(waiting(model, clock.now()).length);
      clock.step(ROUND_MS);
      expect([gate.counts, clock.pending]).toEqual([{ pending: 0, rounds: 0 }, 0]);
    }),
    { numRuns: 150 },
  );
});
