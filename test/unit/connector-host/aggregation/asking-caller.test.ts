import { describe, expect, test } from "vitest";
import { createStateSealer } from "../../../../src/connector-host/rounds/index.js";
import { deliveryOf } from "../../../../src/errors.js";
import { type JsonObject, RawJson } from "../../../../src/protocol/index.js";
import type { ServerAsk, ServerAskAnswer } from "../../../../src/protocol/input/index.js";
import { AskingParty, bindingOf, bytesOf, FORM, FORMS } from "./asking-party.js";

const DONE = { resultType: "complete", content: [] };
const ACCEPT = { action: "accept", content: { name: "x" } };
const ASKS = { resultType: "input_required", inputRequests: { who: FORM }, requestState: "its own" };
const MODERN = { capabilities: FORMS };
const REQUEST = { meta: {}, logLevel: undefined, signal: new AbortController().signal, deadline: 1 };

/** What came of a call, as far as it is known. */
function watch(promise: Promise<{ readonly raw: Uint8Array; readonly result: JsonObject }>) {
  const watched: {
    promise: Promise<unknown>;
    raw?: Uint8Array;
    result?: JsonObject;
    error?: unknown;
    isOver: boolean;
  } = { promise, isOver: false };
  promise.then(
    ({ raw, result }) => Object.assign(watched, { raw, result, isOver: true }),
    (error: unknown) => Object.assign(watched, { error, isOver: true }),
  );
  return watched;
}

/** An agent that is asked on its stream, and answers when it is told to. */
function streamAgent(capabilities: JsonObject = FORMS) {
  const asked: {
    ask: ServerAsk;
    signal: AbortSignal;
    answer(answer: ServerAskAnswer): void;
    lose(reason: unknown): void;
  }[] = [];
  const ask = (one: ServerAsk, signal: AbortSignal): Promise<ServerAskAnswer> =>
    new Promise((resolve, reject) => asked.push({ ask: one, signal, answer: resolve, lose: reject }));
  return { asked, input: { capabilities, ask } };
}

function continuing(state: string | undefined, responses?: JsonObject, capabilities: JsonObject = FORMS) {
  const text = responses === undefined ? undefined : new RawJson(JSON.stringify(responses));
  return { capabilities, continuation: { state, responses: text } };
}

describe("a modern agent and a modern server", () => {
  test("H-27: the server is told what the agent declared and the connector is opened for, and the agent gets its bytes", async () => {
    const party = new AskingParty();
    await party.publish("modern");
    const input = { capabilities: { elicitation: { url: {} }, sampling: {}, roots: {} } };
    party.openedFor = ["tools", "elicitation", "roots"];
    const call = watch(party.call({ input }));
    await party.clock.advance(0);
    expect(party.made[0]?.options).toMatchObject({
      capabilities: { elicitation: { url: {} }, roots: {} },
      input: "return",
    });
    const asks = { ...ASKS, inputRequests: { r: { method: "roots/list" } } };
    party.made[0]?.answer(asks);
    await party.clock.advance(0);
    expect(call.raw).toEqual(bytesOf(asks));
  });

  test("H-4, H-27: a connector that is opened for none of it is told of nothing, and a state alone passes", async () => {
    const party = new AskingParty();
    party.openedFor = ["tools"];
    await party.publish("modern");
    const call = watch(party.call({ input: MODERN }));
    await party.clock.advance(0);
    expect(party.made[0]?.options.capabilities).toEqual({});
    const asks = { resultType: "input_required", requestState: "" };
    party.made[0]?.answer(asks);
    await party.clock.advance(0);
    expect(call.raw).toEqual(bytesOf(asks));
    party.openedFor = ["tools", "elicitation"];
    const next = watch(party.call({ input: continuing("", undefined, {}) }));
    await party.clock.advance(0);
    expect(party.made[1]?.options).toMatchObject({ requestState: "", capabilities: {} });
    expect(party.made[1]?.options.inputResponses).toBeUndefined();
    party.made[1]?.answer(DONE);
    await party.clock.advance(0);
    expect(next.result).toEqual(DONE);
  });

  test("H-27: what the agent goes on with reaches the server as it was written, another host's state included", async () => {
    const party = new AskingParty();
    await party.publish("modern");
    const state = createStateSealer({ hostId: "other" }).seal({ kind: "held", callId: "c", payload: {} });
    const responses = new RawJson('{"who" : {"action":"accept","content":{"n":12345678901234567890}}}');
    watch(party.call({ input: { capabilities: FORMS, continuation: { state, responses } } }));
    await party.clock.advance(0);
    expect(party.made[0]?.options.inputResponses).toBe(responses);
    expect(party.made[0]?.options.requestState).toBe(state);
  });

  test.each([
    ["a mode that was not declared", { method: "elicitation/create", params: { mode: "url" } }, "elicitation.url"],
    ["a capability that the connector is not opened for", { method: "roots/list" }, "roots"],
    ["a method of none", { method: "tasks/list" }, "tasks/list"],
  ])("H-27: %s reaches no agent", async (_what, request, capability) => {
    const party = new AskingParty();
    await party.publish("modern");
    const call = watch(party.call({ input: { capabilities: { ...FORMS, roots: {} } } }));
    await party.clock.advance(0);
    party.made[0]?.answer({ resultType: "input_required", inputRequests: { ok: FORM, k: request } });
    await party.clock.advance(0);
    expect(call.error).toMatchObject({
      code: "input_required",
      delivery: "answered",
      details: { capability, key: "k" },
    });
  });

  test("an agent that can be asked nothing has its request made as before", async () => {
    const party = new AskingParty();
    await party.publish("modern");
    watch(party.call());
    watch(party.call({ input: MODERN, subject: { kind: "completion" } }));
    await party.clock.advance(0);
    for (const { options } of party.made) expect(options).toMatchObject({ capabilities: undefined, input: undefined });
  });
});

describe("a legacy agent and a modern server", () => {
  test("H-27: it is asked everything at once on its stream, and the request made again with what it says", async () => {
    const party = new AskingParty();
    await party.publish("modern");
    const agent = streamAgent({ ...FORMS, sampling: {} });
    party.openedFor = ["elicitation", "sampling"];
    const call = watch(party.call({ input: agent.input }));
    await party.clock.advance(0);
    const sampling = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } };
    party.made[0]?.answer({ ...ASKS, inputRequests: { who: FORM, model: sampling } });
    await party.clock.advance(0);
    expect(agent.asked.map(({ ask }) => ask)).toEqual([FORM, sampling]);
    agent.asked[1]?.answer({ result: { role: "assistant" } });
    await party.clock.advance(0);
    expect(party.made).toHaveLength(1);
    agent.asked[0]?.answer({ result: { action: "decline" } });
    await party.clock.advance(0);
    expect(party.made[1]?.options).toMatchObject({
      inputResponses: { who: { action: "decline" }, model: { role: "assistant" } },
      requestState: "its own",
    });
    party.made[1]?.answer({ resultType: "input_required", inputRequests: { who: FORM } });
    await party.clock.advance(0);
    agent.asked[2]?.answer({ result: ACCEPT });
    await party.clock.advance(0);
    // Each round has what the result before it gave, and nothing older.
    expect(party.made[2]?.options).toMatchObject({ inputResponses: { who: ACCEPT }, requestState: undefined });
    party.made[2]?.answer(DONE);
    await party.clock.advance(0);
    expect(call.result).toEqual(DONE);
    expect(party.ends.map(({ kind }) => kind)).toEqual(["result", "result", "result"]);
  });

  test("H-27: an error for an answer ends the call as answered, and the asking of the rest", async () => {
    const party = new AskingParty();
    await party.publish("modern");
    const agent = streamAgent();
    const call = watch(party.call({ input: agent.input }));
    await party.clock.advance(0);
    party.made[0]?.answer({ ...ASKS, inputRequests: { a: FORM, b: FORM } });
    await party.clock.advance(0);
    agent.asked[1]?.answer({ error: { code: -1, message: "the person said no" } });
    await party.clock.advance(0);
    expect(call.error).toMatchObject({
      code: "handler_failed",
      delivery: "answered",
      details: { kind: "elicitation.form", key: "b" },
    });
    expect(agent.asked[0]?.signal.aborted).toBe(true);
    expect(party.made).toHaveLength(1);
  });

  test("H-27: what it did not declare is not asked", async () => {
    const party = new AskingParty();
    await party.publish("modern");
    const agent = streamAgent();
    const call = watch(party.call({ input: agent.input }));
    await party.clock.advance(0);
    party.made[0]?.answer({ ...ASKS, inputRequests: { a: FORM, b: { method: "roots/list" } } });
    await party.clock.advance(0);
    expect(call.error).toMatchObject({ code: "input_required", delivery: "answered" });
    expect(agent.asked).toEqual([]);
  });

  test("H-27: a server can't ask for ever, nor make the host spin", async () => {
    const party = new AskingParty();
    await party.publish("modern");
    const call = watch(party.call({ input: streamAgent().input }));
    await party.clock.advance(0);
    for (const [round, pauseMs] of [100, 200, 400].entries()) {
      party.made[round]?.answer({ resultType: "input_required", requestState: String(round) });
      await party.clock.advance(pauseMs - 1);
      expect(party.made).toHaveLength(round + 1);
      await party.clock.advance(1);
      expect(party.made[round + 1]?.options).toMatchObject({ requestState: String(round), inputResponses: undefined });
    }
    party.made[3]?.answer({ resultType: "input_required", requestState: "more" });
    await party.clock.advance(0);
    expect(call.error).toMatchObject({
      code: "limit_exceeded",
      delivery: "answered",
      details: { option: "maxInputRounds", limit: 3 },
    });
    expect(party.clock.pending).toBe(0);
  });

  test("H-13, H-27: what it says goes to the server that asked, over its route or a newer one, and to none of other settings", async () => {
    const party = new AskingParty();
    await party.publish("modern");
    const agent = streamAgent();
    const call = watch(party.call({ input: agent.input }));
    for (const settings of ["d", "another server"]) {
      await party.clock.advance(0);
      party.made.at(-1)?.answer(ASKS);
      await party.clock.advance(0);
      await party.publish("modern", { settings });
      agent.asked.at(-1)?.answer({ result: ACCEPT });
    }
    await party.clock.advance(0);
    // The played client tells its refusal by a plain error.
    expect(call.error).toMatchObject({ message: "route_superseded" });
    expect(party.made).toHaveLength(2);
  });

  test("H-26, H-27: progress of all rounds is handed on, and only ever increases", async () => {
    const party = new AskingParty();
    await party.publish("modern");
    const agent = streamAgent();
    const told: number[] = [];
    void party.call({ input: agent.input, onProgress: ({ progress }) => void told.push(progress) });
    for (const progresses of [
      [1, 2],
      [1, 2, 3],
      [0.5, 4],
    ]) {
      await party.clock.advance(0);
      for (const progress of progresses) party.made.at(-1)?.options.onProgress?.({ progress });
      party.made.at(-1)?.answer(ASKS);
      await party.clock.advance(0);
      agent.asked.at(-1)?.answer({ result: ACCEPT });
    }
    expect(told).toEqual([1, 2, 3, 4]);
  });

  test.each(["asked", "waited for"])("H-27: an agent that leaves while it is %s had its last answer", async (what) => {
    const party = new AskingParty();
    await party.publish("modern");
    const leaving = new AbortController();
    const agent = streamAgent();
    const call = watch(party.call({ input: agent.input, leaving }));
    await party.clock.advance(0);
    party.made[0]?.answer(what === "asked" ? ASKS : { resultType: "input_required", requestState: "s" });
    await party.clock.advance(0);
    const reason = { gone: true };
    leaving.abort(reason);
    agent.asked[0]?.answer({ error: { code: -32_603, message: "gone" } });
    await party.clock.advance(0);
    expect(call.error).toBe(reason);
    expect(deliveryOf(reason)).toBe("answered");
    expect([party.made.length, party.clock.pending]).toEqual([1, 0]);
  });
});

describe("a modern agent and a legacy server", () => {
  async function held(party: AskingParty, leaving?: AbortController) {
    const call = watch(party.call({ input: MODERN, ...(leaving && { leaving }) }));
    await party.clock.advance(0);
    const [made] = party.made.slice(-1);
    const never = new AbortController().signal;
    let answer: ServerAskAnswer | undefined;
    void made?.lease?.answer(FORM, never).then((given) => (answer = given));
    await party.clock.advance(0);
    const { inputRequests = {}, requestState = "" } = call.result ?? {};
    const keys = Object.keys(Object(inputRequests));
    return { call, made, state: String(requestState), key: keys[0] ?? "", answered: () => answer };
  }

  test("H-27: it is asked by a result, and its next request brings the answer and the result; the call is made once", async () => {
    const party = new AskingParty();
    await party.publish("legacy");
    const { call, made, state, key, answered } = await held(party);
    expect(party.leases[0]).toMatchObject({ holder: party.binding, capabilities: FORMS });
    expect(call.result).toEqual({
      resultType: "input_required",
      inputRequests: { [key]: FORM },
      requestState: state,
    });
    expect(party.caller.heldCount).toBe(1);
    const next = watch(party.call({ input: continuing(state, { [key]: ACCEPT }) }));
    await party.clock.advance(0);
    expect(answered()).toEqual({ result: ACCEPT });
    expect(next.isOver).toBe(false);
    made?.answer(DONE);
    await party.clock.advance(0);
    expect(next.raw).toEqual(bytesOf(DONE));
    expect([party.made.length, party.released, party.caller.heldCount, party.clock.pending]).toEqual([1, 1, 0, 0]);
    expect(party.ends).toEqual([expect.objectContaining({ kind: "result" })]);
  });

  test("H-27, H-35: nobody goes on: cancelled at its server, unknown in the journal, and its connection given back", async () => {
    const party = new AskingParty();
    await party.publish("legacy");
    const { made, state } = await held(party);
    await party.clock.advance(600_000);
    expect(made?.options.signal?.aborted).toBe(true);
    expect(party.ends).toEqual([{ kind: "failure", delivery: "unknown", code: "cancelled" }]);
    expect([party.released, party.caller.heldCount]).toEqual([1, 0]);
    const late = watch(party.call({ input: continuing(state) }));
    await party.clock.advance(0);
    expect(late.error).toMatchObject({
      code: "continuation_refused",
      delivery: "unknown",
      details: { reason: "expired" },
    });
    expect(party.made).toHaveLength(1);
  });

  test("H-27: the agent's deadline is that of its request: none holds while it is asked", async () => {
    const party = new AskingParty();
    await party.publish("legacy");
    const { made } = await held(party);
    expect(made?.options.totalTimeoutMs).toBe(Infinity);
  });

  test.each([
    ["of another agent", { binding: bindingOf("s") }],
    ["with other arguments", { subject: { argumentsText: '{"a": 1}' } }],
    ["without arguments", { subject: { argumentsText: undefined } }],
    ["of another tool", { subject: { nativeName: "erase", exposedName: "notes_erase" } }],
    ["under another name", { subject: { exposedName: "notes_write2" } }],
    ["of another kind", { subject: { kind: "prompt" as const } }],
    ["of nobody", { subject: { binding: undefined } }],
  ])("H-27: a request %s does not go on with the state, and none is made", async (_what, other) => {
    const party = new AskingParty();
    await party.publish("legacy");
    const { made, state, key, answered } = await held(party);
    const stolen = watch(party.call({ input: continuing(state, { [key]: ACCEPT }), ...other }));
    await party.clock.advance(0);
    expect(stolen.error).toMatchObject({
      code: "continuation_refused",
      delivery: "unknown",
      details: { reason: "mismatch" },
    });
    expect([party.made.length, answered(), made?.options.signal?.aborted]).toEqual([1, undefined, false]);
    const right = watch(party.call({ input: continuing(state, { [key]: ACCEPT }) }));
    made?.answer(DONE);
    await party.clock.advance(0);
    expect(right.result).toEqual(DONE);
  });

  test("H-27: a state goes on once", async () => {
    const party = new AskingParty();
    await party.publish("legacy");
    const { made, state, key } = await held(party);
    const calls = [1, 2].map(() => watch(party.call({ input: continuing(state, { [key]: ACCEPT }) })));
    made?.answer(DONE);
    await party.clock.advance(0);
    calls.push(watch(party.call({ input: continuing(state) })));
    await party.clock.advance(0);
    const refused = { code: "continuation_refused", delivery: "unknown", details: { reason: "used" } };
    expect(calls.map(({ result, error }) => result ?? error)).toMatchObject([DONE, refused, refused]);
    expect(party.made).toHaveLength(1);
  });

  test.each(["modern", "legacy"] as const)(
    "H-27: a state that nothing goes on with is never a first call, of a %s server",
    async (era) => {
      const party = new AskingParty();
      await party.publish(era);
      const past = createStateSealer({ hostId: "host" });
      const content = { callId: "c", payload: {} };
      const ours = party.sealer.seal({ ...content, kind: "held" });
      const states: [string, string, string][] = [
        [past.seal({ ...content, kind: "held" }), "restarted", "unknown"],
        [past.seal({ ...content, kind: "approval" }), "restarted", "not_sent"],
        [party.sealer.seal({ ...content, kind: "approval" }), "mismatch", "not_sent"],
        [ours, "used", "unknown"],
        [`${ours.slice(0, -1)}${ours.endsWith("A") ? "B" : "A"}`, "unknown", "unknown"],
      ];
      if (era === "legacy") states.push(["a server's own", "unknown", "not_sent"], ["", "unknown", "not_sent"]);
      for (const [state, reason, delivery] of states) {
        const call = watch(party.call({ input: continuing(state, {}) }));
        await party.clock.advance(0);
        expect(call.error, state).toMatchObject({ code: "continuation_refused", delivery, details: { reason } });
      }
      expect([party.made.length, party.leases.length, party.ends.length]).toEqual([0, 0, 0]);
    },
  );

  test("H-27: answers without a state go on with nothing of a legacy server", async () => {
    const party = new AskingParty();
    await party.publish("legacy", { withLeases: false });
    const call = watch(party.call({ input: continuing(undefined, { a: ACCEPT }) }));
    await party.clock.advance(0);
    expect(call.error).toMatchObject({ code: "continuation_refused", delivery: "not_sent" });
    expect(party.made).toEqual([]);
  });

  test("H-13: a superseded route ends what does not wait at its drain limit, and what waits goes on until it is over", async () => {
    const party = new AskingParty();
    const old = await party.publish("legacy");
    const waiting = await held(party);
    const plain = watch(party.call({ input: MODERN }));
    await party.clock.advance(0);
    await party.publish("legacy");
    expect(old.state).toBe("superseded");
    await party.clock.advance(59_999);
    expect(plain.isOver).toBe(false);
    await party.clock.advance(1);
    expect(plain.error).toMatchObject({
      code: "cancelled",
      delivery: "unknown",
      details: { reason: "route_withdrawn" },
    });
    await party.clock.advance(300_000);
    expect([old.state, waiting.made?.options.signal?.aborted, party.routes.counts.retiring]).toEqual([
      "superseded",
      false,
      1,
    ]);
    // The agent's request finds the successor, and goes on with what waits on the route before.
    const next = watch(party.call({ input: continuing(waiting.state, { [waiting.key]: ACCEPT }) }));
    await party.clock.advance(0);
    waiting.made?.answer(DONE);
    await party.clock.advance(0);
    expect(next.result).toEqual(DONE);
    expect([party.made.length, old.inFlight, party.routes.counts.retiring]).toEqual([2, 0, 0]);
  });

  test("H-13: what waits is over with its own limit, and the superseded route with it", async () => {
    const party = new AskingParty({ heldCallTimeoutMs: 100_000 });
    const old = await party.publish("legacy");
    const { made } = await held(party);
    await party.publish("legacy");
    await party.clock.advance(99_000);
    expect([made?.options.signal?.aborted, party.routes.counts.retiring]).toEqual([false, 1]);
    await party.clock.advance(1_000);
    expect([made?.options.signal?.aborted, old.inFlight, party.routes.counts.retiring]).toEqual([true, 0, 0]);
  });

  test("H-13: a revoked route ends what waits at once, with its verdict, and the agent is told when it goes on", async () => {
    const party = new AskingParty();
    const route = await party.publish("legacy");
    const { made, state } = await held(party);
    party.routes.fence(route.scope, route.connectorKey, route.generation, "revoke");
    expect(made?.options.signal?.aborted).toBe(true);
    await party.clock.advance(0);
    expect(party.ends).toEqual([{ kind: "failure", delivery: "unknown", code: "cancelled" }]);
    const next = watch(party.call({ input: continuing(state), route }));
    await party.clock.advance(0);
    expect(next.error).toMatchObject({
      code: "cancelled",
      delivery: "unknown",
      details: { reason: "route_withdrawn" },
    });
  });

  test("H-27: an agent that leaves while its request is attached ends the call; after its answer it does not", async () => {
    const party = new AskingParty();
    await party.publish("legacy");
    const first = new AbortController();
    const { made, state, key } = await held(party, first);
    first.abort("the exchange is over");
    expect(made?.options.signal?.aborted).toBe(false);
    const leaving = new AbortController();
    const next = watch(party.call({ input: continuing(state, { [key]: ACCEPT }), leaving }));
    await party.clock.advance(0);
    const reason = { left: true };
    leaving.abort(reason);
    await party.clock.advance(0);
    expect(next.error).toBe(reason);
    expect(deliveryOf(reason)).toBe("unknown");
    expect(party.ends).toMatchObject([{ kind: "failure", delivery: "unknown" }]);
  });

  test("H-40: closing ends what waits, and the journal knows of it before that is over", async () => {
    const party = new AskingParty();
    await party.publish("legacy");
    await held(party);
    await party.caller.close();
    expect(party.ends).toEqual([{ kind: "failure", delivery: "unknown", code: "cancelled" }]);
    expect([party.released, party.caller.heldCount, party.clock.pending]).toEqual([1, 0, 0]);
  });

  test("H-32: only what goes on with a call that waits is decided already", async () => {
    const party = new AskingParty();
    await party.publish("legacy");
    const { state } = await held(party);
    const requestOf = (given: string) => ({
      meta: {},
      logLevel: undefined,
      signal: new AbortController().signal,
      deadline: 0,
      input: continuing(given),
    });
    const approval = party.sealer.seal({ kind: "approval", callId: "c", payload: {} });
    const past = createStateSealer({ hostId: "host" }).seal({ kind: "held", callId: "c", payload: {} });
    const states = [state, past, approval, `${state}A`, "foreign", ""];
    expect(states.map((given) => party.caller.isHeld(requestOf(given)))).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});

describe("a request that can't be made", () => {
  test("H-27: has the verdict of what it would have gone on with", async () => {
    const party = new AskingParty();
    const seal = (kind: "held" | "approval", sealer = party.sealer): string =>
      sealer.seal({ kind, callId: "c", payload: {} });
    const past = createStateSealer({ hostId: "host" });
    const error = new Error("gone");
    const refused = expect.objectContaining({ code: "continuation_refused" }) as unknown;
    const cases: [string | undefined, unknown, string][] = [
      [undefined, error, "not_sent"],
      ["a server's own", error, "not_sent"],
      [seal("held"), error, "unknown"],
      [seal("approval"), error, "not_sent"],
      [seal("held", past), refused, "unknown"],
      [seal("approval", past), error, "not_sent"],
      [`${seal("held")}x`, refused, "unknown"],
    ];
    for (const [state, told, delivery] of cases) {
      const request = { ...REQUEST, input: state === undefined ? undefined : continuing(state) };
      expect(party.caller.unmade(request, error)).toEqual({ error: told, delivery });
    }
  });
});

describe("a legacy agent and a legacy server", () => {
  test("H-27: requests of the server are requests to the agent of the call, and undeclared ones are refused", async () => {
    const party = new AskingParty();
    await party.publish("legacy");
    const agent = streamAgent();
    const call = watch(party.call({ input: agent.input }));
    await party.clock.advance(0);
    const lease = party.leases[0];
    const never = new AbortController().signal;
    const form = lease?.answer(FORM, never);
    agent.asked[0]?.answer({ error: { code: -1, message: "no" } });
    expect(await form).toEqual({ error: { code: -1, message: "no" } });
    expect(await lease?.answer({ method: "roots/list", params: undefined }, never)).toMatchObject({
      error: { code: -32_601 },
    });
    expect(agent.asked).toHaveLength(1);
    party.made[0]?.answer(DONE);
    await party.clock.advance(0);
    expect([call.result, party.released]).toEqual([DONE, 1]);
  });

  test("H-13: a person who is being asked is not cut off by a newer route, nor asked longer than the request lasts", async () => {
    const party = new AskingParty();
    await party.publish("legacy");
    const agent = streamAgent();
    const call = watch(party.call({ input: agent.input }));
    await party.clock.advance(0);
    void party.leases[0]?.answer(FORM, new AbortController().signal);
    await party.publish("legacy");
    await party.clock.advance(61_000);
    expect(call.isOver).toBe(false);
    party.made[0]?.answer(DONE);
    await party.clock.advance(0);
    expect([call.result, party.routes.counts.retiring]).toEqual([DONE, 0]);
  });
});

describe("a server that has its connections one call at a time", () => {
  test("H-27: two agents with one bearer are two, where a session tells them apart", async () => {
    const party = new AskingParty();
    await party.publish("legacy");
    const [one, other] = [
      { ...streamAgent().input, holder: {} },
      { ...streamAgent().input, holder: {} },
    ];
    for (const input of [one, other, one, MODERN]) void party.call({ input });
    await party.clock.advance(0);
    const holders = party.leases.map(({ holder }) => holder);
    expect(holders).toHaveLength(4);
    for (const [index, holder] of [one.holder, other.holder, one.holder, party.binding].entries()) {
      expect(holders[index]).toBe(holder);
    }
  });

  test("H-27: a call whose agent can be asked nothing takes its turn, and the server is told of nothing", async () => {
    const party = new AskingParty();
    await party.publish("legacy");
    const calls = [
      party.call(),
      party.call({ input: { capabilities: { sampling: {} } } }),
      party.call({ input: MODERN, subject: { kind: "completion" } }),
      party.call({ input: MODERN, subject: { binding: undefined } }),
    ].map(watch);
    await party.clock.advance(0);
    expect(party.leases.map(({ capabilities }) => capabilities)).toEqual([{}, {}, {}, {}]);
    expect(await party.leases[0]?.answer(FORM, new AbortController().signal)).toHaveProperty("error");
    party.made[0]?.answer(DONE);
    party.made[1]?.fail(new Error("no"));
    await party.clock.advance(0);
    expect(calls.map(({ isOver }) => isOver)).toEqual([true, true, false, false]);
    expect(party.released).toBe(2);
  });

  test("H-27: whoever leaves while there is no connection for the call has sent nothing", async () => {
    const party = new AskingParty();
    party.hasConnections = false;
    await party.publish("legacy");
    const leaving = new AbortController();
    const call = watch(party.call({ input: MODERN, leaving }));
    await party.clock.advance(0);
    const reason = { left: true };
    leaving.abort(reason);
    await party.clock.advance(0);
    expect(call.error).toBe(reason);
    expect(party.ends).toEqual([{ kind: "failure", delivery: "not_sent", code: undefined }]);
    expect(party.made).toEqual([]);
  });

  test("H-13: a call that waits for a connection as its route is withdrawn has sent nothing", async () => {
    const party = new AskingParty();
    party.hasConnections = false;
    const route = await party.publish("legacy");
    const call = watch(party.call({ input: MODERN }));
    await party.clock.advance(0);
    party.routes.fence(route.scope, route.connectorKey, route.generation, "revoke");
    await party.clock.advance(0);
    expect(call.error).toMatchObject({ code: "cancelled", delivery: "not_sent" });
  });
});
