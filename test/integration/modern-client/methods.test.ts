import { once } from "node:events";
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { completable, createMcpHandler, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { bodies, connect, rpcError, serve } from "./support.js";

const LANGUAGES = ["python", "typescript"];

function createLibrary(): McpServer {
  const server = new McpServer({ name: "library", version: "1.0.0" });
  server.registerResource("readme", "file:///readme.md", { mimeType: "text/markdown" }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/markdown", text: "# Hello" }],
  }));
  const template = new ResourceTemplate("file:///books/{title}", { list: undefined });
  server.registerResource("book", template, {}, (uri, { title }) => ({
    contents: [{ uri: uri.href, text: `The book ${String(title)}` }],
  }));
  const argsSchema = z.object({
    language: completable(z.string(), (value) => LANGUAGES.filter((one) => one.startsWith(value))),
  });
  server.registerPrompt("review", { argsSchema }, ({ language }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Review this ${language}` } }],
  }));
  return server;
}

describe("the official server", () => {
  let url = "";
  let close = async (): Promise<void> => {};
  beforeAll(async () => {
    const handler = createMcpHandler(createLibrary, { legacy: "reject", keepAliveMs: 0 });
    const server = createServer((request, response) => {
      const { method, url: path } = request;
      if (method !== undefined && path !== undefined)
        void answer(Object.assign(request, { method, url: path }), response);
    });
    const answer = toNodeHandler(handler);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    url = `http://127.0.0.1:${String(typeof address === "object" ? address?.port : 0)}/mcp`;
    close = async () => {
      const closed = once(server, "close");
      server.close();
      await handler.close();
      server.closeAllConnections();
      await closed;
    };
  });
  afterAll(() => close());

  it("W-26: lists and reads resources, and fills templates in", async () => {
    const client = connect(url);
    await expect(client.listResources()).resolves.toMatchObject({ resources: [{ uri: "file:///readme.md" }] });
    await expect(client.listResourceTemplates()).resolves.toMatchObject({
      resourceTemplates: [{ uriTemplate: "file:///books/{title}" }],
    });
    const read = await client.readResource({ uri: "file:///readme.md" });
    expect(read.contents).toMatchObject([{ text: "# Hello" }]);
    await expect(client.readResource({ uri: "file:///books/emma" })).resolves.toMatchObject({
      contents: [{ text: "The book emma" }],
    });
  });

  it("W-29: a resource that is not there is resource_not_found", async () => {
    await expect(connect(url).readResource({ uri: "file:///nowhere" })).rejects.toMatchObject({
      code: "resource_not_found",
      delivery: "answered",
      details: { uri: "file:///nowhere" },
    });
  });

  it("W-26: lists, fills in and completes prompts", async () => {
    const client = connect(url);
    await expect(client.listPrompts()).resolves.toMatchObject({ prompts: [{ name: "review" }] });
    await expect(client.getPrompt({ name: "review", arguments: { language: "python" } })).resolves.toMatchObject({
      messages: [{ content: { text: "Review this python" } }],
    });
    const argument = { name: "language", value: "ty" };
    const completed = await client.complete({ ref: { type: "ref/prompt", name: "review" }, argument });
    expect(completed.completion.values).toEqual(["typescript"]);
  });
});

describe("lists", () => {
  const pages: Record<string, object> = {
    first: { resources: [null, { uri: "a:1", size: "big" }, { name: "no uri" }], nextCursor: "" },
    "": { resources: [{ uri: "a:2" }, { uri: "a:1", name: "again" }], nextCursor: null },
  };
  const servePages = () =>
    serve((_, request) => {
      const { params }: { params: { cursor?: string } } = JSON.parse(request.body);
      return pages[params.cursor ?? "first"];
    });

  it("W-32: one page, checked entry by entry, with a word for each entry that is left out", async () => {
    const client = connect((await servePages()).url);
    const { result, diagnostics } = await client.listResources(undefined, { detail: true });
    expect(result).toEqual({ resources: [{ uri: "a:1" }], nextCursor: "" });
    expect(diagnostics.map(({ kind }) => kind)).toEqual(["entry_dropped", "member_removed", "entry_dropped"]);
  });

  it("W-30, W-32: all pages, with null as their end and the first of two of one URI", async () => {
    const told: string[] = [];
    const client = connect((await servePages()).url, { onDiagnostic: ({ kind }) => told.push(kind) });
    const { entries, duplicates, diagnostics } = await client.listAllResources();
    expect(entries).toEqual([{ uri: "a:1" }, { uri: "a:2" }]);
    expect([...duplicates]).toEqual(["a:1"]);
    expect(told).toEqual(diagnostics.map(({ kind }) => kind));
    expect(told).toHaveLength(4);
  });

  it("W-30: page by page, a page is asked for when the one before was taken", async () => {
    const server = await servePages();
    const seen: unknown[] = [];
    for await (const page of connect(server.url).resourcePages()) {
      seen.push(page);
      expect(server.requests).toHaveLength(seen.length);
    }
    expect(seen).toEqual([[{ uri: "a:1" }], [{ uri: "a:2" }]]);
    for await (const page of connect(server.url).resourcePages()) {
      expect(page).toHaveLength(1);
      break;
    }
    expect(server.requests).toHaveLength(3);
  });

  it.each([
    ["listAllPrompts", "prompts/list", { prompts: [{ name: "p" }] }],
    ["listAllResourceTemplates", "resources/templates/list", { resourceTemplates: [{ uriTemplate: "a:{b}" }] }],
  ] as const)("W-26: %s asks for %s", async (name, method, page) => {
    const server = await serve(() => page);
    const { entries } = await connect(server.url)[name]();
    expect([entries]).toEqual(Object.values(page));
    expect(bodies(server)).toMatchObject([{ method }]);
  });

  it.each([
    ["maxPages", { maxPages: 2 }],
    ["maxItems", { maxItems: 2 }],
    ["maxListBytes", { maxListBytes: 200 }],
  ])("W-30: %s ends a walk and an iteration with an error, never with a cut list", async (option, limits) => {
    let n = 0;
    const server = await serve(() => ({ prompts: [{ name: `p${String((n += 1))}` }], nextCursor: "more" }));
    const client = connect(server.url, limits);
    const failure = { code: "limit_exceeded", delivery: "answered", details: { option } };
    await expect(client.listAllPrompts()).rejects.toMatchObject(failure);
    const iterate = async () => {
      for await (const page of client.promptPages()) expect(page).toHaveLength(1);
    };
    await expect(iterate()).rejects.toMatchObject(failure);
  });

  it("F-2: an abort ends a walk with the caller's reason", async () => {
    const server = await serve(() => ({ prompts: [{ name: "p" }] }));
    const reason = new Error("enough");
    await expect(connect(server.url).listAllPrompts({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(server.requests).toHaveLength(0);
  });
});

describe("answers that are none", () => {
  it.each([
    ["listResources", (client) => client.listResources()],
    ["listAllPrompts", (client) => client.listAllPrompts()],
    ["readResource", (client) => client.readResource({ uri: "a:b" })],
    ["getPrompt", (client) => client.getPrompt({ name: "p" })],
    ["complete", (client) => client.complete({ ref: {}, argument: { name: "a", value: "" } })],
  ] satisfies [string, (client: ReturnType<typeof connect>) => Promise<unknown>][])(
    "W-10: %s of a result without its member is invalid_answer",
    async (_, call) => {
      const server = await serve(() => ({}));
      await expect(call(connect(server.url))).rejects.toMatchObject({ code: "invalid_answer", delivery: "unknown" });
    },
  );
});

describe("refusals", () => {
  it.each([
    [-32002, undefined, "resource_not_found"],
    [-32602, { uri: "a:b" }, "resource_not_found"],
    [-32602, { uri: "a:c" }, "peer_error"],
    [-32602, undefined, "peer_error"],
    [-32601, { uri: "a:b" }, "peer_error"],
  ])("W-29: %i with the data %j on resources/read is %s", async (rpcCode, data, code) => {
    const server = await serve((_, request) => rpcError(request, rpcCode, 400, data));
    const client = connect(server.url);
    await expect(client.readResource({ uri: "a:b" })).rejects.toMatchObject({
      code,
      delivery: "answered",
      details: { rpcCode, evidence: { headersSeen: true } },
    });
    await expect(client.request("resources/read", { uri: "a:b" })).rejects.toMatchObject({ code: "peer_error" });
  });

  it("W-29: a missing capability is named", async () => {
    const requiredCapabilities = { elicitation: { form: {} } };
    const server = await serve((_, request) => rpcError(request, -32021, 400, { requiredCapabilities }));
    await expect(connect(server.url).getPrompt({ name: "p" })).rejects.toMatchObject({
      code: "peer_error",
      details: { rpcCode: -32021, requiredCapabilities },
    });
  });
});
