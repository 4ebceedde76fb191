import { describe, expect, it } from "vitest";
import { CallAsks } from "../../../../../src/connector-host/device/leases/index.js";
import type { ServerAsk } from "../../../../../src/protocol/input/index.js";

const DECLARED = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
const FORM = { method: "elicitation/create", params: { message: "?", requestedSchema: {} } };
const ROOTS = { method: "roots/list", params: undefined };
const { signal } = new AbortController();
const ACCEPTED = { result: { action: "accept" } };
const DECLINED = { result: { action: "decline" } };

describe("H-27: whom a server's request goes to", () => {
  it("H-27: the call that has the connection when it comes; without one it is declined", async () => {
    const asks = new CallAsks(DECLARED);
    const asked: ServerAsk[] = [];
    const answer = async (ask: ServerAsk) => {
      asked.push(ask);
      return ACCEPTED;
    };
    expect(await asks.relay.answer(FORM, signal)).toEqual(DECLINED);
    asks.begin({ capabilities: DECLARED, answer });
    expect(await asks.relay.answer(FORM, signal)).toEqual(ACCEPTED);
    asks.end();
    expect(await asks.relay.answer(FORM, signal)).toEqual(DECLINED);
    expect(asked).toEqual([FORM]);
  });

  it("H-27: what its caller can't be asked is declined, though the connection declares it", async () => {
    const asks = new CallAsks(DECLARED);
    asks.begin({ capabilities: { elicitation: { url: {} } }, answer: () => Promise.reject(new Error("asked")) });
    expect(await asks.relay.answer(FORM, signal)).toEqual(DECLINED);
    expect(await asks.relay.answer(ROOTS, signal)).toMatchObject({ error: { code: -32_603 } });
  });

  it("H-27: what a call is being asked when it ends is declined, and its signal fires; the next call is asked nothing of it", async () => {
    const asks = new CallAsks(DECLARED);
    let given: AbortSignal | undefined;
    asks.begin({
      capabilities: DECLARED,
      answer: (_ask, ended) => {
        given = ended;
        return new Promise(() => undefined);
      },
    });
    const answered = asks.relay.answer(FORM, signal);
    expect(given?.aborted).toBe(false);
    asks.end();
    asks.begin({ capabilities: DECLARED, answer: async () => ACCEPTED });
    expect(await answered).toEqual(DECLINED);
    expect(given?.aborted).toBe(true);
  });

  it("L-6: the server's own cancellation fires the signal; a rejection is handed on", async () => {
    const asks = new CallAsks(DECLARED);
    const cancelled = new AbortController();
    let given: AbortSignal | undefined;
    asks.begin({
      capabilities: DECLARED,
      answer: async (_ask, ended) => {
        given = ended;
        throw new Error("no");
      },
    });
    const answered = asks.relay.answer(FORM, cancelled.signal);
    cancelled.abort();
    expect(given?.aborted).toBe(true);
    await expect(answered).rejects.toThrow("no");
  });
});
