import { describe, expect, it } from "vitest";
import { retryAdvice } from "../../src/protocol/index.js";
import { type Answer, answerResult, answerStatus } from "../../src/testing/index.js";
import { FakeClock, settle } from "../support/fake-clock.js";
import { CALL, caught, meet, OK, PLAIN } from "./parties.js";

const MIDNIGHT = Date.UTC(2026, 7, 1);
const LIST = { resultType: "complete", tools: [], ttlMs: 0, cacheScope: "private" };
const CONTENTS = { resultType: "complete", contents: [], ttlMs: 0, cacheScope: "private" };

const busy = (status: number, retryAfter?: string): Answer =>
  answerStatus(status, retryAfter === undefined ? {} : { headers: { "Retry-After": retryAfter } });

describe("servers that are busy", () => {
  it("MB-045: a server that is away for a moment fails a whole run", async () => {
    const inSeconds = busy(503, "1");
    const atDate = busy(429, new Date(MIDNIGHT + 20_000).toUTCString());
    const runs = [
      { answers: [inSeconds, inSeconds], pauses: [1_000, 1_000] },
      { answers: [atDate], pauses: [20_000] },
      // Without the server's word the pause is short, and grows.
      { answers: [busy(502), busy(504)], pauses: [100, 200] },
    ];
    for (const { answers, pauses } of runs) {
      for (const [result, read] of [
        [LIST, "tools/list"],
        [CONTENTS, "resources/read"],
      ] as const) {
        const clock = new FakeClock();
        const [first, ...others] = [...answers, answerResult(result)];
        if (first === undefined) throw new Error("unreachable");
        const { client, server } = await meet([first, ...others], {
          clock,
          random: () => 1,
          wallNow: () => MIDNIGHT,
        });
        const reading = client.request(read, read === "resources/read" ? { uri: "file:///a" } : {});
        for (const [nth, pause] of pauses.entries()) {
          await expect.poll(() => server.requests.length).toBe(nth + 1);
          await expect.poll(() => clock.dueInMs).toBe(pause);
          clock.step(pause - 1);
          await settle();
          expect(server.requests).toHaveLength(nth + 1);
          clock.step(1);
        }
        await expect(reading).resolves.toMatchObject(result);
        expect(server.requests).toHaveLength(pauses.length + 1);
      }
    }
    // A tool may have run behind the gateway: the error says what may follow, and its caller decides.
    const { client, server } = await meet([inSeconds, atDate, answerResult(OK)]);
    const away = await caught(client.callTool(CALL, PLAIN));
    expect(away).toMatchObject({ code: "unexpected_answer", delivery: "unknown", details: { status: 503 } });
    const limited = await caught(client.callTool(CALL, PLAIN));
    expect(limited).toMatchObject({ code: "unexpected_answer", details: { status: 429 } });
    expect(server.requests).toHaveLength(2);
    const nowMs = MIDNIGHT;
    expect(retryAdvice(away, { nowMs })).toEqual({ kind: "ask" });
    const tool = { annotations: { idempotentHint: true } };
    expect(retryAdvice(away, { nowMs, tool })).toEqual({ kind: "ask" });
    expect(retryAdvice(away, { nowMs, tool, trustsHints: true })).toEqual({ kind: "after", ms: 1_000 });
    expect(retryAdvice(limited, { nowMs })).toEqual({ kind: "after", ms: 20_000 });
    await expect(client.callTool(CALL, PLAIN)).resolves.toEqual(OK);
  });
});
