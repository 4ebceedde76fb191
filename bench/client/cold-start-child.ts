/** Imports one client in a fresh process, lists the tools, makes a call, and sends the milliseconds that this took. */
const [who = "", url = ""] = process.argv.slice(2);
const ARGUMENTS = { name: "echo", arguments: { text: "cold" } };
const CLIENT_INFO = { name: "bench", version: "1" };

const startedAt = performance.now();
const answer = JSON.stringify(await firstCall());
const elapsedMs = performance.now() - startedAt;
if (!answer.includes('"text":"cold"')) throw new Error(`${who} gave ${answer}`);
process.send?.(elapsedMs, () => process.exit(0));

async function firstCall(): Promise<unknown> {
  switch (who) {
    case "remote-connector": {
      const { ModernStreamableHTTPClient } = await import("remote-connector/modern-client");
      const client = new ModernStreamableHTTPClient({ endpoint: url, clientInfo: CLIENT_INFO });
      await client.listTools();
      return client.callTool(ARGUMENTS);
    }
    case "undici.request": {
      const { request } = await import("undici");
      const post = async (id: number, method: string, params: Readonly<Record<string, unknown>>): Promise<unknown> => {
        const named = typeof params["name"] === "string" ? { "Mcp-Name": params["name"] } : {};
        const headers = {
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
          "MCP-Protocol-Version": "2026-07-28",
          "Mcp-Method": method,
          ...named,
        };
        const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
        const reply = await request(url, { method: "POST", headers, body });
        return JSON.parse(await reply.body.text());
      };
      await post(1, "tools/list", {});
      return post(2, "tools/call", ARGUMENTS);
    }
    default: {
      const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
      const client = new Client(CLIENT_INFO, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
      await client.connect(new StreamableHTTPClientTransport(new URL(url)));
      await client.listTools();
      return client.callTool(ARGUMENTS);
    }
  }
}
