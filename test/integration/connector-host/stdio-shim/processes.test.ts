import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectToHost } from "../../../../src/connector-host/control/index.js";
import { Opened } from "../../../support/opened.js";
import { releaseOf } from "../../../support/releases.js";
import { ScriptedGateway, working } from "../../../support/scripted-gateway.js";

const SHIM = "build/examples/stdio-shim.js";
const HOST = "build/test/programs/shim-host.js";

/** What lasts as long as the file's tests, and what as long as one. */
const shared = new Opened();
const opened = new Opened();
let gateway: ScriptedGateway;
let stateDirectory: string;
let host: ChildProcess;

beforeAll(async () => {
  gateway = await ScriptedGateway.start();
  shared.push(gateway);
  gateway.connect(1, { a: 1 });
  stateDirectory = await makeDirectory();
  host = await startHost();
});
afterAll(shared.close);
afterEach(opened.close);

async function makeDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "shim-processes-"));
  shared.push({ close: () => rm(path, { recursive: true, force: true }) });
  return path;
}

function hostArguments(directory = stateDirectory): string[] {
  return [HOST, directory, gateway.url, JSON.stringify([releaseOf("a")])];
}

/** A host in a process of its own, whose connector is published. */
async function startHost(): Promise<ChildProcess> {
  const child = spawn(process.execPath, hostArguments(), { stdio: ["ignore", "pipe", "inherit"] });
  shared.push({ close: () => kill(child) });
  await once(createInterface({ input: child.stdout }), "line");
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** The official client, with a shim that it spawned. `daemon`: what the shim may start. */
async function connect(
  revision: string,
  { directory = stateDirectory, daemon = [] }: { directory?: string; daemon?: readonly string[] } = {},
): Promise<Client> {
  const options =
    revision === "2026-07-28"
      ? { versionNegotiation: { mode: { pin: revision } } }
      : { supportedProtocolVersions: [revision] };
  const client = new Client({ name: "test-agent", version: "1" }, options);
  const args = [SHIM, directory, "desk", ...daemon];
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  opened.push(client);
  return client;
}

describe("H-23: official clients over stdio, through the shim, to a host in another process", () => {
  it("list and call at the newest and the oldest revision", async () => {
    const revisions = ["2026-07-28", "2024-11-05"];
    const clients = await Promise.all(revisions.map((revision) => connect(revision)));
    expect(clients.map((client) => client.getNegotiatedProtocolVersion())).toEqual(revisions);
    for (const client of clients) {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["a_echo"]);
      const result = await client.callTool({ name: "a_echo", arguments: { n: 1 } });
      expect(result).toMatchObject({ content: [{ text: '{"n":1}' }] });
    }
  });

  it("end the shim by leaving", async () => {
    const shim = spawn(process.execPath, [SHIM, stateDirectory, "desk"], { stdio: ["pipe", "pipe", "inherit"] });
    shim.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    const [line]: unknown[] = await once(createInterface({ input: shim.stdout }), "line");
    expect(line).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
    shim.stdin.end();
    const [code]: unknown[] = await once(shim, "exit");
    expect(code).toBe(0);
  });

  it("see their call end when the host is killed, and are served by the next host", async () => {
    const client = await connect("2025-11-25");
    const held = new Promise<void>((resolve) =>
      gateway.script("a", (call) => (call.method === "tools/call" ? resolve() : working(call))),
    );
    const ended = expect(client.callTool({ name: "a_echo", arguments: {} })).rejects.toMatchObject({
      data: { "sh.tutti/delivery": { delivery: "unknown", code: "connection_broken" } },
    });
    await held;
    await kill(host);
    await ended;
    gateway.script("a", working);
    await startHost();
    const result = await client.callTool({ name: "a_echo", arguments: { n: 2 } });
    expect(result).toMatchObject({ content: [{ text: '{"n":2}' }] });
  });

  it("two at once start one host, and none of their own", async () => {
    const directory = await makeDirectory();
    const options = { directory, daemon: hostArguments(directory) };
    const clients = await Promise.all([connect("2026-07-28", options), connect("2025-11-25", options)]);
    const connection = await connectToHost({ stateDirectory: directory });
    opened.push(connection);
    const { processId } = await connection.status();
    opened.push({ close: () => process.kill(processId, "SIGKILL") });
    for (const client of clients) {
      await expect.poll(async () => (await client.listTools()).tools.length, { timeout: 10_000, interval: 20 }).toBe(1);
    }
  });
});

it("the page of the local server shows the example as it runs", async () => {
  const source = await readFile("examples/stdio-shim.ts", "utf8");
  expect(await readFile("docs/local-server.md", "utf8")).toContain(`\`\`\`ts\n${source}\`\`\``);
});
