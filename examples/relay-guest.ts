import { once } from "node:events";
import { text } from "node:stream/consumers";
import { isRemoteConnectorError } from "remote-connector";
import { RelayFactory, type RelayFactoryOptions } from "remote-connector/connector-host";

interface Given {
  readonly relay: RelayFactoryOptions["relay"];
  readonly bearer: string;
  readonly release: { readonly connectorKey: string; readonly releaseDigest: string; readonly version: string };
}

const { relay, bearer, release }: Given = JSON.parse(await text(process.stdin));

// For a whole host in the guest: `factory: () => new RelayFactory({ … })` among the options of openConnectorHost.
const factory = new RelayFactory({ relay, bearer, clientInfo: { name: "relay-guest", version: "1.0.0" } });
const client = factory.create({
  ...release,
  operationId: "example",
  connectionId: "example",
  accountId: "ada",
  generation: 1,
  binding: { protocolVersion: "2026-07-28", bindingRef: "docs", contractVersion: 1, bindingContractHash: "" },
});

const { tools } = await client.listAllTools();
console.log("guest:", tools.map(({ name }) => name).join(", "));
const { content } = await client.callTool({ name: "echo", arguments: { text: "hello" } });
console.log("guest:", JSON.stringify(content));

// The desktop revokes the lease: there is no other way to the connector, and nothing was sent.
process.send?.("done");
await once(process, "message");
try {
  await client.callTool({ name: "echo" });
} catch (error) {
  if (!isRemoteConnectorError(error)) throw error;
  console.log("guest:", error.code, error.delivery);
}
await client.close();
process.disconnect();
