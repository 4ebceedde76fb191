/**
 * A server of revision 2026-07-28 on stdio that misbehaves on demand. Its script is one JSON argument; what a call does is told by
 * the tool's name. It speaks for itself and imports nothing of the package.
 */
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

interface Script {
  /** A file that gets a line with the process id at each start. */
  readonly starts?: string;
  /** Exit at once with this code; only for so many starts, by `starts`. */
  readonly exit?: number;
  readonly exits?: number;
  readonly stderr?: string;
  /** Never read stdin. */
  readonly deaf?: boolean;
  /** Print this to stdout before anything else. */
  readonly junk?: string;
  /** What `server/discover` is answered with: a result, or an error; `silence`, `exit` or `half` a line. */
  readonly discover?: { readonly result?: unknown; readonly error?: unknown } | "silence" | "exit" | "half";
  /** Wait so long before `server/discover` is answered. */
  readonly discoverAfterMs?: number;
}

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly requestId?: number;
    readonly cursor?: string;
    readonly arguments?: Record<string, unknown>;
    readonly notifications?: object;
    readonly _meta?: { readonly progressToken?: number };
  };
}

const script: Script = JSON.parse(process.argv[2] ?? "{}");
const seen: Message[] = [];
const listening: (string | number | undefined)[] = [];
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

if (script.starts !== undefined) {
  if (!existsSync(script.starts)) writeFileSync(script.starts, "");
  appendFileSync(script.starts, `${String(process.pid)}\n`);
}
const starts = script.starts === undefined ? 1 : readFileSync(script.starts, "utf8").trim().split("\n").length;
if (script.stderr !== undefined) process.stderr.write(script.stderr);
if (script.exit !== undefined && starts <= (script.exits ?? Infinity)) process.exit(script.exit);
if (script.junk !== undefined) process.stdout.write(script.junk);
if (script.deaf === true) setInterval(() => undefined, 60_000);
else {
  createInterface({ input: process.stdin, crlfDelay: Infinity })
    .on("line", (line) => {
      const message: Message = JSON.parse(line);
      void receive(message);
    })
    .on("close", () => process.exit(0));
}

function write(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function answer({ id }: Message, result: object): void {
  write({ id, result });
}

async function receive(message: Message): Promise<void> {
  seen.push(message);
  switch (message.method ?? "") {
    case "server/discover":
      return discover(message);
    case "tools/list":
      return answer(message, {
        tools: [{ name: "echo", inputSchema: { type: "object" } }, BADLY_ANNOTATED],
        ttlMs: 60_000,
        cacheScope: "private",
      });
    case "tools/call":
      return callTool(message);
    case "prompts/list":
      if (starts === 1) process.exit(7);
      return answer(message, { prompts: [] });
    case "subscriptions/listen":
      listening.push(message.id);
      return write({
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: message.params?.notifications, _meta: { [SUBSCRIPTION]: message.id } },
      });
    default:
      if (message.id !== undefined) write({ id: message.id, error: { code: -32601, message: "Method not found" } });
  }
}

const BADLY_ANNOTATED = {
  name: "odd",
  inputSchema: { type: "object", properties: { a: { type: "object", "x-mcp-header": "A b" } } },
};

async function discover(message: Message): Promise<void> {
  const { discover: said } = script;
  if (said === "silence") return;
  if (said === "exit") process.exit(5);
  if (script.discoverAfterMs !== undefined) await pause(script.discoverAfterMs);
  if (said === "half") {
    process.stdout.write('{"jsonrpc":"2.0","id":', () => process.exit(5));
    return;
  }
  write({ id: message.id, ...(said ?? { result: { supportedVersions: ["2026-07-28"], capabilities: {} } }) });
}

async function callTool(message: Message): Promise<void> {
  const args = message.params?.arguments ?? {};
  const give = (structuredContent: unknown): void => answer(message, { content: [], structuredContent });
  switch (message.params?.name ?? "") {
    case "echo":
      return give(args);
    case "pid":
      return give(process.pid);
    case "seen":
      return give(seen);
    case "silent":
      return;
    case "die":
      process.stderr.write("dying of the call\n", () => process.exit(Number(args["code"] ?? 3)));
      return;
    case "cut": {
      const line = `${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { content: [] } })}\n`;
      process.stdout.write(line.slice(0, Math.max(0, line.length - Number(args["leave"]))), () => process.exit(0));
      return;
    }
    case "raw":
      process.stdout.write(`{"jsonrpc":"2.0","id":${String(message.id)},"result":${String(args["json"])}}\n`);
      return;
    case "write": {
      const { message: said } = args;
      return write({ id: message.id, ...(typeof said === "object" ? said : {}) });
    }
    case "progress": {
      const progressToken = message.params?._meta?.progressToken;
      for (const progress of [1, 2, 2]) {
        write({ method: "notifications/progress", params: { progressToken, progress, total: 2 } });
        await pause(Number(args["everyMs"] ?? 0));
      }
      write({ method: "notifications/progress", params: { progressToken: 99_999, progress: 9 } });
      write({ method: "notifications/message", params: { level: "info", data: "hello" } });
      return give("done");
    }
    case "late":
      await pause(Number(args["ms"]));
      return give("late");
    case "ask":
      write({ id: message.id, method: "ping" });
      write({ id: "q", method: "roots/list" });
      return give("asked");
    case "cancels-itself":
      write({ method: "notifications/cancelled", params: { requestId: message.id } });
      write({ method: "notifications/example", params: { _meta: { [SUBSCRIPTION]: message.id } } });
      return give("done");
    case "id-as-string":
      return write({ id: String(message.id), result: { content: [] } });
    case "error-without-id":
      return write({ id: null, error: { code: -32700, message: "Parse error" } });
    case "no-response":
      return write({ id: message.id });
    case "huge":
      return give("x".repeat(Number(args["bytes"])));
    case "huge-request":
      write({ id: message.id, method: "example/request", params: { text: "x".repeat(Number(args["bytes"])) } });
      return give("done");
    case "input":
      return answer(message, {
        resultType: "input_required",
        inputRequests: { name: { method: "roots/list" } },
        requestState: "s",
      });
    case "change":
      write({ method: "notifications/tools/list_changed", params: {} });
      for (const id of listening) {
        write({ method: "notifications/tools/list_changed", params: { n: id, _meta: { [SUBSCRIPTION]: id } } });
      }
      return give(listening);
    case "end-subscriptions":
      for (const id of listening) {
        if (args["how"] === "cancel")
          write({ method: "notifications/cancelled", params: { requestId: id, reason: "so" } });
        else write({ id, result: { resultType: "complete" } });
      }
      return give("ended");
    case "die-behind": {
      // What it leaves behind holds its stdout open.
      const stubborn = "process.on('SIGTERM', () => {}); process.send('up'); setInterval(() => {}, 60000)";
      const child = spawn(process.execPath, ["-e", stubborn], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
      child.once("message", () => process.exit(0));
      return;
    }
    case "close-stdout":
      process.stdout.end();
      setInterval(() => undefined, 60_000);
      return;
    default:
      return write({ id: message.id, error: { code: -32602, message: "Unknown tool" } });
  }
}
