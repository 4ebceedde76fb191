import type { BoundAgent } from "../../src/connector-host/index.js";
import { encodeHeaderValue } from "../../src/protocol/index.js";

/** An agent that sends exactly what it is told, and keeps the exact text that comes back. */
export class RawAgent {
  readonly #bound: Pick<BoundAgent, "url" | "headers">;
  #id = 0;

  constructor(bound: Pick<BoundAgent, "url" | "headers">) {
    this.#bound = bound;
  }

  /** Sends a request of revision 2026-07-28. */
  async send(method: string, params: Record<string, unknown> = {}, signal?: AbortSignal) {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const name = params["name"] ?? params["uri"];
    this.#id += 1;
    const response = await fetch(this.#bound.url, {
      method: "POST",
      headers: {
        ...this.#bound.headers,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
        ...(typeof name === "string" ? { "Mcp-Name": encodeHeaderValue(name) } : {}),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: this.#id, method, params: { ...params, _meta: meta } }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await response.text();
    return { status: response.status, text };
  }

  /** The names of all tools, and the connectors that are left out, with why. */
  async list(): Promise<{ names: string[]; omitted: Record<string, string> }> {
    const { text } = await this.send("tools/list");
    const { result }: { result: { tools: { name: string }[]; _meta?: Record<string, unknown> } } = JSON.parse(text);
    const omitted: Record<string, string> = {};
    const left = result._meta?.["sh.tutti/omitted"];
    for (const one of Array.isArray(left) ? left : []) {
      const { connectorKey, reason }: { connectorKey: string; reason: string } = one;
      omitted[connectorKey] = reason;
    }
    return { names: result.tools.map(({ name }) => name), omitted };
  }

  /** Calls a tool: its result, or its error. */
  async call(name: string, args: Record<string, unknown> = {}) {
    const { status, text } = await this.send("tools/call", { name, arguments: args });
    const answer: {
      result?: Record<string, unknown>;
      error?: { code: number; message: string; data?: Record<string, unknown> };
    } = text === "" ? {} : JSON.parse(text);
    return { status, text, ...answer };
  }
}
