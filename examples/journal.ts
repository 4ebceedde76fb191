/**
 * What a host has written down: `node journal.js FOLDER URL`. Says what an earlier run did not live to see the end of, calls the tool
 * `work` of the server at the URL, and shows the journal. Ended by force in the midst of the call, it says so the next time.
 */
import { connect } from "remote-connector/connect";
import { openConnectorHost } from "remote-connector/connector-host";

const [stateDirectory = "state", endpoint = ""] = process.argv.slice(2);
const host = await openConnectorHost({
  stateDirectory,
  registrations: [{ slug: "server", displayName: "Server", settings: { endpoint } }],
  hostInfo: { name: "example-journal", version: "1.0.0" },
  journal: { maxRows: 10_000, bodies: "redacted" },
});

const { journal } = host;
if (journal === undefined) throw new Error("The journal is off.");
for (const { id, exposedName, argumentBody } of await journal.unknowns()) {
  // It may have acted, or not: somebody has to look. The host does not repeat it.
  console.log("unknown", exposedName, argumentBody);
  await journal.acknowledge(id);
}

const { url, headers } = host.bind({ workspaceId: "home", agentSessionId: "agent" });
const client = await connect({ endpoint: url, headers, clientInfo: { name: "example-agent", version: "1.0.0" } });
while ((await host.status()).some(({ state }) => state === "starting")) await new Promise((go) => setTimeout(go, 20));
console.log("calling");
await client.callTool({ name: "server_work", arguments: { job: 1, password: "hunter2" } });

for (const { exposedName, state, verdict, argumentBody, resultBytes } of await journal.list({ limit: 20 })) {
  console.log(exposedName, state, verdict, argumentBody, resultBytes);
}
await client.close();
await host.close();
