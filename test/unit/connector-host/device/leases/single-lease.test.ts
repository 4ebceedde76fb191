import { describe, expect, it } from "vitest";
import { CallAsks, SingleLease } from "../../../../../src/connector-host/device/leases/index.js";
import { RemoteConnectorError } from "../../../../../src/errors.js";
import type { JsonObject } from "../../../../../src/protocol/index.js";
import type { ServerAskAnswer } from "../../../../../src/protocol/input/index.js";
import { settle } from "../../../../support/fake-clock.js";
import { playedClient } from "./played-client.js";

const FORM = { method: "elicitation/create", params: { message: "?", requestedSchema: {} } };
const DECLINED = { result: { action: "decline" } };
const { signal } = new AbortController();

function failed(delivery: "answered" | "not_sent" | "unknown"): RemoteConnectorError {
  return new RemoteConnectorError("cancelled", { message: "over", delivery, details: { reason: "over" } });
}

interface Taking {
  readonly isSlow?: boolean;
  readonly capabilities?: JsonObject;
}

/** The only connection of a program, on which pings are answered when it is told to. */
class Program {
  readonly asks = new CallAsks({ elicitation: { form: {}, url: {} } });
  readonly pings: { readonly options: unknown; answer(): void; fail(): void }[] = [];
  /** What its next call rejects with. */
  failure: RemoteConnectorError | undefined;
  readonly leases = new SingleLease({
    client: playedClient({
      era: "legacy",
      callTool: () => (this.failure === undefined ? Promise.resolve({}) : Promise.reject(this.failure)),
      request: (method: string, _params: unknown, options: unknown) =>
        new Promise<void>((resolve, reject) => {
          expect(method).toBe("ping");
          this.pings.push({ options, answer: resolve, fail: () => reject(failed("unknown")) });
        }),
    }),
    asks: this.asks,
    maxWaitingLeases: 10,
  });
  readonly asked: string[] = [];

  /** Waits for its turn; what it is asked is never answered by a caller who is `slow`. */
  take(name: string, { isSlow = false, capabilities = { elicitation: {} } }: Taking = {}) {
    const answer = async (): Promise<ServerAskAnswer> => {
      this.asked.push(name);
      return isSlow ? new Promise(() => undefined) : { result: { action: "accept", content: { name } } };
    };
    return this.leases.acquire({ holder: {}, capabilities, answer, signal });
  }

  ask(): Promise<ServerAskAnswer> {
    return this.asks.relay.answer(FORM, signal);
  }
}

describe("the only connection of a program", () => {
  it.each(["answered", "not_sent"] as const)(
    "H-27: after a call that is %s the next one has it at once",
    async (delivery) => {
      const program = new Program();
      const first = await program.take("ada");
      program.failure = failed(delivery);
      await expect(first.client.callTool({ name: "t" })).rejects.toBe(program.failure);
      const next = program.take("bob");
      first.release();
      await next;
      expect(await program.ask()).toMatchObject({ result: { content: { name: "bob" } } });
      expect([program.pings, program.asked]).toEqual([[], ["bob"]]);
    },
  );

  it.each(["answer", "fail"] as const)(
    "H-27: after one of which nothing is known, once the ping has its %s",
    async (end) => {
      const program = new Program();
      const first = await program.take("ada");
      program.failure = failed("unknown");
      await expect(first.client.callTool({ name: "t" })).rejects.toBe(program.failure);
      let isNext = false;
      const next = program.take("bob").then((lease) => {
        isNext = true;
        return lease;
      });
      first.release();
      first.release();
      await settle();
      expect([isNext, program.pings.length]).toEqual([false, 1]);
      expect(program.pings[0]?.options).toEqual({ totalTimeoutMs: 5_000 });
      // What the server still asked about the call that was given up.
      expect(await program.ask()).toEqual(DECLINED);
      program.pings[0]?.[end]();
      const second = await next;
      program.failure = undefined;
      await second.client.callTool({ name: "t" });
      second.release();
      await program.take("cyd");
      expect([program.pings.length, program.asked]).toEqual([1, []]);
    },
  );

  it("H-27: after one that was answered while its caller was being asked, too: the server is not done with it", async () => {
    const program = new Program();
    const first = await program.take("ada", { isSlow: true });
    const asking = program.ask();
    await first.client.callTool({ name: "t" });
    let isNext = false;
    const next = program.take("bob").then(() => (isNext = true));
    first.release();
    expect(await asking).toEqual(DECLINED);
    await settle();
    expect([isNext, program.pings.length]).toEqual([false, 1]);
    expect(await program.ask()).toEqual(DECLINED);
    program.pings[0]?.answer();
    await next;
    expect(program.asked).toEqual(["ada"]);
  });

  it("H-27: who can be asked nothing takes its turn too, and is asked nothing", async () => {
    const program = new Program();
    const first = await program.take("mute", { capabilities: {} });
    let isNext = false;
    const next = program.take("bob").then(() => (isNext = true));
    expect(await program.ask()).toEqual(DECLINED);
    await settle();
    expect(isNext).toBe(false);
    first.release();
    await next;
    expect(program.asked).toEqual([]);
  });
});
