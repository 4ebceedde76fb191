import { describe, expect, it } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import {
  type Answer,
  answerBody,
  answerError,
  answerEvents,
  answerNothing,
  answerResult,
  answerStatus,
  dataEvent,
  errorMessage,
  progressMessage,
  resetAt,
  withFaults,
} from "../../../src/testing/index.js";
import { caught, connectHttp, serve } from "./http-parties.js";
import { SessionServer } from "./session-server.js";

const LIST = { tools: [{ name: "t", inputSchema: { type: "object" } }], content: [] };

/** A server that gives each call the next answer, and the last one again and again. */
async function meet(answers: readonly Answer[], more: Parameters<typeof connectHttp>[1] = {}) {
  let count = 0;
  const sessions = new SessionServer({
    answer: () => {
      count += 1;
      return answers[Math.min(count, answers.length) - 1];
    },
    listen: () => answerStatus(405),
  });
  const server = await serve(sessions.handle);
  const posts = (): readonly unknown[] =>
    server.requests.filter(({ method }) => method?.startsWith("tools/") === true).map(({ id }) => id);
  return { server, posts, sessions, ...(await connectHttp(server.url, { random: () => 0.1, ...more })) };
}

const PASSING: readonly (readonly [string, Answer])[] = [
  ["503", answerStatus(503)],
  ["429 as JSON-RPC", answerError(-32000, "slow down", { status: 429 })],
  ["a reset", withFaults(answerResult({}), resetAt(0))],
  ["a stream that ends", answerEvents([progressMessage(1)])],
  ["a stream that can't be taken up again", answerEvents([dataEvent("", { id: "1", retry: 1 })])],
];

describe("F-11: what is made again by itself", () => {
  it.each(PASSING)("F-11, F-13: a list after %s, under a new id", async (_what, failure) => {
    const { client, posts } = await meet([failure, failure, answerResult(LIST)]);
    await expect(client.listTools()).resolves.toMatchObject(LIST);
    expect(posts()).toHaveLength(3);
    expect(new Set(posts()).size).toBe(3);
  });

  it.each(PASSING)("F-11: never a call of a tool after %s", async (_what, failure) => {
    const { client, posts } = await meet([failure, answerResult(LIST)]);
    expect(await caught(client.callTool({ name: "t" }))).toMatchObject({ code: expect.any(String) });
    expect(posts()).toHaveLength(1);
  });

  it("F-11: a list no more often than maxReadRetries, and the verdict is that of the last", async () => {
    const { client, posts } = await meet([
      withFaults(answerResult({}), resetAt(0)),
      answerStatus(503),
      answerStatus(429),
    ]);
    const call = client.listTools();
    expect(await caught(call)).toMatchObject({ code: "unexpected_answer", details: { status: 429 } });
    expect(deliveryOf(call)).toBe("answered");
    expect(posts()).toHaveLength(3);
    const never = await meet([answerStatus(503), answerResult(LIST)], { maxReadRetries: 0 });
    expect(await caught(never.client.listTools())).toMatchObject({ details: { status: 503 } });
    expect(never.posts()).toHaveLength(1);
  });

  it("F-11: not what would fail again, nor after a deadline", async () => {
    for (const answer of [answerStatus(403), answerError(-32602, "no"), answerBody("x"), answerError(-32603, "no")]) {
      const { client, posts } = await meet([answer, answerResult(LIST)]);
      await caught(client.listTools());
      expect(posts()).toHaveLength(1);
    }
    const { client, posts } = await meet([answerNothing(), answerResult(LIST)]);
    expect(await caught(client.listTools({}, { idleTimeoutMs: 50 }))).toMatchObject({ code: "timeout" });
    expect(posts()).toHaveLength(1);
  });

  it("F-11: not before the server's Retry-After, and not at all when the deadline is nearer", async () => {
    const busy = answerStatus(503, { headers: { "Retry-After": "1" } });
    const { client, posts } = await meet([busy, answerResult(LIST)]);
    const startedAt = performance.now();
    expect(await caught(client.listTools({}, { totalTimeoutMs: 500 }))).toMatchObject({ code: "unexpected_answer" });
    expect(performance.now() - startedAt).toBeLessThan(400);
    expect(posts()).toHaveLength(1);
    const patient = await meet([busy, answerResult(LIST)]);
    const waitedFrom = performance.now();
    await patient.client.listTools();
    expect(performance.now() - waitedFrom).toBeGreaterThanOrEqual(990);
  });

  it("F-2, F-11: the caller's abort ends the pause at once", async () => {
    const { client, posts } = await meet([answerStatus(503, { headers: { "Retry-After": "5" } }), answerResult(LIST)]);
    const controller = new AbortController();
    const call = client.listTools({}, { signal: controller.signal });
    await expect.poll(posts).toHaveLength(1);
    setTimeout(() => controller.abort("enough"), 30);
    expect(await caught(call)).toBe("enough");
    expect(deliveryOf(call)).toBe("unknown");
    await client.close();
    expect(posts()).toHaveLength(1);
  });

  it("F-3: an error on a stream has nothing of the status of the attempt before", async () => {
    const { client } = await meet([
      answerError(-32000, "busy", { status: 503 }),
      answerEvents([errorMessage(-32001, "no")]),
    ]);
    const error = await caught(client.listTools());
    expect(error).toMatchObject({ code: "peer_error", details: { rpcCode: -32001 } });
    expect(error).not.toHaveProperty("details.httpStatus", 503);
  });
});
