import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { LegacyStreamableHTTPClient } from "remote-connector/legacy-client";
import { ModernStreamableHTTPClient } from "remote-connector/modern-client";
import { Agent, request } from "undici";

/** One way of making the same small call. Each answers with the text that it sent, or the run is void. */
export interface Contender {
  readonly name: string;
  call(text: string): Promise<string>;
  close(): Promise<void>;
}

/** A client that has `callTool`, whoever wrote it. */
interface ToolClient {
  callTool(call: { readonly name: string; readonly arguments: { readonly text: string } }): Promise<{
    readonly content?: unknown;
  }>;
  close(): Promise<void>;
}

function contender(name: string, client: ToolClient): Contender {
  return {
    name,
    async call(text) {
      const result = await client.callTool({ name: "echo", arguments: { text } });
      return textOf(result.content);
    },
    close: () => client.close(),
  };
}

const CLIENT_INFO = { name: "bench", version: "1" };

export function ours(url: string): Contender {
  return contender("remote-connector", new ModernStreamableHTTPClient({ endpoint: url, clientInfo: CLIENT_INFO }));
}

/** The same call to a server of revision 2025-11-25, within a session. */
export async function oursLegacy(url: string): Promise<Contender> {
  const client = await LegacyStreamableHTTPClient.connect({ endpoint: url, clientInfo: CLIENT_INFO });
  return contender("remote-connector", client);
}

export async function official(url: string): Promise<Contender> {
  return contender("official client", await officialClient(url, { pin: "2026-07-28" }));
}

export async function officialLegacy(url: string): Promise<Contender> {
  return contender("official client", await officialClient(url, "legacy"));
}

async function officialClient(url: string, mode: "legacy" | { readonly pin: string }): Promise<Client> {
  const client = new Client(CLIENT_INFO, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

export function bareUndici(url: string): Contender {
  const headers = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo" };
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return barePosts(url, headers, { _meta: meta });
}

export function bareUndiciLegacy(url: string): Contender {
  const session = { "MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": "session-of-the-loopback-server" };
  return barePosts(url, session, {});
}

/** The same POST by the bare HTTP client. */
function barePosts(url: string, own: Readonly<Record<string, string>>, members: object): Contender {
  const dispatcher = new Agent();
  const headers = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    ...own,
  };
  let id = 0;
  return {
    name: "undici.request",
    async call(text) {
      id += 1;
      const params = { name: "echo", arguments: { text }, ...members };
      const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
      const answer = await request(url, { method: "POST", headers, body, dispatcher });
      const message: { readonly result: { readonly content: unknown } } = JSON.parse(await answer.body.text());
      return textOf(message.result.content);
    },
    close: () => dispatcher.close(),
  };
}

/** The text of a result's first content; empty when it has none. */
export function textOf(content: unknown): string {
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  const text: unknown = typeof first === "object" && first !== null && "text" in first ? first.text : undefined;
  return typeof text === "string" ? text : "";
}
