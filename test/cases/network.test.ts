import { connect, createServer, type LookupFunction } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createOAuth } from "../../src/oauth/index.js";
import {
  answerResult,
  AuthorizationServer,
  likeModernServer,
  ProtectedServer,
  ScriptedServer,
} from "../../src/testing/index.js";
import { createUndiciExchange } from "../../src/transport/index.js";
import { AUTHORITY, SERVER_CERTIFICATE, SERVER_KEY } from "../support/certificates.js";
import { ConnectProxy } from "../support/connect-proxy.js";
import { Http2Server, respondResult } from "../support/http2-server.js";
import { CALL, connectTo, OK, PLAIN, serve } from "./parties.js";

const healthy = likeModernServer({ tools: [{ name: "t" }] });
const tls = { cert: SERVER_CERTIFICATE, key: SERVER_KEY };

describe("the way to the server", () => {
  it("MB-056: over HTTP/2 an open stream blocks calls, or each request has a connection of its own", async () => {
    const server = await Http2Server.start({
      answer(request) {
        if (!request.body.includes("subscriptions/listen")) {
          respondResult(request, OK);
          return;
        }
        request.stream.respond({ ":status": 200, "content-type": "text/event-stream" });
        const _meta = { "io.modelcontextprotocol/subscriptionId": request.id };
        const params = { notifications: filter, _meta };
        const message = { jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params };
        request.stream.write(`data: ${JSON.stringify(message)}\n\n`);
      },
    });
    onTestFinished(() => server.close());
    const filter = { toolsListChanged: true };
    const { origin } = new URL(server.url);
    const exchange = createUndiciExchange({ origin, maxConnections: 1, ca: AUTHORITY, http2: true });
    const { client } = connectTo(server.url, { exchange });
    const subscription = client.listen(filter);
    await expect(subscription.acknowledged).resolves.toEqual(filter);
    const calls = await Promise.all(Array.from({ length: 20 }, () => client.callTool(CALL, PLAIN)));
    expect(calls).toEqual(Array.from({ length: 20 }, () => OK));
    expect(server.connections).toBe(1);
    await client.close();
    await expect.poll(() => server.openSockets).toBe(0);
  });

  it("MB-059: a server that listens on one address family is not found by name", async () => {
    for (const host of ["127.0.0.1", "::1"]) {
      const server = await listening(host);
      if (server === undefined) continue;
      const port = String(server.port);
      const startedAt = performance.now();
      // As many machines have it: the name has both addresses, and the server listens on one of them.
      const { client: byName } = connectTo(`http://localhost:${port}/mcp`, { lookup: bothFamilies });
      await expect(byName.callTool(CALL, PLAIN)).resolves.toEqual(OK);
      const address = host === "::1" ? "[::1]" : host;
      const { client: byAddress } = connectTo(`http://${address}:${port}/mcp`);
      await expect(byAddress.callTool(CALL, PLAIN)).resolves.toEqual(OK);
      expect(performance.now() - startedAt).toBeLessThan(5_000);
      expect(server.requests.map((request) => request.header("host"))).toEqual([
        `localhost:${port}`,
        `${address}:${port}`,
      ]);
    }
    // As this machine has it.
    const { port } = await serve(() => answerResult(OK));
    await expect(connectTo(`http://localhost:${String(port)}/mcp`).client.callTool(CALL, PLAIN)).resolves.toEqual(OK);
    const closed = await ScriptedServer.start([]);
    await closed.close();
    const { client } = connectTo(`http://localhost:${String(closed.port)}/mcp`);
    await expect(client.callTool(CALL, PLAIN)).rejects.toMatchObject({
      code: "connect_failed",
      delivery: "not_sent",
      details: { reason: expect.stringContaining("ECONNREFUSED") },
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });

  it("MB-105: the proxy of the environment is ignored", async () => {
    const server = await serve(healthy, { tls });
    const proxy = await ConnectProxy.start();
    onTestFinished(() => proxy.close());
    for (const name of ["HTTPS_PROXY", "https_proxy"]) vi.stubEnv(name, proxy.url);
    for (const name of ["NO_PROXY", "no_proxy"]) vi.stubEnv(name, "");
    onTestFinished(() => void vi.unstubAllEnvs());
    // A name that nobody can look up: only the proxy knows the way.
    const endpoint = `https://mcp.test:${String(server.port)}/mcp`;
    const direct = connectTo(endpoint, { ca: AUTHORITY }).client;
    await expect(direct.discover()).rejects.toMatchObject({ code: "connect_failed", delivery: "not_sent" });
    expect(proxy.tunnels).toEqual([]);
    const client = connectTo(endpoint, { ca: AUTHORITY, proxy: "environment" }).client;
    await expect(client.discover()).resolves.toMatchObject({ supportedVersions: ["2026-07-28"] });
    await expect(client.listAllTools()).resolves.toMatchObject({ tools: [{ name: "t" }] });
    await expect(client.callTool({ name: "t" })).resolves.toMatchObject({ content: [{}] });
    await expect(client.listen({}).closed).resolves.toMatchObject({ kind: "refused", why: "unsupported" });
    expect(server.requests.map(({ method }) => method)).toEqual([
      "server/discover",
      "tools/list",
      "tools/call",
      "subscriptions/listen",
    ]);
    expect(new Set(proxy.tunnels.map(({ to }) => to))).toEqual(new Set([`mcp.test:${String(server.port)}`]));
    // Nothing came past the proxy: each connection of the server is one of its tunnels.
    expect(server.connections).toBe(proxy.tunnels.length);
    await signInThrough(proxy);
  });

  it("MB-107: a server of a private authority can be reached only by turning verification off for all", async () => {
    const server = await serve(healthy, { tls });
    const reason = "UNABLE_TO_VERIFY_LEAF_SIGNATURE";
    const refusal = { code: "connect_failed", delivery: "not_sent", details: { reason } };
    await expect(connectTo(server.url).client.discover()).rejects.toMatchObject(refusal);
    const trusting = connectTo(server.url, { ca: AUTHORITY }).client;
    await expect(trusting.discover()).resolves.toMatchObject({ supportedVersions: ["2026-07-28"] });
    // Trust is that client's alone, whoever came first.
    await expect(connectTo(server.url).client.discover()).rejects.toMatchObject(refusal);
    expect(process.env["NODE_TLS_REJECT_UNAUTHORIZED"]).toBeUndefined();
  });
});

/** Discovery, registration and token requests go where those of the client go: through the proxy, by the environment or by option. */
async function signInThrough(proxy: ConnectProxy): Promise<void> {
  const { issuer, front } = await secureIssuer();
  const server = await ProtectedServer.start(healthy, { authorizationServers: [issuer], server: { tls } });
  onTestFinished(() => server.close());
  const { pathname, port } = new URL(server.url);
  const origin = `https://mcp.test:${port}`;
  const resource = `${origin}${pathname}`;
  server.change({ resource, namesMetadata: `${origin}/.well-known/oauth-protected-resource${pathname}` });
  for (const how of ["environment", { url: proxy.url }] as const) {
    proxy.tunnels.splice(0);
    const before = issuer.requests.length;
    front.connections = 0;
    const transport = { ca: AUTHORITY, proxy: how };
    // A browser has a way of its own.
    const openUrl = (url: string): void => void fetch(url.replace(issuer.issuer, issuer.origin));
    const oauth = createOAuth({ clientName: "test", openUrl, transport });
    onTestFinished(() => oauth.close());
    const { client } = connectTo(resource, { ...transport, authorize: oauth, unknownTools: "call" });
    await expect(client.callTool({ name: "t" })).resolves.toMatchObject({ content: [{}] });
    expect(issuer.requests.slice(before).map(({ endpoint }) => endpoint)).toEqual([
      "metadata",
      "register",
      "authorize",
      "token",
    ]);
    const tunnels = proxy.tunnels.map(({ to }) => `https://${to}`);
    expect(new Set(tunnels)).toEqual(new Set([origin, issuer.issuer]));
    expect(front.connections).toBe(tunnels.filter((to) => to === issuer.issuer).length);
  }
}

/** An authorization server over https, by a name that nobody can look up, and how often somebody connected there. */
async function secureIssuer(): Promise<{ issuer: AuthorizationServer; front: { connections: number } }> {
  const front = { connections: 0 };
  let port = 0;
  const listener = createTlsServer(tls, (socket) => {
    front.connections += 1;
    const upstream = connect(port, "127.0.0.1");
    for (const each of [socket, upstream]) each.on("error", () => [socket, upstream].map((both) => both.destroy()));
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void listener.close());
  const address = listener.address();
  const name = `https://mcp.test:${String(typeof address === "object" && address !== null ? address.port : 0)}`;
  const issuer = await AuthorizationServer.start({ allowsRegistration: true, issuer: name });
  onTestFinished(() => issuer.close());
  port = Number(new URL(issuer.origin).port);
  return { issuer, front };
}

/** Gives every name both addresses of this machine, the one of IPv6 first. */
const bothFamilies: LookupFunction = (_name, options, found) => {
  const addresses = [
    { address: "::1", family: 6 },
    { address: "127.0.0.1", family: 4 },
  ];
  const [first] = addresses;
  if (options.all === true) found(null, addresses);
  else found(null, first?.address ?? "", first?.family);
};

/** A server on that address; `undefined` where the machine has no IPv6. */
async function listening(host: string): Promise<ScriptedServer | undefined> {
  return host === "::1" && !(await hasIPv6()) ? undefined : serve(() => answerResult(OK), { host });
}

async function hasIPv6(): Promise<boolean> {
  const probe = createServer();
  const error = await new Promise<unknown>((resolve) => {
    probe.once("error", resolve);
    probe.listen(0, "::1", () => resolve(undefined));
  });
  if (error === undefined) await new Promise((resolve) => probe.close(resolve));
  return error === undefined;
}
