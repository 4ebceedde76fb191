import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectToHost } from "../../../../src/connector-host/control/index.js";
import { Opened } from "../../../support/opened.js";
import { releaseOf } from "../../../support/releases.js";
import { ScriptedGateway, working } from "../../../support/scripted-gateway.js";

const SHIM = "build/examples/stdio-shim.js";
const HOST = "build/test/programs/shim-host.js";

const opened = new Opened();
let gateway: ScriptedGateway;
let stateDirectory: string;
let host: ChildProcess;
let clients: readonly Client[];
/** A shim that nobody has said anything to yet. */
let quiet: ChildProcessByStdio<Writable, Readable, null>;

const REVISIONS = ["2026-07-28", "2024-11-05"];

beforeAll(async () => {
  gateway = await ScriptedGateway.start();
  opened.push(gateway);
  gateway.connect(1, { a: 1 });
  stateDirectory = await mkdtemp(join(tmpdir(), "shim-processes-"));
  opened.push({ close: () => rm(stateDirectory, { recursive: true, force: true }) });
  host = await startHost();
  quiet = spawn(process.execPath, [SHIM, stateDirectory, "desk"], { stdio: ["pipe", "pipe", "inherit"] });
  opened.push({ close: () => kill(quiet) });
  clients = await Promise.all(REVISIONS.map(connect));
});
afterAll(opened.close);

function hostArguments(): string[] {
  return [HOST, stateDirectory, gateway.url, JSON.stringify([releaseOf("a")])];
}

/** A host in a process of its own, whose connector is published. */
async function startHost(): Promise<ChildProcess> {
  const child = spawn(process.execPath, hostArguments(), { stdio: ["ignore", "pipe", "inherit"] });
  opened.push({ close: () => kill(child) });
  await once(createInterface({ input: child.stdout }), "line");
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** The official client, with a shim that it spawned, which may start a host. */
async function connect(revision: string): Promise<Client> {
  const options =
    revision === "2026-07-28"
      ? { versionNegotiation: { mode: { pin: revision } } }
      : { supportedProtocolVersions: [revision] };
  const client = new Client({ name: "test-agent", version: "1" }, options);
  const args = [SHIM, stateDirectory, "desk", ...hostArguments()];
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  opened.push(client);
  return client;
}

describe("H-23: official clients over stdio, through shims, to a host in another process", () => {
  it("list and call at the newest and the oldest revision", async () => {
    expect(clients.map((client) => client.getNegotiatedProtocolVersion())).toEqual(REVISIONS);
    for (const client of clients) {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["a_echo"]);
      const result = await client.callTool({ name: "a_echo", arguments: { n: 1 } });
      expect(result).toMatchObject({ content: [{ text: '{"n":1}' }] });
    }
  });

  it("see their calls end when the host is killed, and start the next one, which serves both", async () => {
    let calls = 0;
    const held = new Promise<void>((resolve) =>
      gateway.script("a", (call) => {
        if (call.method !== "tools/call") return working(call);
        calls += 1;
        if (calls === clients.length) resolve();
        return undefined;
      }),
    );
    const ended = clients.map((client) =>
      expect(client.callTool({ name: "a_echo", arguments: {} })).rejects.toMatchObject({
        data: { "sh.tutti/delivery": { delivery: "unknown", code: "connection_broken" } },
      }),
    );
    await held;
    await kill(host);
    await Promise.all(ended);
    gateway.script("a", working);
    await Promise.all(
      clients.map((client) =>
        expect.poll(async () => (await client.listTools()).tools.length, { timeout: 10_000, interval: 20 }).toBe(1),
      ),
    );
    const connection = await connectToHost({ stateDirectory });
    opened.push(connection);
    const { processId } = await connection.status();
    opened.push({ close: () => process.kill(processId, "SIGKILL") });
    for (const client of clients) {
      const result = await client.callTool({ name: "a_echo", arguments: { n: 2 } });
      expect(result).toMatchObject({ content: [{ text: '{"n":2}' }] });
    }
  });
});

it("H-23: a shim answers the lines that were piped into it, and ends", async () => {
  const exit = once(quiet, "exit");
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "a_echo", arguments: { n: 3 }, _meta } };
  quiet.stdin.end(`{"jsonrpc":"2.0","id":1,"method":"ping"}\n${JSON.stringify(call)}\n`);
  const [pong, answer] = (await text(quiet.stdout)).split("\n");
  expect(pong).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
  expect(answer).toContain('"id":2,"result":');
  expect(await exit).toEqual([0, null]);
});

it("the page of the local server shows the example as it runs", async () => {
  const source = await readFile("examples/stdio-shim.ts", "utf8");
  expect(await readFile("docs/local-server.md", "utf8")).toContain(`\`\`\`ts\n${source}\`\`\``);
});
