import { deliveryOf, isRemoteConnectorError, ModernStreamableHTTPClient } from "remote-connector";

const client = new ModernStreamableHTTPClient({
  endpoint: process.argv[2] ?? "http://127.0.0.1:3000/mcp",
  clientInfo: { name: "first-call", version: "1.0.0" },
});

const { tools } = await client.listAllTools();
console.log(tools.map(({ name }) => name).join(", "));

const call = { name: "forecast", arguments: { city: "Lima", days: 2 } };
const result = client.callTool(call, { onProgress: ({ progress }) => console.log("day", progress) });
try {
  console.log(JSON.stringify((await result).structuredContent));
} catch (error) {
  // Whatever happened: may the server have acted?
  console.log(isRemoteConnectorError(error) ? error.code : "aborted", deliveryOf(result));
}
await client.close();
