import { describe, expect, test } from "vitest";
import type { ServerAsk } from "../../../../src/protocol/input/index.js";
import { settle } from "../../../support/fake-clock.js";
import { askedIn, bindingOf, FORM, FORMS, HeldParty, requestOf, ScriptedCall, watch } from "./held-party.js";

const A = bindingOf("a");
const B = bindingOf("b");
const ACCEPT = { action: "accept", content: { name: "x" } };

async function asking(party: HeldParty, binding = A, digest = "d") {
  const begun = party.begin(binding, digest);
  const answer = begun.call.ask();
  await party.clock.advance(0);
  return { ...begun, answer, asked: askedIn(begun.round) };
}

describe("calls that are held while their agents are asked", () => {
  test("a call that asks nothing is answered, and nothing of it is kept", async () => {
    const party = new HeldParty();
    const { call, round } = party.begin(A);
    call.finish("done");
    await party.clock.advance(0);
    expect(round.value).toEqual({ kind: "answer", answer: "done" });
    expect([party.calls.size, party.calls.running, party.clock.pending]).toEqual([0, 0, 0]);
  });

  test("H-27: the agent is asked by its answer, and its next request brings the server what it said, and the result", async () => {
    const party = new HeldParty();
    const { call, answer, asked } = await asking(party);
    expect(Object.values(asked.requests)).toEqual([FORM]);
    expect(party.calls.size).toBe(1);
    const [key = ""] = asked.keys;
    const next = party.resume(asked.state, A, { [key]: ACCEPT, other: ACCEPT });
    await party.clock.advance(0);
    expect(answer.value).toEqual({ result: ACCEPT });
    expect(next.isOver).toBe(false);
    call.finish("done");
    await party.clock.advance(0);
    expect(next.value).toEqual({ kind: "answer", answer: "done" });
    expect([party.calls.size, party.calls.running, party.clock.pending]).toEqual([0, 0, 0]);
  });

  test("H-27: what is asked at once is put to the agent at once, each under a key of its own; what it leaves out is asked again", async () => {
    const party = new HeldParty();
    const { call, round } = party.begin(A);
    const first = call.ask();
    const second = call.ask({ method: "elicitation/create", params: { message: "2" } });
    await party.clock.advance(0);
    const asked = askedIn(round);
    expect(asked.keys).toHaveLength(2);
    const next = party.resume(asked.state, A, { [asked.keys[1] ?? ""]: ACCEPT, [asked.keys[0] ?? ""]: "no object" });
    await party.clock.advance(0);
    expect(second.value).toEqual({ result: ACCEPT });
    expect(first.isOver).toBe(false);
    const again = askedIn(next);
    expect(again.keys).toEqual([asked.keys[0]]);
    expect(again.state).not.toBe(asked.state);
    party.resume(again.state, A, { [again.keys[0] ?? ""]: { action: "decline" } });
    await party.clock.advance(0);
    expect(first.value).toEqual({ result: { action: "decline" } });
  });

  test("H-27: an answer to what was never shown to the agent is none", async () => {
    const party = new HeldParty();
    const { call, asked } = await asking(party);
    const later = call.ask();
    await party.clock.advance(0);
    const next = party.resume(asked.state, A, { "ask-1": ACCEPT, "ask-2": ACCEPT });
    await party.clock.advance(0);
    expect(later.isOver).toBe(false);
    expect(askedIn(next).keys).toEqual(["ask-2"]);
  });

  test("H-27: of two requests with one state one goes on, and the other is refused and changes nothing", async () => {
    const party = new HeldParty();
    const { call, asked, answer } = await asking(party);
    const [key = ""] = asked.keys;
    const winner = party.resume(asked.state, A, { [key]: ACCEPT });
    const loser = party.resume(asked.state, A, { [key]: { action: "decline" } });
    await party.clock.advance(0);
    expect(loser.error).toMatchObject({
      code: "continuation_refused",
      delivery: "unknown",
      details: { reason: "used" },
    });
    expect(answer.value).toEqual({ result: ACCEPT });
    call.finish("done");
    await party.clock.advance(0);
    expect(winner.value).toEqual({ kind: "answer", answer: "done" });
    const late = party.resume(asked.state, A, {});
    await party.clock.advance(0);
    expect(late.error).toMatchObject({ code: "continuation_refused", details: { reason: "used" } });
  });

  test("H-27: the state of an earlier round goes on with nothing", async () => {
    const party = new HeldParty();
    const { asked, call } = await asking(party);
    const next = party.resume(asked.state, A, {});
    await party.clock.advance(0);
    const again = askedIn(next);
    const replayed = party.resume(asked.state, A, { [asked.keys[0] ?? ""]: ACCEPT });
    await party.clock.advance(0);
    expect(replayed.error).toMatchObject({ code: "continuation_refused", details: { reason: "used" } });
    expect(call.asks[0]?.answer.isOver).toBe(false);
    const right = party.resume(again.state, A, { [again.keys[0] ?? ""]: ACCEPT });
    call.finish("done");
    await party.clock.advance(0);
    expect(right.value).toEqual({ kind: "answer", answer: "done" });
  });

  test.each([
    ["another binding", B, "d"],
    ["another binding that says the same of itself", bindingOf("a"), "d"],
    ["another request", A, "other"],
  ])("H-27: a state does not go on for %s, and the call goes on waiting", async (_what, binding, digest) => {
    const party = new HeldParty();
    const { call, asked, answer } = await asking(party);
    const stolen = party.resume(asked.state, binding, { [asked.keys[0] ?? ""]: ACCEPT }, digest);
    await party.clock.advance(0);
    expect(stolen.error).toMatchObject({
      code: "continuation_refused",
      delivery: "unknown",
      details: { reason: "mismatch" },
    });
    expect([answer.isOver, call.upstream?.signal.aborted, party.calls.size]).toEqual([false, false, 1]);
    const right = party.resume(asked.state, A, { [asked.keys[0] ?? ""]: ACCEPT });
    call.finish("done");
    await party.clock.advance(0);
    expect(right.value).toEqual({ kind: "answer", answer: "done" });
  });

  test("H-27: a call whose agent does not go on in time is cancelled at its server, and its state is too old", async () => {
    const party = new HeldParty({ heldCallTimeoutMs: 1_000 });
    const { call, asked, answer } = await asking(party);
    await party.clock.advance(999);
    expect(call.upstream?.signal.aborted).toBe(false);
    await party.clock.advance(1);
    expect(call.upstream?.signal.reason).toMatchObject({
      code: "cancelled",
      delivery: "unknown",
      details: { reason: "not_continued" },
    });
    expect(answer.value).toHaveProperty("error");
    const late = party.resume(asked.state, A, {});
    await party.clock.advance(0);
    expect(late.error).toMatchObject({
      code: "continuation_refused",
      delivery: "unknown",
      details: { reason: "expired" },
    });
    expect([party.calls.size, party.calls.running, party.clock.pending]).toEqual([0, 0, 0]);
  });

  test("H-27: the wait is for each round anew, and does not run while a request is attached", async () => {
    const party = new HeldParty({ heldCallTimeoutMs: 1_000 });
    const { call, asked } = await asking(party);
    await party.clock.advance(900);
    const next = party.resume(asked.state, A, { [asked.keys[0] ?? ""]: ACCEPT });
    await party.clock.advance(5_000);
    call.ask();
    await party.clock.advance(900);
    const last = party.resume(askedIn(next).state, A, {});
    call.finish("done");
    await party.clock.advance(0);
    expect(last.value).toEqual({ kind: "answer", answer: "done" });
  });

  test("H-27: that the exchange of the first request ends does not end the call; that an attached one leaves does", async () => {
    const party = new HeldParty();
    const first = new AbortController();
    const { call, round } = party.begin(A, "d", first);
    call.ask();
    await party.clock.advance(0);
    first.abort(new Error("the exchange is over"));
    expect(call.upstream?.signal.aborted).toBe(false);
    const second = new AbortController();
    const next = party.resume(askedIn(round).state, A, {}, "d", second);
    const reason = new Error("the agent left");
    second.abort(reason);
    await party.clock.advance(0);
    expect(call.upstream?.signal.reason).toBe(reason);
    expect(next.error).toBe(reason);
    expect([party.calls.size, party.calls.running, party.clock.pending]).toEqual([0, 0, 0]);
  });

  test("a request that has left before it goes on ends the call", async () => {
    const party = new HeldParty();
    const { call, asked } = await asking(party);
    const gone = new AbortController();
    gone.abort("gone");
    const next = party.resume(asked.state, A, {}, "d", gone);
    await party.clock.advance(0);
    expect(next.error).toBe("gone");
    expect(call.upstream?.signal.aborted).toBe(true);
  });

  test.each(["answer", "failure"])(
    "H-27: an %s that comes while the agent is asked is told to its next request",
    async (kind) => {
      const party = new HeldParty();
      const { call, asked, answer } = await asking(party);
      const reason = new Error("no");
      if (kind === "answer") call.finish("done");
      else call.fail(reason);
      await party.clock.advance(0);
      expect(answer.value).toHaveProperty("error");
      const next = party.resume(asked.state, A, {});
      await party.clock.advance(0);
      if (kind === "answer") expect(next.value).toEqual({ kind: "answer", answer: "done" });
      else expect(next.error).toBe(reason);
      expect([party.calls.size, party.calls.running, party.clock.pending]).toEqual([0, 0, 0]);
    },
  );

  test("what a server withdraws is not asked any more", async () => {
    const party = new HeldParty();
    const { call, round } = party.begin(A);
    call.ask();
    call.ask();
    call.asks[0]?.withdrawal.abort();
    await party.clock.advance(0);
    expect(askedIn(round).keys).toEqual(["ask-2"]);
    call.asks[1]?.withdrawal.abort();
    const next = party.resume(askedIn(round).state, A, { "ask-2": ACCEPT });
    await party.clock.advance(0);
    expect(call.asks[1]?.answer.value).toHaveProperty("error");
    expect(next.isOver).toBe(false);
  });

  test("H-27: what the agent's request did not declare is refused to the server, and the agent not asked", async () => {
    const party = new HeldParty();
    const { call, round } = party.begin(A);
    const sampling: ServerAsk = { method: "sampling/createMessage", params: {} };
    const url: ServerAsk = { method: "elicitation/create", params: { mode: "url", url: "https://x.test" } };
    const answers = [call.ask(sampling), call.ask(url)];
    await party.clock.advance(0);
    expect(answers.map(({ value }) => value)).toMatchObject([
      { error: { code: -32_601 } },
      { error: { code: -32_602 } },
    ]);
    expect([round.isOver, party.calls.size]).toEqual([false, 0]);
  });

  test("H-16: beyond maxHeldCallsPerBinding nothing is sent; another agent has room of its own", async () => {
    const party = new HeldParty({ maxHeldCallsPerBinding: 2 });
    await asking(party);
    await asking(party);
    const refused = party.begin(A);
    await party.clock.advance(0);
    expect(refused.round.error).toMatchObject({
      code: "limit_exceeded",
      delivery: "not_sent",
      details: { option: "maxHeldCallsPerBinding", limit: 2 },
    });
    expect(refused.call.upstream).toBeUndefined();
    await asking(party, B);
    expect(party.calls.size).toBe(3);
  });

  test("H-16: a server that asks when there is no room any more ends its call, as one that may have acted", async () => {
    const party = new HeldParty({ maxHeldCalls: 1 });
    const late = party.begin(B);
    await asking(party);
    late.call.ask();
    await party.clock.advance(0);
    expect(late.round.error).toMatchObject({
      code: "limit_exceeded",
      delivery: "unknown",
      details: { option: "maxHeldCalls", limit: 1 },
    });
    expect(late.call.upstream?.signal.aborted).toBe(true);
    expect([party.calls.size, party.calls.running]).toEqual([1, 1]);
  });

  test("H-16: a call that is over and was only kept to be told makes room for one that runs", async () => {
    const party = new HeldParty({ maxHeldCallsPerBinding: 1 });
    const { call, asked } = await asking(party);
    call.finish("done");
    await party.clock.advance(0);
    await asking(party);
    const told = party.resume(asked.state, A, {});
    await party.clock.advance(0);
    expect(told.error).toMatchObject({ code: "continuation_refused", delivery: "unknown" });
  });

  test("H-16: results that are kept to be told have so many bytes in all; one beyond is answered, and gone", async () => {
    const party = new HeldParty({ maxHeldResultBytes: 10 });
    const [first, second, third] = [await asking(party), await asking(party), await asking(party)];
    first.call.finish("123456");
    second.call.finish("12345");
    third.call.finish("1234");
    await settle();
    expect(party.calls.keptBytes).toBe(10);
    const told = [first, second, third].map(({ asked }) => party.resume(asked.state, A, {}));
    await settle();
    expect([told[0]?.value, told[2]?.value]).toMatchObject([{ answer: "123456" }, { answer: "1234" }]);
    expect(told[1]?.error).toMatchObject({
      code: "limit_exceeded",
      delivery: "answered",
      details: { option: "maxHeldResultBytes", limit: 10 },
    });
    expect([party.calls.keptBytes, party.calls.size, party.clock.pending]).toEqual([0, 0, 0]);
    // One that an agent waits for is not kept.
    const large = await asking(party);
    const waiting = party.resume(large.asked.state, A, {});
    large.call.finish("12345678901");
    await settle();
    expect(waiting.value).toMatchObject({ answer: "12345678901" });
  });

  test("H-16: what is kept to be told goes with its time, its agent's session and everything else", async () => {
    const party = new HeldParty({ heldCallTimeoutMs: 1_000 });
    for (const binding of [A, B]) (await asking(party, binding)).call.finish("12345");
    await settle();
    expect(party.calls.keptBytes).toBe(10);
    party.calls.endBinding(B);
    expect(party.calls.keptBytes).toBe(5);
    await party.clock.advance(1_000);
    expect(party.calls.keptBytes).toBe(0);
    (await asking(party)).call.finish("12345");
    await settle();
    expect(party.calls.keptBytes).toBe(5);
    await party.calls.close();
    expect([party.calls.keptBytes, party.clock.pending]).toEqual([0, 0]);
  });

  test("H-16: what a server asks beyond maxWaitingAsks is refused", async () => {
    const party = new HeldParty({ maxWaitingAsks: 2 });
    const { call, round } = party.begin(A);
    const answers = [call.ask(), call.ask(), call.ask()];
    await party.clock.advance(0);
    expect(answers.map(({ isOver }) => isOver)).toEqual([false, false, true]);
    expect(answers[2]?.value).toMatchObject({
      error: { message: "More than 2 requests wait for answers (maxWaitingAsks)" },
    });
    expect(askedIn(round).keys).toHaveLength(2);
  });

  test("H-27: with an agent's session what is held for it ends", async () => {
    const party = new HeldParty();
    const mine = await asking(party);
    const others = await asking(party, B);
    party.calls.endBinding(A);
    await party.clock.advance(0);
    expect(mine.call.upstream?.signal.reason).toMatchObject({ code: "cancelled", delivery: "unknown" });
    expect([others.call.upstream?.signal.aborted, party.calls.size]).toEqual([false, 1]);
  });

  test("H-40: closing ends what is held and what runs, waits for that, and begins nothing more", async () => {
    const party = new HeldParty();
    const { call } = await asking(party);
    const attached = party.begin(B);
    const closed = watch(party.calls.close());
    await party.clock.advance(0);
    expect(call.upstream?.signal.reason).toMatchObject({ code: "cancelled", delivery: "unknown" });
    expect(attached.round.error).toMatchObject({ code: "cancelled", delivery: "unknown" });
    expect(closed.isOver).toBe(true);
    expect([party.calls.size, party.calls.running, party.clock.pending]).toEqual([0, 0, 0]);
    const next = party.begin(A);
    await party.clock.advance(0);
    expect(next.round.error).toMatchObject({ code: "cancelled", delivery: "not_sent" });
  });

  test("H-40: closing waits for a server's call that takes its time to end", async () => {
    const party = new HeldParty();
    let end = (_reason: unknown): void => undefined;
    const slow = party.calls.begin(
      { binding: A, digest: "d" },
      { request: requestOf(), capabilities: FORMS },
      () => new Promise((_resolve, reject) => (end = reject)),
    );
    watch(slow);
    const closed = watch(party.calls.close());
    await party.clock.advance(0);
    expect(closed.isOver).toBe(false);
    end(new Error("over"));
    await party.clock.advance(0);
    expect(closed.isOver).toBe(true);
  });

  test("progress and messages go to whichever request is attached", async () => {
    const party = new HeldParty();
    const seen: string[] = [];
    const call = new ScriptedCall();
    const telling = (name: string) => ({
      request: { ...requestOf(), onProgress: () => void seen.push(name), onNotification: () => void seen.push(name) },
      capabilities: FORMS,
    });
    const round = watch(party.calls.begin({ binding: A, digest: "d" }, telling("first"), call.run));
    const tell = (): void => {
      call.upstream?.onProgress({ progress: 1, total: undefined, message: undefined });
      call.upstream?.onNotification({ method: "notifications/message", params: undefined });
    };
    tell();
    call.ask();
    await party.clock.advance(0);
    tell();
    const { state } = askedIn(round);
    watch(party.calls.resume(party.opened(state), { binding: A, digest: "d" }, telling("second"), { "ask-1": ACCEPT }));
    tell();
    expect(seen).toEqual(["first", "first", "second", "second"]);
  });

  test("what was about to be asked is not, once the call is over", async () => {
    const party = new HeldParty();
    const { call, round } = party.begin(A);
    call.ask();
    expect(party.clock.pending).toBe(1);
    call.finish("done");
    await settle();
    expect([party.clock.pending, party.calls.size]).toEqual([0, 0]);
    expect(round.value).toEqual({ kind: "answer", answer: "done" });
  });

  test("limits are refused by name", () => {
    for (const limits of [{ maxHeldCalls: 0 }, { heldCallTimeoutMs: 0 }, { maxHeld: 1 }, { maxWaitingAsks: 1.5 }]) {
      expect(() => new HeldParty(limits)).toThrowError(expect.objectContaining({ code: "invalid_options" }));
    }
  });
});
