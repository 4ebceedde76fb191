/** An MCP server on loopback whose answers are large, long or many. Its payloads are made once, so that sending is its cost. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import {
  ITEMS_JSON,
  MEGABYTE,
  MIRRORED_HEADERS,
  MIRRORING_TOOL,
  MIB,
  NOTE_BYTES,
  RECORDS,
  RECORDS_TEXT,
  textOfMegabytes,
  toolsOf,
} from "./payloads.js";

interface Incoming {
  readonly id: number | string;
  readonly method: string;
  readonly params: {
    readonly name?: string;
    readonly arguments?: { readonly text?: string; readonly count?: number };
    readonly _meta?: { readonly progressToken?: number | string };
  };
}

const PLAIN_TOOL = { name: "echo", inputSchema: { type: "object" } };
const PLAIN_LIST = JSON.stringify([PLAIN_TOOL, MIRRORING_TOOL]);
const DISCOVERED = JSON.stringify({
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: "private",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "payloads", version: "1" } },
});
const MEGABYTE_RESULT = textResult(MEGABYTE);
const ITEMS_RESULT = `{"resultType":"complete","content":[],"structuredContent":{"items":${ITEMS_JSON}}}`;
const RECORDS_RESULT = JSON.stringify({
  resultType: "complete",
  content: [{ type: "text", text: RECORDS_TEXT }],
  structuredContent: RECORDS,
});
const EVENTS_A_WRITE = 50;

const lists = new Map<string, string>([["/mcp", PLAIN_LIST]]);
const bigResults = new Map<number, string>();

function textResult(text: string): string {
  return JSON.stringify({ resultType: "complete", content: [{ type: "text", text }] });
}

function listAt(path: string): string {
  const known = lists.get(path);
  if (known !== undefined) return known;
  const count = Number(path.slice(path.lastIndexOf("/") + 1));
  const made = JSON.stringify(toolsOf(count, path.startsWith("/typed-lists/")));
  lists.set(path, made);
  return made;
}

function bigResult(megabytes: number): string {
  const known = bigResults.get(megabytes);
  if (known !== undefined) return known;
  const made = textResult(textOfMegabytes(megabytes));
  bigResults.set(megabytes, made);
  return made;
}

function message(id: number | string, resultJson: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${resultJson}}`;
}

function progressEvent(tokenJson: string, progress: number): string {
  return `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${tokenJson},"progress":${String(progress)}}}\n\n`;
}

function sendJson(response: ServerResponse, body: string): void {
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

function sendProgress(response: ServerResponse, { id, params }: Incoming, last: string): void {
  const tokenJson = JSON.stringify(params._meta?.progressToken ?? 0);
  const count = params.arguments?.count ?? 0;
  let piece = "";
  for (let progress = 1; progress <= count; progress += 1) {
    piece += progressEvent(tokenJson, progress);
    if (progress % EVENTS_A_WRITE === 0) {
      response.write(piece);
      piece = "";
    }
  }
  response.end(`${piece}data: ${message(id, last)}\n\n`);
}

/** One notification at once, the result a little later. */
function sendFirst(response: ServerResponse, { id, params }: Incoming): void {
  response.write(progressEvent(JSON.stringify(params._meta?.progressToken ?? 0), 1));
  setTimeout(() => response.end(`data: ${message(id, textResult("first"))}\n\n`), 3);
}

async function sendNotes(response: ServerResponse, { id, params }: Incoming): Promise<void> {
  const count = ((params.arguments?.count ?? 0) * MIB) / NOTE_BYTES;
  const data = "n".repeat(NOTE_BYTES);
  const note = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"${data}"}}\n\n`;
  for (let sent = 0; sent < count; sent += 1) {
    if (!response.write(note)) await once(response, "drain");
  }
  response.end(`data: ${message(id, textResult("notes"))}\n\n`);
}

function carriesMirrored(headers: IncomingHttpHeaders): boolean {
  return Object.entries(MIRRORED_HEADERS).every(([name, value]) => headers[name.toLowerCase()] === value);
}

async function answerCall(request: IncomingMessage, response: ServerResponse, incoming: Incoming): Promise<void> {
  const { name = "", arguments: args } = incoming.params;
  const streams = () => response.writeHead(200, { "Content-Type": "text/event-stream" });
  switch (name) {
    case MIRRORING_TOOL.name: {
      const text = carriesMirrored(request.headers) ? (args?.text ?? "") : "a header is missing";
      sendJson(response, message(incoming.id, textResult(text)));
      return;
    }
    case "megabyte":
      sendJson(response, message(incoming.id, MEGABYTE_RESULT));
      return;
    case "items":
      sendJson(response, message(incoming.id, ITEMS_RESULT));
      return;
    case "progress":
      streams();
      sendProgress(response, incoming, textResult("done"));
      return;
    case "first":
      streams();
      sendFirst(response, incoming);
      return;
    case "notes":
      streams();
      await sendNotes(response, incoming);
      return;
    case "big-event":
      streams();
      response.end(`data: ${message(incoming.id, bigResult(args?.count ?? 0))}\n\n`);
      return;
    default: {
      const result = name.startsWith("tool_") ? RECORDS_RESULT : textResult(args?.text ?? "");
      sendJson(response, message(incoming.id, result));
    }
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, incoming: Incoming): Promise<void> {
  if (incoming.method === "tools/call") {
    await answerCall(request, response, incoming);
  } else if (incoming.method === "tools/list") {
    const tools = listAt(request.url ?? "");
    const result = `{"resultType":"complete","tools":${tools},"ttlMs":0,"cacheScope":"private"}`;
    sendJson(response, message(incoming.id, result));
  } else {
    sendJson(response, message(incoming.id, DISCOVERED));
  }
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const incoming: Incoming = JSON.parse(Buffer.concat(chunks).toString());
    answer(request, response, incoming).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(typeof address === "object" && address !== null ? address.port : 0);
});
process.on("disconnect", () => process.exit(0));
