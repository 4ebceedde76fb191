import { getEventListeners } from "node:events";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentQuestion, QuestionStream } from "../../../../../src/connector-host/local-server/agent-question.js";
import { SessionAsks } from "../../../../../src/connector-host/local-server/sessions/session-asks.js";
import { classifyMessage, type JsonObject } from "../../../../../src/protocol/index.js";
import type { ServerAskAnswer } from "../../../../../src/protocol/input/index.js";

const FORM = { method: "elicitation/create", params: { message: "m", requestedSchema: { type: "object" } } };
const GIVEN = { action: "accept", content: { a: 1 } };

/** The stream of a call, as its exchange keeps it. */
class CallStream implements QuestionStream {
  readonly sent: JsonObject[] = [];
  readonly open = new Set<AgentQuestion>();
  isOver = false;

  put(question: AgentQuestion): boolean {
    if (this.isOver) return false;
    this.open.add(question);
    this.#send(question.line);
    return true;
  }

  takeBack(question: AgentQuestion, line?: string): void {
    if (this.open.delete(question) && line !== undefined) this.#send(line);
  }

  end(reason: Parameters<AgentQuestion["end"]>[0]): void {
    this.isOver = true;
    for (const question of this.open) question.end(reason);
  }

  #send(line: string): void {
    const message: JsonObject = JSON.parse(line);
    this.sent.push(message);
  }
}

function asksOf(maxPendingAsks = 8, tag = "tag") {
  const asks = new SessionAsks({
    tag,
    revision: "2025-11-25",
    capabilities: { elicitation: { form: {} } },
    maxPendingAsks,
  });
  const stream = new CallStream();
  const input = asks.inputOver(stream);
  const ask = (signal = new AbortController().signal, question = FORM): Promise<ServerAskAnswer> => {
    if (input.ask === undefined) throw new Error("It can't be asked");
    return input.ask(question, signal);
  };
  const take = (message: object): boolean => {
    const read = classifyMessage({ jsonrpc: "2.0", ...message });
    if (read.kind === "request" || read.kind === "notification") throw new Error("No response");
    return asks.take(read);
  };
  return { asks, stream, input, ask, take };
}

describe("H-27: a question to the agent of a session", () => {
  it("is a request on the stream of the call, and its first answer counts", async () => {
    const { stream, ask, take } = asksOf();
    const asking = ask();
    expect(stream.sent).toEqual([{ jsonrpc: "2.0", id: "tag-1", ...FORM }]);
    expect(take({ id: "tag-1", result: GIVEN })).toBe(true);
    expect(take({ id: "tag-1", result: { action: "decline" } })).toBe(true);
    expect(await asking).toEqual({ result: GIVEN });
    expect(stream.sent).toHaveLength(1);
  });

  it("is answered by an error as it came, whatever its code", async () => {
    const { ask, take } = asksOf();
    const asking = ask();
    const error = { code: -1, message: "User rejected", data: [1] };
    take({ id: "tag-1", error });
    expect(await asking).toEqual({ error });
  });

  it.each([{ result: 7 }, { result: null }, { error: {} }, {}, { result: {}, error: { code: -1, message: "" } }])(
    "is over with an error when its answer is broken: %j",
    async (members) => {
      const { ask, take } = asksOf();
      const asking = ask();
      expect(take({ id: "tag-1", ...members })).toBe(true);
      expect(await asking).toMatchObject({ error: { code: -32603 } });
    },
  );

  it.each(["tag-2", "tag-0", "tag-01", "tag-", "tag-1 ", "TAG-1", "other-1", "1", 1, "", "tag-99999999999999999999"])(
    "is not answered by a response to %j",
    async (id) => {
      const { ask, take, stream } = asksOf();
      const asking = ask();
      expect(take({ id, result: GIVEN })).toBe(false);
      expect(stream.open.size).toBe(1);
      take({ id: "tag-1", result: GIVEN });
      expect(await asking).toEqual({ result: GIVEN });
    },
  );

  it("is not answered by an error without an id", () => {
    const { ask, take, stream } = asksOf();
    void ask();
    expect(take({ error: { code: -1, message: "m" } })).toBe(false);
    expect(stream.open.size).toBe(1);
  });

  it("has an id that no question of another session has", () => {
    const ids = ["a", "b"].map((tag) => {
      const { ask, stream } = asksOf(8, tag);
      void ask();
      return stream.sent[0]?.["id"];
    });
    expect(ids).toEqual(["a-1", "b-1"]);
  });

  it("of what was not declared is refused without a word to the agent", async () => {
    const { stream, ask } = asksOf();
    expect(await ask(undefined, { method: "roots/list", params: FORM.params })).toMatchObject({
      error: { code: -32601 },
    });
    expect(stream.sent).toEqual([]);
  });

  it("is withdrawn when its answer is not wanted any more, and the one that comes then is ignored", async () => {
    const { stream, ask, take } = asksOf();
    const wanted = new AbortController();
    const asking = ask(wanted.signal);
    wanted.abort();
    expect(await asking).toMatchObject({ error: { code: -32603 } });
    expect(stream.sent[1]).toMatchObject({ method: "notifications/cancelled", params: { requestId: "tag-1" } });
    expect(take({ id: "tag-1", result: GIVEN })).toBe(true);
  });

  it("is not put when its answer is not wanted, nor when the call is over", async () => {
    const { stream, ask } = asksOf();
    expect(await ask(AbortSignal.abort())).toMatchObject({ error: { code: -32603 } });
    stream.isOver = true;
    expect(await ask()).toMatchObject({ error: { code: -32603 } });
    expect(stream.sent).toEqual([]);
  });

  it.each(["agent_left", "agent_cancelled", "binding_ended", "deadline", "session_ended", "answered"] as const)(
    "is withdrawn when its call is over: %s",
    async (reason) => {
      const { stream, ask } = asksOf();
      const asking = ask();
      stream.end(reason);
      expect(await asking).toMatchObject({ error: { code: -32603 } });
      expect(stream.sent[1]).toMatchObject({ method: "notifications/cancelled", params: { requestId: "tag-1" } });
      expect(stream.open.size).toBe(0);
    },
  );

  it("H-16: waits beside as many as may wait, and one more is an error that names the option", async () => {
    const { stream, ask, take } = asksOf(2);
    const first = ask();
    void ask();
    const error = await ask();
    expect(error).toMatchObject({ error: { code: -32603 } });
    expect(JSON.stringify(error)).toContain("maxPendingAsks");
    take({ id: "tag-1", result: GIVEN });
    await first;
    void ask();
    expect(stream.sent.map(({ id }) => id)).toEqual(["tag-1", "tag-2", "tag-3"]);
  });

  it("listens to no signal once it is over", async () => {
    const { stream, ask, take } = asksOf();
    const wanted = new AbortController();
    const asking = ask(wanted.signal);
    expect(getEventListeners(wanted.signal, "abort")).toHaveLength(1);
    take({ id: "tag-1", result: GIVEN });
    expect(getEventListeners(wanted.signal, "abort")).toEqual([]);
    wanted.abort();
    expect(await asking).toEqual({ result: GIVEN });
    expect(stream.sent).toHaveLength(1);
  });

  it("settles once, whatever happens in whatever order, and is never left open", async () => {
    const event = fc.record({
      what: fc.constantFrom("ask", "answer", "break", "abort", "end"),
      which: fc.integer({ min: 1, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 20 }), async (events) => {
        const { stream, ask, take } = asksOf(3);
        const signals: AbortController[] = [];
        const asked: Promise<ServerAskAnswer>[] = [];
        const given = new Map<string, unknown>();
        for (const { what, which } of events) {
          const id = `tag-${String(which)}`;
          const isOpen = [...stream.open].some(({ line }) => line.includes(`"${id}"`));
          if (what === "ask") {
            const signal = new AbortController();
            signals.push(signal);
            asked.push(ask(signal.signal));
          } else if (what === "answer") {
            const result = { action: "accept", n: given.size };
            if (isOpen) given.set(id, result);
            take({ id, result });
          } else if (what === "break") take({ id, result: 1 });
          else if (what === "abort") signals[which - 1]?.abort();
          else stream.end("deadline");
        }
        for (const signal of signals) signal.abort();
        const answers = await Promise.all(asked);
        expect(stream.open.size).toBe(0);
        const results = answers.flatMap((answer) => ("result" in answer ? [answer.result] : []));
        expect(results).toEqual([...given].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, result]) => result));
        const put = stream.sent.filter(({ method }) => method === FORM.method).map(({ id }) => id);
        const withdrawn = stream.sent.filter(({ method }) => method === "notifications/cancelled");
        expect(new Set(put).size).toBe(put.length);
        expect(put.length).toBeGreaterThanOrEqual(withdrawn.length + given.size);
      }),
      { seed: 27, numRuns: 300 },
    );
  });

  it("H-27: the requests of one session are one agent's, and those of another one's are not", () => {
    const { asks, input } = asksOf();
    expect(asks.inputOver(new CallStream()).holder).toBe(input.holder);
    expect(input.holder).toBeDefined();
    expect(asksOf().input.holder).not.toBe(input.holder);
  });
});
