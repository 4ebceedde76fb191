import { readFile, stat } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  type ConnectorHost,
  openConnectorHost,
  type OpenConnectorHostOptions,
} from "../../../src/connector-host/index.js";
import { RawAgent } from "../../support/agent.js";
import { releaseOf } from "../../support/releases.js";
import type { ScriptedGateway } from "../../support/scripted-gateway.js";
import { agentOf, arrived, becomes, holding, HostParties } from "./host-parties.js";
import { LineAgent, MODERN_META } from "./stdio-shim/line-agent.js";

const parties = new HostParties();

afterEach(parties.opened.close);

async function open(
  stateDirectory: string,
  gateway: { readonly url: string },
  options: Partial<OpenConnectorHostOptions> = {},
): Promise<ConnectorHost> {
  const host = await openConnectorHost({
    stateDirectory,
    baseUrl: gateway.url,
    releases: [releaseOf("a")],
    accounts: { authorize: ({ accountId }) => ({ Cookie: `session=${accountId}` }) },
    hostInfo: { name: "desk", version: "1.2.3" },
    hintsUrl: false,
    ...options,
  });
  parties.opened.push(host);
  return host;
}

/** The status of a request over a socket, or over TCP. */
function statusOf(options: {
  socketPath?: string;
  port?: string;
  path: string;
  headers?: Record<string, string>;
}): Promise<number> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: MODERN_META } });
  return new Promise((resolve, reject) => {
    const asked = request({ method: "POST", ...options }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on("error", reject).end(body);
  });
}

async function signedIn(host: ConnectorHost, accountId: string): Promise<void> {
  host.signIn(accountId);
  await becomes(host, { a: "ready" });
}

describe("H-20: a durable binding", () => {
  it("survives a restart, of its bearer only by the hash", async () => {
    const [gateway, folder] = [await parties.gateway({ a: 1 }), await parties.folder()];
    const first = await open(folder, gateway);
    const { headers } = await first.bindDurable({ name: "desk", accountId: "ada" });
    const revoked = await first.bindDurable({ name: "gone" });
    await first.revokeDurable("gone");
    await first.close();
    const token = headers.Authorization.slice("Bearer ".length);
    const files = await Promise.all(
      ["host.db", "host.db-wal"].map((name) => readFile(join(folder, name)).catch(() => "")),
    );
    for (const file of files) expect(file.includes(token)).toBe(false);
    const second = await open(folder, gateway);
    expect(second.durableBindings()).toEqual([{ name: "desk", accountId: "ada" }]);
    await signedIn(second, "ada");
    expect((await new RawAgent({ url: second.url, headers }).list()).names).toEqual(["a_echo"]);
    expect((await new RawAgent({ url: second.url, headers: revoked.headers }).send("tools/list")).status).toBe(401);
  });

  it("opens /mcp and nothing else, and nothing opens with a name but the agent socket's /mcp", async () => {
    const [gateway, folder] = [await parties.gateway(), await parties.folder()];
    const host = await open(folder, gateway);
    const { headers: bearer } = await host.bindDurable({ name: "desk" });
    const { port } = new URL(host.url);
    const named = { "Connector-Binding": "desk" };
    const [agentSocket, controlSocket] = [join(folder, "agent.sock"), join(folder, "control.sock")];
    expect((await stat(agentSocket)).mode & 0o777).toBe(0o600);
    for (const path of ["/", "/v1/status", "/v1/refresh", "/mcp/", "/metrics"]) {
      expect(await statusOf({ port, path, headers: bearer })).toBe(404);
      expect(await statusOf({ socketPath: agentSocket, path, headers: named })).toBe(404);
    }
    expect(await statusOf({ socketPath: controlSocket, path: "/mcp", headers: named })).toBe(404);
    // Whoever shows a bearer there is an agent, and is told nothing of what there is.
    expect(await statusOf({ socketPath: controlSocket, path: "/mcp", headers: { ...bearer, ...named } })).toBe(403);
    expect(await statusOf({ socketPath: agentSocket, path: "/mcp", headers: bearer })).toBe(403);
    expect(await statusOf({ port, path: "/mcp", headers: named })).toBe(401);
    expect(await statusOf({ socketPath: agentSocket, path: "/mcp", headers: named })).toBe(200);
    const browser = { ...named, Origin: "https://example.com" };
    expect(await statusOf({ socketPath: agentSocket, path: "/mcp", headers: browser })).toBe(403);
  });

  it("is not served where the agent socket is not wanted", async () => {
    const [gateway, folder] = [await parties.gateway(), await parties.folder()];
    await open(folder, gateway, { agentSocket: false });
    await expect(stat(join(folder, "agent.sock"))).rejects.toMatchObject({ code: "ENOENT" });
    await expect(stat(join(folder, "control.sock"))).resolves.toBeDefined();
  });
});

describe("P-8, H-20: over logins a durable binding", () => {
  async function begin(): Promise<{ gateway: ScriptedGateway; host: ConnectorHost; durable: RawAgent }> {
    const gateway = await parties.gateway({ a: 1 });
    const { host } = await parties.host(gateway, ["a"]);
    return { gateway, host, durable: new RawAgent(await host.bindDurable({ name: "desk", accountId: "ada" })) };
  }

  it("stays, and reaches its own account's connectors while that is signed in; a session's bearer ends", async () => {
    const { host, durable } = await begin();
    expect(await durable.list()).toEqual({ names: [], omitted: {} });
    await signedIn(host, "ada");
    const session = agentOf(host);
    expect((await durable.list()).names).toEqual(["a_echo"]);
    host.signOut();
    expect(await durable.list()).toEqual({ names: [], omitted: {} });
    expect((await durable.call("a_echo")).error?.data).toMatchObject({
      "sh.tutti/delivery": { delivery: "not_sent", code: "unknown_tool" },
    });
    expect((await session.send("tools/list")).status).toBe(401);
    await signedIn(host, "bob");
    expect((await durable.list()).names).toEqual([]);
    await signedIn(host, "ada");
    expect((await durable.list()).names).toEqual(["a_echo"]);
  });

  it("always reaches what belongs to the device, and a call of that goes on while accounts come and go", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const settings = { endpoint: `${gateway.url}/v1/connectors/docs/mcp`, protocol: "modern" };
    const registrations = [{ slug: "docs", displayName: "Docs", settings, newTools: "allow" }];
    const { host } = await parties.host(gateway, ["a"], { registrations });
    const durable = new RawAgent(await host.bindDurable({ name: "desk", accountId: "ada" }));
    await becomes(host, { a: "signed_out", docs: "ready" });
    expect((await durable.list()).names).toEqual(["docs_echo"]);
    const held = holding(gateway, "docs", "tools/call");
    const calling = durable.call("docs_echo");
    await arrived(held);
    host.signIn("ada");
    await becomes(host, { a: "ready", docs: "ready" });
    expect((await durable.list()).names).toEqual(["a_echo", "docs_echo"]);
    host.signOut();
    expect((await durable.list()).names).toEqual(["docs_echo"]);
    held[0]?.result('{"resultType":"complete","content":[]}');
    expect((await calling).result).toEqual({ resultType: "complete", content: [] });
  });

  it("is told of what a sign-out took away, on the stream that it listens on", async () => {
    const [gateway, folder] = [await parties.gateway({ a: 1 }), await parties.folder()];
    const host = await open(folder, gateway);
    await host.bindDurable({ name: "desk", accountId: "ada" });
    await signedIn(host, "ada");
    const agent = new LineAgent({ stateDirectory: folder }).listen();
    parties.opened.push({ close: () => agent.stdin.end() });
    await agent.askModern("tools/list");
    agent.sendModern("subscriptions/listen", { notifications: { toolsListChanged: true } });
    await agent.until(({ method }) => method === "notifications/subscriptions/acknowledged");
    host.signOut();
    await agent.until(({ method }) => method === "notifications/tools/list_changed");
    expect((await agent.askModern("tools/list")).result?.["tools"]).toEqual([]);
  });

  it("a call that spans a change of login ends, with the verdict on what was sent", async () => {
    const { gateway, host, durable } = await begin();
    await signedIn(host, "ada");
    const held = holding(gateway, "a", "tools/call");
    const calling = durable.call("a_echo");
    await arrived(held);
    host.signOut();
    expect((await calling).error?.data).toMatchObject({ "sh.tutti/delivery": { delivery: "unknown" } });
    await signedIn(host, "ada");
    expect(held).toHaveLength(1);
  });

  it("a call that waits for a connector over a change of login is not sent under the new one", async () => {
    const { gateway, host, durable } = await begin();
    await signedIn(host, "ada");
    host.signOut();
    const snapshots: (() => void)[] = [];
    gateway.onSnapshot = (call) => snapshots.push(() => call.answer());
    host.signIn("ada");
    const calling = durable.call("a_echo");
    await arrived(snapshots);
    // Its resolution has begun: it waits for the connector under this login.
    await expect.poll(() => gateway.calls.length).toBeGreaterThan(0);
    await durable.list();
    host.signOut();
    gateway.onSnapshot = undefined;
    await signedIn(host, "ada");
    const before = gateway.calls.filter(({ method }) => method === "tools/call").length;
    expect((await calling).error?.data).toMatchObject({
      "sh.tutti/delivery": { delivery: "not_sent", code: "cancelled", reason: "login_changed" },
    });
    expect(gateway.calls.filter(({ method }) => method === "tools/call")).toHaveLength(before);
  });
});
