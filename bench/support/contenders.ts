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

export function ours(url: string): Contender {
  const client = new ModernStreamableHTTPClient({ endpoint: url, clientInfo: { name: "bench", version: "1" } });
  return {
    name: "remote-connector",
    async call(text) {
      const result = await client.callTool({ name: "echo", arguments: { text } });
      return textOf(result.content);
    },
    close: () => client.close(),
  };
}

export function bareUndici(url: string): Contender {
  const dispatcher = new Agent();
  const headers = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "echo",
  };
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  let id = 0;
  return {
    name: "undici.request",
    async call(text) {
      id += 1;
      const params = { name: "echo", arguments: { text }, _meta: meta };
      const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
      const answer = await request(url, { method: "POST", headers, body, dispatcher });
      const message: { readonly result: { readonly content: unknown } } = JSON.parse(await answer.body.text());
      return textOf(message.result.content);
    },
    close: () => dispatcher.close(),
  };
}

export async function official(url: string): Promise<Contender> {
  const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return {
    name: "official client",
    async call(text) {
      const result = await client.callTool({ name: "echo", arguments: { text } });
      return textOf(result.content);
    },
    close: () => client.close(),
  };
}

/** The same call to a server of revision 2025-11-25, within a session. */
export async function oursLegacy(url: string): Promise<Contender> {
  const client = await LegacyStreamableHTTPClient.connect({
    endpoint: url,
    clientInfo: { name: "bench", version: "1" },
  });
  return {
    name: "remote-connector",
    async call(text) {
      const result = await client.callTool({ name: "echo", arguments: { text } });
      return textOf(result.content);
    },
    close: () => client.close(),
  };
}

export function bareUndiciLegacy(url: string): Contender {
  const dispatcher = new Agent();
  const headers = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-11-25",
    "Mcp-Session-Id": "session-of-the-loopback-server",
  };
  let id = 0;
  return {
    name: "undici.request",
    async call(text) {
      id += 1;
      const params = { name: "echo", arguments: { text } };
      const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
      const answer = await request(url, { method: "POST", headers, body, dispatcher });
      const message: { readonly result: { readonly content: unknown } } = JSON.parse(await answer.body.text());
      return textOf(message.result.content);
    },
    close: () => dispatcher.close(),
  };
}

export async function officialLegacy(url: string): Promise<Contender> {
  const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: "legacy" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return {
    name: "official client",
    async call(text) {
      const result = await client.callTool({ name: "echo", arguments: { text } });
      return textOf(result.content);
    },
    close: () => client.close(),
  };
}

/** The text of a result's first content; empty when it has none. */
export function textOf(content: unknown): string {
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  const text: unknown = typeof first === "object" && first !== null && "text" in first ? first.text : undefined;
  return typeof text === "string" ? text : "";
}
