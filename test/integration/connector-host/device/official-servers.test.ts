import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer as OldServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { Device, server } from "../../../support/device.js";

async function serving(listener: RequestListener): Promise<string> {
  const http = createServer(listener).listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const address = http.address();
  if (typeof address !== "object" || address === null) throw new Error("The server does not listen.");
  return `http://127.0.0.1:${String(address.port)}/mcp`;
}

const WHO = { name: "official", version: "1.0.0" };
const HELLO = { content: [{ type: "text" as const, text: "hello" }] };

describe("registered servers of the official packages", () => {
  it("H-8 H-9: one of revision 2026-07-28", async () => {
    const handler = createMcpHandler(
      () => {
        const official = new McpServer(WHO);
        official.registerTool("greet", {}, () => HELLO);
        return official;
      },
      { legacy: "reject" },
    );
    onTestFinished(() => handler.close());
    const device = new Device();
    const handle = toNodeHandler(handler);
    const route = await device.publish(
      server(
        await serving(
          (request, response) =>
            void handle(Object.assign(request, { method: request.method ?? "", url: request.url ?? "" }), response),
        ),
      ),
    );
    expect([route.client.era, [...route.tools.keys()]]).toEqual(["modern", ["greet"]]);
    expect(await route.client.callTool({ name: "greet" }, { outputCheck: "off" })).toMatchObject(HELLO);
  });

  it("H-8 H-9: one of the revisions before", async () => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => "s-1" });
    const official = new OldServer(WHO);
    official.registerTool("greet", {}, () => HELLO);
    await official.connect(transport);
    onTestFinished(() => official.close());
    const device = new Device();
    const url = await serving((request, response) => void transport.handleRequest(request, response));
    const route = await device.publish(server(url));
    expect([route.client.era, [...route.tools.keys()]]).toEqual(["legacy", ["greet"]]);
    expect(route.discovered?._meta).toMatchObject({ "io.modelcontextprotocol/serverInfo": WHO });
    expect(await route.client.callTool({ name: "greet" }, { outputCheck: "off" })).toMatchObject(HELLO);
  });
});
