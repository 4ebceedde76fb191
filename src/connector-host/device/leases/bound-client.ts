import type { McpClient } from "../../../connect/index.js";
import type { RemoteMcpClient } from "../../factories/index.js";

/** Makes of a request of a client another one that is called alike. */
export type WrapRequest = <F extends (...args: never[]) => Promise<unknown>>(request: F) => F;

/** What the host needs of a client, and of the requests in whose midst a server may ask what `wrap` makes of them. */
export class BoundClient implements RemoteMcpClient {
  readonly callTool: McpClient["callTool"];
  readonly complete: McpClient["complete"];
  readonly discover: McpClient["discover"];
  readonly getPrompt: McpClient["getPrompt"];
  readonly listAllTools: McpClient["listAllTools"];
  readonly listen: McpClient["listen"];
  readonly listPrompts: McpClient["listPrompts"];
  readonly listResources: McpClient["listResources"];
  readonly listResourceTemplates: McpClient["listResourceTemplates"];
  readonly readResource: McpClient["readResource"];
  readonly request: McpClient["request"];
  readonly #client: McpClient;

  constructor(client: McpClient, wrap: WrapRequest = asItIs) {
    this.#client = client;
    this.callTool = wrap(client.callTool.bind(client));
    this.complete = wrap(client.complete.bind(client));
    this.discover = client.discover.bind(client);
    this.getPrompt = wrap(client.getPrompt.bind(client));
    this.listAllTools = client.listAllTools.bind(client);
    this.listen = client.listen.bind(client);
    this.listPrompts = client.listPrompts.bind(client);
    this.listResources = client.listResources.bind(client);
    this.listResourceTemplates = client.listResourceTemplates.bind(client);
    this.readResource = wrap(client.readResource.bind(client));
    this.request = wrap(client.request.bind(client));
  }

  get era(): McpClient["era"] {
    return this.#client.era;
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

function asItIs<F>(request: F): F {
  return request;
}
