import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { ModernStreamableHTTPClient } from "remote-connector/modern-client";

/** Enough for the largest event of any row. */
const MAX_EVENT_BYTES = 64 * 1024 * 1024;

/** Our client, with its defaults but for the longest event. */
export function ourClient(url: string): ModernStreamableHTTPClient {
  return new ModernStreamableHTTPClient({
    endpoint: url,
    clientInfo: { name: "bench", version: "1" },
    maxEventBytes: MAX_EVENT_BYTES,
  });
}

/** The official client, connected. */
export async function officialClient(url: string): Promise<Client> {
  const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}
