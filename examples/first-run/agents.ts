/** Agents of other people's making: the official client, in either era. */
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { BoundAgent } from "remote-connector/connector-host";

export type Era = "modern" | "legacy";

const PINNED: Record<Era, ClientOptions> = {
  modern: { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  legacy: { supportedProtocolVersions: ["2025-06-18"] },
};

/** Connects an agent to the local server, with the bearer that it was given. */
export async function connectAgent(era: Era, bound: BoundAgent): Promise<Client> {
  const client = new Client({ name: `${era}-agent`, version: "1.0.0" }, PINNED[era]);
  const transport = new StreamableHTTPClientTransport(new URL(bound.url), { requestInit: { headers: bound.headers } });
  await client.connect(transport);
  if (client.getProtocolEra() !== era) throw new Error(`the client speaks ${String(client.getProtocolEra())}`);
  return client;
}

/** The names of all tools, grouped by connector: `files 14, weather 3`. */
export async function listNames(client: Client): Promise<string[]> {
  const { tools } = await client.listTools();
  return tools.map(({ name }) => name);
}

export function countByConnector(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) {
    const connector = name.slice(0, name.indexOf("_"));
    counts.set(connector, (counts.get(connector) ?? 0) + 1);
  }
  return Array.from(counts, ([connector, count]) => `${connector} ${String(count)}`).join(", ");
}

/** The first text of a tool's result. */
export async function callForText(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError === true) throw new Error(`${name} failed: ${JSON.stringify(result.content)}`);
  const [first] = result.content;
  return first?.type === "text" ? first.text : JSON.stringify(first);
}
