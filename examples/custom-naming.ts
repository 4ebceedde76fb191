/**
 * Tools named as one's agents want them: `node custom-naming.js URL [URL…]`. Each server is registered under a letter, and its tools
 * are `A.search`, `B.search`. A name depends on nothing but key and native name, and is split where it was joined.
 */
import { connect } from "remote-connector/connect";
import { type NamingPolicy, openConnectorHost } from "remote-connector/connector-host";

const letters: NamingPolicy = {
  namespace: (connectorKey) => connectorKey.toUpperCase(),
  exposedName: (connectorKey, nativeName) => `${connectorKey.toUpperCase()}.${nativeName}`,
  parse: (exposedName) => {
    const dot = exposedName.indexOf(".");
    return dot === -1 ? undefined : { namespace: exposedName.slice(0, dot), rest: exposedName.slice(dot + 1) };
  },
};

const host = await openConnectorHost({
  registrations: process.argv.slice(2).map((endpoint, index) => ({
    slug: String.fromCharCode(97 + index),
    displayName: endpoint,
    settings: { endpoint },
  })),
  naming: letters,
  hostInfo: { name: "example-naming", version: "1.0.0" },
});
const { url, headers } = host.bind({ workspaceId: "home", agentSessionId: "agent" });
const client = await connect({ endpoint: url, headers, clientInfo: { name: "example-agent", version: "1.0.0" } });

// The list is complete as far as connectors are there: the rest is waited for.
while ((await host.status()).some(({ state }) => state === "starting")) await new Promise((go) => setTimeout(go, 20));
for (const { name } of (await client.listAllTools()).tools) console.log(name);
const { content } = await client.callTool({ name: "A.greet", arguments: { name: "Ada" } });
console.log(JSON.stringify(content));

await client.close();
await host.close();
