import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { RelayServer } from "../../../../src/connector-host/index.js";

/** The body of a call as a guest's client would make it, with some of its `_meta` changed. */
export function callBody(meta: object = {}): string {
  const own = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "sh.tutti/connectorVersion": "1.0.0",
    ...meta,
  };
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", _meta: own } });
}

/** The headers of that call under a lease of `docs`. */
export function callHeaders(bearer: string): Record<string, string> {
  return {
    Authorization: `Bearer ${bearer}`,
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "echo",
    "Relay-Account": "acc-1",
    "Relay-Connector": "docs",
    "Relay-Release": "d-docs",
  };
}

/** A guest that writes bytes, and reads when it likes. */
export async function rawGuest(relay: RelayServer): Promise<Socket> {
  const { address } = relay;
  const socket = "socketPath" in address ? connect(address.socketPath) : connect(Number(new URL(address.url).port));
  await once(socket, "connect");
  return socket;
}

/** A request as bytes. */
export function requestBytes(
  headers: Readonly<Record<string, string>>,
  body: string,
  target = "POST /v1/relay",
): Buffer {
  const all = { Host: "localhost", "Content-Length": String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from(`${target} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`);
}

/** The status and the relay's own headers of what is answered to these bytes. */
export async function answerTo(relay: RelayServer, bytes: Buffer) {
  const socket = await rawGuest(relay);
  socket.write(bytes);
  let text = "";
  while (!text.includes("\r\n\r\n")) text += String((await once(socket, "data"))[0]);
  socket.destroy();
  const header = (name: string): string | undefined => new RegExp(`^${name}: *(.*)$`, "im").exec(text)?.[1]?.trim();
  const status = Number(text.slice(9, 12));
  return { status, outcome: header("relay-outcome"), reason: header("relay-reason"), detail: header("relay-detail") };
}
