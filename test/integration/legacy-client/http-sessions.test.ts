import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import {
  answerBody,
  answerError,
  answerEvents,
  answerResult,
  cutAt,
  dataEvent,
  delay,
  Gate,
  holdUntil,
  resetAt,
  resultMessage,
  withFaults,
} from "../../../src/testing/index.js";
import { caught, connectHttp, serve } from "./http-parties.js";
import { SessionServer } from "./session-server.js";

const CALL = { name: "t" };

describe("a session that the server lost", () => {
  it.each([
    ["404", () => answerError(-32001, "gone", { status: 404, id: "null" })],
    ["404 as text", () => answerBody("Not found", { status: 404 })],
    ["400 that names the session", () => answerError(-32000, "no valid session", { status: 400, id: "null" })],
    ["400 as text", () => answerBody("Bad Request: Session expired", { status: 400 })],
  ])("L-3: %s is answered by one new session and the request once more", async (_what, refuse) => {
    const sessions = new SessionServer({ refuse });
    const server = await serve(sessions.handle);
    const { client, kinds } = await connectHttp(server.url);
    sessions.forget();
    await expect(client.callTool(CALL)).resolves.toEqual({ content: [] });
    expect(sessions.initializes).toBe(2);
    const methods = server.requests.map((request) => request.method);
    expect(methods).toEqual([
      "initialize",
      "notifications/initialized",
      "tools/call",
      "initialize",
      "notifications/initialized",
      "tools/call",
    ]);
    const [first, , refused, second, , repeated] = server.requests;
    expect([second?.header("mcp-session-id"), second?.header("mcp-protocol-version")]).toEqual([undefined, undefined]);
    expect([refused?.header("mcp-session-id"), repeated?.header("mcp-session-id")]).toEqual(["s-1", "s-2"]);
    // F-13: every attempt has an id of its own.
    expect(new Set([first?.id, refused?.id, second?.id, repeated?.id]).size).toBe(4);
    expect(kinds()).toEqual(["session_replaced"]);
  });

  it("L-3: a plain 400 is an error like any other", async () => {
    const plain = new SessionServer({ refuse: () => answerBody("Bad request", { status: 400 }) });
    const first = await connectHttp((await serve(plain.handle)).url);
    plain.forget();
    const refused = { code: "unexpected_answer", delivery: "answered", details: { status: 400 } };
    expect(await caught(first.client.callTool(CALL))).toMatchObject(refused);
    expect(plain.initializes).toBe(1);
  });

  it("L-3: a second refusal is the call's", async () => {
    const sessions = new SessionServer();
    const server = await serve(async (request) => {
      const answer = await sessions.handle(request);
      if (request.method === "notifications/initialized") sessions.forget();
      return answer;
    });
    const { client } = await connectHttp(server.url);
    const refused = { code: "peer_error", delivery: "answered", details: { httpStatus: 404, rpcCode: -32001 } };
    expect(await caught(client.callTool(CALL))).toMatchObject(refused);
    expect(sessions.initializes).toBe(2);
    expect(server.requests.filter(({ method }) => method === "tools/call")).toHaveLength(2);
  });

  it("L-3: a session that is lost during its own handshake ends it", async () => {
    const sessions = new SessionServer();
    const server = await serve(async (request) => {
      const answer = await sessions.handle(request);
      if (request.method === "initialize") sessions.forget();
      return answer;
    });
    expect(await caught(connectHttp(server.url))).toMatchObject({ code: "peer_error", details: { httpStatus: 404 } });
    expect(sessions.initializes).toBe(1);
  });

  it("L-3: without a session id a 404 is an error", async () => {
    const server = await serve((request) => {
      if (request.method === "initialize") {
        return answerResult({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: undefined });
      }
      return request.id === undefined ? answerBody("", { status: 200 }) : answerBody("no", { status: 404 });
    });
    const { client } = await connectHttp(server.url);
    expect(await caught(client.callTool(CALL))).toMatchObject({ code: "unexpected_answer", delivery: "answered" });
    expect(server.requests.filter(({ method }) => method === "initialize")).toHaveLength(1);
  });

  it("L-3: a late refusal can't replace a newer session", async () => {
    const gate = new Gate();
    let held = false;
    const sessions = new SessionServer({
      refuse: () => {
        const refusal = answerError(-32001, "gone", { status: 404, id: "null" });
        if (held) return refusal;
        held = true;
        return withFaults(refusal, holdUntil(gate.opened));
      },
    });
    const server = await serve(sessions.handle);
    const { client } = await connectHttp(server.url);
    sessions.forget();
    const late = client.callTool(CALL);
    await expect.poll(() => held).toBe(true);
    await client.callTool(CALL);
    expect(sessions.initializes).toBe(2);
    gate.open();
    await late;
    expect(sessions.initializes).toBe(2);
  });

  it("L-3: what hung on the session is set up again, and what changed is reported", async () => {
    const capabilities = (n: number): object => ({ tools: {}, logging: {}, resources: { subscribe: true }, n });
    const sessions = new SessionServer({ capabilities });
    const server = await serve(sessions.handle);
    const { client, diagnostics } = await connectHttp(server.url);
    await client.setLogLevel("warning");
    await client.subscribeResource({ uri: "a:1" });
    await client.subscribeResource({ uri: "a:2" });
    await client.unsubscribeResource({ uri: "a:1" });
    sessions.forget();
    await client.callTool(CALL);
    const [, ...after] = server.requests.filter((request) => request.header("mcp-session-id") === "s-2");
    expect(after.map(({ method, params }) => [method, params])).toEqual([
      ["logging/setLevel", { level: "warning" }],
      ["resources/subscribe", { uri: "a:2" }],
      ["tools/call", { name: "t" }],
    ]);
    expect(diagnostics).toMatchObject([
      { kind: "session_replaced" },
      { kind: "introduction_changed", subject: "capabilities" },
    ]);
    expect(client.capabilities["n"]).toBe(2);
  });

  it("L-3: who waits for a new session leaves by abort or deadline, and the verdict is that of the refused request", async () => {
    const gate = new Gate();
    const sessions = new SessionServer();
    const server = await serve(async (request) => {
      const answer = await sessions.handle(request);
      const isSecond = request.method === "initialize" && sessions.initializes === 2;
      return isSecond && answer !== undefined ? withFaults(answer, holdUntil(gate.opened)) : answer;
    });
    const { client } = await connectHttp(server.url);
    sessions.forget();
    const controller = new AbortController();
    const refused = client.callTool(CALL, { signal: controller.signal });
    await expect.poll(() => sessions.initializes).toBe(2);
    const waiting = client.callTool(CALL, { totalTimeoutMs: 50 });
    const patient = client.callTool(CALL);
    expect(await caught(waiting)).toMatchObject({ code: "timeout", delivery: "not_sent", details: { phase: "total" } });
    controller.abort("enough");
    expect(await caught(refused)).toBe("enough");
    expect(deliveryOf(refused)).toBe("answered");
    gate.open();
    await patient;
    expect(sessions.initializes).toBe(2);
    expect(server.requests.filter(({ method }) => method === "tools/call")).toHaveLength(2);
  });

  it("L-3: a handshake that fails is the end of those that waited, and the next call tries again", async () => {
    let isBroken = false;
    const sessions = new SessionServer();
    const server = await serve((request) => {
      if (isBroken && request.method === "initialize") return answerBody("down", { status: 503 });
      return sessions.handle(request);
    });
    const { client } = await connectHttp(server.url);
    sessions.forget();
    isBroken = true;
    // The request itself was refused: that it did not run is known.
    expect(await caught(client.callTool(CALL))).toMatchObject({ code: "unexpected_answer", delivery: "answered" });
    expect(await caught(client.callTool(CALL))).toMatchObject({ code: "unexpected_answer", delivery: "not_sent" });
    isBroken = false;
    await client.callTool(CALL);
    expect(sessions.initializes).toBe(2);
  });

  it("L-3: 64 callers over a server that ends each session after 20 calls: one handshake for each loss", async () => {
    const sessions = new SessionServer({ lives: 20 });
    const server = await serve(sessions.handle);
    const { client } = await connectHttp(server.url);
    const outcomes = new Map<string, number>();
    let left = 2_000;
    const caller = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const outcome = await client.callTool(CALL).then(
          () => "result",
          (error: { code: string; delivery: string; details: { httpStatus?: number } }) =>
            `${error.code} ${error.delivery} ${String(error.details.httpStatus)}`,
        );
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 64 }, caller));
    const results = outcomes.get("result") ?? 0;
    const refused = outcomes.get("peer_error answered 404") ?? 0;
    expect(results + refused).toBe(2_000);
    expect(results).toBeGreaterThan(500);
    // Every session gave its twenty results but the last one, and no session was opened in vain.
    expect(sessions.initializes).toBe(Math.ceil(results / 20));
  });

  it("L-8: a new session that comes to nothing halfway is ended on the server", async () => {
    const sessions = new SessionServer();
    const server = await serve((request) => {
      const isSecond = request.header("mcp-session-id") === "s-2";
      return isSecond && request.method === "notifications/initialized"
        ? answerBody("no", { status: 500 })
        : sessions.handle(request);
    });
    const { client } = await connectHttp(server.url);
    sessions.forget();
    expect(await caught(client.callTool(CALL))).toMatchObject({ code: "unexpected_answer", delivery: "answered" });
    await expect.poll(() => sessions.deletes).toBe(1);
    await expect(client.callTool(CALL)).resolves.toEqual({ content: [] });
    expect(sessions.initializes).toBe(3);
  });

  it("L-3, L-8: close while a new session is being opened ends all who wait, and what was opened is deleted", async () => {
    const gate = new Gate();
    const sessions = new SessionServer();
    const server = await serve(async (request) => {
      const answer = await sessions.handle(request);
      const isHeld = request.method === "notifications/initialized" && sessions.initializes === 2;
      return isHeld && answer !== undefined ? withFaults(answer, holdUntil(gate.opened)) : answer;
    });
    const { client } = await connectHttp(server.url);
    sessions.forget();
    const refused = caught(client.callTool(CALL));
    await expect.poll(() => server.requests.filter((r) => r.header("mcp-session-id") === "s-2").length).toBe(1);
    const waiting = caught(client.callTool(CALL));
    await client.close();
    expect(await refused).toMatchObject({ code: "cancelled", delivery: "answered" });
    expect(await waiting).toMatchObject({ code: "cancelled", delivery: "not_sent" });
    expect(sessions.deletes).toBe(1);
    gate.open();
  });

  it("F-1, F-13: whatever happens, what ran is what the verdicts say, and nothing ran twice", async () => {
    // A fixed sequence: a failure can be looked at again.
    let seed = 20_260_728;
    const random = (): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed / 2 ** 31;
    };
    const ran = new Map<number, number>();
    const sessions = new SessionServer({
      lives: 25,
      answer: (request) => {
        const n = Number(Reflect.get(Object(request.params["arguments"]), "n"));
        const fate = random();
        if (fate < 0.03) return answerBody("busy", { status: 429 });
        ran.set(n, (ran.get(n) ?? 0) + 1);
        const answer = answerResult({ content: [], n });
        if (fate < 0.08) return withFaults(answer, resetAt(0));
        if (fate < 0.13) return withFaults(answer, cutAt(-3));
        if (fate < 0.17) return answerBody("oops", { status: 500 });
        if (fate < 0.25) {
          return answerEvents([dataEvent("", { id: "1", retry: 1 }), resultMessage({ content: [], n })]);
        }
        return fate < 0.3 ? withFaults(answer, delay(60)) : answer;
      },
    });
    const server = await serve(sessions.handle);
    const { client } = await connectHttp(server.url);
    const outcomes = new Map<string, number>();
    const callOne = async (n: number): Promise<void> => {
      const totalTimeoutMs = random() < 0.2 ? 50 : 10_000;
      const call = client.callTool({ name: "t", arguments: { n } }, { totalTimeoutMs });
      const result = await call.catch(() => undefined);
      const verdict = result === undefined ? deliveryOf(call) : "result";
      outcomes.set(String(verdict), (outcomes.get(String(verdict)) ?? 0) + 1);
      const times = ran.get(n) ?? 0;
      expect([n, times <= 1]).toEqual([n, true]);
      if (result !== undefined) expect([result["n"], times]).toEqual([n, 1]);
      if (verdict === "not_sent" || verdict === "answered") expect([n, verdict, times]).toEqual([n, verdict, 0]);
    };
    let next = 0;
    const caller = async (): Promise<void> => {
      while (next < 1_500) {
        next += 1;
        await callOne(next);
      }
    };
    await Promise.all(Array.from({ length: 32 }, caller));
    expect(outcomes.get("result")).toBeGreaterThan(700);
    expect(outcomes.get("unknown")).toBeGreaterThan(50);
    expect(outcomes.get("answered")).toBeGreaterThan(10);
  }, 60_000);

  it("F-6: no error shows a header, a token, or the session's id", async () => {
    const sessions = new SessionServer();
    const server = await serve(async (request) => {
      const answer = await sessions.handle(request);
      if (request.method !== "initialize" || answer === undefined) return answer;
      return { ...answer, headers: { "Mcp-Session-Id": "sentinel-session" } };
    });
    const secrets = {
      headers: { "X-Api-Key": "sentinel-key" },
      authorize: () => ({ Authorization: "sentinel-token" }),
    };
    // The handshake's own notification meets a session that the server doesn't know.
    const errors = [await caught(connectHttp(`${server.url}?key=sentinel-query`, secrets))];
    const dead = await serve(() => withFaults(answerResult({}), resetAt(0)));
    errors.push(await caught(connectHttp(`${dead.url}?key=sentinel-query`, secrets)));
    expect(errors).toMatchObject([{ code: "peer_error" }, { code: "connection_broken" }]);
    expect(inspect(errors, { depth: Infinity }) + JSON.stringify(errors)).not.toContain("sentinel");
  });
});
