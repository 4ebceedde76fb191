/**
 * An MCP server on stdio that misbehaves on demand. Its script is one JSON argument; what a call does is told by the tool's name.
 * It speaks for itself and imports nothing of the package.
 */
import { spawn } from "node:child_process";
import { appendFileSync, closeSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

interface Script {
  /** A file that gets a line at each start. */
  readonly starts?: string;
  /** What a modern client's first request meets. Left out, "method not found". */
  readonly discover?: "silence" | "exit";
  /** Exit at once with this code. */
  readonly exit?: number;
  /** Written to stderr first. */
  readonly stderr?: string;
  /** Never read stdin. */
  readonly deaf?: boolean;
  /** Ignore SIGTERM, and stay when stdin ends. */
  readonly stubborn?: boolean;
  /** Start a process that outlives stdin and holds stdout open; the tool `grandchild` tells its pid. */
  readonly grandchild?: "polite" | "stubborn";
  /** Print this to stdout before anything else. */
  readonly junk?: string;
  readonly revision?: string;
  readonly capabilities?: object;
  /** Leave `initialize` unanswered. */
  readonly silentStart?: boolean;
  /** Answer `initialize` with these errors, one after the other, before answering it well. */
  readonly refusals?: readonly object[];
  /** Answer with ids as strings. */
  readonly stringIds?: boolean;
  /** The pages of tools: the entries, and the cursor of the next page. The cursor `silence` is never answered. */
  readonly pages?: readonly { readonly tools: readonly unknown[]; readonly nextCursor?: string | null }[];
  /** Answer `tools/list` with this error. */
  readonly listError?: object;
  /** Refuse every cursor so many times. */
  readonly refusedCursors?: number;
}

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly cursor?: string;
    readonly protocolVersion?: string;
    readonly arguments?: Record<string, unknown>;
    readonly _meta?: { readonly progressToken?: number };
  };
  readonly result?: unknown;
  readonly error?: unknown;
}

const script: Script = JSON.parse(process.argv[2] ?? "{}");
const seen: Message[] = [];
/** The answers that are held back, to be given in reverse order. */
const heldBack: (() => void)[] = [];
let refusals = [...(script.refusals ?? [])];
let refusedCursors = script.refusedCursors ?? 0;

if (script.starts !== undefined) appendFileSync(script.starts, `${String(process.pid)}\n`);
if (script.stderr !== undefined) process.stderr.write(script.stderr);
if (script.exit !== undefined) process.exit(script.exit);
if (script.junk !== undefined) process.stdout.write(script.junk);
if (script.stubborn === true) process.on("SIGTERM", () => undefined);
if (script.stubborn === true || script.deaf === true) setInterval(() => undefined, 60_000);
/** Resolves with the pid of the grandchild once it is set up. */
const grandchild = new Promise<number | undefined>((resolve) => {
  if (script.grandchild === undefined) return;
  const stubborn = script.grandchild === "stubborn" ? "process.on('SIGTERM', () => {});" : "";
  const child = spawn(process.execPath, ["-e", `${stubborn}process.send('up'); setInterval(() => {}, 60000)`], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  child.once("message", () => resolve(child.pid));
  child.unref();
  child.channel?.unref();
});
if (script.deaf !== true) {
  createInterface({ input: process.stdin, crlfDelay: Infinity })
    .on("line", (line) => {
      const message: Message = JSON.parse(line);
      void receive(message);
    })
    .on("close", () => {
      if (script.stubborn !== true) process.exit(0);
    });
}

function write(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function idOf(message: Message): string | number | undefined {
  return script.stringIds === true ? String(message.id) : message.id;
}

function answer(message: Message, result: unknown): void {
  write({ id: idOf(message), result });
}

function fail(message: Message, error: object): void {
  write({ id: idOf(message), error });
}

async function receive(message: Message): Promise<void> {
  seen.push(message);
  switch (message.method ?? "") {
    case "initialize":
      return initialize(message);
    case "server/discover":
      return refuseDiscovery(message);
    case "ping":
      return answer(message, {});
    case "tools/list":
      return listTools(message);
    case "tools/call":
      return callTool(message);
    default:
      if (message.id !== undefined && message.method !== undefined) {
        fail(message, { code: -32601, message: "Method not found" });
      }
  }
}

function refuseDiscovery(message: Message): void {
  if (script.discover === "exit") process.exit(3);
  if (script.discover !== "silence") fail(message, { code: -32601, message: "Method not found" });
}

function initialize(message: Message): void {
  if (script.silentStart === true) return;
  const [refusal, ...rest] = refusals;
  refusals = rest;
  if (refusal !== undefined) return fail(message, refusal);
  answer(message, {
    protocolVersion: script.revision ?? message.params?.protocolVersion,
    capabilities: script.capabilities ?? { tools: {} },
    serverInfo: { name: "scripted", version: "1" },
    instructions: "Misbehave.",
  });
}

function listTools(message: Message): void {
  if (script.listError !== undefined) return fail(message, script.listError);
  const cursor = message.params?.cursor;
  if (cursor === "silence") return;
  if (cursor !== undefined && refusedCursors > 0) {
    refusedCursors -= 1;
    return fail(message, { code: -32602, message: "Invalid cursor" });
  }
  const pages = script.pages ?? [{ tools: [{ name: "echo", inputSchema: { type: "object" } }] }];
  answer(message, pages[cursor === undefined ? 0 : Number(cursor === "" ? 1 : cursor)] ?? { tools: [] });
}

async function callTool(message: Message): Promise<void> {
  const args = message.params?.arguments ?? {};
  const text = (value: string): void => answer(message, { content: [{ type: "text", text: value }] });
  switch (message.params?.name ?? "") {
    case "echo":
      return answer(message, { content: [], structuredContent: args, unknownMember: { kept: true } });
    case "environment":
      return answer(message, { content: [], structuredContent: { ...process.env } });
    case "seen":
      return answer(message, { content: [], structuredContent: { seen } });
    case "grandchild":
      return answer(message, { content: [], structuredContent: { pid: await grandchild } });
    case "silent":
      return;
    case "die":
      process.stderr.write("dying of the call\n", () => process.exit(Number(args["code"] ?? 3)));
      return;
    case "killed":
      process.kill(process.pid, "SIGKILL");
      return;
    case "answer-and-die":
      text("last words");
      process.stdout.write("", () => process.exit(0));
      return;
    case "cut": {
      const line = `${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { content: [] } })}\n`;
      process.stdout.write(line.slice(0, Number(args["at"])), () => process.exit(0));
      return;
    }
    case "progress":
      for (const progress of [1, 2, 2]) {
        write({
          method: "notifications/progress",
          params: { progressToken: message.params?._meta?.progressToken, progress, total: 2, message: "on the way" },
        });
      }
      write({ method: "notifications/progress", params: { progressToken: "not ours", progress: 9 } });
      write({ method: "notifications/message", params: { level: "info", data: "hello" } });
      return text("done");
    case "chatty":
      for (let n = 0; n < 6; n += 1) {
        await pause(50);
        write({ method: "notifications/message", params: { level: "info", data: n } });
      }
      return text("said all");
    case "held-back":
      heldBack.push(() => text(String(args["n"])));
      if (heldBack.length < 3) return;
      for (const release of heldBack.splice(0).toReversed()) release();
      return;
    case "error":
      return fail(message, { code: -32050, message: "no", data: { why: "script" } });
    case "error-without-id":
      return write({ id: null, error: { code: -32700, message: "Parse error" } });
    case "no-response":
      return write({ id: message.id });
    case "huge":
      return text("x".repeat(Number(args["bytes"])));
    case "flood":
      for (let i = 0; i < Number(args["lines"]); i += 1) process.stdout.write(`progress ${String(i)}%\r\n\r\n`);
      return text("flooded");
    case "ask":
      write({ id: message.id, method: "ping" });
      write({ id: "q", method: "roots/list" });
      await pause(100);
      return answer(message, { content: [], structuredContent: { seen: seen.filter((m) => m.method === undefined) } });
    case "asks":
      return answer(message, { content: [], structuredContent: { answers: await askAll(message, args) } });
    case "close-stdout":
      process.stdout.end();
      setInterval(() => undefined, 60_000);
      return;
    case "close-stdin":
      closeSync(0);
      setInterval(() => undefined, 60_000);
      return text("deaf now");
    default:
      return fail(message, { code: -32602, message: "Unknown tool" });
  }
}

/** Sends the requests of the arguments, each with an id of its own, takes back the one that is named, and collects the answers to the others. */
async function askAll({ id }: Message, { asks, cancels }: Record<string, unknown>): Promise<readonly unknown[]> {
  const answers: unknown[] = [];
  for (const [index, ask] of (Array.isArray(asks) ? asks : []).entries()) {
    const askId = `${String(id)}-${String(index)}`;
    write({ id: askId, ...ask });
    if (cancels === index) {
      await pause(30);
      write({ method: "notifications/cancelled", params: { requestId: askId } });
      continue;
    }
    const isAnswer = (one: Message): boolean => one.method === undefined && one.id === askId;
    while (!seen.some(isAnswer)) await pause(2);
    const { result, error } = seen.find(isAnswer) ?? {};
    answers.push(result === undefined ? { error } : { result });
  }
  return answers;
}
