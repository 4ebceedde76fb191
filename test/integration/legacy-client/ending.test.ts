import { describe, expect, it } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import { LegacyStdioClient, type LegacyStdioOptions } from "../../../src/legacy-client/index.js";
import { isJsonObject } from "../../../src/protocol/index.js";
import { connect, failure, openHandles, running, scripted, verdict } from "./servers.js";

async function grandchildOf(client: LegacyStdioClient): Promise<number> {
  const { structuredContent } = await client.callTool({ name: "grandchild" });
  return isJsonObject(structuredContent) ? Number(structuredContent["pid"]) : NaN;
}

describe("the end of a server", () => {
  it("L-14: a death in the middle of calls rejects all of them, with code and stderr", async () => {
    const client = await connect(scripted());
    const calls = [client.callTool({ name: "silent" }), client.callTool({ name: "die", arguments: { code: 3 } })];
    for (const call of calls) {
      const error = await failure(call);
      expect(error).toMatchObject({ code: "process_exited", delivery: "unknown" });
      expect(error.details).toMatchObject({ exitCode: 3, signal: undefined, stderrTail: "dying of the call\n" });
    }
    expect(await client.exited).toEqual({ exitCode: 3, signal: undefined, stderrTail: "dying of the call\n" });
    for (const later of [client.callTool({ name: "echo" }), client.ping(), client.listAllTools()]) {
      expect(await verdict(later)).toEqual({ code: "process_exited", delivery: "not_sent" });
      expect(deliveryOf(later)).toBe("not_sent");
    }
  });

  it("L-14: names the signal that ended it", async () => {
    const client = await connect(scripted());
    const error = await failure(client.callTool({ name: "killed" }));
    expect(error).toMatchObject({ code: "process_exited", details: { exitCode: undefined, signal: "SIGKILL" } });
  });

  it("takes an answer that it wrote before it died", async () => {
    const client = await connect(scripted());
    const { content } = await client.callTool({ name: "answer-and-die" });
    expect(content).toMatchObject([{ text: "last words" }]);
    expect(await client.exited).toMatchObject({ exitCode: 0 });
  });

  it.each([1, 20, 43])("L-15, F-1: a line that is cut after %i bytes is no answer: unknown", async (at) => {
    const client = await connect(scripted());
    const call = client.callTool({ name: "cut", arguments: { at } });
    expect(await verdict(call)).toEqual({ code: "process_exited", delivery: "unknown" });
  });

  it("F-6: keeps configured values and secrets out of what stderr shows", async () => {
    const call = scripted(
      { stderr: "key=s3cr3t-key token=t0ken\n", exit: 2 },
      { env: { KEY: "s3cr3t-key" }, secrets: ["t0ken"] },
    );
    const error = await failure(LegacyStdioClient.connect(call));
    expect(error.details["stderrTail"]).toBe("key=[redacted] token=[redacted]\n");
  });

  it("L-14: a server that closed its stdin fails calls with a typed error, and still answers what it read", async () => {
    const client = await connect(scripted());
    const { content } = await client.callTool({ name: "close-stdin" });
    expect(content).toMatchObject([{ text: "deaf now" }]);
    expect(await verdict(client.callTool({ name: "echo" }))).toEqual({
      code: "connection_broken",
      delivery: "unknown",
    });
    expect(await verdict(client.callTool({ name: "echo" }))).toEqual({
      code: "connection_broken",
      delivery: "not_sent",
    });
  });

  it("F-1: a server that closed its stdout can't answer: its calls fail at once, and it is ended", async () => {
    const client = await connect(scripted());
    expect(await verdict(client.callTool({ name: "close-stdout" }))).toEqual({
      code: "connection_broken",
      delivery: "unknown",
    });
    expect(await verdict(client.ping())).toEqual({ code: "connection_broken", delivery: "not_sent" });
    await client.exited;
    expect(running(Number(client.pid))).toEqual([]);
  });

  it("L-14: a server that does not read defeats no deadline", async () => {
    const options = scripted({ deaf: true }, { lifecycleTimeoutMs: 200 });
    expect(await verdict(LegacyStdioClient.connect(options))).toEqual({ code: "timeout", delivery: "unknown" });
  });

  it("F-10: messages that wait for a server that stops reading are bounded", async () => {
    const client = await connect(scripted({}, { maxQueuedMessages: 2 }));
    process.kill(Number(client.pid), "SIGSTOP");
    const big = { name: "echo", arguments: { text: "x".repeat(1_000_000) } };
    const calls = Array.from({ length: 4 }, () => client.callTool(big, { connectTimeoutMs: 100, idleTimeoutMs: 200 }));
    expect(await Promise.all(calls.map((call) => verdict(call)))).toEqual([
      { code: "timeout", delivery: "unknown" },
      { code: "timeout", delivery: "not_sent" },
      { code: "timeout", delivery: "not_sent" },
      { code: "limit_exceeded", delivery: "not_sent" },
    ]);
    await client.close();
    expect(running(Number(client.pid))).toEqual([]);
  });
});

describe("close", () => {
  it("L-15: ends stdin, and a server that obeys is gone at once, with its group", async () => {
    const client = await connect(scripted());
    const open = client.callTool({ name: "silent" });
    const closing = client.close();
    expect(await verdict(open)).toEqual({ code: "cancelled", delivery: "unknown" });
    await Promise.all([closing, client.close()]);
    expect(await client.exited).toMatchObject({ exitCode: 0, signal: undefined });
    expect(running(Number(client.pid))).toEqual([]);
    expect(await verdict(client.callTool({ name: "echo" }))).toEqual({ code: "cancelled", delivery: "not_sent" });
  });

  it("L-15: ends a server that ignores the end of stdin and SIGTERM", async () => {
    const client = await connect(scripted({ stubborn: true }));
    const started = performance.now();
    await client.close();
    const took = performance.now() - started;
    expect(took).toBeGreaterThan(550);
    expect(took).toBeLessThan(2_000);
    expect(await client.exited).toMatchObject({ signal: "SIGKILL" });
    expect(running(Number(client.pid))).toEqual([]);
  });

  it.each(["polite", "stubborn"])("L-15: leaves no %s grandchild behind", async (grandchild) => {
    const client = await connect(scripted({ grandchild }));
    const pid = await grandchildOf(client);
    expect(new Set(running(Number(client.pid)))).toEqual(new Set([client.pid, pid]));
    await client.close();
    expect(running(Number(client.pid))).toEqual([]);
  });

  it("L-15: leaves no grandchild behind of a server that died by itself, and does not wait for its pipes", async () => {
    const client = await connect(scripted({ grandchild: "stubborn" }));
    await grandchildOf(client);
    const started = performance.now();
    expect(await verdict(client.callTool({ name: "die" }))).toEqual({ code: "process_exited", delivery: "unknown" });
    expect(performance.now() - started).toBeLessThan(1_500);
    await client.close();
    expect(running(Number(client.pid))).toEqual([]);
  });

  it("F-8, L-15: leaves no handle and no handler on this process", async () => {
    const listeners = (): number[] =>
      ["exit", "SIGTERM", "SIGINT", "uncaughtException"].map((e) => process.listenerCount(e));
    const [handlesBefore, listenersBefore] = [await openHandles(), listeners()];
    for (const script of [{}, { stubborn: true }, { grandchild: "stubborn" }]) {
      const client = await LegacyStdioClient.connect(scripted(script, { closeGraceMs: 100 }));
      expect(listeners()).toEqual(listenersBefore);
      const call = verdict(client.callTool({ name: "silent" }));
      await client.close();
      await call;
    }
    expect(await openHandles()).toEqual(handlesBefore);
    expect(listeners()).toEqual(listenersBefore);
  });
});

describe("connect", () => {
  it("L-12: a command that is not there", async () => {
    const secret = "--token=s3cr3t";
    const options = { ...scripted(), command: "no-such-command-anywhere", args: [secret] };
    const error = await failure(LegacyStdioClient.connect(options));
    expect(error).toMatchObject({ code: "spawn_failed", delivery: "not_sent", details: { reason: "ENOENT" } });
    expect(JSON.stringify(Object.getOwnPropertyDescriptors(error.cause))).not.toContain("s3cr3t");
  });

  it.each([
    ["a folder that is not there", { cwd: "/no/such/folder" }],
    ["an argument that no process can have", { args: ["a\0b"] }],
    ["a file that can't be run", { command: "/etc/passwd" }],
  ])("L-12: %s", async (_name, more) => {
    const handlesBefore = await openHandles();
    const call = LegacyStdioClient.connect({ ...scripted(), ...more });
    expect(await verdict(call)).toEqual({ code: "spawn_failed", delivery: "not_sent" });
    expect(await openHandles()).toEqual(handlesBefore);
  });

  it("refuses wrong options before anything is started", async () => {
    const call = LegacyStdioClient.connect({ ...scripted(), closeGraceMs: 0 });
    expect(await verdict(call)).toEqual({ code: "invalid_options", delivery: "not_sent" });
    expect(deliveryOf(call)).toBe("not_sent");
  });

  it("L-14: a server that exits at once", async () => {
    const error = await failure(LegacyStdioClient.connect(scripted({ stderr: "bad configuration\n", exit: 7 })));
    expect(error).toMatchObject({ code: "process_exited" });
    expect(error.details).toMatchObject({ exitCode: 7, stderrTail: "bad configuration\n" });
  });

  it.each<[string, object, object, object]>([
    [
      "a version that nobody here speaks",
      { revision: "1999-01-01" },
      { code: "unsupported_version", delivery: "answered" },
      { supported: ["1999-01-01"] },
    ],
    [
      "a refusal",
      { refusals: [{ code: -32000, message: "no" }] },
      { code: "peer_error", delivery: "answered" },
      { rpcCode: -32000 },
    ],
  ])("L-18: %s ends the process and is the error, with the end of stderr", async (_name, script, code, details) => {
    const error = await failure(LegacyStdioClient.connect(scripted({ ...script, stderr: "why\n" })));
    expect(error).toMatchObject({
      ...code,
      details,
      cause: { code: "process_exited", details: { stderrTail: "why\n" } },
    });
  });

  it("L-1: offers once more what the refusal names", async () => {
    const refusal = {
      code: -32602,
      message: "Unsupported",
      data: { supported: ["2025-03-26"], requested: "2025-11-25" },
    };
    const client = await connect(scripted({ refusals: [refusal] }));
    expect(client.revision).toBe("2025-03-26");
    expect(await verdict(LegacyStdioClient.connect(scripted({ refusals: [refusal, refusal] })))).toEqual({
      code: "peer_error",
      delivery: "answered",
    });
  });

  it("F-7: a start has one deadline, and rejects at once when it passes; the process is ended", async () => {
    const handlesBefore = await openHandles();
    const options = scripted({ silentStart: true, stubborn: true, stderr: "waiting\n" }, { lifecycleTimeoutMs: 300 });
    const started = performance.now();
    const error = await failure(LegacyStdioClient.connect(options));
    expect(performance.now() - started).toBeLessThan(550);
    expect(error).toMatchObject({
      code: "timeout",
      delivery: "unknown",
      details: { phase: "total", option: "lifecycleTimeoutMs", limitMs: 300 },
      cause: { details: { stderrTail: "waiting\n" } },
    });
    await expect.poll(openHandles, { timeout: 3_000 }).toEqual(handlesBefore);
  });

  it("F-2: an abort rejects at once with its reason; initialize is not cancelled, the process is ended", async () => {
    const handlesBefore = await openHandles();
    const controller = new AbortController();
    const call = LegacyStdioClient.connect(scripted({ silentStart: true }, { signal: controller.signal }));
    setTimeout(() => controller.abort("enough"), 300);
    await expect(call).rejects.toBe("enough");
    expect(deliveryOf(call)).toBe("unknown");
    await expect.poll(openHandles, { timeout: 3_000 }).toEqual(handlesBefore);
    const before = LegacyStdioClient.connect(scripted({}, { signal: AbortSignal.abort("enough") }));
    await expect(before).rejects.toBe("enough");
    expect(deliveryOf(before)).toBe("not_sent");
  });
});

describe("onStartAbandoned", () => {
  it.each<[string, object, () => Partial<LegacyStdioOptions>]>([
    ["a deadline passed", { silentStart: true, stubborn: true }, () => ({ lifecycleTimeoutMs: 300 })],
    ["it was aborted", { silentStart: true, stubborn: true }, () => ({ signal: AbortSignal.timeout(300) })],
    ["no revision is spoken by both", { revision: "1999-01-01" }, () => ({})],
  ])("F-8, L-15: is told of the end of the process before the start rejects: %s", async (_name, script, limits) => {
    const handlesBefore = await openHandles();
    let ended: Promise<void> | undefined;
    const onStartAbandoned = (ending: Promise<void>): void => void (ended = ending);
    await expect(LegacyStdioClient.connect(scripted(script, { ...limits(), onStartAbandoned }))).rejects.toThrow();
    expect(ended).toBeInstanceOf(Promise);
    await ended;
    expect(await openHandles()).toEqual(handlesBefore);
  });

  it("F-8: is not told of a start that began no process, and may throw", async () => {
    const onStartAbandoned = (): never => {
      throw new Error("a handler's own fault");
    };
    const kinds: string[] = [];
    const watched = { onStartAbandoned, onDiagnostic: ({ kind }: { kind: string }) => void kinds.push(kind) };
    const refused = { revision: "1999-01-01" };
    for (const options of [
      { ...scripted({}, watched), command: "no-such-command-anywhere" },
      scripted({}, { ...watched, signal: AbortSignal.abort(new Error("enough")) }),
    ])
      await expect(LegacyStdioClient.connect(options)).rejects.toThrow();
    expect(kinds).toEqual([]);
    const call = LegacyStdioClient.connect(scripted(refused, watched));
    expect(await verdict(call)).toEqual({ code: "unsupported_version", delivery: "answered" });
    expect(kinds).toEqual(["handler_failed"]);
  });
});

describe("the environment of a server", () => {
  it("L-12: holds what is configured and what programs need, and no more", async () => {
    process.env["REMOTE_CONNECTOR_TEST_SECRET"] = "s3cr3t";
    const seen = async (inheritEnvironment: boolean): Promise<unknown> => {
      const client = await connect(scripted({}, { env: { OWN: "1" }, inheritEnvironment }));
      return (await client.callTool({ name: "environment" })).structuredContent;
    };
    const [plain, inherited] = [await seen(false), await seen(true)];
    delete process.env["REMOTE_CONNECTOR_TEST_SECRET"];
    expect(plain).toMatchObject({ OWN: "1", PATH: process.env["PATH"] });
    expect(plain).not.toHaveProperty("REMOTE_CONNECTOR_TEST_SECRET");
    expect(inherited).toMatchObject({ OWN: "1", REMOTE_CONNECTOR_TEST_SECRET: "s3cr3t" });
  });
});
