import { describe, expect, it, vi } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import { type ModernStreamableHTTPClientOptions, retryAdvice, type Task } from "../../../src/modern-client/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import { httpAnswer, type RawRequest } from "../../support/raw-server.js";
import { bodies, connect, rpcError, type SentMessage, serve } from "./support.js";

const NOW = Date.parse("2026-07-28T00:00:00Z");
const call = { name: "t" };
const done = { content: [{ type: "text", text: "done" }] };
const EXTENSION = { "io.modelcontextprotocol/tasks": {} };

const state = (status: string, members: object = {}) => ({
  taskId: "task/1",
  status,
  createdAt: new Date(NOW).toISOString(),
  lastUpdatedAt: new Date(NOW).toISOString(),
  ttlMs: 3_600_000,
  pollIntervalMs: 50,
  ...members,
});
const created = (members: object = {}) => ({ resultType: "task", ...state("working", members) });
const completed = state("completed", { result: done });
const form = { method: "elicitation/create", params: { message: "Who?", requestedSchema: { type: "object" } } };

type Answer = object | ((request: RawRequest) => unknown);

/** Serves a tool that makes a task, and what `tasks/get` answers in turn; the last of it again and again. */
async function openTask(
  answers: readonly Answer[],
  { first = created(), ...options }: Partial<ModernStreamableHTTPClientOptions> & { first?: object } = {},
) {
  let looks = 0;
  const server = await serve((method, request) => {
    if (method === "tools/list") return { tools: [] };
    if (method === "tools/call") return first;
    if (method !== "tasks/get") return { resultType: "complete" };
    const answer = answers[Math.min(looks, answers.length - 1)];
    looks += 1;
    return typeof answer === "function" ? answer(request) : answer;
  });
  const client = connect(server.url, { tasks: true, random: () => 0, wallNow: () => NOW, ...options });
  await client.listAllTools();
  const sent = (method?: string): SentMessage[] =>
    bodies(server).filter(
      (message) => message.method !== "tools/list" && (method ?? message.method) === message.method,
    );
  return { server, client, sent };
}

const until = (check: () => void) => vi.waitFor(check, { timeout: 2_000, interval: 5 });

describe("a call that becomes a task", () => {
  it("W-41, W-42, W-43: resolves to what the call would have returned; the extension is declared each time", async () => {
    const { client, sent, server } = await openTask([state("working"), completed]);
    await expect(client.callTool(call)).resolves.toEqual(done);
    expect(sent().map(({ method }) => method)).toEqual(["tools/call", "tasks/get", "tasks/get"]);
    for (const { params } of bodies(server)) {
      expect(params).toMatchObject({
        _meta: { "io.modelcontextprotocol/clientCapabilities": { extensions: EXTENSION } },
      });
    }
    expect(sent("tasks/get").map(({ params: { _meta, ...params } }) => params)).toEqual([
      { taskId: "task/1" },
      { taskId: "task/1" },
    ]);
    expect(server.requests.at(-1)?.header("mcp-name")).toBe("task/1");
  });

  it("W-41, W-10: undeclared by default, and a task is then an invalid answer", async () => {
    const { client, sent } = await openTask([completed], { tasks: undefined });
    await expect(client.callTool(call)).rejects.toMatchObject({ code: "invalid_answer", delivery: "unknown" });
    expect(sent()).toHaveLength(1);
    expect(JSON.stringify(sent())).not.toContain("io.modelcontextprotocol/tasks");
    const task = { taskId: "task/1" };
    for (const asking of [client.getTask(task), client.cancelTask(task), client.resumeTask(task)]) {
      await expect(asking).rejects.toMatchObject({ code: "invalid_options", details: { option: "tasks" } });
    }
  });

  it("W-41: a task where none can be is an invalid answer", async () => {
    const server = await serve(() => created());
    const client = connect(server.url, { tasks: true });
    await expect(client.readResource({ uri: "a:b" })).rejects.toMatchObject({ code: "invalid_answer" });
    await expect(client.request("tasks/get", { taskId: "task/1" })).rejects.toMatchObject({ code: "invalid_answer" });
  });

  it("W-42: the id reaches the caller before the first look, which waits for what the caller does with it", async () => {
    const { client, sent } = await openTask([completed]);
    let stored: string | undefined;
    let looksBefore = -1;
    const onTask = async (task: Task) => {
      await new Promise((resolve) => setTimeout(resolve, 80));
      looksBefore = sent("tasks/get").length;
      stored = JSON.stringify(task);
    };
    await client.callTool(call, { onTask });
    expect(looksBefore).toBe(0);
    expect(JSON.parse(stored ?? "")).toEqual(state("working"));
  });

  it("W-42: that onTask throws is a diagnostic; detail has the bytes of the task's result", async () => {
    const { client } = await openTask([{ resultType: "task", ...completed }]);
    const onTask = () => {
      throw new Error("no");
    };
    const { result, raw, diagnostics, delivery } = await client.callTool(call, { onTask, detail: true });
    expect(result).toEqual(done);
    expect(Buffer.from(raw).toString()).toBe(JSON.stringify(done));
    expect(diagnostics.map(({ kind }) => kind)).toEqual(["handler_failed", "task_result_type"]);
    expect(delivery).toBe("answered");
  });

  it("W-42: is resumed by another client, from what was stored, and left alone by the first", async () => {
    const { client, sent, server } = await openTask([state("working"), completed]);
    const abort = new AbortController();
    let stored = "";
    const onTask = (task: Task) => {
      stored = JSON.stringify(task);
      abort.abort("restart");
    };
    const first = client.callTool(call, { onTask, signal: abort.signal, taskOnAbort: "leave" });
    await expect(first).rejects.toBe("restart");
    expect(deliveryOf(first)).toBe("answered");
    const task: Task = JSON.parse(stored);
    await expect(connect(server.url, { tasks: true, wallNow: () => NOW }).resumeTask(task)).resolves.toEqual(done);
    expect(sent().map(({ method }) => method)).toEqual(["tools/call", "tasks/get", "tasks/get"]);
  });

  it("W-43: looks at the pace of the latest answer, 1 s without one, jitter only added", async () => {
    const clock = new FakeClock();
    const slow = state("working", { pollIntervalMs: undefined });
    const { client, sent } = await openTask([slow, completed], { clock, random: () => 0.5 });
    const calling = client.callTool(call);
    await until(() => expect(sent()).toHaveLength(1));
    const wait = async (ms: number) => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      await clock.advance(ms);
      await new Promise((resolve) => setTimeout(resolve, 30));
      return sent("tasks/get").length;
    };
    expect(await wait(51)).toBe(0);
    expect(await wait(1)).toBe(1);
    expect(await wait(1_049)).toBe(1);
    expect(await wait(1)).toBe(2);
    await expect(calling).resolves.toEqual(done);
    expect(clock.pending).toBe(0);
  });

  it("W-43: an outcome of the tool resolves, a failure of the request is the server's error", async () => {
    const outcome = { ...done, isError: true };
    const first = await openTask([state("completed", { result: outcome })]);
    await expect(first.client.callTool(call)).resolves.toEqual(outcome);
    const failed = await openTask([state("failed", { error: { code: -32602, message: "no", data: 1 } })]);
    await expect(failed.client.callTool(call)).rejects.toMatchObject({
      code: "peer_error",
      delivery: "answered",
      details: { rpcCode: -32602, rpcData: 1 },
    });
    const cancelled = await openTask([state("cancelled", { statusMessage: "why" })]);
    await expect(cancelled.client.callTool(call)).rejects.toMatchObject({
      code: "task_cancelled",
      delivery: "answered",
      details: { taskId: "task/1", statusMessage: "why" },
    });
  });

  it("W-43: its time to live and the call's total deadline bound it", async () => {
    let now = NOW;
    const late = () => {
      now = NOW + 3_600_000;
      return state("working");
    };
    const expired = await openTask([late], { wallNow: () => now });
    await expect(expired.client.callTool(call)).rejects.toMatchObject({
      code: "task_expired",
      delivery: "answered",
      details: { taskId: "task/1", ttlMs: 3_600_000 },
    });
    const endless = await openTask([state("working")]);
    await expect(endless.client.callTool(call, { totalTimeoutMs: 300 })).rejects.toMatchObject({
      code: "timeout",
      delivery: "answered",
      details: { option: "totalTimeoutMs", limitMs: 300 },
    });
    expect(endless.sent("tasks/cancel")).toHaveLength(0);
  });
});

describe("a look that fails", () => {
  const busy = () => httpAnswer("", { status: 503, headers: "Retry-After: 0\r\n" });
  const cut = (request: RawRequest) => {
    request.socket.destroy();
    return Buffer.alloc(0);
  };

  it.each([
    ["503", busy],
    ["a cut", cut],
  ])(
    "W-43, F-4, F-11: is made again after %s; at last it ends the call, answered, not to be repeated",
    async (_, fault) => {
      const passing = await openTask([fault, fault, completed]);
      await expect(passing.client.callTool(call)).resolves.toEqual(done);
      const lasting = await openTask([fault]);
      const error: unknown = await lasting.client.callTool(call).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ delivery: "answered", details: { taskId: "task/1" } });
      // The call is not to be made again: its task is to be resumed.
      expect(retryAdvice(error, { nowMs: NOW })).toEqual({ kind: "never" });
      expect(retryAdvice(error, { nowMs: NOW, method: "tasks/get" })).toEqual({ kind: "now" });
      expect(lasting.sent("tasks/get")).toHaveLength(3);
    },
  );

  it.each([
    ["an unknown status", state("paused")],
    ["another task", state("completed", { taskId: "other", result: done })],
    ["no result", state("completed")],
  ])("W-43: %s is an invalid answer; the call stays answered", async (_, answer) => {
    const { client } = await openTask([answer]);
    await expect(client.callTool(call)).rejects.toMatchObject({ code: "invalid_answer", delivery: "answered" });
  });

  it("W-44: -32602 is task_not_found, of every request about it", async () => {
    const server = await serve((_, request) => rpcError(request, -32602));
    const client = connect(server.url, { tasks: true });
    const task = { taskId: "task/1" };
    for (const asking of [
      client.resumeTask(task),
      client.getTask(task),
      client.updateTask({ ...task, inputResponses: {} }),
      client.cancelTask(task),
    ]) {
      await expect(asking).rejects.toMatchObject({
        code: "task_not_found",
        delivery: "answered",
        details: { taskId: "task/1", rpcCode: -32602 },
      });
    }
  });

  it("W-43: a task that was made wrongly is not followed", async () => {
    const { client, sent } = await openTask([completed], { first: created({ taskId: 1 }) });
    await expect(client.callTool(call)).rejects.toMatchObject({ code: "invalid_answer", delivery: "unknown" });
    expect(sent()).toHaveLength(1);
  });
});

describe("the end from outside", () => {
  const hold = () => Buffer.alloc(0);

  it("W-44, F-2: an abort while a look is under way rejects at once and sends one tasks/cancel", async () => {
    const { client, sent, server } = await openTask([hold]);
    const abort = new AbortController();
    const onSettled = vi.fn();
    const calling = client.callTool(call, { signal: abort.signal, onSettled });
    await until(() => expect(sent("tasks/get")).toHaveLength(1));
    const reason = new Error("enough");
    abort.abort(reason);
    expect(onSettled).toHaveBeenCalledExactlyOnceWith({ outcome: "rejected", delivery: "answered", reason });
    await expect(calling).rejects.toBe(reason);
    expect(deliveryOf(calling)).toBe("answered");
    await until(() => expect(sent("tasks/cancel")).toHaveLength(1));
    expect(sent("tasks/cancel")[0]?.params).toMatchObject({ taskId: "task/1" });
    expect(JSON.stringify(bodies(server))).not.toContain("notifications/cancelled");
  });

  it("W-44: an abort between looks, too; before there is a task nothing is cancelled", async () => {
    const { client, sent } = await openTask([completed], { first: created({ pollIntervalMs: 60_000 }) });
    const abort = new AbortController();
    const onTask = vi.fn();
    const calling = client.callTool(call, { signal: abort.signal, onTask });
    await until(() => expect(onTask).toHaveBeenCalledOnce());
    abort.abort("enough");
    await expect(calling).rejects.toBe("enough");
    await until(() => expect(sent("tasks/cancel")).toHaveLength(1));
    await expect(client.callTool(call, { signal: AbortSignal.abort("early") })).rejects.toBe("early");
    expect(sent()).toHaveLength(2);
  });

  it("W-43: a client that is closed meanwhile ends it, answered, and sends nothing", async () => {
    const { client, sent } = await openTask([hold]);
    const calling = client.callTool(call);
    calling.catch(() => undefined);
    await until(() => expect(sent("tasks/get")).toHaveLength(1));
    await client.close();
    await expect(calling).rejects.toMatchObject({ code: "cancelled", delivery: "answered" });
    expect(sent()).toHaveLength(2);
  });
});

describe("what a task asks", () => {
  it("W-44, W-35: handlers answer by tasks/update, without requestState, each key once", async () => {
    const asked: string[] = [];
    const handlers = {
      elicitation: {
        form: ({ message }: { readonly message: string }) => {
          asked.push(message);
          return { action: "accept", content: { name: "Ada" } } as const;
        },
      },
      roots: () => [],
    };
    const asks = (...keys: string[]) =>
      state("input_required", { inputRequests: Object.fromEntries(keys.map((key) => [key, form])) });
    const { client, sent } = await openTask([asks("a"), asks("a"), asks("a", ""), completed], { handlers });
    await expect(client.callTool(call)).resolves.toEqual(done);
    expect(asked).toHaveLength(2);
    const answer = { action: "accept", content: { name: "Ada" } };
    expect(sent("tasks/update").map(({ params: { _meta, ...params } }) => params)).toEqual([
      { taskId: "task/1", inputResponses: { a: answer } },
      { taskId: "task/1", inputResponses: { "": answer } },
    ]);
  });

  it("W-44: answers among the options of a request about a task are refused, not lost", async () => {
    const { client, sent } = await openTask([completed]);
    const task = { taskId: "task/1" };
    const given = [{ inputResponses: {} }, { requestState: "" }];
    for (const options of given) {
      for (const asking of [
        client.getTask(task, options),
        client.cancelTask(task, options),
        client.resumeTask(task, options),
        client.updateTask({ ...task, inputResponses: {} }, options),
      ]) {
        await expect(asking).rejects.toMatchObject({ code: "invalid_options", delivery: "not_sent" });
      }
    }
    expect(sent()).toHaveLength(0);
  });

  it("W-43, F-11: maxReadRetries of the call is that of its looks", async () => {
    const busy = (request: RawRequest): Buffer => rpcError(request, -32603, 503);
    const { client, sent } = await openTask([busy, completed]);
    const look = client.resumeTask({ taskId: "task/1" }, { maxReadRetries: 0 });
    await expect(look).rejects.toMatchObject({ code: "peer_error", delivery: "answered" });
    expect(sent("tasks/get")).toHaveLength(1);
    await expect(client.resumeTask({ taskId: "task/1" })).resolves.toEqual(done);
  });

  it("W-44, W-33: without a handler, or with input returned, the call ends; updateTask and resumeTask go on", async () => {
    const asks = state("input_required", { inputRequests: { a: form } });
    const { client, sent } = await openTask([asks, asks, completed]);
    const calling = client.callTool(call, { input: "return" });
    await expect(calling).rejects.toMatchObject({
      code: "input_required",
      delivery: "answered",
      details: { key: "a" },
    });
    const task = { taskId: "task/1" };
    await expect(client.getTask(task)).resolves.toEqual(asks);
    await client.updateTask({ ...task, inputResponses: { a: { action: "decline" } } });
    expect(sent("tasks/update")[0]?.params).toMatchObject({ inputResponses: { a: { action: "decline" } } });
    await expect(client.resumeTask(task, { detail: true })).resolves.toMatchObject({ result: done });
  });

  it("W-44, F-11: an update that fails is not made again", async () => {
    const server = await serve((method) => {
      if (method === "tools/list") return { tools: [] };
      if (method === "tools/call") return created();
      if (method === "tasks/get") return state("input_required", { inputRequests: { a: { method: "roots/list" } } });
      return httpAnswer("", { status: 503 });
    });
    const client = connect(server.url, { tasks: true, wallNow: () => NOW, handlers: { roots: () => [] } });
    await expect(client.callTool(call)).rejects.toMatchObject({ code: "unexpected_answer", delivery: "answered" });
    expect(bodies(server).filter(({ method }) => method === "tasks/update")).toHaveLength(1);
  });

  it("W-43: time that a person takes is not the call's", async () => {
    const roots = () => new Promise<[]>((resolve) => setTimeout(() => resolve([]), 700));
    const asks = state("input_required", { inputRequests: { a: { method: "roots/list" } } });
    const { client } = await openTask([asks, completed], { handlers: { roots } });
    await expect(client.callTool(call, { totalTimeoutMs: 600 })).resolves.toEqual(done);
  });
});
