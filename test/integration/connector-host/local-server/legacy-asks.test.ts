import { describe, expect, it } from "vitest";
import type {
  ForwardedRequest,
  LocalServer,
  LocalServerOptions,
  ToolCall,
  UpstreamAnswer,
} from "../../../../src/connector-host/local-server/index.js";
import type { ServerAskAnswer } from "../../../../src/protocol/input/index.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { answerOf, type FixedDirectory, HELLO, says } from "./fixed-directory.js";
import { FixedPrompts, FixedResources } from "./fixed-offers.js";
import { ACCEPTED, answered, ASKABLE, askOf, asks, FORM, PAGE, ROOTS, SAMPLING } from "./questions.js";
import { postLegacy } from "./raw-agent.js";
import {
  type AnyMessage,
  call,
  cuttingProxy,
  eventsIn,
  messagesIn,
  type OpenStream,
  SessionAgent,
} from "./session-agent.js";
import { gate, start } from "./start.js";

const CANCELLED = "notifications/cancelled";

async function open(
  prepare: (directory: FixedDirectory) => unknown,
  options: Partial<LocalServerOptions> = {},
  revision = "2025-11-25",
  capabilities: object = ASKABLE,
) {
  const started = await start(prepare, options);
  return { ...started, session: await SessionAgent.open(started.agent, revision, capabilities) };
}

/** The next message of a stream. */
async function next(stream: OpenStream): Promise<AnyMessage> {
  const read = await stream.message();
  if (read === "end") throw new Error("The stream ended");
  return read.message;
}

/** The rest of a stream's messages. */
async function rest(stream: OpenStream): Promise<AnyMessage[]> {
  const messages: AnyMessage[] = [];
  for (;;) {
    const read = await stream.message();
    if (read === "end") return messages;
    messages.push(read.message);
  }
}

/** A tool that asks one question with a signal of its own, and holds its result back until it is told. */
function asksAndHolds() {
  const held = { wanted: new AbortController(), go: gate(), answers: [] as ServerAskAnswer[] };
  const run = async (request: ForwardedRequest): Promise<UpstreamAnswer> => {
    held.answers.push(await askOf(request, FORM, held.wanted.signal));
    await held.go.opened;
    return answered(held.answers);
  };
  return { run, held };
}

describe("H-27: a legacy agent that is asked in the midst of its call", () => {
  it.each([
    ["a form", FORM, ACCEPTED],
    ["a page to visit", PAGE, { action: "decline" }],
    ["sampling", SAMPLING, { role: "assistant", content: { type: "text", text: "4" }, model: "m" }],
    ["roots", ROOTS, { roots: [{ uri: "file:///a" }] }],
  ])("gets it on the stream of the call, and answers in its session: %s", async (_what, question, result) => {
    const { session } = await open((tools) => tools.add("a_x", asks([question])));
    const stream = await session.open(call("a_x"));
    const { id, ...asked } = await next(stream);
    expect(asked).toEqual({ jsonrpc: "2.0", method: question.method, params: question.params });
    const reply = await session.post({ id, result });
    expect([reply.status, reply.text]).toEqual([202, ""]);
    expect(await rest(stream)).toMatchObject([{ id: 1, result: { answers: [{ result }] } }]);
  });

  it.each([
    ["2025-06-18", FORM, { ...FORM.params, mode: undefined }],
    ["2025-06-18", SAMPLING, SAMPLING.params],
    ["2025-03-26", SAMPLING, SAMPLING.params],
    ["2025-03-26", ROOTS, undefined],
  ])("is asked in the form that %s has", async (revision, question, params) => {
    const { session } = await open((tools) => tools.add("a_x", asks([question])), {}, revision);
    const stream = await session.open(call("a_x"));
    const asked = await next(stream);
    expect(asked).toEqual({ jsonrpc: "2.0", id: asked.id, method: question.method, params });
    await session.post({ id: asked.id, result: {} });
    expect(await rest(stream)).toMatchObject([{ result: { answers: [{ result: {} }] } }]);
  });

  it("is asked for prompts and resources too, again and again, and hears progress between", async () => {
    const prompts = new FixedPrompts().add("a_p", async (request) => {
      const first = await askOf(request, ROOTS);
      request.onProgress?.({ progress: 1 });
      return answered([first, await askOf(request, FORM)]);
    });
    const resources = new FixedResources().add("a:1", asks([ROOTS, FORM]));
    const { session } = await open((tools) => Object.assign(tools, { prompts, resources }));
    for (const [method, params] of [
      ["prompts/get", { name: "a_p", _meta: { progressToken: "p" } }],
      ["resources/read", { uri: "a:1" }],
    ] as const) {
      const stream = await session.open({ id: method, method, params });
      const ids = new Set<unknown>();
      for (const wanted of ["roots/list", "elicitation/create"]) {
        let asked = await next(stream);
        if (asked.method === "notifications/progress") asked = await next(stream);
        expect(asked.method).toBe(wanted);
        ids.add(asked.id);
        await session.post({ id: asked.id, result: { n: ids.size } });
      }
      expect(ids.size).toBe(2);
      expect(await rest(stream)).toMatchObject([{ result: { answers: [{ result: { n: 1 } }, { result: { n: 2 } }] } }]);
    }
  });

  it("has its error handed on as it is", async () => {
    const { session } = await open((tools) => tools.add("a_x", asks([SAMPLING])));
    const stream = await session.open(call("a_x"));
    const error = { code: -1, message: "User rejected sampling request", data: { why: "no" } };
    expect((await session.post({ id: (await next(stream)).id, error })).status).toBe(202);
    expect(await rest(stream)).toMatchObject([{ result: { answers: [{ error }] } }]);
  });

  it("ends the question with an answer that is none", async () => {
    const { session } = await open((tools) => tools.add("a_x", asks([FORM])));
    const stream = await session.open(call("a_x"));
    expect((await session.post({ id: (await next(stream)).id, result: "yes" })).status).toBe(400);
    expect(await rest(stream)).toMatchObject([{ result: { answers: [{ error: { code: -32603 } }] } }]);
  });

  it("may answer within a batch where there are batches", async () => {
    const { session } = await open((tools) => tools.add("a_x", asks([ROOTS])), {}, "2025-03-26");
    const stream = await session.open(call("a_x"));
    const { id } = await next(stream);
    const batch = [{ jsonrpc: "2.0", id, result: { roots: [] } }];
    expect((await postLegacy(session.bound, batch, session.headers)).status).toBe(202);
    expect(await rest(stream)).toMatchObject([{ result: { answers: [{ result: { roots: [] } }] } }]);
  });

  it("may answer again when its answer was too long", async () => {
    const { session } = await open((tools) => tools.add("a_x", asks([FORM])), { maxBodyBytes: 512 });
    const stream = await session.open(call("a_x"));
    const { id } = await next(stream);
    const long = { action: "accept", content: { name: "n".repeat(512) } };
    expect((await session.post({ id, result: long })).status).toBe(413);
    expect((await session.post({ id, result: ACCEPTED })).status).toBe(202);
    expect(await rest(stream)).toMatchObject([{ result: { answers: [{ result: ACCEPTED }] } }]);
  });

  it("is kept from looking idle while a person thinks", async () => {
    const clock = new FakeClock();
    const { session } = await open((tools) => tools.add("a_x", asks([FORM])), { clock, keepAliveMs: 15_000 });
    const stream = await session.open(call("a_x"));
    const { id } = await next(stream);
    for (const _again of [1, 2, 3]) {
      clock.step(16_000);
      expect(await stream.next()).toEqual({});
    }
    await session.post({ id, result: ACCEPTED });
    expect(await rest(stream)).toMatchObject([{ result: { answers: [{ result: ACCEPTED }] } }]);
  });
});

describe("H-27: who can't be asked is told to nobody as askable", () => {
  it.each<[string, (session: SessionAgent) => Promise<unknown>, object]>([
    ["declared nothing", (session) => session.ask("tools/call", { name: "a_x" }), {}],
    [
      "declared what its revision does not have",
      (session) => session.ask("tools/call", { name: "a_x" }),
      { experimental: {} },
    ],
    ["takes no stream", (session) => session.post(call("a_x"), { Accept: "application/json" }), ASKABLE],
    [
      "stays outside of its session",
      ({ bound }) => postLegacy(bound, { jsonrpc: "2.0", ...call("a_x") }, { "MCP-Protocol-Version": "2025-11-25" }),
      ASKABLE,
    ],
  ])("one that %s", async (_what, ask, capabilities) => {
    const { session, directory } = await open((tools) => tools.add("a_x", says(HELLO)), {}, "2025-11-25", capabilities);
    await ask(session);
    expect(directory.calls.map(({ call: { input } }) => input)).toEqual([undefined]);
  });

  it("one that sends a batch", async () => {
    const { session, directory } = await open((tools) => tools.add("a_x", says(HELLO)), {}, "2025-03-26");
    await postLegacy(session.bound, [{ jsonrpc: "2.0", ...call("a_x") }], session.headers);
    expect(directory.calls.map(({ call: { input } }) => input)).toEqual([undefined]);
  });

  it("and one that can be shows what it declared, and refuses the rest without a word", async () => {
    const { session, directory } = await open(
      (tools) => tools.add("a_x", asks([PAGE, ROOTS, { method: "tools/list", params: {} }])),
      {},
      "2025-11-25",
      { elicitation: {}, sampling: { tools: {} } },
    );
    const { result } = await session.ask("tools/call", { name: "a_x" });
    expect(result).toMatchObject({
      answers: [{ error: { code: -32602 } }, { error: { code: -32601 } }, { error: { code: -32601 } }],
    });
    const [begun] = directory.calls;
    expect(begun?.call.input?.capabilities).toEqual({ elicitation: { form: {} }, sampling: { tools: {} } });
    expect(begun?.call.input?.continuation).toBeUndefined();
  });
});

describe("H-27: answers that don't count", () => {
  it("the second one, and one after the call's end, are taken and ignored", async () => {
    const { run, held } = asksAndHolds();
    const { session } = await open((tools) => tools.add("a_x", run));
    const stream = await session.open(call("a_x"));
    const { id } = await next(stream);
    const both = await Promise.all([1, 2].map(() => session.post({ id, result: ACCEPTED })));
    expect(both.map(({ status }) => status)).toEqual([202, 202]);
    expect((await session.post({ id, result: { action: "decline" } })).status).toBe(202);
    expect(held.answers).toEqual([{ result: ACCEPTED }]);
    held.go.open();
    await rest(stream);
    expect((await session.post({ id, error: { code: -1, message: "late" } })).status).toBe(202);
    expect(held.answers).toEqual([{ result: ACCEPTED }]);
  });

  it("to what nobody asked are refused", async () => {
    const { session, agent } = await open((tools) => tools.add("a_x", asks([FORM])));
    const stream = await session.open(call("a_x"));
    const { id } = await next(stream);
    for (const other of [1, "1", 0, "", String(id).replace("-1", "-2"), `${String(id)}0`]) {
      expect((await session.post({ id: other, result: ACCEPTED })).status).toBe(400);
    }
    expect((await session.post({ error: { code: -1, message: "no id" } })).status).toBe(400);
    expect((await postLegacy(agent, { jsonrpc: "2.0", id, result: ACCEPTED })).status).toBe(400);
    await session.post({ id, result: ACCEPTED });
    expect(await rest(stream)).toMatchObject([{ result: { answers: [{ result: ACCEPTED }] } }]);
  });

  it("of another session, or of another bearer, reach nothing, and neither reads the question", async () => {
    const { session, agent, server } = await open((tools) => tools.add("a_x", asks([FORM])));
    const stream = await session.open(call("a_x"));
    const read = await stream.message();
    if (read === "end") throw new Error("No question");
    const { id } = read.message;
    const evil = { action: "accept", content: { name: "evil" } };
    const sibling = await SessionAgent.open(agent, "2025-11-25", ASKABLE);
    expect((await sibling.post({ id, result: evil })).status).toBe(400);
    expect((await sibling.listen(read.id)).response.status).toBe(400);
    const bound = server.bind({ workspaceId: "w", agentSessionId: "other" });
    const stranger = await SessionAgent.open(bound, "2025-11-25", ASKABLE);
    expect((await stranger.post({ id, result: evil })).status).toBe(400);
    const thief = new SessionAgent(bound, session.id, "2025-11-25");
    expect((await thief.post({ id, result: evil })).status).toBe(404);
    expect((await thief.listen(read.id)).response.status).toBe(404);
    const headerless = { ...bound.headers, "Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28" };
    const body = JSON.stringify({ jsonrpc: "2.0", id, result: evil });
    expect((await fetch(bound.url, { method: "POST", headers: headerless, body })).status).toBeGreaterThanOrEqual(400);
    await session.post({ id, result: ACCEPTED });
    expect(await rest(stream)).toMatchObject([{ result: { answers: [{ result: ACCEPTED }] } }]);
  });

  it("keep calls of one session apart", async () => {
    const { session } = await open((tools) => tools.add("a_x", asks([FORM])));
    const streams = [await session.open(call("a_x", "a")), await session.open(call("a_x", "b"))];
    const ids = [];
    for (const stream of streams) ids.push((await next(stream)).id);
    expect(new Set(ids).size).toBe(2);
    await session.post({ id: ids[1], result: { action: "decline" } });
    await session.post({ id: ids[0], result: { action: "cancel" } });
    const ends = await Promise.all(streams.map(rest));
    expect(ends).toMatchObject([
      [{ id: "a", result: { answers: [{ result: { action: "cancel" } }] } }],
      [{ id: "b", result: { answers: [{ result: { action: "decline" } }] } }],
    ]);
  });

  it("H-16: no more than so many questions wait in a session", async () => {
    const answers: ServerAskAnswer[] = [];
    const { session } = await open((tools) =>
      tools.add("a_x", async (request: ToolCall) => {
        const asked = Array.from({ length: 9 }, () => askOf(request, FORM));
        answers.push(...(await Promise.all(asked)));
        return answerOf(HELLO);
      }),
    );
    const stream = await session.open(call("a_x"));
    const ids = [];
    for (let count = 0; count < 8; count += 1) ids.push((await next(stream)).id);
    for (const id of ids) await session.post({ id, result: ACCEPTED });
    expect(await rest(stream)).toMatchObject([{ id: 1 }]);
    expect(answers.slice(0, 8)).toEqual(ids.map(() => ({ result: ACCEPTED })));
    expect(answers[8]).toMatchObject({ error: { code: -32603 } });
    expect(JSON.stringify(answers[8])).toContain("maxPendingAsks");
  });
});

describe("H-27: the end of a question", () => {
  type End = (parts: { session: SessionAgent; server: LocalServer; clock: FakeClock }) => unknown;
  const ENDS: readonly [string, End, number][] = [
    ["the agent cancels the call", ({ session }) => session.post({ method: CANCELLED, params: { requestId: 1 } }), 202],
    ["the session ends", ({ session }) => session.end(), 404],
    ["the bearer ends", ({ server }) => server.revokeAll(), 401],
    ["the server closes", ({ server }) => void server.close(), 503],
    ["the call takes too long", ({ clock }) => clock.step(10_500), 202],
  ];

  it.each(ENDS)("comes when %s: the agent is told, and its answer is late", async (_when, end, status) => {
    const clock = new FakeClock();
    const { run, held } = asksAndHolds();
    held.go.open();
    const { session, server } = await open((tools) => tools.add("a_x", run), { clock, callTimeoutMs: 10_000 });
    const stream = await session.open(call("a_x"));
    const { id } = await next(stream);
    await end({ session, server, clock });
    const told = await rest(stream);
    expect(told[0]).toMatchObject({ method: CANCELLED, params: { requestId: id } });
    expect(told.slice(1)).toMatchObject([{ id: 1 }]);
    expect(held.answers).toMatchObject([{ error: { code: -32603 } }]);
    if (status !== 503) expect((await session.post({ id, result: ACCEPTED })).status).toBe(status);
    expect(held.answers).toHaveLength(1);
  });

  it("comes when its answer is no longer wanted, and the call goes on", async () => {
    const { run, held } = asksAndHolds();
    const { session } = await open((tools) => tools.add("a_x", run));
    const stream = await session.open(call("a_x"));
    const { id } = await next(stream);
    held.wanted.abort();
    expect(await next(stream)).toMatchObject({ method: CANCELLED, params: { requestId: id } });
    expect((await session.post({ id, result: ACCEPTED })).status).toBe(202);
    held.go.open();
    expect(await rest(stream)).toMatchObject([{ result: { answers: [{ error: { code: -32603 } }] } }]);
  });

  it.each(["a result", "a failure"])("comes when the call has %s without it", async (what) => {
    const answers: ServerAskAnswer[] = [];
    const going = gate();
    const { session } = await open((tools) =>
      tools.add("a_x", async (request) => {
        void askOf(request, FORM).then((answer) => answers.push(answer));
        await going.opened;
        if (what === "a failure") throw new Error("defect");
        return answerOf(HELLO);
      }),
    );
    const stream = await session.open(call("a_x"));
    const { id } = await next(stream);
    going.open();
    expect(await rest(stream)).toMatchObject([{ method: CANCELLED, params: { requestId: id } }, { id: 1 }]);
    expect(answers).toMatchObject([{ error: { code: -32603 } }]);
  });

  it("comes at once after the end of its call", async () => {
    let request: ToolCall | undefined;
    const { session } = await open((tools) =>
      tools.add("a_x", async (each) => {
        request = each;
        return answerOf(HELLO);
      }),
    );
    await session.ask("tools/call", { name: "a_x" });
    if (request === undefined) throw new Error("Not called");
    expect(await askOf(request, FORM)).toMatchObject({ error: { code: -32603 } });
  });

  it("comes when its agent does not come back to the stream in time", async () => {
    const clock = new FakeClock();
    const { run, held } = asksAndHolds();
    held.go.open();
    const { session, server } = await open((tools) => tools.add("a_x", run), { clock, resumeWindowMs: 30_000 });
    const leaving = new AbortController();
    const stream = await session.open(call("a_x"), leaving.signal);
    const { id } = await next(stream);
    leaving.abort();
    // The connection's end is heard of by and by.
    await expect
      .poll(() => {
        clock.step(31_000);
        return held.answers;
      })
      .toMatchObject([{ error: { code: -32603 } }]);
    expect((await session.post({ id, result: ACCEPTED })).status).toBe(202);
    expect([held.answers.length, server.counts.requests]).toEqual([1, 0]);
  });
});

describe("H-22, H-27: a question on a stream that was cut", () => {
  it("that came while nobody was connected is there when the agent comes back, once", async () => {
    const going = gate();
    const { session } = await open((tools) =>
      tools.add("a_x", async (request) => {
        request.onProgress?.({ progress: 1 });
        await going.opened;
        return answered([await askOf(request, FORM)]);
      }),
    );
    const leaving = new AbortController();
    const stream = await session.open(call("a_x", 1, { progressToken: "p" }), leaving.signal);
    const seen = await stream.message();
    leaving.abort();
    if (seen === "end") throw new Error("No progress");
    going.open();
    const again = await session.listen(seen.id);
    const asked = await again.message();
    if (asked === "end") throw new Error("No question");
    // The one that saw it does not see it again.
    const once = await session.listen(asked.id);
    expect(await rest(again)).toEqual([]);
    await session.post({ id: asked.message.id, result: ACCEPTED });
    expect(await rest(once)).toMatchObject([{ id: 1, result: { answers: [{ result: ACCEPTED }] } }]);
  });

  it("is sent again when it is gone from what is kept, and then no more", async () => {
    const asking = gate();
    const { session } = await open(
      (tools) =>
        tools.add("a_x", async (request) => {
          request.onProgress?.({ progress: 0 });
          await asking.opened;
          const question = askOf(request, FORM);
          for (const progress of [1, 2, 3, 4]) request.onProgress?.({ progress });
          return answered([await question]);
        }),
      { maxStreamEvents: 3 },
    );
    const leaving = new AbortController();
    const stream = await session.open(call("a_x", 1, { progressToken: "p" }), leaving.signal);
    const seen = await stream.message();
    leaving.abort();
    if (seen === "end") throw new Error("No progress");
    asking.open();
    const again = await session.listen(seen.id);
    for (let count = 0; count < 3; count += 1) {
      expect(await next(again)).toMatchObject({ method: "notifications/progress" });
    }
    const last = await again.message();
    if (last === "end") throw new Error("No question");
    expect(last.message.method).toBe("elicitation/create");
    const once = await session.listen(last.id);
    await session.post({ id: last.message.id, result: ACCEPTED });
    expect(await rest(once)).toMatchObject([{ id: 1, result: { answers: [{ result: ACCEPTED }] } }]);
  });

  it("is not sent again when it is over", async () => {
    const asking = gate();
    const { session } = await open(
      (tools) =>
        tools.add("a_x", async (request) => {
          request.onProgress?.({ progress: 0 });
          await asking.opened;
          const wanted = new AbortController();
          const question = askOf(request, FORM, wanted.signal);
          wanted.abort();
          for (const progress of [1, 2, 3]) request.onProgress?.({ progress });
          return answered([await question]);
        }),
      { maxStreamEvents: 3 },
    );
    const leaving = new AbortController();
    const stream = await session.open(call("a_x", 1, { progressToken: "p" }), leaving.signal);
    const seen = await stream.message();
    leaving.abort();
    asking.open();
    const told = await rest(await session.listen(seen === "end" ? "" : seen.id));
    expect(told.map(({ method, id }) => method ?? id)).not.toContain("elicitation/create");
    expect(told.at(-1)).toMatchObject({ id: 1 });
  });

  it("that was withdrawn meanwhile is withdrawn for who comes back", async () => {
    const { run, held } = asksAndHolds();
    const { session } = await open((tools) =>
      tools.add("a_x", (request) => {
        request.onProgress?.({ progress: 1 });
        return run(request);
      }),
    );
    const leaving = new AbortController();
    const stream = await session.open(call("a_x", 1, { progressToken: "p" }), leaving.signal);
    const seen = await stream.message();
    leaving.abort();
    held.wanted.abort();
    await expect.poll(() => held.answers.length).toBe(1);
    held.go.open();
    const told = await rest(await session.listen(seen === "end" ? "" : seen.id));
    expect(told.map(({ method, id }) => method ?? id)).toEqual(["elicitation/create", CANCELLED, 1]);
    expect(told[1]?.params?.requestId).toBe(told[0]?.id);
  });

  it("at any byte, is seen once, and answered", async () => {
    const { session, directory, agent } = await open((tools) => tools.add("a_x", asks([FORM])));
    const proxy = await cuttingProxy(agent.url);
    /** Calls over a connection that is cut, and gives all that came of it. */
    const begin = async (id: number, cutAfter: number): Promise<string> => {
      proxy.cutNext(cutAfter);
      let text = "";
      try {
        const response = await session.send(call("a_x", id), proxy.url);
        for await (const chunk of response.body ?? []) {
          text += Buffer.from(chunk).toString("utf8");
          if (cutAfter === Infinity && messagesIn(eventsIn(text).events).length > 0) break;
        }
      } catch {
        // It was cut.
      }
      return text;
    };
    const whole = await begin(1, Infinity);
    const end = proxy.seen.length;
    let tried = 0;
    for (let cutAfter = end - whole.length; cutAfter < end; cutAfter += 11) {
      const id = cutAfter;
      const seen = eventsIn(await begin(id, cutAfter)).events;
      const last = seen.findLast((event) => event.id !== undefined)?.id;
      if (last === undefined) continue;
      tried += 1;
      const before = directory.calls.length;
      const again = await session.listen(last);
      const asked = [...messagesIn(seen)];
      if (asked.length === 0) asked.push(await next(again));
      expect(asked).toMatchObject([{ method: "elicitation/create" }]);
      await session.post({ id: asked[0]?.id, result: ACCEPTED });
      expect(await rest(again)).toMatchObject([{ id, result: { answers: [{ result: ACCEPTED }] } }]);
      expect(directory.calls).toHaveLength(before);
    }
    expect(tried).toBeGreaterThan(10);
  });
});
