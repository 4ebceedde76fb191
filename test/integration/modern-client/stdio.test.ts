import { describe, expect, it } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import { RawJson } from "../../../src/protocol/index.js";
import { connect, isRunning, scripted, startsFile, verdict } from "./stdio-servers.js";

interface Sent {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly requestId?: number; readonly name?: string; readonly _meta?: object };
}

async function seenBy({ valueOf }: ReturnType<typeof connect>): Promise<Sent[]> {
  const seen = await valueOf("seen");
  return Array.isArray(seen) ? seen : [];
}

describe("a modern server over stdio", () => {
  it("W-40: opens nothing until it is used, and probes each process before anything else", async () => {
    const { starts, pids } = startsFile();
    const made = connect(scripted({ starts }));
    expect(pids()).toEqual([]);
    await made.valueOf("echo");
    const seen = await seenBy(made);
    expect(seen.map(({ id, method }) => [id, method])).toEqual([
      [2, "server/discover"],
      [1, "tools/call"],
      [3, "tools/call"],
    ]);
    expect(seen[0]?.params?._meta).toEqual({
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    });
    expect(pids()).toHaveLength(1);
  });

  it("W-40: by option nothing is asked first", async () => {
    const made = connect(scripted({}, { probe: false }));
    expect((await seenBy(made)).map(({ method }) => method)).toEqual(["tools/call"]);
  });

  it("W-22, W-25: annotations mean nothing: no tool is left out for them, and none is listed before its call", async () => {
    const made = connect(scripted());
    const { tools } = await made.client.listAllTools();
    expect(tools.map(({ name }) => name)).toEqual(["echo", "odd"]);
    expect(made.diagnostics).toEqual([]);
    await expect(made.client.listTools()).resolves.toMatchObject({ tools: [{ name: "echo" }, { name: "odd" }] });
    const { contracts } = await made.client.listAllTools();
    expect([...contracts.values()].flatMap(({ parameters }) => parameters)).toEqual([]);
    const other = connect(scripted());
    await other.valueOf("echo", { a: 1 });
    expect((await seenBy(other)).map(({ method }) => method)).not.toContain("tools/list");
  });

  it("W-45, W-11: gives the exact bytes of a result, and digits beyond 2^53 both ways", async () => {
    const { client } = connect(scripted());
    const json = '{"content":[],"n":12345678901234567890,"ü": "é\\u0000"}';
    const { raw } = await client.callTool({ name: "raw", arguments: { json } }, { detail: true });
    expect(Buffer.from(raw).toString()).toBe(json);
    const args = new RawJson('{"n":\r\n 12345678901234567890}');
    await expect(client.callTool({ name: "echo", arguments: args })).resolves.toMatchObject({ structuredContent: {} });
  });

  it("W-18, W-14: progress goes to its call alone, before the result; other notifications to all calls under way", async () => {
    const { client, kinds } = connect(scripted());
    const heard: string[] = [];
    const listener = (who: string) => ({
      onProgress: ({ progress }: { progress: number }) => void heard.push(`${who} ${String(progress)}`),
      onNotification: ({ method }: { method: string }) => void heard.push(`${who} ${method}`),
    });
    await client.discover();
    const other = client.callTool({ name: "late", arguments: { ms: 150 } }, listener("other"));
    await client.callTool({ name: "progress" }, listener("own"));
    heard.push("result");
    await other;
    expect(heard.toSorted()).toEqual(
      ["own 1", "own 2", "own 2", "own notifications/message", "other notifications/message", "result"].toSorted(),
    );
    expect(heard.at(-1)).toBe("result");
    expect(kinds()).toEqual(["progress_not_increasing"]);
  });

  it("W-18: progress restarts the idle deadline of its call, and silence ends it", async () => {
    const { client } = connect(scripted());
    await client.discover();
    const call = { name: "progress", arguments: { everyMs: 150 } };
    await expect(client.callTool(call, { idleTimeoutMs: 300, onProgress: () => 0 })).resolves.toBeDefined();
    await expect(verdict(client.callTool(call, { idleTimeoutMs: 300 }))).resolves.toEqual({
      code: "timeout",
      delivery: "unknown",
    });
  });

  it("W-40, W-17: a request that was written and given up is cancelled by its id; its late answer is ignored", async () => {
    const made = connect(scripted());
    await made.client.discover();
    const controller = new AbortController();
    const call = made.client.callTool({ name: "late", arguments: { ms: 100 } }, { signal: controller.signal });
    const timed = made.client.callTool({ name: "silent" }, { totalTimeoutMs: 50 });
    await expect(verdict(timed)).resolves.toEqual({ code: "timeout", delivery: "unknown" });
    controller.abort("enough");
    await expect(call).rejects.toBe("enough");
    expect(deliveryOf(call)).toBe("unknown");
    await made.valueOf("late", { ms: 150 });
    const seen = await seenBy(made);
    const ids = seen.filter(({ params }) => params?.name === "silent" || params?.name === "late").map(({ id }) => id);
    const cancelled = seen.filter(({ method }) => method === "notifications/cancelled");
    expect(cancelled.map(({ params }) => params?.requestId)).toEqual([ids[1], ids[0]]);
    expect(made.diagnostics).toEqual([]);
  });

  it("W-40: nothing is sent for a request that was never written", async () => {
    const made = connect(scripted({ discoverAfterMs: 200 }));
    const early = made.client.callTool({ name: "echo" }, { signal: AbortSignal.timeout(20) });
    await expect(early).rejects.toMatchObject({ name: "TimeoutError" });
    expect(deliveryOf(early)).toBe("not_sent");
    expect((await seenBy(made)).map(({ method }) => method)).toEqual(["server/discover", "tools/call"]);
  });

  it("W-16: a request of the server is a diagnostic, once, and is never answered", async () => {
    const made = connect(scripted());
    await made.valueOf("ask");
    await made.valueOf("ask");
    expect(made.kinds()).toEqual(["server_request"]);
    expect((await seenBy(made)).every(({ method }) => method !== undefined)).toBe(true);
  });

  it("W-40: a server can cancel nothing but subscriptions", async () => {
    const { client } = connect(scripted());
    const heard: unknown[] = [];
    const onNotification = (one: unknown): void => void heard.push(one);
    await expect(client.callTool({ name: "cancels-itself" }, { onNotification })).resolves.toBeDefined();
    expect(heard).toEqual([]);
  });

  it("W-5, W-9, W-11, L-13: ids as strings, errors without an id, no responses and stray text", async () => {
    const { client, kinds } = connect(scripted({ junk: "Listening…\r\n\r\nmore\n" }));
    await expect(client.callTool({ name: "id-as-string" })).resolves.toEqual({ content: [] });
    await expect(client.callTool({ name: "error-without-id" })).rejects.toMatchObject({
      code: "peer_error",
      delivery: "answered",
      details: { rpcCode: -32700 },
    });
    await expect(verdict(client.callTool({ name: "no-response" }))).resolves.toEqual({
      code: "invalid_answer",
      delivery: "unknown",
    });
    expect(kinds()).toEqual(["not_a_message", "id_echoed_as_string"]);
  });

  it("W-9: an error without an id is nobody's while two requests wait", async () => {
    const { client, kinds } = connect(scripted());
    const other = client.callTool({ name: "late", arguments: { ms: 100 } });
    const call = client.callTool({ name: "error-without-id" }, { totalTimeoutMs: 2_000, idleTimeoutMs: 300 });
    await expect(other).resolves.toBeDefined();
    await expect(verdict(call)).resolves.toEqual({ code: "timeout", delivery: "unknown" });
    expect(kinds()).toEqual(["unmatched_response"]);
  });

  it("F-10: a line that is too long fails the call that it answers, and no other", async () => {
    const { client, valueOf } = connect(scripted({}, { maxLineBytes: 10_000 }));
    const other = client.callTool({ name: "late", arguments: { ms: 100 } });
    await expect(client.callTool({ name: "huge", arguments: { bytes: 20_000 } })).rejects.toMatchObject({
      code: "limit_exceeded",
      delivery: "unknown",
      details: { option: "maxLineBytes", limit: 10_000 },
    });
    await expect(other).resolves.toBeDefined();
    await expect(valueOf("echo", { a: 1 })).resolves.toEqual({ a: 1 });
  });

  it("W-33: rounds of input run over the same process", async () => {
    const roots = () => [];
    const { client } = connect(scripted({}, { handlers: { roots }, maxInputRounds: 2 }));
    await expect(client.callTool({ name: "input" })).rejects.toMatchObject({
      code: "limit_exceeded",
      details: { option: "maxInputRounds" },
    });
    await expect(client.callTool({ name: "input" }, { input: "return" })).resolves.toMatchObject({ requestState: "s" });
  });

  it("W-31: the cache keeps what is private too, and heeds what the server says to have changed", async () => {
    const made = connect(scripted({}, { cache: true }));
    await made.client.listTools();
    await made.client.listTools();
    await made.valueOf("change");
    await made.client.listTools();
    const lists = (await seenBy(made)).filter(({ method }) => method === "tools/list");
    expect(lists).toHaveLength(2);
  });

  it("W-7: a notification is a line without an id, and taken when it is written", async () => {
    const made = connect(scripted());
    await made.client.notify("notifications/example", { a: 1 });
    const seen = await seenBy(made);
    expect(seen[1]).toEqual({ jsonrpc: "2.0", method: "notifications/example", params: { a: 1 } });
    await made.client.close();
    await expect(verdict(made.client.notify("a/b"))).resolves.toEqual({ code: "cancelled", delivery: "not_sent" });
  });

  it("F-11: turns are given in order, and those that may wait are bounded", async () => {
    const { client } = connect(scripted({}, { maxConcurrentRequests: 1, maxQueuedRequests: 1 }));
    const order: string[] = [];
    const call = async (name: string): Promise<void> => {
      await client.callTool({ name: "late", arguments: { ms: 20 } });
      order.push(name);
    };
    const calls = [call("first"), call("second")];
    await expect(verdict(client.callTool({ name: "echo" }))).resolves.toEqual({
      code: "limit_exceeded",
      delivery: "not_sent",
    });
    await Promise.all(calls);
    expect(order).toEqual(["first", "second"]);
  });

  it("L-14, F-7: a child that never reads defeats no deadline, and what waits for it is bounded", async () => {
    const { client } = connect(scripted({ deaf: true }, { probe: false, maxQueuedMessages: 3 }));
    const big = "x".repeat(300_000);
    const calls = Array.from({ length: 6 }, () =>
      verdict(client.callTool({ name: "echo", arguments: { big } }, { connectTimeoutMs: 500, totalTimeoutMs: 1_500 })),
    );
    const verdicts = await Promise.all(calls);
    expect(verdicts.every((one) => one !== "resolved")).toBe(true);
    expect(verdicts).toContainEqual({ code: "limit_exceeded", delivery: "not_sent" });
    expect(verdicts).toContainEqual({ code: "timeout", delivery: "not_sent" });
    expect(verdicts[0]).toEqual({ code: "timeout", delivery: "unknown" });
    // Those that gave up have left the queue.
    await expect(verdict(client.callTool({ name: "echo" }, { connectTimeoutMs: 50 }))).resolves.toEqual({
      code: "timeout",
      delivery: "not_sent",
    });
  });

  it("L-15, F-12: close ends what runs as cancelled, and the process; it may be called again", async () => {
    const { client, valueOf } = connect(scripted());
    const pid = Number(await valueOf("pid"));
    const call = verdict(client.callTool({ name: "silent" }));
    const again = client.close();
    await client.close();
    await again;
    await expect(call).resolves.toEqual({ code: "cancelled", delivery: "unknown" });
    await expect(verdict(client.callTool({ name: "echo" }))).resolves.toEqual({
      code: "cancelled",
      delivery: "not_sent",
    });
    expect(isRunning(pid)).toBe(false);
  });

  it("L-15: close while the process starts, and of a client that was never used", async () => {
    const { starts, pids } = startsFile();
    const { client } = connect(scripted({ starts, discover: "silence" }));
    const call = verdict(client.callTool({ name: "echo" }));
    await expect.poll(pids).toHaveLength(1);
    await client.close();
    await expect(call).resolves.toEqual({ code: "cancelled", delivery: "not_sent" });
    expect(pids().filter(isRunning)).toEqual([]);
    const early = connect(scripted());
    const begun = verdict(early.client.discover());
    await early.client.close();
    await expect(begun).resolves.toEqual({ code: "cancelled", delivery: "not_sent" });
    await connect(scripted()).client.close();
  });
});
