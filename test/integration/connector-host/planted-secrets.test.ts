import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { inspect } from "node:util";
import pino from "pino";
import { afterEach, expect, it } from "vitest";
import {
  connectToHost,
  type ConnectorHost,
  importServers,
  openConnectorHost,
  reportStatus,
} from "../../../src/connector-host/index.js";
import { pinoLogger } from "../../../src/transport/index.js";
import { RawAgent } from "../../support/agent.js";
import { releaseOf } from "../../support/releases.js";
import {
  authorizingConnector,
  Cleanup,
  httpConnector,
  startCredentialUpstream,
  startGateway,
} from "../gateway/support.js";
import { HostParties } from "./host-parties.js";

const parties = new HostParties();
const cleanup = new Cleanup();

afterEach(async () => {
  await parties.opened.close();
  await cleanup.run();
});

/** One for each path that a secret goes, none of which holds another. */
const SECRETS = {
  cookie: "planted-cookie-1f",
  providerToken: "planted-provider-2e",
  wrongToken: "planted-wrong-3d",
  header: "planted-header-4c",
  brokenHeader: "planted-broken-5b",
  authorize: "planted-authorize-6a",
  variable: "planted-variable-79",
  argument: "planted-argument-88",
  programArgument: "planted-program-97",
  query: "planted-query-a6",
  userinfo: "planted-userinfo-b5",
  configured: "planted-configured-c4",
  result: "planted-result-d3",
} as const;

/** Says what it was given, on standard error, and ends: at once, or when a tool is called. */
const TALKATIVE = `
  const say = () => process.stderr.write(JSON.stringify([process.argv, process.env]) + "\\n");
  say();
  if (process.argv[1] === "ends") process.exit(3);
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    const answer = (result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
    if (method === "initialize") answer({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } });
    if (method === "tools/list") answer({ tools: [{ name: "echo", inputSchema: { type: "object" } }] });
    if (method === "tools/call") { process.stderr.write(line + "\\n"); process.exit(4); }
  });
`;

/** A server that shows whoever asks what it was sent, where it must not; \`/works\` has one tool. */
async function startServer(): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => answer(request, Buffer.concat(chunks).toString(), response));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanup.add(() => server.close().closeAllConnections());
  const address = server.address();
  return `127.0.0.1:${String(typeof address === "object" && address !== null ? address.port : 0)}`;
}

function answer({ headers, url = "" }: IncomingMessage, body: string, response: ServerResponse): void {
  const dump = JSON.stringify([url, headers, body]);
  const { id, method, params }: { id?: number; method?: string; params?: { name?: string } } = JSON.parse(body || "{}");
  const say = (result: string): void => {
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(`{"jsonrpc":"2.0","id":${String(id)},"result":${result}}`);
  };
  if (!url.startsWith("/works")) response.writeHead(url.startsWith("/denies") ? 401 : 500, { "X-Dump": "1" }).end(dump);
  else if (method === "server/discover") say('{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}');
  else if (method === "tools/list") {
    say(
      `{"tools":[${["echo", "breaks", "lies"].map((name) => `{"name":"${name}","inputSchema":{"type":"object"}}`).join()}]}`,
    );
  } else if (params?.name === "echo") say(`{"content":[{"type":"text","text":"${SECRETS.result}"}]}`);
  else if (params?.name === "lies")
    response.writeHead(200, { "Content-Type": "application/json" }).end(`{"no":"${SECRETS.result}"`);
  else response.writeHead(502, { "Content-Type": "text/html" }).end(dump);
}

/** Everything that comes out of a host, by where. */
class Outlet {
  readonly said: [where: string, text: string][] = [];

  /** As a person, a log and a debugger would see it. */
  note(where: string, value: unknown): void {
    this.said.push([
      where,
      typeof value === "string" ? value : inspect(value, { depth: Infinity, showHidden: true, getters: true }),
    ]);
    const json = JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? String(part) : part));
    if (typeof json === "string") this.said.push([where, json]);
  }

  /** What something fails with, causes and all. */
  async failure(where: string, failing: Promise<unknown>): Promise<void> {
    const failure: unknown = await failing.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure, where).toBeInstanceOf(Error);
    this.note(where, failure);
  }

  /** Whoever reads the files of a folder. */
  async files(folder: string): Promise<void> {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (entry.isFile())
        this.said.push([`file ${entry.name}`, (await readFile(join(entry.parentPath, entry.name))).toString("latin1")]);
    }
  }

  /** Where each secret is found that is found anywhere. */
  get found(): readonly string[] {
    const found = Object.entries(SECRETS).flatMap(([name, secret]) => {
      const spelt = [secret, Buffer.from(secret).toString("base64").replaceAll("=", ""), encodeURIComponent(secret)];
      return this.said
        .filter(([, text]) => spelt.some((spelling) => text.includes(spelling)))
        .map(([where]) => `${name}: ${where}`);
    });
    return [...new Set(found)].sort();
  }
}

/** What each connector is at. */
const states = async (host: ConnectorHost) =>
  Object.fromEntries((await host.status()).map(({ connectorKey, state, reason }) => [connectorKey, reason ?? state]));

it("F-6, H-3: a secret on any path through a host shows in nothing that the host says or keeps", async () => {
  const out = new Outlet();
  const folder = await parties.folder();
  const origin = await startServer();
  const isToken = (secret = ""): boolean => secret.replace("Bearer ", "") === SECRETS.providerToken;
  const provider = await startCredentialUpstream(cleanup, isToken);
  const gateway = await startGateway(
    cleanup,
    [
      authorizingConnector("mail", provider.url, { kind: "secret", verify: isToken }),
      httpConnector("odd", `http://${origin}/odd`),
    ],
    { accounts: [{ accountId: "ada", sessions: [SECRETS.cookie] }] },
  );
  const server = (slug: string, secret: string, query = "") => ({
    slug,
    displayName: slug,
    settings: { endpoint: `http://${origin}/${slug}${query}`, headers: { "X-Key": { secret } }, protocol: "modern" },
  });
  const program = (key: string) => ({
    key,
    displayName: key,
    command: process.execPath,
    args: ["-e", TALKATIVE, key, { secret: "programArgument" }],
    env: { VARIABLE: { secret: "variable" }, CONFIGURED: { env: "configured" } },
  });
  const value = (name: string): string | undefined => new Map<string, string>(Object.entries(SECRETS)).get(name);
  const host = await openConnectorHost({
    baseUrl: gateway.origin,
    releases: [releaseOf("mail"), releaseOf("odd", { authorization: { kind: "none" } })],
    registrations: [
      { ...server("works", "header", `?v=${SECRETS.query}`), newTools: "allow" },
      server("denies", "brokenHeader"),
    ],
    stdio: [program("ends"), program("talks")],
    secrets: { read: async (name) => value(name) },
    environment: { read: value },
    authorizeServer: ({ slug }) =>
      slug === "denies" ? () => ({ Authorization: `Bearer ${SECRETS.authorize}` }) : undefined,
    accounts: { authorize: () => ({ Cookie: `session=${SECRETS.cookie}` }) },
    hostInfo: { name: "test", version: "1.0.0" },
    hintsUrl: false,
    wakeBudgetMs: 50,
    stateDirectory: folder,
    logger: pinoLogger(
      pino(
        { level: "trace", serializers: { error: pino.stdSerializers.errWithCause } },
        { write: (line: string) => out.note("log", line) },
      ),
    ),
  });
  parties.opened.push(host);
  host.onPublication((event) => out.note("publication", event));
  host.events.subscribe((event) => out.note("event", event));
  host.signIn("ada");

  const { registrations } = host.connectors;
  await registrations.create(server("breaks", "brokenHeader", `?v=${SECRETS.query}`));
  await registrations.setState("breaks", "active");
  const withUserinfo = { endpoint: `http://u:${SECRETS.userinfo}@${origin}/` };
  await out.failure("create", registrations.create({ slug: "u", displayName: "U", settings: withUserinfo }));
  await out.failure("replace", registrations.replaceSettings("breaks", withUserinfo));
  const spelt = { endpoint: `http://${origin}/`, headers: { Authorization: SECRETS.header } };
  await out.failure("create", registrations.create({ slug: "u", displayName: "U", settings: spelt }));
  await out.failure("install", host.connectors.install(releaseOf("x", { endpoint: withUserinfo.endpoint })));
  await out.failure("authorize", (await host.authorize("mail", { secret: SECRETS.wrongToken })).result);
  const { result } = await host.authorize("mail", { secret: SECRETS.providerToken });
  expect(await result).toMatchObject({ published: true });
  await expect
    .poll(() => states(host), { timeout: 10_000, interval: 10 })
    .toMatchObject({ mail: "ready", works: "ready", talks: "ready" });
  await expect
    .poll(() => states(host), { timeout: 10_000, interval: 10 })
    .not.toMatchObject({ breaks: "starting", denies: "starting", ends: "starting", odd: "starting" });

  const agent = new RawAgent(host.bind({ workspaceId: "w", agentSessionId: "s" }));
  const args = { p: SECRETS.argument };
  expect((await agent.call("mail_echo", args)).text).toContain(SECRETS.providerToken);
  expect((await agent.call("works_echo", args)).text).toContain(SECRETS.result);
  for (const name of ["works_breaks", "works_lies", "works_none", "talks_echo", "odd_echo", "none"]) {
    const { error, text } = await agent.call(name, args);
    expect(error, name).toBeDefined();
    out.note("agent", text);
  }
  out.note("agent", (await agent.send("tools/call", { name: "works_echo", arguments: [SECRETS.argument] })).text);
  await gateway.close();
  out.note("agent", (await agent.call("mail_echo", args)).text);
  out.note("agent", (await agent.send("tools/list")).text);

  const control = await connectToHost({ stateDirectory: folder });
  cleanup.add(() => control.close());
  out.note("control", await control.status());
  const status = await host.status();
  out.note("status", status);
  out.note("report", reportStatus(status, { now: Date.now() }));
  out.note("connectors", host.connectors.list());
  out.note("flows", await host.authorizations());
  out.note("definition", registrations.list());
  const imported = {
    docs: { url: withUserinfo.endpoint, headers: { Authorization: `Bearer ${SECRETS.header}` } },
    files: { command: "files", env: { API_KEY: SECRETS.variable } },
  };
  out.note("import", await importServers(JSON.stringify({ mcpServers: imported })));
  const refused = {
    ...imported,
    bad: { url: `https://u:${SECRETS.userinfo}@h/#x`, headers: { A: `\n${SECRETS.header}` } },
  };
  out.note("import", await importServers(JSON.stringify({ mcpServers: refused })));
  await host.close();
  await out.files(folder);
  // An address is kept as it is, which shows that this test finds what there is.
  const definition = (await readdir(join(folder, "registrations")))[0];
  expect(out.found).toEqual(["query: definition", `query: file ${String(definition)}`]);
}, 20_000);
