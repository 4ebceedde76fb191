import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startWeatherServer } from "../../../examples/first-run/upstreams/weather-server.js";
import type { Gateway } from "../../../src/gateway/index.js";
import { ModernStreamableHTTPClient } from "../../../src/modern-client/index.js";
import type { Progress } from "../../../src/protocol/index.js";
import { Cleanup, httpConnector, post, startGateway, stdioConnector, VERSION } from "./support.js";

const programOf = (name: string): string =>
  createRequire(import.meta.url).resolve(`@modelcontextprotocol/${name}/dist/index.js`);

const cleanup = new Cleanup();
let gateway: Gateway;
let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "gateway-")));
  cleanup.add(() => rm(folder, { recursive: true }));
  const weather = await startWeatherServer();
  cleanup.add(() => weather.close());
  const env = { MEMORY_FILE_PATH: join(folder, "memory.json") };
  gateway = await startGateway(cleanup, [
    httpConnector("weather", weather.url, "account"),
    {
      ...stdioConnector("everything", [programOf("server-everything")]),
      offers: ["completions", "prompts", "resources", "subscriptions"],
    },
    stdioConnector("files", [programOf("server-filesystem"), folder]),
    stdioConnector("memory", [programOf("server-memory")], "none", env),
  ]);
  await gateway.grant("ada", "weather");
});
afterAll(() => cleanup.run());

function clientOf(connectorId: string, session = "s-ada"): ModernStreamableHTTPClient {
  const client = new ModernStreamableHTTPClient({
    endpoint: `${gateway.origin}/v1/connectors/${connectorId}/mcp`,
    clientInfo: { name: "test", version: "1" },
    headers: { "Tutti-Connector-Version": VERSION, Cookie: `session=${session}` },
    meta: { "sh.tutti/connectorVersion": VERSION },
  });
  cleanup.add(() => client.close());
  return client;
}

describe("real upstreams behind the gateway, reached by the modern client", () => {
  it("C-5: weather, modern over HTTP: parameter headers, structured output and progress", async () => {
    const client = clientOf("weather");
    expect((await client.discover()).capabilities).toEqual({ tools: {} });
    const { contracts, tools } = await client.listAllTools();
    expect(tools.map(({ name }) => name)).toEqual(["current_weather", "forecast", "list_cities"]);
    expect(contracts.get("current_weather")?.parameters).toEqual([{ header: "Mcp-Param-City", path: ["city"] }]);
    const now = await client.callTool({ name: "current_weather", arguments: { city: "São Paulo" } });
    expect(now.structuredContent).toEqual({
      city: "São Paulo",
      day: 0,
      sky: expect.any(String),
      celsius: expect.any(Number),
    });
    const progress: Progress[] = [];
    const forecast = await client.callTool(
      { name: "forecast", arguments: { city: "Osaka", days: 3 } },
      { onProgress: (step) => void progress.push(step) },
    );
    expect(progress).toEqual([1, 2, 3].map((day) => ({ progress: day, total: 3, message: `Day ${String(day)}` })));
    expect(forecast).toMatchObject({ structuredContent: { days: [{ day: 1 }, { day: 2 }, { day: 3 }] } });
    const cities = await client.callTool({ name: "list_cities" });
    expect(cities.content).toContainEqual({ type: "text", text: "Lima" });
  });

  it("C-5: weather is nobody else's", async () => {
    await expect(clientOf("weather", "s-bob").listTools()).rejects.toMatchObject({
      code: "peer_error",
      delivery: "answered",
      details: { rpcCode: -33001, httpStatus: 428 },
    });
  });

  it("C-5: weather says itself what is wrong with an argument", async () => {
    const client = clientOf("weather");
    const result = await client
      .callTool({ name: "forecast", arguments: { city: "Lima", days: 99 } })
      .catch((error: unknown) => error);
    // The server may call this an error or an outcome of the tool; the gateway makes neither of the other.
    expect(JSON.stringify(result)).toContain("days");
    expect(JSON.stringify(result)).not.toContain("-3300");
  });

  it("C-5: everything, legacy over stdio: a list, calls, progress", async () => {
    const client = clientOf("everything");
    const { tools } = await client.listAllTools();
    expect(tools.length).toBeGreaterThan(8);
    const sum = await client.callTool({ name: "get-sum", arguments: { a: 2, b: 40 } });
    expect(JSON.stringify(sum.content)).toContain("42");
    const progress: Progress[] = [];
    const long = await client.callTool(
      { name: "trigger-long-running-operation", arguments: { duration: 0.4, steps: 4 } },
      { onProgress: (step) => void progress.push(step) },
    );
    expect(long.isError).not.toBe(true);
    expect(progress.map((step) => step.progress)).toEqual([1, 2, 3, 4]);
  });

  it("C-5: everything, beside its tools: prompts, resources, templates, completion", async () => {
    const client = clientOf("everything");
    const { entries: prompts } = await client.listAllPrompts();
    expect(prompts.map(({ name }) => name)).toContain("completable-prompt");
    const { messages } = await client.getPrompt({
      name: "completable-prompt",
      arguments: { department: "Sales", name: "Eve" },
    });
    expect(JSON.stringify(messages)).toContain("Please promote Eve to the head of the Sales team.");
    const ref = { type: "ref/prompt", name: "completable-prompt" };
    const context = { arguments: { department: "Sales" } };
    const completed = await client.complete({ ref, argument: { name: "name", value: "E" }, context });
    expect(completed.completion.values).toEqual(["Eve"]);
    const { entries: templates } = await client.listAllResourceTemplates();
    expect(templates.length).toBeGreaterThan(0);
    const [resource] = (await client.listAllResources()).entries;
    const uri = resource?.uri ?? "";
    expect((await client.readResource({ uri })).contents).toMatchObject([{ uri }]);
    await expect(client.readResource({ uri: "demo://resource/none" })).rejects.toMatchObject({ delivery: "answered" });
    const subscription = client.listen({ resourceSubscriptions: [uri], promptsListChanged: true });
    expect(await subscription.acknowledged).toEqual({ promptsListChanged: true, resourceSubscriptions: [uri] });
    subscription.close();
  });

  it("C-5: everything's page is marked as what no cache may keep", async () => {
    const answer = await post(gateway, { connectorId: "everything", method: "tools/list" });
    expect(await answer.json()).toMatchObject({ result: { resultType: "complete", ttlMs: 0, cacheScope: "private" } });
  });

  it("C-5: files, on a folder of its own", async () => {
    await writeFile(join(folder, "hello.txt"), "grüße, 世界");
    const client = clientOf("files");
    const read = await client.callTool({ name: "read_text_file", arguments: { path: join(folder, "hello.txt") } });
    expect(read.content).toEqual([{ type: "text", text: "grüße, 世界" }]);
    await client.callTool({ name: "write_file", arguments: { path: join(folder, "new.txt"), content: "written" } });
    expect(await readFile(join(folder, "new.txt"), "utf8")).toBe("written");
    const outside = await client.callTool({ name: "read_text_file", arguments: { path: "/etc/hostname" } });
    expect(outside.isError).toBe(true);
  });

  it("C-5: memory keeps what it was told between calls of an account", async () => {
    const client = clientOf("memory");
    const entities = [{ name: "Ada", entityType: "person", observations: ["counts"] }];
    await client.callTool({ name: "create_entities", arguments: { entities } });
    const graph = await client.callTool({ name: "read_graph", arguments: {} });
    expect(graph.structuredContent).toMatchObject({ entities });
  });
});
