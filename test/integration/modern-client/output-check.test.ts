import { describe, expect, it } from "vitest";
import { createInterpretingValidator } from "../../../src/protocol/json-schema/index.js";
import { bodies, connect, serve } from "./support.js";

const outputSchema = {
  type: "object",
  properties: { celsius: { type: "integer" } },
  required: ["celsius"],
};
const call = { name: "weather", arguments: {} };

/** A server whose tool promises `schema` and gives `result`. */
async function openWeather(result: object, schema: object = outputSchema, options: object = {}) {
  const tool = { name: "weather", inputSchema: { type: "object" }, outputSchema: schema };
  const server = await serve((method) => (method === "tools/list" ? { tools: [tool] } : result));
  return { server, client: connect(server.url, options) };
}

describe("structured output", () => {
  const invalid = { kind: "invalid", of: "value" };
  it.each<[string, object, object | undefined]>([
    ["fits", { structuredContent: { celsius: 3 } }, { kind: "valid" }],
    ["breaks the schema", { structuredContent: { celsius: "3" } }, invalid],
    ["is null", { structuredContent: null }, invalid],
    ["is missing", { content: [] }, invalid],
    ["is that of a failed tool", { structuredContent: 1, isError: true }, undefined],
  ])("W-39: the verdict on output that %s lies beside the whole result", async (_, result, output) => {
    const { client } = await openWeather(result);
    const detailed = await client.callTool(call, { detail: true });
    expect(detailed.result).toEqual(result);
    if (output === undefined) expect(detailed.verdicts.output).toBeUndefined();
    else expect(detailed.verdicts.output).toMatchObject(output);
    await expect(client.callTool(call)).resolves.toEqual(result);
    await expect(client.callTool(call, { detail: true, outputCheck: "off" })).resolves.not.toHaveProperty("verdicts");
  });

  it("W-39: enforced, what is not valid is invalid_output, though the server has answered", async () => {
    const { client } = await openWeather({ structuredContent: { celsius: "3" } });
    await expect(client.callTool(call, { outputCheck: "enforce" })).rejects.toMatchObject({
      code: "invalid_output",
      delivery: "answered",
      details: { tool: "weather", verdict: "invalid", path: "/celsius" },
    });
    const fitting = { structuredContent: { celsius: 3 } };
    const other = await openWeather(fitting);
    await expect(other.client.callTool(call, { outputCheck: "enforce" })).resolves.toEqual(fitting);
    const failed = await openWeather({ isError: true, content: [] });
    await expect(failed.client.callTool(call, { outputCheck: "enforce" })).resolves.toMatchObject({ isError: true });
  });

  it("W-38, W-39: one bad schema touches only its own tool, and nothing is fetched for it", async () => {
    const { client, server } = await openWeather({ structuredContent: {} }, { $ref: "http://127.0.0.1:1/schema" });
    const { verdicts, result } = await client.callTool(call, { detail: true });
    expect(verdicts.output).toMatchObject({ kind: "unresolved_ref" });
    expect(result).toEqual({ structuredContent: {} });
    await expect(client.callTool(call, { outputCheck: "enforce" })).rejects.toMatchObject({
      code: "invalid_output",
      details: { verdict: "unresolved_ref" },
    });
    expect(bodies(server).map(({ method }) => method)).toEqual(["tools/list", "tools/call", "tools/call"]);
  });

  it("W-39: a tool without a schema has no verdict; an interpreting validator can be chosen", async () => {
    const result = { structuredContent: 1 };
    const server = await serve((method) =>
      method === "tools/list" ? { tools: [{ name: "weather", inputSchema: { type: "object" } }] } : result,
    );
    await expect(connect(server.url).callTool(call, { detail: true })).resolves.toMatchObject({
      result,
      verdicts: { output: undefined },
    });
    const schemaValidator = createInterpretingValidator();
    const { client } = await openWeather({ structuredContent: { celsius: 0.5 } }, outputSchema, { schemaValidator });
    const { verdicts } = await client.callTool(call, { detail: true });
    expect(verdicts.output).toMatchObject(invalid);
  });
});
