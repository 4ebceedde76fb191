/**
 * An MCP server on stdio, of revision 2025-11-25, that doesn't stay as it is: it starts slowly, dies, and changes its tools. Its
 * script is one JSON argument. It speaks for itself and imports nothing of the package.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

interface Script {
  /** A file that gets a line with the process id at each start. */
  readonly starts?: string;
  /** The first so many starts exit at once, by `starts`. */
  readonly exits?: number;
  /** Wait so long before `initialize` is answered. */
  readonly initializeAfterMs?: number;
  /** Exit so long after that. */
  readonly livesMs?: number;
  /** Tell of so many changes in the very write that answers `initialize`, and before. */
  readonly earlyChanges?: number;
  readonly tools?: readonly string[];
  /** The first so many lists are refused. */
  readonly listErrors?: number;
}

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly arguments?: { readonly changes?: number } };
}

const script: Script = JSON.parse(process.argv[2] ?? "{}");
const tools = [...(script.tools ?? ["echo"])];
let lists = 0;

if (script.starts !== undefined) {
  appendFileSync(script.starts, `${String(process.pid)}\n`);
  const starts = readFileSync(script.starts, "utf8").trim().split("\n").length;
  if (starts <= (script.exits ?? 0)) process.exit(4);
}
createInterface({ input: process.stdin, crlfDelay: Infinity })
  .on("line", (line) => receive(JSON.parse(line)))
  .on("close", () => process.exit(0));

function encode(message: object): string {
  return `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
}

function changes(count: number): string {
  return encode({ method: "notifications/tools/list_changed" }).repeat(count);
}

function receive(message: Message): void {
  const answer = (result: object): void => void process.stdout.write(encode({ id: message.id, result }));
  switch (message.method ?? "") {
    case "initialize":
      setTimeout(() => initialize(message), script.initializeAfterMs ?? 0);
      return;
    case "tools/list":
      lists += 1;
      if (lists > (script.listErrors ?? 0)) {
        answer({ tools: tools.map((name) => ({ name, inputSchema: { type: "object" } })) });
        return;
      }
      process.stdout.write(encode({ id: message.id, error: { code: -32050, message: "not now" } }));
      return;
    case "tools/call":
      call(message, (structuredContent) => answer({ content: [], structuredContent }));
      return;
    default:
      if (message.id === undefined) return;
      process.stdout.write(encode({ id: message.id, error: { code: -32601, message: "Method not found" } }));
  }
}

function initialize({ id }: Message): void {
  const early = script.earlyChanges ?? 0;
  const result = {
    protocolVersion: "2025-11-25",
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "restless", version: "1" },
  };
  if (early > 0) tools.push("early");
  process.stdout.write(changes(early) + encode({ id, result }) + changes(early));
  if (script.livesMs !== undefined) setTimeout(() => process.exit(9), script.livesMs);
}

function call({ params }: Message, answer: (result: object) => void): void {
  switch (params?.name ?? "") {
    case "die":
      process.exit(3);
      return;
    case "pid":
      answer({ pid: process.pid });
      return;
    case "lists":
      answer({ lists });
      return;
    case "storm": {
      // All of them in one write, each with a tool more.
      const count = params?.arguments?.changes ?? 0;
      for (let n = 0; n < count; n += 1) tools.push(`tool-${String(n)}`);
      process.stdout.write(changes(count));
      answer({ tools: tools.length });
      return;
    }
    default:
      answer({ echo: params?.arguments ?? {} });
  }
}
