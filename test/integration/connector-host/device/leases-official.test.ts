import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { describe, expect, it, onTestFinished } from "vitest";
import type { CallLeases, RemoteMcpClient } from "../../../../src/connector-host/factories/index.js";
import type { ServerAskAnswer } from "../../../../src/protocol/input/index.js";
import { Device, server } from "../../../support/device.js";

const OPENED = { capabilities: ["tools", "elicitation", "roots"] };

/** A server of the official package, with a session for each client, that asks in the midst of its only tool. */
async function askingServer(): Promise<string> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  async function transportOf(request: IncomingMessage): Promise<StreamableHTTPServerTransport> {
    const known = sessions.get(String(request.headers["mcp-session-id"]));
    if (known !== undefined) return known;
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    const official = new McpServer({ name: "official", version: "1.0.0" });
    official.registerTool("greet", {}, async ({ requestId }) => {
      const requestedSchema = { type: "object" as const, properties: { name: { type: "string" as const } } };
      const options = { relatedRequestId: requestId };
      const { action, content } = await official.server.elicitInput({ message: "Who?", requestedSchema }, options);
      const { roots } = await official.server.listRoots(undefined, options);
      return { content: [{ type: "text", text: JSON.stringify([action, content, roots]) }] };
    });
    // Its types were not made for optional members that may not be `undefined`.
    const handlers = { onclose: () => undefined, onerror: () => undefined, onmessage: () => undefined };
    await official.connect(Object.assign(transport, handlers));
    return transport;
  }
  const http = createServer((request: IncomingMessage, response: ServerResponse) => {
    void transportOf(request).then((transport) => transport.handleRequest(request, response));
  }).listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const address = http.address();
  return `http://127.0.0.1:${String(typeof address === "object" ? address?.port : address)}/mcp`;
}

async function greet(leases: CallLeases<RemoteMcpClient>, name: string): Promise<unknown> {
  const answers: Readonly<Record<string, ServerAskAnswer>> = {
    "elicitation/create": { result: { action: "accept", content: { name } } },
    "roots/list": { result: { roots: [{ uri: `file:///${name}` }] } },
  };
  const lease = await leases.acquire({
    holder: {},
    capabilities: { elicitation: {}, roots: {} },
    answer: async ({ method }) => answers[method] ?? { error: { code: -32601, message: method } },
    signal: new AbortController().signal,
  });
  try {
    const { content } = await lease.client.callTool({ name: "greet" });
    return JSON.parse(String(content?.[0]?.["text"]));
  } finally {
    lease.release();
  }
}

describe("a legacy server of the official package", () => {
  it("H-27: asks each caller about its own call, and declines to guess over the plain connection", async () => {
    const device = new Device();
    const { client } = await device.publish(server(await askingServer(), OPENED));
    const { leases } = client;
    if (leases === undefined) throw new Error("There are no leases.");
    const names = ["ada", "bob", "cyd", "dan", "eve", "fay"];
    const greeted = await Promise.all(names.map((name) => greet(leases, name)));
    expect(greeted).toEqual(names.map((name) => ["accept", { name }, [{ uri: `file:///${name}` }]]));
    // It was told that nobody can be asked there, and says so.
    expect(await client.callTool({ name: "greet" })).toMatchObject({ isError: true });
  });
});
