import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createHttpsServer, type ServerOptions } from "node:https";
import type { LookupFunction, Server } from "node:net";
import { TLSSocket } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
import { createUndiciExchange, HttpEndpoint, httpGet, resolveTransportOptions } from "../../../src/transport/index.js";
import {
  AUTHORITY,
  CLIENT_CERTIFICATE,
  CLIENT_KEY,
  SERVER_CERTIFICATE,
  SERVER_KEY,
} from "../../support/certificates.js";
import { ConnectProxy, type ConnectProxyOptions } from "../../support/connect-proxy.js";

const open: { close(): unknown }[] = [];
const VARIABLES = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"];
const environment = VARIABLES.map((name) => [name, process.env[name]] as const);

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  for (const [name, value] of environment) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

const answer: RequestListener = (request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    response.setHeader("Content-Type", "application/json");
    if (request.method === "GET") response.end("{}");
    else {
      const { id }: { readonly id: number } = JSON.parse(body);
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } }));
    }
  });
};

async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  server.listen(0, host);
  await once(server, "listening");
  open.push({ close: () => new Promise((resolve) => server.close(resolve)) });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function serveTls(options: ServerOptions = {}): Promise<{ port: number; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const server = createHttpsServer({ cert: SERVER_CERTIFICATE, key: SERVER_KEY, ...options }, (request, response) => {
    requests.push(request);
    answer(request, response);
  });
  return { port: await listen(server), requests };
}

async function startProxy(options?: ConnectProxyOptions): Promise<ConnectProxy> {
  const proxy = await ConnectProxy.start(options);
  open.push(proxy);
  return proxy;
}

function connect(endpoint: string, options: Partial<ModernStreamableHTTPClientOptions> = {}) {
  const made = new ModernStreamableHTTPClient({ endpoint, clientInfo: { name: "test", version: "1" }, ...options });
  open.unshift(made);
  return made;
}

const call = { name: "t" };
const contract = { parameters: [] };
const works = { content: [] };

/** A name server of one answer. It writes down what it is asked. */
function lookupTo(addresses: readonly string[], asked: string[] = []): LookupFunction {
  return (hostname, options, callback) => {
    asked.push(hostname);
    const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    if (options.all === true) callback(null, found);
    else callback(null, found[0]?.address ?? "", found[0]?.family);
  };
}

describe("F-16: TLS", () => {
  it("an authority that is not trusted fails not_sent; named in `ca` it is", async () => {
    const { port, requests } = await serveTls();
    const url = `https://127.0.0.1:${String(port)}/mcp`;
    await expect(connect(url).callTool(call, { contract })).rejects.toMatchObject({
      code: "connect_failed",
      delivery: "not_sent",
    });
    expect(requests).toHaveLength(0);
    await expect(connect(url, { ca: AUTHORITY }).callTool(call, { contract })).resolves.toEqual(works);
    const buffers = [Buffer.from(AUTHORITY)];
    await expect(connect(url, { ca: buffers }).callTool(call, { contract })).resolves.toEqual(works);
  });

  it("a client certificate is shown to the server that asks", async () => {
    const { port, requests } = await serveTls({ ca: AUTHORITY, requestCert: true, rejectUnauthorized: true });
    const url = `https://localhost:${String(port)}/mcp`;
    const clientCertificate = { cert: CLIENT_CERTIFICATE, key: CLIENT_KEY };
    const client = connect(url, { ca: AUTHORITY, clientCertificate });
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    const socket = requests[0]?.socket;
    expect(socket instanceof TLSSocket && socket.getPeerCertificate().subject.CN).toBe("Test client");
    await expect(connect(url, { ca: AUTHORITY }).callTool(call, { contract })).rejects.toMatchObject({
      delivery: expect.stringMatching(/^(?:unknown|not_sent)$/),
    });
    expect(requests).toHaveLength(1);
  });

  it("a name that the certificate does not carry fails not_sent, also after `lookup`", async () => {
    const { port } = await serveTls();
    const asked: string[] = [];
    const options = { ca: AUTHORITY, lookup: lookupTo(["127.0.0.1"], asked) };
    await expect(connect(`https://mcp.test:${String(port)}/`, options).callTool(call, { contract })).resolves.toEqual(
      works,
    );
    await expect(
      connect(`https://other.test:${String(port)}/`, options).callTool(call, { contract }),
    ).rejects.toMatchObject({
      code: "connect_failed",
      delivery: "not_sent",
      details: { reason: "ERR_TLS_CERT_ALTNAME_INVALID" },
    });
    expect(new Set(asked)).toEqual(new Set(["mcp.test", "other.test"]));
  });
});

describe("F-16: IPv4 and IPv6", () => {
  it.each(["127.0.0.1", "::1"])("localhost is reached where only %s listens", async (host) => {
    const port = await listen(createHttpServer(answer), host);
    const lookup = lookupTo(["127.0.0.1", "::1"]);
    const client = connect(`http://localhost:${String(port)}/`, { lookup });
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
  });
});

describe("F-16: a proxy", () => {
  it("is told the name, and sees nothing of what goes through it", async () => {
    const { port } = await serveTls();
    const proxy = await startProxy();
    const url = new URL(proxy.url);
    url.username = "me";
    url.password = "p@ss";
    const client = connect(`https://mcp.test:${String(port)}/mcp`, { ca: AUTHORITY, proxy: { url } });
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    const authorization = `Basic ${Buffer.from("me:p@ss").toString("base64")}`;
    expect(proxy.tunnels[0]).toEqual({ to: `mcp.test:${String(port)}`, authorization });
    await client.close();
    await expect.poll(() => proxy.openSockets).toBe(0);
  });

  it.each([
    ["a name", "me:", "me@"],
    ["an encoded name", "m@e:", "m%40e@"],
    ["an empty password", "me:", "me:@"],
  ])("authorizes with %s alone, as an address and by environment", async (_, credentials, userinfo) => {
    const { port } = await serveTls();
    const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
    const proxy = await startProxy();
    const url = proxy.url.replace("//", `//${userinfo}`);
    for (const name of VARIABLES) delete process.env[name];
    process.env["HTTPS_PROXY"] = url;
    process.env["HTTP_PROXY"] = "http://other:no@127.0.0.1:9";
    for (const option of [{ url }, "environment"] as const) {
      const client = connect(`https://mcp.test:${String(port)}/mcp`, { ca: AUTHORITY, proxy: option });
      await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    }
    expect(proxy.tunnels.map((tunnel) => tunnel.authorization)).toEqual([authorization, authorization]);
  });

  it("with userinfo that can't be decoded is refused, and not shown", () => {
    const url = "http://me:100%secret@127.0.0.1:9";
    let error: unknown;
    try {
      connect("https://mcp.test/", { proxy: { url } });
    } catch (caught) {
      error = caught;
    }
    expect(error).toMatchObject({ code: "invalid_options", details: { option: "proxy" } });
    expect(JSON.stringify(error)).not.toContain("secret");
  });

  it("covers plain reads alike, and http", async () => {
    const port = await listen(createHttpServer(answer));
    const proxy = await startProxy();
    const config = resolveTransportOptions({ proxy: { url: proxy.url } });
    const endpoint = new HttpEndpoint(new URL(`http://127.0.0.1:${String(port)}/`), config, undefined);
    open.unshift(endpoint);
    expect((await httpGet(endpoint)).status).toBe(200);
    expect(proxy.tunnels).toHaveLength(1);
  });

  it.each([407, 403, 502])("that answers %i fails not_sent", async (status) => {
    const proxy = await startProxy({ status });
    const client = connect("https://mcp.test/mcp", { proxy: { url: proxy.url } });
    await expect(client.callTool(call, { contract })).rejects.toMatchObject({
      code: "connect_failed",
      delivery: "not_sent",
    });
  });

  it("that is not there, or says nothing, fails not_sent", async () => {
    const gone = await ConnectProxy.start();
    await gone.close();
    await expect(
      connect("https://mcp.test/", { proxy: { url: gone.url } }).callTool(call, { contract }),
    ).rejects.toMatchObject({ code: "connect_failed", delivery: "not_sent", details: { reason: "ECONNREFUSED" } });
    const silent = await startProxy({ status: 0 });
    const client = connect("https://mcp.test/", { proxy: { url: silent.url } });
    await expect(client.callTool(call, { contract, connectTimeoutMs: 60 })).rejects.toMatchObject({
      code: "timeout",
      delivery: "not_sent",
      details: { phase: "connect" },
    });
    await client.close();
    await expect.poll(() => silent.openSockets).toBe(0);
  });

  it("gets no client certificate, and no header of ours", async () => {
    expect(() => connect("https://mcp.test/", { headers: { "Proxy-Authorization": "x" } })).toThrow(
      expect.objectContaining({ code: "invalid_header" }),
    );
  });
});

describe("F-16: a proxy by environment", () => {
  const clear = (): void => {
    for (const name of VARIABLES) delete process.env[name];
  };

  it.each(["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"])("%s is read", async (name) => {
    const { port } = await serveTls();
    const proxy = await startProxy();
    clear();
    process.env[name] = proxy.url;
    const client = connect(`https://mcp.test:${String(port)}/`, { ca: AUTHORITY, proxy: "environment" });
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    expect(proxy.tunnels).toHaveLength(1);
  });

  it.each([
    ["NO_PROXY", "mcp.test"],
    ["no_proxy", ".test, other.example"],
    ["NO_PROXY", "*"],
  ])("%s=%s is reached without", async (name, value) => {
    const { port } = await serveTls();
    const proxy = await startProxy();
    clear();
    process.env["HTTPS_PROXY"] = proxy.url;
    process.env[name] = value;
    const lookup = lookupTo(["127.0.0.1"]);
    const client = connect(`https://mcp.test:${String(port)}/`, { ca: AUTHORITY, lookup, proxy: "environment" });
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    expect(proxy.tunnels).toHaveLength(0);
  });

  it("loopback is reached without, and so is everything when no proxy is named or none is asked for", async () => {
    const { port } = await serveTls();
    const proxy = await startProxy();
    clear();
    const lookup = lookupTo(["127.0.0.1"]);
    const byName = `https://mcp.test:${String(port)}/`;
    const named = { ca: AUTHORITY, lookup, proxy: "environment" } as const;
    await expect(connect(byName, named).callTool(call, { contract })).resolves.toEqual(works);
    process.env["HTTPS_PROXY"] = proxy.url;
    await expect(connect(`https://127.0.0.1:${String(port)}/`, named).callTool(call, { contract })).resolves.toEqual(
      works,
    );
    await expect(connect(byName, { ca: AUTHORITY, lookup }).callTool(call, { contract })).resolves.toEqual(works);
    expect(proxy.tunnels).toHaveLength(0);
  });

  it("a variable that is no URL is refused by its name, and is not shown", () => {
    clear();
    process.env["HTTPS_PROXY"] = "me:secret@proxy:3128";
    let error: unknown;
    try {
      connect("https://mcp.test/", { proxy: "environment" });
    } catch (caught) {
      error = caught;
    }
    expect(error).toMatchObject({ code: "invalid_options", details: { option: "proxy" } });
    expect(JSON.stringify(error)).toContain("HTTPS_PROXY");
    expect(JSON.stringify(error)).not.toContain("secret");
  });
});

describe("F-15: addresses that may be connected to", () => {
  it.each(["127.0.0.1", "[::1]", "0x7f.1", "[::ffff:127.0.0.1]"])("%s is none of the internet's", async (host) => {
    const server = createHttpServer(answer);
    let connections = 0;
    server.on("connection", () => (connections += 1));
    const port = await listen(server);
    const options = { allowedAddresses: "public", allowInsecureHttp: true } as const;
    await expect(
      connect(`http://${host}:${String(port)}/`, options).callTool(call, { contract }),
    ).rejects.toMatchObject({
      code: "connect_failed",
      delivery: "not_sent",
      details: { reason: "ERR_ADDRESS_REFUSED" },
    });
    expect(connections).toBe(0);
  });

  it.each([[["127.0.0.1"]], [["10.0.0.1"]], [["8.8.8.8", "169.254.169.254"]], [["2606:4700::1", "fd00::1"]], [[]]])(
    "a name that stands for %j is refused",
    async (addresses) => {
      const options = { allowedAddresses: "public", lookup: lookupTo(addresses) } as const;
      await expect(connect("https://mcp.test/", options).callTool(call, { contract })).rejects.toMatchObject({
        code: "connect_failed",
        delivery: "not_sent",
        details: { reason: "ERR_ADDRESS_REFUSED" },
      });
    },
  );

  it("loopback by name and by address is reached when it is allowed, on the address that was looked at", async () => {
    const { port } = await serveTls();
    const asked: string[] = [];
    // The second answer would lead elsewhere.
    const answers = [["127.0.0.1"], ["10.0.0.1"]];
    const lookup: LookupFunction = (...args) => lookupTo(answers.shift() ?? [], asked)(...args);
    const options = { ca: AUTHORITY, allowedAddresses: "public_or_loopback", lookup } as const;
    await expect(connect(`https://mcp.test:${String(port)}/`, options).callTool(call, { contract })).resolves.toEqual(
      works,
    );
    expect(asked).toEqual(["mcp.test"]);
    await expect(connect(`https://127.0.0.1:${String(port)}/`, options).callTool(call, { contract })).resolves.toEqual(
      works,
    );
  });

  it("a lookup that fails is what it is", async () => {
    const lookup: LookupFunction = (_, __, callback) =>
      callback(Object.assign(new Error("none"), { code: "ENOTFOUND" }), "");
    await expect(
      connect("https://mcp.test/", { allowedAddresses: "public", lookup }).callTool(call, { contract }),
    ).rejects.toMatchObject({ code: "connect_failed", delivery: "not_sent", details: { reason: "ENOTFOUND" } });
  });

  it("a proxy, which would look names up, can't be combined with it", () => {
    const options = { allowedAddresses: "public", proxy: { url: "http://127.0.0.1:9" } } as const;
    expect(() => connect("https://mcp.test/", options)).toThrow(
      expect.objectContaining({
        code: "invalid_options",
        details: expect.objectContaining({ option: "allowedAddresses" }),
      }),
    );
  });
});

describe("F-16: the exchange that is made outside", () => {
  it("takes the same options, and refuses others", async () => {
    const { port } = await serveTls();
    const origin = `https://127.0.0.1:${String(port)}`;
    const exchange = createUndiciExchange({ origin, maxConnections: 4, ca: AUTHORITY });
    await expect(connect(`${origin}/mcp`, { exchange }).callTool(call, { contract })).resolves.toEqual(works);
    expect(() => createUndiciExchange(Object.assign({ origin, maxConnections: 4 }, { cas: AUTHORITY }))).toThrow(
      expect.objectContaining({
        code: "invalid_options",
        details: { option: "cas", reason: "unknown", suggestion: "ca" },
      }),
    );
  });
});
