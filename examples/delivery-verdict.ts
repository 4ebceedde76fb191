import { deliveryOf, isRemoteConnectorError, ModernStreamableHTTPClient, retryAdvice } from "remote-connector";

const client = new ModernStreamableHTTPClient({
  endpoint: process.argv[2] ?? "http://127.0.0.1:3000/mcp",
  clientInfo: { name: "delivery-verdict", version: "1.0.0" },
});

const { tools } = await client.listAllTools();
for (const tool of tools) {
  // The verdict of an abort is with the promise: the error is the signal's own reason.
  const call = client.callTool({ name: tool.name }, { signal: AbortSignal.timeout(500) });
  try {
    await call;
    console.log(tool.name, "done");
  } catch (error) {
    const code = isRemoteConnectorError(error) ? error.code : "aborted";
    const advice = retryAdvice(error, { tool, trustsHints: true, nowMs: Date.now() });
    console.log(tool.name, code, deliveryOf(call), JSON.stringify(advice));
  }
}
await client.close();
