import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { connect } from "../../src/connect/index.js";
import { LegacyStdioClient, type LegacyStdioOptions } from "../../src/legacy-client/index.js";
import type { Diagnostic } from "../../src/protocol/index.js";
import { CALL, caught } from "./parties.js";

const clientInfo = { name: "cases", version: "1" };

/** A server that answers calls with its environment and its process id. `onInitialized` is what it does then. */
function source(onInitialized = ""): string {
  return `
    const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
    const result = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };
    const lines = require("node:readline").createInterface({ input: process.stdin });
    lines.on("line", (line) => {
      const { id, method } = JSON.parse(line);
      if (method === "initialize") say({ id, result });
      else if (id !== undefined) say({ id, result: { content: [], env: process.env, pid: process.pid } });
      else { ${onInitialized} }
    });`;
}

interface Party {
  readonly client: LegacyStdioClient;
  readonly diagnostics: readonly Diagnostic[];
}

async function start(script: string, options: Partial<LegacyStdioOptions> = {}): Promise<Party> {
  const diagnostics: Diagnostic[] = [];
  const client = await LegacyStdioClient.connect({
    command: process.execPath,
    args: ["-e", script],
    clientInfo,
    closeGraceMs: 200,
    onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, diagnostics };
}

/** The processes that hold this text in their command line, those that ended and wait to be collected aside. */
function running(text: string): number {
  let count = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      if (readFileSync(`/proc/${name}/cmdline`, "utf8").includes(text)) count += 1;
    } catch {
      // It ended while the folder was read.
    }
  }
  return count;
}

/** What hangs on this process. */
function handlers(): number {
  return process.eventNames().reduce((count, name) => count + process.listenerCount(name), 0);
}

describe("child processes", () => {
  it("MB-057: connects that fail leave handlers on the process behind", async () => {
    const missing = { command: "/nowhere/at-all", clientInfo };
    await caught(connect(missing));
    const before = handlers();
    for (let tries = 0; tries < 20; tries += 1) {
      await caught(connect(missing));
      await caught(connect({ endpoint: "http://127.0.0.1:9/mcp", clientInfo, maxReadRetries: 0 }));
    }
    expect(handlers()).toBe(before);
  });

  it("MB-133: a child that reads nothing holds a call past its deadline, and one that closes its stdin ends the host", async () => {
    const { client: deaf } = await start(source("process.stdin.pause(); setInterval(() => {}, 1000);"));
    const big = { name: "t", arguments: { big: "x".repeat(4 * 1024 * 1024) } };
    const startedAt = performance.now();
    const error = await caught(deaf.callTool(big, { totalTimeoutMs: 300 }));
    expect(error).toMatchObject({ code: "timeout", delivery: "unknown", details: { phase: "total" } });
    expect(performance.now() - startedAt).toBeLessThan(1_500);
    const { client: closed } = await start(source("process.stdin.destroy(); setTimeout(() => process.exit(3), 300);"));
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (let calls = 0; calls < 3; calls += 1) {
      const refused = await caught(closed.callTool(big));
      expect(["connection_broken", "process_exited"]).toContain(Reflect.get(Object(refused), "code"));
    }
  });

  it("MB-134: a banner, a blank line, CRLF or a byte order mark on stdout ends the connection", async () => {
    const banner = 'process.stdout.write("\\ufeffServer v1.2 ready\\r\\n\\n \\n[info] listening\\n");';
    const crlf = source().replace('+ "\\n"', '+ "\\r\\n"');
    const { client, diagnostics } = await start(banner + crlf);
    for (let calls = 0; calls < 3; calls += 1)
      await expect(client.callTool(CALL)).resolves.toMatchObject({ content: [] });
    expect(diagnostics.map(({ kind }) => kind)).toEqual(["not_a_message"]);
  });

  it("MB-136: closing ends the wrapper, and the server behind it lives on", async () => {
    const mark = `mark-${String(process.pid)}-${String(performance.now())}`;
    const stubborn = `process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); /* ${mark} */`;
    const args = ["-c", 'exec 3<&0; "$0" -e "$1" <&3 & wait', process.execPath, stubborn + source()];
    const { client } = await start("", { command: "/bin/sh", args });
    await client.callTool(CALL);
    expect(running(mark)).toBeGreaterThan(0);
    await client.close();
    await vi.waitFor(() => expect(running(mark)).toBe(0));
  });

  it("MB-138: a child that dies between two calls ends the host", async () => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    process.on("uncaughtExceptionMonitor", unhandled);
    onTestFinished(() => {
      process.off("unhandledRejection", unhandled);
      process.off("uncaughtExceptionMonitor", unhandled);
    });
    const { client } = await start(source("setTimeout(() => process.exit(7), 100);"));
    expect(await client.exited).toMatchObject({ exitCode: 7 });
    const error = await caught(client.callTool(CALL));
    expect(error).toMatchObject({ code: "process_exited", delivery: "not_sent", details: { exitCode: 7 } });
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).not.toHaveBeenCalled();
  });

  it("MB-139: a configured environment takes PATH away, or hands every secret on", async () => {
    vi.stubEnv("SECRET_X", "swordfish");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { client } = await start(source(), { env: { A: "1" } });
    const { env } = await client.callTool(CALL);
    expect(env).toMatchObject({ A: "1", PATH: process.env["PATH"] });
    expect(JSON.stringify(env)).not.toContain("swordfish");
    const { client: heir } = await start(source(), { env: { A: "1" }, inheritEnvironment: true });
    expect(await heir.callTool(CALL)).toMatchObject({ env: { A: "1", SECRET_X: "swordfish" } });
  });
});
