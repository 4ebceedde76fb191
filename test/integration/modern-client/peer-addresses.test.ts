import { onTestFinished, describe, expect, it } from "vitest";
import { httpAnswer, RawServer } from "../../support/raw-server.js";
import { bodies, connect, serve } from "./support.js";

/** A server that nobody has a reason to connect to. */
async function openCanary(): Promise<RawServer> {
  const canary = await RawServer.start((request) => request.socket.write(httpAnswer("{}")));
  onTestFinished(() => canary.close());
  return canary;
}

const call = { name: "weather", arguments: {} };

describe("F-15: no address that a peer names is connected to", () => {
  it("in schemas, icons, links, descriptions, questions and metadata", async () => {
    const canary = await openCanary();
    const at = (path: string): string => canary.url.replace("/mcp", path);
    const schema = {
      $schema: at("/draft"),
      $id: at("/id"),
      type: "object",
      properties: { a: { $ref: at("/ref#/x") } },
    };
    const plain = { type: "object", properties: { a: { $ref: at("/input") } } };
    const icons = [{ src: at("/icon.png"), mimeType: "image/png", sizes: ["any"] }];
    const tool = { name: "weather", inputSchema: plain, outputSchema: schema, icons, _meta: { "a.b/ui": at("/ui") } };
    const resource = { uri: at("/resource"), name: "r", icons };
    const fresh = { ttlMs: 0, cacheScope: "private" };
    const question = {
      resultType: "input_required",
      inputRequests: {
        k: {
          method: "elicitation/create",
          params: { mode: "url", message: at("/message"), url: at("/consent"), elicitationId: "e" },
        },
      },
    };
    const content = [
      { type: "resource_link", ...resource },
      { type: "resource", resource: { uri: at("/embedded"), text: at("/text") } },
    ];
    const serverInfo = { name: "s", version: "1", websiteUrl: at("/website"), icons };
    const results: Record<string, (params: object) => object> = {
      "server/discover": () => ({
        supportedVersions: ["2026-07-28"],
        capabilities: {},
        instructions: at("/do"),
        ...fresh,
      }),
      "tools/list": () => ({ tools: [tool], ...fresh }),
      "resources/list": () => ({ resources: [resource], ...fresh }),
      "resources/templates/list": () => ({
        resourceTemplates: [{ uriTemplate: `${at("/t")}{?q}`, name: "t" }],
        ...fresh,
      }),
      "resources/read": () => ({ contents: [{ uri: at("/other"), text: "x" }], ...fresh }),
      "prompts/get": () => ({ messages: [{ role: "user", content: content[0] }] }),
      "tools/call": (params) => {
        return "inputResponses" in params ? { content, structuredContent: { a: 1 } } : question;
      },
    };
    const server = await serve((method, request) => {
      const { id, params }: { id: number; params: object } = JSON.parse(request.body);
      const _meta = { "io.modelcontextprotocol/serverInfo": serverInfo };
      const result = { ...results[method]?.(params), _meta };
      const headers = `Link: <${at("/link")}>; rel="next"\r\nAlt-Svc: h2="127.0.0.1:${String(canary.port)}"\r\nRefresh: 0;url=${at("/refresh")}\r\n`;
      return httpAnswer(JSON.stringify({ jsonrpc: "2.0", id, result }), { headers });
    });
    const asked: string[] = [];
    const url = (request: { readonly url: string }) => {
      asked.push(request.url);
      return { action: "accept" } as const;
    };
    const client = connect(server.url, { handlers: { elicitation: { url } } });
    await client.discover();
    await client.listTools();
    await client.listResources();
    await client.listResourceTemplates();
    await client.readResource({ uri: at("/resource") });
    await client.getPrompt({ name: "p" });
    const { result, verdicts } = await client.callTool(call, { detail: true });
    expect(result).toMatchObject({ content, structuredContent: { a: 1 } });
    expect(verdicts.output).not.toMatchObject({ kind: "valid" });
    expect(asked).toEqual([at("/consent")]);
    const lists = ["tools/list", "resources/list", "resources/templates/list"];
    const methods = ["server/discover", ...lists, "resources/read", "prompts/get", "tools/call", "tools/call"];
    expect(bodies(server).map(({ method }) => method)).toEqual(methods);
    expect(canary.connections).toBe(0);
    // It would have told.
    await fetch(canary.url);
    expect(canary.connections).toBe(1);
  });

  it.each([301, 302, 303, 307, 308, 401, 403, 407, 428])("in the head of a %i", async (status) => {
    const canary = await openCanary();
    const headers = `Location: ${canary.url}\r\nWWW-Authenticate: Bearer resource_metadata="${canary.url}"\r\n`;
    const server = await serve(() => httpAnswer("", { status, headers }));
    const client = connect(server.url, { headers: { Authorization: "Bearer secret" }, random: () => 0 });
    const failure = { delivery: "answered" };
    await expect(client.callTool(call, { contract: { parameters: [] } })).rejects.toMatchObject(failure);
    await expect(client.discover()).rejects.toMatchObject(failure);
    expect(server.requests.length).toBe(2);
    expect(canary.connections).toBe(0);
  });

  it("by an authorizer: it is told the URL, and can't change it", async () => {
    const canary = await openCanary();
    const server = await serve(() => ({ content: [] }));
    const client = connect(server.url, {
      authorize: (request) => {
        Object.assign(request, { url: canary.url, method: "GET" });
        return { Authorization: "Bearer secret" };
      },
    });
    await client.callTool(call, { contract: { parameters: [] } });
    expect(server.requests).toHaveLength(1);
    expect(canary.connections).toBe(0);
  });
});
