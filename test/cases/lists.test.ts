import { describe, expect, it } from "vitest";
import { answerResult, type Handler, likeModernServer } from "../../src/testing/index.js";
import { connectTo, meet, OK, serve } from "./parties.js";

const tool = (name: string, inputSchema: object = { type: "object" }) => ({ name, inputSchema });

/** A server whose list never ends: these tools and this cursor on every page. */
const endless = (nextCursor: string, ...names: string[]): Handler =>
  likeModernServer({
    methods: { "tools/list": () => ({ tools: names.map((name) => tool(name)), nextCursor }), "tools/call": () => OK },
  });

describe("lists", () => {
  it("MB-111: an empty cursor on every page is followed for ever", async () => {
    const server = await serve(endless("", "a", "b"));
    const { client } = connectTo(server.url);
    // In this revision "" is a cursor like any other, and a list is never cut silently: the walk ends with an error.
    await expect(client.listAllTools()).rejects.toMatchObject({ code: "no_progress", delivery: "answered" });
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]?.params["cursor"]).toBe("");
    // What was gathered is kept: a tool that was seen can be called.
    await expect(client.callTool({ name: "a" })).resolves.toMatchObject(OK);
  });

  it("MB-112: one tool with an odd schema takes all the others with it", async () => {
    const tools = [
      tool("any", { anyOf: [{ type: "object" }, { type: "null" }] }),
      tool("int", { type: "object", properties: { n: { type: "int" }, u: { type: "unknown" } } }),
      tool("good"),
      { name: "none" },
      tool("header", { type: "object", properties: { o: { type: "object", "x-mcp-header": "O" } } }),
    ];
    const { client, diagnostics } = await meet([answerResult({ resultType: "complete", tools })]);
    const list = await client.listAllTools();
    expect(list.tools.map(({ name }) => name)).toEqual(["any", "int", "good"]);
    expect(list.tools[1]).toEqual(tools[1]);
    expect(diagnostics).toMatchObject([
      { kind: "entry_dropped", subject: "none" },
      { kind: "tool_excluded", subject: "header", path: expect.stringContaining("o") },
    ]);
  });

  it("MB-119: a cursor that never moves fills the list with copies", async () => {
    const names = ["a", "b", "c", "d", "e"];
    const server = await serve(endless("p5", ...names));
    const { client } = connectTo(server.url);
    await expect(client.listAllTools()).rejects.toMatchObject({ code: "no_progress", delivery: "answered" });
    expect(server.requests).toHaveLength(2);
    const page = await client.listTools();
    expect(page.tools.map(({ name }) => name)).toEqual(names);
    const twice = await meet([answerResult({ tools: [tool("a"), tool("b"), tool("a", { type: "object", x: 1 })] })]);
    const list = await twice.client.listAllTools();
    expect(list.tools).toEqual([tool("a"), tool("b")]);
    expect([...list.duplicates]).toEqual(["a"]);
    expect(twice.kinds()).toEqual(["duplicate_entry"]);
  });

  it("MB-129: a schema of draft 2020-12 keeps a tool from being listed and called", async () => {
    const draft = "https://json-schema.org/draft/2020-12/schema";
    const inputSchema = {
      $schema: draft,
      type: "object",
      properties: { at: { type: "array", prefixItems: [{ type: "number" }, { type: "number" }] } },
    };
    const outputSchema = { $schema: draft, type: "object", properties: { at: { prefixItems: [{ type: "string" }] } } };
    const result = { content: [], structuredContent: { at: ["x", 1] } };
    const server = await serve(
      likeModernServer({ tools: [{ name: "browse", inputSchema, outputSchema, run: () => result }] }),
    );
    const { client, kinds } = connectTo(server.url);
    const { tools } = await client.listAllTools();
    expect(tools).toEqual([{ name: "browse", inputSchema, outputSchema }]);
    const call = { name: "browse", arguments: { at: [1, 2] } };
    await expect(client.callTool(call)).resolves.toMatchObject(result);
    expect(kinds()).toEqual([]);
  });
});
