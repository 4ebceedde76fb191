import { describe, expect, it } from "vitest";
import { importServers, joinKeySpace } from "../../src/connector-host/index.js";
import {
  buildNamespaceTable,
  buildNameTable,
  createInjectiveNaming,
  findNativeName,
} from "../../src/connector-host/naming/index.js";
import { answerResult } from "../../src/testing/index.js";
import { connectTo, OK, PLAIN, serve } from "./parties.js";

/** What agents put before a server's tools, and what model providers take of the whole. */
const AGENT_PREFIX = "mcp__connector__";
const PROVIDER = /^[a-zA-Z0-9_-]{1,64}$/;

/** Imports servers of these names, and publishes these tools of each. Names are told in order, natives as they were. */
async function publish(names: readonly string[], tools: readonly string[]) {
  const mcpServers = Object.fromEntries(names.map((name) => [name, { command: "run" }]));
  const result = await importServers(JSON.stringify({ mcpServers }));
  if (result.kind === "refused") throw new Error(JSON.stringify(result.refusals));
  const stdio = result.servers.flatMap((server) => {
    return server.kind === "stdio" ? [{ place: server.member, connector: server.connector }] : [];
  });
  const keys = [...joinKeySpace({ stdio }).keys()];
  const namespaces = buildNamespaceTable(createInjectiveNaming(), keys);
  const entries = keys.flatMap((connectorKey) => tools.map((nativeName) => ({ connectorKey, nativeName })));
  const table = buildNameTable(namespaces, entries);
  expect([...namespaces.diagnostics, ...table.diagnostics]).toEqual([]);
  return {
    exposed: [...table.entries.keys()],
    /** The tool behind a name, as its server knows it. */
    nativeOf: (name: string): string => {
      const verdict = findNativeName(namespaces, name, tools);
      if (verdict.kind !== "found") throw new Error(verdict.kind);
      return verdict.nativeName;
    },
  };
}

describe("names", () => {
  it("MB-114: a server's and a tool's name together are longer than a model provider takes", async () => {
    const tools = ["t".repeat(40), `${"t".repeat(39)}u`, "short"];
    const { exposed, nativeOf } = await publish(["s".repeat(40), `${"s".repeat(39)}r`, "s"], tools);
    expect(exposed).toHaveLength(9);
    for (const name of exposed) expect(AGENT_PREFIX + name).toMatch(PROVIDER);
    expect(exposed.map(nativeOf).sort()).toEqual([...tools, ...tools, ...tools].sort());
  });

  it("MB-116: which of two names gets a suffix depends on who came first, and a full name is never short enough", async () => {
    const names = ["My Server", "my-server", "my server"];
    const tools = ["get x", "get.x", "get_x", "t".repeat(64), `${"t".repeat(63)}.`];
    const { exposed, nativeOf } = await publish(names, tools);
    const reversed = await publish(names.toReversed(), tools.toReversed());
    expect(reversed.exposed).toEqual(exposed);
    expect(exposed.map(reversed.nativeOf)).toEqual(exposed.map(nativeOf));
    expect(new Set(exposed).size).toBe(names.length * tools.length);
    // Who came or went says nothing of the others' names.
    const alone = await publish(["my server"], ["get.x"]);
    expect(exposed).toContain(alone.exposed[0]);
  });

  it("MB-117: dots, slashes, spaces and other scripts in names break requests, or lose the tool", async () => {
    const tools = ["ops.report/list.v2", "查询", "my tool", "n".repeat(128), "constructor", "__proto__"];
    const { exposed, nativeOf } = await publish(["查询", "ops.report/v2", "my tools", "n".repeat(128)], tools);
    expect(new Set(exposed).size).toBe(4 * tools.length);
    for (const name of exposed) expect(AGENT_PREFIX + name).toMatch(PROVIDER);
    const server = await serve(() => answerResult(OK));
    const { client } = connectTo(server.url);
    for (const name of exposed.slice(0, tools.length)) {
      await client.callTool({ name: nativeOf(name) }, PLAIN);
    }
    expect(server.requests.map(({ params }) => String(params["name"])).sort()).toEqual([...tools].sort());
  });
});
