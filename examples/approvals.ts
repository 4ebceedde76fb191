/** A daemon whose person approves each call: `node approvals.js URL`, the endpoint of an MCP server. Answer with `approve ID`, or anything else. */
import { createInterface } from "node:readline";
import { type Approve, openConnectorHost } from "remote-connector/connector-host";

const [endpoint = "http://127.0.0.1:3000/mcp"] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin });

const approve: Approve = (request, signal) =>
  new Promise((resolve) => {
    const { id, agentSessionId, connectorName, toolName, argumentsText, omittedBytes } = request;
    // What others wrote is in quotes already, on one line, without characters that can't be seen.
    console.log("ask", id, agentSessionId, "calls", toolName, "of", connectorName, "with", argumentsText, omittedBytes);
    const heard = (line: string): void => {
      const [word, named] = line.split(" ");
      if (named !== id) return;
      lines.off("line", heard);
      resolve(word === "approve" ? "approve" : "deny");
    };
    lines.on("line", heard);
    // The agent left, or it took too long.
    signal.addEventListener("abort", () => lines.off("line", heard), { once: true });
  });

const host = await openConnectorHost({
  hostInfo: { name: "example-approvals", version: "1.0.0" },
  registrations: [{ slug: "demo", displayName: "Demo", settings: { endpoint }, newTools: "ask" }],
  approve,
});
const { url, headers } = host.bind({ workspaceId: "home", agentSessionId: "agent" });
console.log("agent", JSON.stringify({ url, headers }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => lines.close());
await new Promise((resolve) => lines.once("close", resolve));
await host.close();
