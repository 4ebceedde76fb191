import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  connectToHost,
  type ConnectorHost,
  type HostConnection,
  openConnectorHost,
  type OpenConnectorHostOptions,
  reportStatus,
} from "../../../src/connector-host/index.js";
import { releaseOf } from "../../support/releases.js";
import { ScriptedGateway } from "../../support/scripted-gateway.js";

const cleanups: (() => unknown)[] = [];
let directory: string;
let path: string;

/** The files of a host's rows, and of its journal: what is left when it ends, and what is there while it is open. */
const LEFT = ["calls.db", "host.db"];
const OPEN = ["calls.db", "calls.db-wal", "host.db", "host.db-wal"];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "control-"));
  path = join(directory, "control.sock");
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  await rm(directory, { recursive: true, force: true });
});

async function openHost(options: Partial<OpenConnectorHostOptions> = {}): Promise<ConnectorHost> {
  const host = await openConnectorHost({
    baseUrl: "http://127.0.0.1:9",
    releases: [releaseOf("a")],
    accounts: { authorize: () => ({}) },
    hostInfo: { name: "desk", version: "1.2.3" },
    hintsUrl: false,
    stateDirectory: directory,
    // By itself: what is made beside it has tests of its own.
    agentSocket: false,
    ...options,
  });
  cleanups.push(() => host.close());
  return host;
}

async function reach(options: { timeoutMs?: number } = {}): Promise<HostConnection> {
  const connection = await connectToHost({ stateDirectory: directory, ...options });
  cleanups.push(() => connection.close());
  return connection;
}

interface Ask {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request of a program that is not ours. */
function ask({ method = "GET", url = "/v1/status", headers = {}, body = "" }: Ask) {
  return new Promise<{ status: number; body: unknown; headers: Record<string, unknown> }>((resolve, reject) => {
    const sent = request({ socketPath: path, method, path: url, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve({
          status: response.statusCode ?? 0,
          body: text === "" ? "" : JSON.parse(text),
          headers: response.headers,
        });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Somebody else at the place of the socket. */
async function impostor(answer: (socket: Socket) => void): Promise<void> {
  const server: Server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
}

describe("the control socket", () => {
  it("R-5: is there for its owner only while the host is open, and for nobody afterwards", async () => {
    const host = await openHost();
    expect((await stat(path)).isSocket()).toBe(true);
    expect(((await stat(path)).mode & 0o777).toString(8)).toBe("600");
    expect(await readdir(directory)).toEqual([...OPEN, "control.sock"].toSorted());
    await host.close();
    expect(await readdir(directory)).toEqual(LEFT);
  });

  it("R-5: tells another process what the host and its connectors are at", async () => {
    const gateway = await ScriptedGateway.start();
    cleanups.push(() => gateway.close());
    gateway.connect(1, { a: 1 });
    const host = await openHost({ baseUrl: gateway.url });
    const connection = await reach();
    expect(await connection.status()).toEqual({
      host: { name: "desk", version: "1.2.3" },
      processId: process.pid,
      nodeVersion: process.version,
      url: host.url,
      login: undefined,
      connectors: await host.status(),
      issues: [],
      gates: { account: "open", device: "open" },
      agents: { bindings: 0, durableBindings: 0, sessions: 0, listeners: 0, requests: 0 },
    });
    const login = host.signIn("ada");
    await expect.poll(async () => (await connection.status()).connectors[0]?.state, { timeout: 10_000 }).toBe("ready");
    const { login: seen, connectors } = await connection.status();
    expect(seen).toEqual(login);
    expect(connectors).toEqual(await host.status());
    const fetched = gateway.snapshots;
    await connection.refresh();
    await expect.poll(() => gateway.snapshots, { timeout: 5_000 }).toBeGreaterThan(fetched);
    host.signOut();
    await connection.refresh();
    expect((await connection.status()).login).toBeUndefined();
  });

  it("R-5, H-36: tells of connectors of the device too, what could not be read of them, gates, and who uses the host", async () => {
    await mkdir(join(directory, "registrations"), { mode: 0o700 });
    await writeFile(join(directory, "registrations", "odd.json"), "{");
    const settings = { endpoint: "http://127.0.0.1:9/mcp", protocol: "modern" };
    const host = await openHost({ registrations: [{ slug: "docs", displayName: "Docs", settings }] });
    host.bind({ workspaceId: "w", agentSessionId: "s" });
    await host.bindDurable({ name: "editor" });
    await host.gates.close("device");
    await host.connectors.setEnabled("docs", false);
    const connection = await reach();
    const { connectors, issues, gates, agents } = await connection.status();
    expect(connectors.map(({ connectorKey, reason }) => [connectorKey, reason])).toEqual([
      ["a", "signed_out"],
      ["docs", "switched_off"],
    ]);
    expect(issues).toEqual([{ file: "odd.json", member: "", reason: expect.any(String) }]);
    expect(gates).toEqual({ account: "open", device: "closed" });
    expect(agents).toEqual({ bindings: 1, durableBindings: 1, sessions: 0, listeners: 0, requests: 0 });
    // The one renderer takes what comes over the socket.
    expect(reportStatus(connectors, { now: Date.now() }).lines).toEqual([
      "a: authorization_required (signed_out)",
      expect.stringMatching(/^docs: disabled \(switched_off\)/),
    ]);
  });

  it("R-5: serves several at once", async () => {
    await openHost();
    const connections = await Promise.all([reach(), reach(), reach()]);
    const answers = await Promise.all(connections.flatMap((each) => [each.status(), each.status(), each.status()]));
    expect(new Set(answers.map(({ processId }) => processId))).toEqual(new Set([process.pid]));
  });

  it("R-5: takes the place of one that a killed process left, and of what it left half-made", async () => {
    const first = await openHost();
    const second = await mkdtemp(join(tmpdir(), "control-"));
    cleanups.push(() => rm(second, { recursive: true, force: true }));
    await first.close();
    // A socket that nobody listens on, and a directory in which one was being made.
    await impostor(() => undefined);
    await writeFile(join(directory, "control.d"), "left over");
    await openHost();
    expect((await ask({})).status).toBe(200);
    expect(await readdir(directory)).toEqual([...OPEN, "control.sock"].toSorted());
  });

  it("R-5: belongs to whoever has the store: another one gets store_in_use, and the socket stays", async () => {
    const host = await openHost();
    await expect(openHost()).rejects.toMatchObject({ code: "store_in_use" });
    expect((await (await reach()).status()).url).toBe(host.url);
  });

  it("R-5: that is another host's is not removed by one whose directory was deleted under it", async () => {
    const first = await openHost();
    await rm(directory, { recursive: true });
    const second = await openHost();
    await first.close();
    expect((await (await reach()).status()).url).toBe(second.url);
  });

  it.each<[string, () => Promise<unknown>]>([
    ["a directory is in its place", () => mkdir(join(path, "in-the-way"), { recursive: true })],
    [
      "a file is in the place of its directory",
      () => rm(directory, { recursive: true }).then(() => writeFile(directory, "")),
    ],
  ])("R-5: that can't be removed, since %s, keeps nothing of the host open", async (_, getInTheWay) => {
    const host = await openHost();
    await rm(path);
    await getInTheWay();
    await host.close();
    await rm(directory, { recursive: true });
    await openHost();
    expect((await ask({})).status).toBe(200);
  });

  it("R-5: refuses a browser, and everything that it does not know", async () => {
    await openHost();
    const origin = { Origin: "http://localhost" };
    expect(await ask({ headers: origin })).toMatchObject({
      status: 403,
      body: { error: { reason: "origin_refused" } },
    });
    expect(await ask({ method: "POST", url: "/v1/refresh", headers: origin })).toMatchObject({ status: 403 });
    expect(await ask({ url: "/" })).toMatchObject({ status: 404 });
    expect(await ask({ method: "POST" })).toMatchObject({ status: 405, headers: { allow: "GET" } });
    expect(await ask({ method: "POST", url: "/v1/refresh", body: "{}" })).toMatchObject({ status: 202, body: {} });
    const large = await ask({ method: "POST", url: "/v1/refresh", body: "x".repeat(2_000) });
    expect(large).toMatchObject({ status: 413, headers: { connection: "close" } });
  });

  it("R-5: takes and gives no bearer: what agents use stays with their server", async () => {
    const host = await openHost();
    const { url } = await (await reach()).status();
    expect(url).toBe(host.url);
    expect(await ask({ url: new URL(url).pathname, method: "POST", body: "{}" })).toMatchObject({ status: 404 });
  });

  it.each(["", Object(5)])("refuses the state directory %o by the option's name", async (stateDirectory) => {
    const refused = { code: "invalid_options", details: { option: "stateDirectory" } };
    await expect(openHost({ stateDirectory })).rejects.toMatchObject(refused);
  });

  it("R-5: is not there without a state directory, nor where it is not wanted", async () => {
    await openHost({ controlSocket: false });
    expect(await readdir(directory)).toEqual(OPEN);
    await expect(reach()).rejects.toMatchObject({
      code: "connect_failed",
      details: { origin: path, reason: "ENOENT" },
    });
    await openHost({ stateDirectory: undefined });
  });

  it("R-5: whose path is too long keeps the host from starting, by a typed error, and the store is free again", async () => {
    const long = join(directory, "d".repeat(100));
    const failed = { code: "listen_failed", details: { reason: "path_too_long", address: join(long, "control.sock") } };
    await expect(openHost({ stateDirectory: long })).rejects.toMatchObject(failed);
    await expect(connectToHost({ stateDirectory: long })).rejects.toMatchObject({
      code: "connect_failed",
      details: { reason: "path_too_long" },
    });
    await openHost({ stateDirectory: long, controlSocket: false });
  });

  it("R-5: that can't be made keeps the host from starting, and the store is free again", async () => {
    await writeFile(join(directory, "file"), "");
    await mkdir(join(path, "in-the-way"), { recursive: true });
    await expect(openHost()).rejects.toMatchObject({ code: "listen_failed", details: { address: path } });
    expect(await readdir(directory)).toEqual(["control.sock", "file", ...LEFT].toSorted());
    await rm(path, { recursive: true });
    await openHost();
  });
});

describe("a host that can't be talked to", () => {
  it("R-5: is not there: connect_failed", async () => {
    await expect(reach()).rejects.toMatchObject({
      code: "connect_failed",
      delivery: "not_sent",
      details: { origin: path, reason: "ENOENT" },
    });
  });

  it("R-5: was there: connect_failed, and everything that is asked later too", async () => {
    const host = await openHost();
    const connection = await reach();
    await host.close();
    await expect(connection.status()).rejects.toMatchObject({ code: "connect_failed", details: { reason: "ENOENT" } });
    await expect(connection.refresh()).rejects.toMatchObject({ code: "connect_failed" });
  });

  it("R-5: ends while it is asked: connection_broken", async () => {
    await impostor((socket) => socket.once("data", () => socket.destroy()));
    await expect(reach()).rejects.toMatchObject({ code: "connection_broken", delivery: "unknown" });
  });

  it("R-5: says nothing: timeout", async () => {
    await impostor((socket) => cleanups.push(() => socket.destroy()));
    await expect(reach({ timeoutMs: 50 })).rejects.toMatchObject({ code: "timeout", delivery: "unknown" });
  });

  it("R-5: refuses: unexpected_answer with what it says", async () => {
    await impostor((socket) => {
      socket.once("data", () => socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nno\u0007!"));
    });
    await expect(reach()).rejects.toMatchObject({
      code: "unexpected_answer",
      delivery: "answered",
      details: { status: 404, snippet: "no !" },
    });
  });

  it("R-5: is something else: invalid_answer", async () => {
    await impostor((socket) => {
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"));
    });
    await expect(reach()).rejects.toMatchObject({ code: "invalid_answer", delivery: "answered" });
  });

  it("R-5: answers without an end: limit_exceeded", async () => {
    await impostor((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.write(`HTTP/1.1 200 OK\r\n\r\n${"x".repeat(5 * 1024 * 1024)}`));
      cleanups.push(() => socket.destroy());
    });
    await expect(reach()).rejects.toMatchObject({ code: "limit_exceeded" });
  });

  it("R-5: is not asked any more after close: cancelled", async () => {
    await openHost();
    const connection = await reach();
    await connection.close();
    await connection.close();
    await expect(connection.status()).rejects.toMatchObject({ code: "cancelled" });
  });

  it.each([
    [{ stateDirectory: "" }, "stateDirectory"],
    [{ stateDirectory: "x", timeoutMs: 0 }, "timeoutMs"],
    [{ stateDirectory: "x", timeout: 1 }, "timeout"],
  ])("refuses the options %o", async (options, option) => {
    await expect(connectToHost(options)).rejects.toMatchObject({ code: "invalid_options", details: { option } });
  });
});
