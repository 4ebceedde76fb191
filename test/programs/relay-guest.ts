/**
 * A guest of a relay: reads `{relay, bearer, request, heapFile}` from its input, lists and calls, writes what it got and its
 * environment as one line, and a snapshot of its heap to a file.
 */
import { text } from "node:stream/consumers";
import { writeHeapSnapshot } from "node:v8";
import { type RelayAddress, RelayFactory, type RemoteMcpClientRequest } from "remote-connector/connector-host";

interface Given {
  readonly relay: RelayAddress;
  readonly bearer: string;
  readonly request: RemoteMcpClientRequest;
  readonly heapFile: string;
}

const { relay, bearer, request, heapFile }: Given = JSON.parse(await text(process.stdin));
const factory = new RelayFactory({ relay, bearer, clientInfo: { name: "guest", version: "1" } });
const client = factory.create(request);
const { tools } = await client.listAllTools();
const result = await client.callTool({ name: "echo", arguments: { from: "guest" } });
const refused: unknown = await factory
  .create({ ...request, connectorKey: "other" })
  .discover()
  .catch((error: unknown) => error);
// While everything that it used is still in reach.
writeHeapSnapshot(heapFile);
console.log(JSON.stringify({ tools: tools.map(({ name }) => name), result, refused, environment: process.env }));
await client.close();
