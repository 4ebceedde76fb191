import { ModernStreamableHTTPClient } from "remote-connector";
import { createFetchExchange, type FetchFunction } from "remote-connector/transport";

const endpoint = process.argv[2] ?? "http://127.0.0.1:3000/mcp";

// In Electron this is `net.fetch`. It must not make requests again by itself.
const fetch: FetchFunction = async (url, init) => {
  const response = await globalThis.fetch(url, init);
  console.log(init.method, new URL(url).pathname, response.status);
  return response;
};

const client = new ModernStreamableHTTPClient({
  endpoint,
  clientInfo: { name: "own-fetch", version: "1.0.0" },
  exchange: createFetchExchange({ origin: new URL(endpoint).origin, fetch }),
});

const { tools } = await client.listAllTools();
console.log(tools.map(({ name }) => name).join(", "));
await client.close();
