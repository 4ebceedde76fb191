/** The four connectors of the story: their releases, as a marketplace would publish them, and the real servers behind them. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { GatewayConnector } from "remote-connector/gateway";

const require = createRequire(import.meta.url);

export const FILE_TEXT = "Read through two MCP hops.\n";

/** A release: who the connector is. Where it leads and what it is authorized with are the gateway's business. */
function releaseOf(connectorId: string, name: string): object {
  return {
    connectorId,
    version: "1.0.0",
    runtime: {
      kind: "remote_mcp",
      protocolVersion: "2026-07-28",
      bindingRef: `${connectorId}.primary`,
      contractVersion: 1,
      bindingContractHash: `sha256:${"0".repeat(64)}`,
    },
    authorization: { kind: "oauth2", profile: `${connectorId}.personal` },
    requiredCapabilities: ["tools"],
    minimumHostVersion: "0.1.0",
    display: { name },
  };
}

export const RELEASES = [
  releaseOf("everything", "Everything"),
  releaseOf("files", "Files"),
  releaseOf("memory", "Memory"),
  releaseOf("weather", "Weather"),
];

/**
 * What the gateway serves them with: three servers from npm over stdio, and one modern server over HTTP. The account authorizes
 * `memory` by itself, as `authorizing` says; the token that comes of it is in the environment of its program.
 */
export async function connectorsIn(
  folder: string,
  weatherUrl: string,
  authorizing: GatewayConnector["authorizing"],
): Promise<GatewayConnector[]> {
  const shared = join(folder, "shared");
  await mkdir(shared, { recursive: true });
  await writeFile(join(shared, "hello.txt"), FILE_TEXT);
  const stdio = async (manifest: string, args: string[], env: Record<string, string> = {}) => ({
    kind: "stdio" as const,
    command: process.execPath,
    args: [await programOf(manifest), ...args],
    env,
  });
  const everything = require.resolve("@modelcontextprotocol/server-everything/package.json");
  const filesystem = require.resolve("@modelcontextprotocol/server-filesystem/package.json");
  const memory = require.resolve("@modelcontextprotocol/server-memory/package.json");
  const base = { connectorVersion: "1.0.0", authorization: "account" } as const;
  return [
    { ...base, connectorId: "everything", upstream: await stdio(everything, ["stdio"]) },
    { ...base, connectorId: "files", upstream: await stdio(filesystem, [shared]) },
    {
      ...base,
      connectorId: "memory",
      authorizing,
      upstream: {
        ...(await stdio(memory, [], { MEMORY_FILE_PATH: join(folder, "memory.json") })),
        credentialVariable: "MEMORY_TOKEN",
      },
    },
    { ...base, connectorId: "weather", upstream: { kind: "http", url: weatherUrl } },
  ];
}

/** The script that a package runs as its command, by its manifest. */
async function programOf(manifest: string): Promise<string> {
  const { bin }: { bin: string | Record<string, string> } = JSON.parse(await readFile(manifest, "utf8"));
  const script = typeof bin === "string" ? bin : Object.values(bin)[0];
  if (script === undefined) throw new Error(`${manifest} names no command`);
  return join(dirname(manifest), script);
}
