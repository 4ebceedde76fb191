/** Where an agent is let in, and with what. */
export interface AgentAccess {
  readonly url: string;
  readonly headers: { readonly Authorization: string };
}

interface ToolsAnswer {
  readonly result?: { readonly tools: readonly { readonly name: string }[] };
}

/** The names of the tools that an agent sees, sorted; `undefined` when it gets no list. Never rejects. */
export async function listTools(access: AgentAccess): Promise<readonly string[] | undefined> {
  const text = await send(access, "tools/list", {});
  if (text === undefined) return undefined;
  const { result }: ToolsAnswer = JSON.parse(text);
  return result?.tools.map(({ name }) => name).sort();
}

/** Calls a tool, whatever comes of it. Never rejects. */
export async function callTool(access: AgentAccess, name: string): Promise<void> {
  await send(access, "tools/call", { name, arguments: {} });
}

async function send(
  access: AgentAccess,
  method: string,
  params: { readonly name?: string; readonly arguments?: object },
): Promise<string | undefined> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  try {
    const response = await fetch(access.url, {
      method: "POST",
      headers: {
        ...access.headers,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
        ...(params.name === undefined ? {} : { "Mcp-Name": params.name }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
    });
    return await response.text();
  } catch {
    // The host was ended meanwhile, or its bearer.
    return undefined;
  }
}
