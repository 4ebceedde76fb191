import { describe, expect, it, vi } from "vitest";
import {
  type Approve,
  type ApprovalRequest,
  resolveApprovalOptions,
} from "../../../../src/connector-host/approvals/index.js";
import type { AgentInput } from "../../../../src/connector-host/local-server/index.js";
import { createStateSealer } from "../../../../src/connector-host/rounds/index.js";
import type { AnswerAsk, ServerAskAnswer } from "../../../../src/protocol/input/index.js";
import {
  APPROVING,
  approvedBy,
  askedState,
  DENYING,
  FIRST,
  gateParty,
  goingOn,
  outcomeOf,
  VOUCHED,
} from "./gate-party.js";
import { bindingOf, type QuestionFacts, questionOf } from "./questions.js";

const DENIED = "approval_denied denied not_sent";
const EXPIRED = "approval_denied expired not_sent";
const WITHDRAWN = "approval_denied withdrawn not_sent";
const NOBODY = "approval_required github not_sent";
const refused = (reason: string, delivery = "not_sent"): string => `continuation_refused ${reason} ${delivery}`;

/** A first question of a vouched, modern agent that shows forms. */
const asking = (more: QuestionFacts = {}) => questionOf({ binding: VOUCHED, input: FIRST, ...more });
const retry = (state: string | undefined, answer?: unknown, more: QuestionFacts = {}) =>
  asking({ input: goingOn(state, answer), ...more });

describe("H-32: who is asked", () => {
  it("H-32: nobody, where nobody is there", async () => {
    const { gate } = gateParty();
    expect(gate.isOpenTo(bindingOf())).toBe(false);
    expect(await outcomeOf(gate.pass(questionOf({ input: FIRST })))).toBe(NOBODY);
  });

  it("H-32: a vouched agent only if it shows forms", async () => {
    const { gate } = gateParty();
    expect(gate.isOpenTo(VOUCHED)).toBe(true);
    for (const input of [undefined, { capabilities: {} }, { capabilities: { elicitation: { url: {} } } }]) {
      expect(await outcomeOf(gate.pass(asking({ input })))).toBe(NOBODY);
    }
    expect(await outcomeOf(gate.pass(asking()))).toBe("asks");
  });

  it("H-32: the hook before an operator before the agent, and never more than one", async () => {
    const ask = vi.fn<AnswerAsk>(() => Promise.resolve({ result: APPROVING }));
    const legacy: AgentInput = { ...FIRST, ask };
    const approve = vi.fn<Approve>(() => "approve");
    const both = gateParty({ approve, operatorApprovals: true });
    expect(both.gate.isOpenTo(bindingOf())).toBe(true);
    expect(await outcomeOf(both.gate.pass(asking({ input: legacy })))).toBe("approved");
    expect(both.gate.operator.pending()).toEqual([]);
    const operated = gateParty({ operatorApprovals: true });
    expect(operated.gate.isOpenTo(bindingOf())).toBe(true);
    const passing = operated.gate.pass(asking({ input: legacy }));
    expect(operated.gate.operator.pending()).toMatchObject([{ connectorName: '"GITHUB"', toolName: '"drop"' }]);
    expect(ask).not.toHaveBeenCalled();
    operated.gate.operator.decide("id-1", "approve");
    expect(await outcomeOf(passing)).toBe("approved");
    const agent = gateParty();
    expect(await outcomeOf(agent.gate.pass(asking({ input: legacy })))).toBe("approved");
    expect([approve, ask].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  });
});

describe("H-32: the host's hook", () => {
  const answers: [string, Approve, string][] = [
    ["approves", () => "approve", "approved"],
    ["approves later", () => Promise.resolve("approve"), "approved"],
    ["denies", () => "deny", DENIED],
    ["says something else", () => Object("approve"), DENIED],
    ["says nothing", () => Object(undefined), DENIED],
  ];
  it.each(answers)("H-32: one that %s", async (_what, approve, outcome) => {
    const { gate } = gateParty({ approve });
    expect(await outcomeOf(gate.pass(questionOf()))).toBe(outcome);
    expect(gate.counts.pending).toBe(0);
  });

  it("H-32: one that fails denies, and the host hears of it", async () => {
    const fault = new Error("no terminal");
    const thrower: Approve = () => {
      throw fault;
    };
    for (const approve of [thrower, () => Promise.reject(fault)]) {
      const { gate, onFault } = gateParty({ approve });
      expect(await outcomeOf(gate.pass(questionOf()))).toBe(DENIED);
      expect(onFault.mock.calls).toEqual([[fault]]);
    }
  });

  it("H-32: what it says after five minutes does not count, and its signal has fired", async () => {
    let say: ((decision: "approve") => void) | undefined;
    let heard: AbortSignal | undefined;
    const approve: Approve = (_request, signal) => {
      heard = signal;
      return new Promise((resolve) => (say = resolve));
    };
    const { gate, clock } = gateParty({ approve });
    const outcome = outcomeOf(gate.pass(questionOf()));
    await clock.advance(299_999);
    expect(heard?.aborted).toBe(false);
    await clock.advance(1);
    expect(heard?.aborted).toBe(true);
    say?.("approve");
    expect(await outcome).toBe(EXPIRED);
    expect(clock.pending).toBe(0);
  });

  it("H-32: at the limit nothing is approved any more, also when the clock is late with saying so", async () => {
    for (const [before, outcome] of [[299_999, "approved"] as const, [300_000, EXPIRED] as const]) {
      const { gate, clock } = gateParty({ operatorApprovals: true });
      // What was to be done at the same time, and before, is done first.
      clock.schedule(before, () => {
        const [request] = gate.operator.pending();
        expect(gate.operator.decide(request?.id ?? "", "approve")).toBe(true);
      });
      const passing = outcomeOf(gate.pass(questionOf()));
      clock.step(before);
      expect(await passing).toBe(outcome);
    }
  });

  it("H-32, H-14: an approval is at most five minutes old when it is first used, and then good for all of its call", async () => {
    for (const isAgent of [true, false]) {
      const { gate, clock } = gateParty(isAgent ? {} : { approve: () => "approve" });
      const approve = async () => {
        const state = isAgent ? await askedState(gate.pass(asking())) : undefined;
        return approvedBy(gate.pass(state === undefined ? asking() : retry(state, APPROVING)));
      };
      const [used, unused] = [await approve(), await approve()];
      await clock.advance(299_999);
      expect(used.use()).toBe(true);
      await clock.advance(1);
      expect([used.use(), unused.use()]).toEqual([true, false]);
      const round = used.sealState("more");
      await clock.advance(300_000);
      expect((await approvedBy(gate.pass(retry(round)))).use()).toBe(true);
    }
  });

  it("H-32: waits no longer than its call, and people are told until when", async () => {
    const requests: ApprovalRequest[] = [];
    const approve: Approve = (request) => {
      requests.push(request);
      return new Promise(() => undefined);
    };
    const { gate, clock } = gateParty({ approve });
    const outcome = outcomeOf(gate.pass(questionOf({ deadline: clock.now() + 5_000 })));
    expect(requests).toMatchObject([{ requestedAt: clock.now(), expiresAt: clock.now() + 5_000 }]);
    await clock.advance(5_000);
    expect(await outcome).toBe(EXPIRED);
  });
});

describe("H-32: an operator", () => {
  it("H-32: sees what waits, decides each once, and hears of every change", async () => {
    const { gate, onFault } = gateParty({ operatorApprovals: true });
    const { operator } = gate;
    const seen: number[] = [];
    const stop = operator.onChange(() => seen.push(operator.pending().length));
    operator.onChange(() => {
      throw new Error("a listener");
    });
    const first = outcomeOf(gate.pass(questionOf()));
    const second = outcomeOf(gate.pass(questionOf({ nativeName: "other" })));
    expect(operator.pending().map(({ id }) => id)).toEqual(["id-1", "id-2"]);
    expect(() => operator.decide("id-1", Object("yes"))).toThrow(expect.objectContaining({ code: "invalid_argument" }));
    expect(operator.decide("id-2", "deny")).toBe(true);
    expect(operator.decide("id-2", "approve")).toBe(false);
    expect(operator.decide("id-1", "approve")).toBe(true);
    expect(operator.decide("id-9", "approve")).toBe(false);
    expect([await first, await second]).toEqual(["approved", DENIED]);
    expect(seen).toEqual([1, 2, 1, 0]);
    expect(onFault).toHaveBeenCalledTimes(4);
    stop();
    void outcomeOf(gate.pass(questionOf()));
    expect(seen).toHaveLength(4);
  });

  it("H-32: decides nothing that another is asked", async () => {
    const { gate } = gateParty({ approve: () => new Promise(() => undefined) });
    void outcomeOf(gate.pass(questionOf()));
    expect(gate.counts.pending).toBe(1);
    expect(gate.operator.decide("id-1", "approve")).toBe(false);
    const agent = gateParty();
    await askedState(agent.gate.pass(asking()));
    expect(agent.gate.operator.decide("id-1", "approve")).toBe(false);
    expect(agent.gate.counts.pending).toBe(1);
  });
});

describe("H-32: an agent that is asked on its stream", () => {
  const answers: [string, ServerAskAnswer | Error, string][] = [
    ["approves", { result: APPROVING }, "approved"],
    ["denies", { result: DENYING }, DENIED],
    ["declines", { result: { action: "decline" } }, DENIED],
    ["can't be reached", { error: { code: -32_603, message: "gone" } }, DENIED],
    ["fails", new Error("gone"), DENIED],
  ];
  it.each(answers)("H-32: one that %s", async (_what, answer, outcome) => {
    const asks: unknown[] = [];
    const ask: AnswerAsk = (one) => {
      asks.push(one);
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    };
    const { gate, onFault } = gateParty();
    expect(await outcomeOf(gate.pass(asking({ input: { ...FIRST, ask } })))).toBe(outcome);
    expect(asks).toMatchObject([{ method: "elicitation/create", params: { requestedSchema: { type: "object" } } }]);
    expect(onFault).not.toHaveBeenCalled();
  });

  it("H-32: is denied when it leaves, and when it says nothing", async () => {
    let told: AbortSignal | undefined;
    const ask: AnswerAsk = (_one, signal) => {
      told = signal;
      return new Promise(() => undefined);
    };
    const { gate, clock } = gateParty();
    const leaving = new AbortController();
    const input = { ...FIRST, ask };
    const left = outcomeOf(gate.pass(asking({ input, signal: leaving.signal })));
    leaving.abort(new Error("left"));
    expect(await left).toBe(WITHDRAWN);
    expect(told?.aborted).toBe(true);
    expect(await outcomeOf(gate.pass(asking({ input, signal: leaving.signal })))).toBe(WITHDRAWN);
    const silent = outcomeOf(gate.pass(asking({ input })));
    await clock.advance(300_000);
    expect(await silent).toBe(EXPIRED);
    expect(gate.counts.pending).toBe(0);
  });
});

describe("H-32: an agent that is asked by a result", () => {
  it("H-32: approves, denies, or is asked again, and each state is good once", async () => {
    const { gate } = gateParty();
    const first = await askedState(gate.pass(asking()));
    expect(gate.counts.pending).toBe(1);
    const approved = await approvedBy(gate.pass(retry(first, APPROVING)));
    expect(approved.continuation).toBeUndefined();
    expect(gate.counts.pending).toBe(0);
    for (const answer of [APPROVING, DENYING, undefined]) {
      expect(await outcomeOf(gate.pass(retry(first, answer)))).toBe(refused("used"));
    }
    const second = await askedState(gate.pass(asking()));
    expect(await outcomeOf(gate.pass(retry(second, DENYING)))).toBe(DENIED);
    expect(await outcomeOf(gate.pass(retry(second, APPROVING)))).toBe(refused("used"));
    const third = await askedState(gate.pass(asking()));
    const again = await askedState(gate.pass(retry(third)));
    expect(gate.counts.pending).toBe(1);
    expect(await outcomeOf(gate.pass(retry(third, APPROVING)))).toBe(refused("used"));
    expect(await outcomeOf(gate.pass(retry(again, APPROVING)))).toBe("approved");
  });

  it("H-32: of two that come at once, one goes on", async () => {
    const { gate } = gateParty();
    const state = await askedState(gate.pass(asking()));
    const both = await Promise.all([1, 2].map(() => outcomeOf(gate.pass(retry(state, APPROVING)))));
    expect(both).toEqual(["approved", refused("used")]);
  });

  it("H-32: is too late after five minutes, also when it was asked again", async () => {
    const { gate, clock } = gateParty();
    const state = await askedState(gate.pass(asking()));
    clock.step(299_999);
    const again = await askedState(gate.pass(retry(state)));
    clock.step(1);
    expect(await outcomeOf(gate.pass(retry(again, APPROVING)))).toBe(EXPIRED);
    expect(gate.counts.pending).toBe(0);
    expect(clock.pending).toBe(0);
  });

  const otherwise: [string, QuestionFacts][] = [
    ["other arguments", { argumentsText: '{"id":2}' }],
    ["the same arguments in other bytes", { argumentsText: '{ "id":1}' }],
    ["no arguments", { argumentsText: undefined }],
    ["another tool", { nativeName: "drop2" }],
    ["another connector", { connectorKey: "gitlab" }],
    ["another connection", { connectionId: "c-2" }],
    ["no connection", { connectionId: undefined }],
    ["another contract", { contractDigest: "d-2" }],
    ["another sign-in of its account", { scopeEpoch: "e-2" }],
    ["another binding of the same session", { binding: bindingOf({ approvals: "agent" }) }],
    ["a binding that nobody vouches for", { binding: bindingOf() }],
  ];
  it.each(otherwise)("H-32: what it says of one call says nothing of %s", async (_what, more) => {
    const { gate } = gateParty();
    const state = await askedState(gate.pass(asking()));
    expect(await outcomeOf(gate.pass(retry(state, APPROVING, more)))).toBe(refused("mismatch"));
    // Nor does that use it up.
    const { sealState } = await approvedBy(gate.pass(retry(state, APPROVING)));
    const round = sealState("upstream");
    expect(await outcomeOf(gate.pass(retry(round, APPROVING, more)))).toBe(refused("mismatch"));
    expect(await outcomeOf(gate.pass(retry(round)))).toBe("approved");
  });

  it("H-32: nor of a call after another sign-in", async () => {
    const { gate, logins } = gateParty();
    const state = await askedState(gate.pass(asking()));
    logins.set(VOUCHED, "another");
    expect(await outcomeOf(gate.pass(retry(state, APPROVING)))).toBe(refused("mismatch"));
  });

  it("H-33: it can't approve by what was never asked", async () => {
    const { gate, sealer } = gateParty();
    const held = sealer.seal({ kind: "held", callId: "c", payload: { nonce: "n" } });
    const odd = sealer.seal({ kind: "approval", callId: "c", payload: { phase: "asked", about: "x" } });
    const real = await askedState(gate.pass(asking()));
    const states: [string | undefined, string][] = [
      [undefined, refused("unknown")],
      ["", refused("unknown")],
      ["approved", refused("unknown")],
      [held, refused("mismatch")],
      [odd, refused("mismatch")],
      [`${real.slice(0, -2)}AA`, refused("unknown", "unknown")],
    ];
    for (const [state, outcome] of states) expect(await outcomeOf(gate.pass(retry(state, APPROVING)))).toBe(outcome);
    const { gate: other } = gateParty({}, sealer);
    // One that another gate asked, of another time.
    expect(await outcomeOf(other.pass(retry(real, APPROVING)))).toBe(refused("used"));
  });

  it("H-33: nor by a state, where it is no longer it that is asked", async () => {
    const sealer = createStateSealer();
    const state = await askedState(gateParty({}, sealer).gate.pass(asking()));
    const approve = vi.fn<Approve>(() => "approve");
    for (const settings of [{ approve }, { operatorApprovals: true }]) {
      const { gate } = gateParty(settings, sealer);
      expect(await outcomeOf(gate.pass(retry(state, APPROVING)))).toBe(refused("mismatch"));
    }
    expect(approve).not.toHaveBeenCalled();
  });

  it("H-32, H-27: after a restart it was not sent, but for what was held", async () => {
    const hostId = "host";
    const before = createStateSealer({ hostId });
    const state = await askedState(gateParty({}, before).gate.pass(asking()));
    const held = before.seal({ kind: "held", callId: "c", payload: {} });
    const { gate } = gateParty({}, createStateSealer({ hostId }));
    expect(await outcomeOf(gate.pass(retry(state, APPROVING)))).toBe(refused("restarted"));
    expect(await outcomeOf(gate.pass(retry(held, APPROVING)))).toBe(refused("restarted", "unknown"));
    expect([state, held].map((each) => gate.goesOn(retry(each).call))).toEqual([true, false]);
  });

  it("H-32: tells its own states from all others", async () => {
    const { gate, sealer } = gateParty();
    const state = await askedState(gate.pass(asking()));
    const held = sealer.seal({ kind: "held", callId: "c", payload: {} });
    const inputs = [undefined, FIRST, goingOn(undefined, APPROVING), goingOn("theirs"), goingOn(held), goingOn(state)];
    expect(inputs.map((input) => gate.goesOn(asking({ input }).call))).toEqual([
      false,
      false,
      false,
      false,
      false,
      true,
    ]);
  });
});

describe("H-32: later rounds of an approved call", () => {
  const answers = { action: "accept", content: { name: "x" } };

  it("H-32: need no new approval, carry what the server and the agent said, and each is good once", async () => {
    const approve = vi.fn<Approve>(() => "approve");
    const { gate, clock } = gateParty({ approve });
    const first = await approvedBy(gate.pass(asking()));
    const second = first.sealState("upstream");
    expect(second).not.toContain("upstream");
    clock.step(599_999);
    const { continuation, sealState } = await approvedBy(gate.pass(retry(second, answers)));
    expect(continuation).toMatchObject({ state: "upstream", responses: { value: { approval: answers } } });
    expect(await outcomeOf(gate.pass(retry(second, answers)))).toBe(refused("used"));
    const third = await approvedBy(gate.pass(retry(sealState(undefined), answers)));
    expect(third.continuation?.state).toBeUndefined();
    const empty = await approvedBy(gate.pass(retry(third.sealState(""))));
    expect(empty.continuation).toEqual({ state: "", responses: undefined });
    expect(approve).toHaveBeenCalledTimes(1);
    const last = empty.sealState("late");
    clock.step(600_000);
    expect(await outcomeOf(gate.pass(retry(last)))).toBe(refused("expired"));
    expect(gate.counts).toEqual({ pending: 0, rounds: 0 });
    expect(clock.pending).toBe(0);
  });

  it("H-16: beyond 64 of one binding the oldest is forgotten, and none of another", async () => {
    const { gate } = gateParty({ approve: () => "approve" });
    const mine = asking();
    const other = bindingOf({ approvals: "agent" });
    const theirs = (await approvedBy(gate.pass(asking({ binding: other })))).sealState("theirs");
    const { sealState } = await approvedBy(gate.pass(mine));
    const rounds = Array.from({ length: 65 }, (_, index) => sealState(String(index)));
    expect(gate.counts.rounds).toBe(65);
    expect(await outcomeOf(gate.pass(retry(rounds[0])))).toBe(refused("expired"));
    expect(await outcomeOf(gate.pass(retry(rounds[1])))).toBe("approved");
    expect(await outcomeOf(gate.pass(retry(rounds[1])))).toBe(refused("used"));
    expect(await outcomeOf(gate.pass(retry(theirs, undefined, { binding: other })))).toBe("approved");
  });
});

describe("H-32: limits and ends", () => {
  it("H-32, H-16: at most 8 wait for a binding and 256 in all, whoever is asked", async () => {
    const { gate, clock } = gateParty();
    const states: string[] = [];
    for (let count = 0; count < 8; count += 1) states.push(await askedState(gate.pass(asking())));
    const full = "limit_exceeded maxPendingApprovals not_sent";
    expect(await outcomeOf(gate.pass(asking()))).toBe(full);
    expect(await outcomeOf(gate.pass(retry(states[3], DENYING)))).toBe(DENIED);
    expect(await outcomeOf(gate.pass(asking()))).toBe("asks");
    const ask: AnswerAsk = () => new Promise(() => undefined);
    expect(await outcomeOf(gate.pass(asking({ input: { ...FIRST, ask } })))).toBe(full);
    for (let other = 0; other < 31; other += 1) {
      const binding = bindingOf({ approvals: "agent" });
      for (let count = 0; count < 8; count += 1) await gate.pass(asking({ binding }));
    }
    const last = bindingOf({ approvals: "agent" });
    expect(await outcomeOf(gate.pass(asking({ binding: last })))).toBe(
      "limit_exceeded maxAllPendingApprovals not_sent",
    );
    clock.step(300_000);
    expect(gate.counts.pending).toBe(0);
    expect(await outcomeOf(gate.pass(asking({ binding: last })))).toBe("asks");
  });

  it("H-32, H-14: what does not stand any more is denied while it waits, and nothing else", async () => {
    const { gate, logins } = gateParty({ operatorApprovals: true });
    let stands = true;
    const durable = bindingOf({ durable: { name: "d", accountId: "ada" } });
    const mine = outcomeOf(gate.pass(questionOf({ stillStands: () => stands })));
    const other = outcomeOf(gate.pass(questionOf({ connectorKey: "gitlab", stillStands: () => stands })));
    const bound = outcomeOf(gate.pass(questionOf({ binding: durable })));
    gate.recheck();
    expect(gate.counts.pending).toBe(3);
    stands = false;
    gate.recheck("github");
    expect(await mine).toBe(WITHDRAWN);
    expect(gate.counts.pending).toBe(2);
    logins.set(durable, "ended");
    gate.recheck();
    expect(await Promise.all([other, bound])).toEqual([WITHDRAWN, WITHDRAWN]);
  });

  it("H-32: a modern agent that comes back to what was withdrawn is told so", async () => {
    const { gate } = gateParty();
    let stands = true;
    const state = await askedState(gate.pass(asking({ stillStands: () => stands })));
    stands = false;
    gate.recheck();
    expect(await outcomeOf(gate.pass(retry(state, APPROVING)))).toBe(WITHDRAWN);
    expect(gate.counts.pending).toBe(0);
  });

  it("H-32: a sign-in that ended while it was decided counts", async () => {
    const { gate, logins } = gateParty({ operatorApprovals: true });
    const binding = bindingOf();
    const passing = outcomeOf(gate.pass(questionOf({ binding })));
    gate.operator.decide("id-1", "approve");
    logins.set(binding, "another");
    expect(await passing).toBe(WITHDRAWN);
  });

  it("H-32: a binding that is over leaves nothing behind", async () => {
    const { gate, clock } = gateParty();
    const other = bindingOf({ approvals: "agent" });
    const state = await askedState(gate.pass(asking()));
    const round = (await approvedBy(gate.pass(retry(await askedState(gate.pass(asking())), APPROVING)))).sealState("u");
    await askedState(gate.pass(asking({ binding: other })));
    gate.endOf(VOUCHED);
    expect(gate.counts).toEqual({ pending: 1, rounds: 0 });
    expect(await outcomeOf(gate.pass(retry(state, APPROVING)))).toBe(WITHDRAWN);
    expect(await outcomeOf(gate.pass(retry(round)))).toBe(refused("used"));
    clock.step(600_000);
    expect(clock.pending).toBe(0);
  });

  it("H-40: closing denies what waits and what comes, and holds nothing", async () => {
    const { gate, clock } = gateParty({ operatorApprovals: true });
    const waiting = outcomeOf(gate.pass(questionOf()));
    const agent = gateParty();
    const state = await askedState(agent.gate.pass(asking()));
    const { sealState } = await approvedBy(
      agent.gate.pass(retry(await askedState(agent.gate.pass(asking())), APPROVING)),
    );
    for (const each of [gate, agent.gate]) {
      each.close();
      each.close();
    }
    expect(await waiting).toBe(WITHDRAWN);
    expect(await outcomeOf(gate.pass(questionOf()))).toBe(WITHDRAWN);
    expect(await outcomeOf(agent.gate.pass(retry(state, APPROVING)))).toBe(WITHDRAWN);
    expect(sealState("late")).toEqual(expect.any(String));
    expect([gate.counts, agent.gate.counts]).toEqual([
      { pending: 0, rounds: 0 },
      { pending: 0, rounds: 0 },
    ]);
    expect([clock.pending, agent.clock.pending]).toEqual([0, 0]);
  });
});

describe("H-32: options", () => {
  it("H-32: have the defaults of the design, and refuse what makes no sense", () => {
    expect(resolveApprovalOptions({})).toEqual({
      approve: undefined,
      operatorApprovals: false,
      approvalTimeoutMs: 300_000,
      maxPendingApprovals: 8,
      maxAllPendingApprovals: 256,
    });
    const wrong: object[] = [
      { approve: "approve" },
      { operatorApprovals: 1 },
      { approvalTimeoutMs: 0 },
      { approvalTimeoutMs: 300_001 },
      { approvalTimeoutMs: Infinity },
      { maxPendingApprovals: 0 },
      { maxAllPendingApprovals: 1.5 },
    ];
    for (const options of wrong) {
      const [option] = Object.keys(options);
      expect(() => resolveApprovalOptions(options)).toThrow(
        expect.objectContaining({ code: "invalid_options", details: expect.objectContaining({ option }) }),
      );
    }
  });
});
