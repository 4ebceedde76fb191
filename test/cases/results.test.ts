import { describe, expect, it } from "vitest";
import { likeModernServer } from "../../src/testing/index.js";
import { connectTo, serve } from "./parties.js";

/** A client that has listed one tool with an output schema, and what the tool gives. */
async function withSchema(outputSchema: object, result: Readonly<Record<string, unknown>>) {
  const inputSchema = { type: "object" };
  const tool = { name: "t", inputSchema, outputSchema: { type: "object", ...outputSchema }, run: () => result };
  const server = await serve(likeModernServer({ tools: [tool] }));
  const party = connectTo(server.url);
  await party.client.listAllTools();
  return { ...party, server, call: () => party.client.callTool({ name: "t" }) };
}

const needsData = { properties: { data: { type: "string" } }, required: ["data"] };

describe("results", () => {
  it("MB-121: the error of a tool is hidden behind a complaint about its output schema", async () => {
    const result = {
      isError: true,
      content: [{ type: "text", text: "disk full" }],
      structuredContent: { error: { code: 5 } },
    };
    const { call } = await withSchema(needsData, result);
    await expect(call()).resolves.toMatchObject(result);
  });

  it("MB-122: a result without structured content is lost when the tool has an output schema", async () => {
    const result = { content: [{ type: "text", text: "useful" }] };
    const { call } = await withSchema(needsData, result);
    await expect(call()).resolves.toMatchObject(result);
  });

  it("MB-124: content of an invented kind, or none, makes the whole result unusable", async () => {
    const invented = {
      content: [
        { type: "json", json: { a: 1 } },
        { type: "text", text: "ok" },
      ],
    };
    await expect((await withSchema({}, invented)).call()).resolves.toMatchObject(invented);
    // Results come back as the server wrote them: what is not there is not made up.
    await expect((await withSchema({}, {})).call()).resolves.not.toHaveProperty("content");
    await expect((await withSchema({}, { content: null })).call()).resolves.toMatchObject({ content: null });
  });

  it("MB-127: an output schema with a remote reference makes a good result a failed call", async () => {
    const schemas = await serve(() => undefined);
    const remote = (path: string) => ({ properties: { v: { $ref: `${schemas.origin}${path}` } } });
    const result = { content: [], structuredContent: { v: 2 } };
    const { call } = await withSchema(remote("/n.json"), result);
    await expect(call()).resolves.toMatchObject(result);
    expect(schemas.connections).toBe(0);
  });

  it("MB-131: results that break their schema count as failures of the server, and lock it out", async () => {
    const result = { content: [{ type: "text", text: "kept" }], structuredContent: { data: 7 } };
    const { call, server } = await withSchema(needsData, result);
    for (let i = 0; i < 4; i += 1) await expect(call()).resolves.toMatchObject(result);
    expect(server.requests.filter(({ method }) => method === "tools/call")).toHaveLength(4);
    // No connection was given up for it.
    expect(server.openConnections).toHaveLength(server.connections);
  });
});
