import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { trace } from "@opentelemetry/api";
import { BasicTracerProvider, type ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
import { ScriptedServer, type ScriptedServerOptions } from "../../../src/testing/index.js";
import { createFetchExchange, type Exchange, EXCHANGE_CHANNELS } from "../../../src/transport/index.js";
import { CLIENT_KEY, SERVER_CERTIFICATE, SERVER_KEY } from "../../support/certificates.js";
import { ConnectProxy } from "../../support/connect-proxy.js";
import { httpAnswer, idOf, RawServer } from "../../support/raw-server.js";
import { callSecretly, type Scene, SCENES, SENTINEL, secretOptions, VARIABLE } from "./secret-scenes.js";
import { connect, serve } from "./support.js";

/** What was told of exchanges, in spans and to `onDiagnostic` and `logger`. */
const told: unknown[] = [];
const listen = (event: unknown): void => void told.push(event);
function listenAll(...said: unknown[]): void {
  told.push(said);
}
function listenToSpan({ name, attributes, events, links, status, parentSpanContext }: ReadableSpan): void {
  told.push({ name, attributes, events, links, status, parentSpanContext });
}
const CHANNELS = Object.values(EXCHANGE_CHANNELS);
const logger = { debug: listenAll, info: listenAll, warn: listenAll, error: listenAll };
const nothing = (): Promise<void> => Promise.resolve();
let folder: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "secrets-"));
  file = join(folder, "secret");
  await writeFile(file, "SENTINEL-file\n");
  process.env[VARIABLE] = "SENTINEL-env";
  for (const name of CHANNELS) subscribe(name, listen);
  const listener = { onStart: () => undefined, onEnd: listenToSpan, forceFlush: nothing, shutdown: nothing };
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [listener] }));
});

afterAll(async () => {
  for (const name of CHANNELS) unsubscribe(name, listen);
  trace.disable();
  Reflect.deleteProperty(process.env, VARIABLE);
  await rm(folder, { recursive: true });
});

/** Lines of the private key, and the credentials as they go to a proxy. */
const OTHER_SECRETS = [
  ...CLIENT_KEY.split("\n").filter((line) => line !== "" && !line.startsWith("-----")),
  Buffer.from("SENTINEL-user:SENTINEL-password").toString("base64"),
];

function secretsIn(text: string): string[] {
  const found: string[] = text.match(new RegExp(`.{0,60}${SENTINEL}[\\w-]*`, "gi")) ?? [];
  return [...found, ...OTHER_SECRETS.filter((secret) => text.includes(secret))];
}

/** Every form in which a value can be shown. The cause, when it is the caller's own, is not one of the error's. */
function formsOf(value: unknown, without: { cause: boolean }): string {
  if (!isRemoteConnectorError(value)) return inspect(value, { depth: null, showHidden: true });
  const shown: object = without.cause ? value.withEvidence(value.delivery, EVIDENCE) : value;
  if (without.cause) Reflect.deleteProperty(shown, "cause");
  return [
    value.message,
    String(value),
    JSON.stringify(value),
    value.stack,
    inspect(shown, { depth: null, showHidden: true }),
  ].join("\n");
}

const TLS = { key: SERVER_KEY, cert: SERVER_CERTIFICATE };
const EVIDENCE = { handedOver: false, headersSeen: false, messages: 0, elapsedMs: 0, attempts: 0 };

const failureOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "it succeeded",
    (error: unknown) => error,
  );

const enforce = (client: ModernStreamableHTTPClient): Promise<unknown> =>
  client.callTool({ name: "t", arguments: { b: "SENTINEL-argument" } }, { outputCheck: "enforce" });
const prompt = (client: ModernStreamableHTTPClient): Promise<unknown> =>
  client.getPrompt({ name: "p", arguments: { b: "SENTINEL-argument" } });

const endpointOf = (url: string): string => `${url}?key=SENTINEL-query`;

const CONNECTION_OPTIONS = ["lookup", "connectTimeoutMs"];

async function playScene(
  _name: string,
  { code, answer, options, call, ownCause }: Scene,
  exchangeTo?: (origin: string) => Exchange,
): Promise<void> {
  told.length = 0;
  const server = await RawServer.start(answer ?? (() => undefined));
  const url = options?.lookup === undefined ? server.url : server.url.replace("127.0.0.1", "localhost");
  const exchange = exchangeTo?.(new URL(url).origin);
  const withExchange = exchange === undefined ? {} : { exchange, ca: undefined, clientCertificate: undefined };
  const all = { ...secretOptions(file), onDiagnostic: listen, logger, ...options, ...withExchange };
  const client = connect(endpointOf(url), all);
  const error = await failureOf((call ?? callSecretly)(client));
  expect(error).toMatchObject({ code });
  expect(secretsIn(formsOf(error, { cause: ownCause === true }))).toEqual([]);
  expect(secretsIn(inspect(told, { depth: null, showHidden: true }))).toEqual([]);
  expect(secretsIn(inspect(client, { depth: null, showHidden: true }))).toEqual([]);
  if (ownCause === true) expect(error).toMatchObject({ cause: { message: "SENTINEL-own" } });
  await client.close();
  await server.close();
}

describe("F-6: no secret in any form of an error, nor in what listeners are told", () => {
  it.each(Object.entries(SCENES))("F-6: %s", playScene);

  // An exchange that is given heeds none of the options of connections.
  it.each(
    Object.entries(SCENES).filter(([, { options }]) => !CONNECTION_OPTIONS.some((name) => name in (options ?? {}))),
  )("F-6, F-20: %s, over fetch", (name, scene) => playScene(name, scene, (origin) => createFetchExchange({ origin })));

  it("F-6, F-20: a fetch of one's own that writes the URL into its error", async () => {
    const fetch = (url: string): Promise<Response> =>
      Promise.reject(new Error(`request to ${url.replace("://", "://SENTINEL-u:SENTINEL-p@")} failed`));
    const url = "http://127.0.0.1:9/mcp";
    const { headers, authorize } = secretOptions(file);
    const exchange = createFetchExchange({ origin: new URL(url).origin, fetch });
    const error = await failureOf(callSecretly(connect(endpointOf(url), { headers, authorize, exchange })));
    expect(error).toMatchObject({ code: "connection_broken", delivery: "unknown" });
    expect(secretsIn(formsOf(error, { cause: false }))).toEqual([]);
  });

  it("F-6, F-2: a caller's abort is its own reason, and nothing else is told", async () => {
    told.length = 0;
    const server = await RawServer.start(() => undefined);
    const client = connect(endpointOf(server.url), secretOptions(file));
    const reason = new Error("mine");
    const aborting = new AbortController();
    const failure = failureOf(callSecretly(client, { signal: aborting.signal }));
    await expect.poll(() => server.requests.length).toBe(1);
    aborting.abort(reason);
    expect(await failure).toBe(reason);
    expect(secretsIn(inspect([reason, told], { depth: null, showHidden: true }))).toEqual([]);
    await client.close();
    await server.close();
  });

  it("F-6: every secret was sent, so that there was something to show", async () => {
    const server = await RawServer.start((request) =>
      request.socket.write(httpAnswer(`{"jsonrpc":"2.0","id":${String(idOf(request))},"result":{"content":[]}}`)),
    );
    told.length = 0;
    const client = connect(endpointOf(server.url), { ...secretOptions(file), logger });
    await callSecretly(client, { requestState: "SENTINEL-state", inputResponses: { k: "SENTINEL-response" } });
    expect(told).toContainEqual(expect.objectContaining({ name: "tools/call t", attributes: expect.anything() }));
    expect(told).toContainEqual(["An exchange ended.", expect.anything()]);
    const sent = server.requests.map(({ head, body }) => head + body).join("");
    const places = new Set(sent.match(/SENTINEL-[\w-]+/g));
    expect([...places].map((place) => place.slice(SENTINEL.length + 1)).sort()).toEqual(
      "argument authorize call-meta client-meta env file function literal mirrored query response state".split(" "),
    );
    await client.close();
    await server.close();
  });

  it("F-6, F-3: a peer's error is bounded where it is text for people, and whole only in the details that are its own", async () => {
    const text = `${"x".repeat(512)}SENTINEL-message`;
    const error = { code: 7, message: text, data: { secret: "SENTINEL-data" } };
    const challenge = "WWW-Authenticate: Bearer hint\r\nSet-Cookie: SENTINEL-cookie\r\n";
    const server = await RawServer.start((request) =>
      request.socket.write(
        httpAnswer(JSON.stringify({ jsonrpc: "2.0", id: idOf(request), error }), { status: 401, headers: challenge }),
      ),
    );
    const client = connect(endpointOf(server.url), secretOptions(file));
    const caught = await failureOf(callSecretly(client));
    if (!isRemoteConnectorError(caught, "peer_error")) throw caught;
    const { rpcMessage, rpcData, ...rest } = caught.details;
    expect({ rpcMessage, rpcData, hint: rest.wwwAuthenticate }).toEqual({
      rpcMessage: text,
      rpcData: error.data,
      hint: "Bearer hint",
    });
    expect(secretsIn([caught.message, String(caught), caught.stack, inspect(rest)].join("\n"))).toEqual([]);
    await client.close();
    await server.close();
  });
});

describe("F-6: no secret of what a server lists and answers", () => {
  const tools = (tool: object) => ({ tools: [{ name: "t", inputSchema: { type: "object" }, ...tool }] });
  const answered = (value: unknown) => ({ resultType: "complete", content: [], structuredContent: { k: value } });
  const output = (k: object) => tools({ outputSchema: { type: "object", properties: { k }, required: ["k"] } });

  it.each<[string, string, object, object, (client: ModernStreamableHTTPClient) => Promise<unknown>]>([
    ["output of another type", "invalid_output", output({ type: "number" }), answered("SENTINEL"), enforce],
    ["output that is none of these", "invalid_output", output({ enum: ["a"] }), answered("SENTINEL"), enforce],
    ["output that is not this", "invalid_output", output({ const: "a" }), answered("SENTINEL"), enforce],
    ["output of another form", "invalid_output", output({ pattern: "^a$" }), answered("SENTINEL"), enforce],
    [
      "annotations that are invalid",
      "invalid_tool",
      tools({ inputSchema: { type: "object", properties: { a: { type: "string", "x-mcp-header": "SENTINEL\r\n" } } } }),
      {},
      (client) => client.callTool({ name: "t", arguments: { a: "SENTINEL" } }),
    ],
    ["a cursor again and again", "no_progress", { ...tools({}), nextCursor: "SENTINEL" }, {}, (c) => c.listAllTools()],
    ["a list that is none", "invalid_answer", { tools: "SENTINEL" }, {}, (client) => client.listAllTools()],
    ["a prompt that is none", "invalid_answer", {}, { messages: "SENTINEL" }, prompt],
    ["a result of no known type", "invalid_answer", {}, { resultType: "x".repeat(64) + SENTINEL }, prompt],
  ])("F-6: %s", async (_name, code, list, result, call) => {
    told.length = 0;
    const server = await serve((method) => (method === "tools/list" ? list : result));
    const client = connect(endpointOf(server.url), { ...secretOptions(file), onDiagnostic: listen, logger });
    const error = await failureOf(call(client));
    expect(error).toMatchObject({ code });
    expect(secretsIn(formsOf(error, { cause: false }))).toEqual([]);
    expect(secretsIn(inspect(told, { depth: null, showHidden: true }))).toEqual([]);
  });
});

describe("F-6, F-16: no secret of a connection that can't be made", () => {
  it.each([407, 403, 502, 504])("F-6, F-16: a proxy that answers %i", async (status) => {
    const proxy = await ConnectProxy.start({ status });
    const address = { url: proxy.url.replace("://", "://SENTINEL-user:SENTINEL-password@") };
    const client = connect("https://mcp.test/mcp?key=SENTINEL-query", { ...secretOptions(file), proxy: address });
    const error = await failureOf(callSecretly(client));
    expect(error).toMatchObject({ code: "connect_failed", delivery: "not_sent" });
    expect(proxy.tunnels[0]?.authorization).toContain(OTHER_SECRETS.at(-1));
    expect(secretsIn(formsOf(error, { cause: false }))).toEqual([]);
    await client.close();
    await proxy.close();
  });

  it.each<[string, string, ScriptedServerOptions, Partial<ModernStreamableHTTPClientOptions>]>([
    ["a certificate that nobody trusts", "connect_failed", { tls: TLS }, { ca: undefined }],
    ["a handshake that is cut", "connect_failed", { tls: TLS, connections: ["reset", "reset"] }, {}],
    ["a handshake that stalls", "timeout", { tls: TLS, connections: ["silent", "silent"] }, { connectTimeoutMs: 100 }],
  ])("F-6, F-16: %s", async (_name, code, behaviour, options) => {
    const server = await ScriptedServer.start([], behaviour);
    const client = connect(endpointOf(server.url), { ...secretOptions(file), ...options });
    const error = await failureOf(callSecretly(client));
    expect(error).toMatchObject({ code, delivery: "not_sent" });
    expect(secretsIn(formsOf(error, { cause: false }))).toEqual([]);
    await client.close();
    await server.close();
  });

  it.each([
    ["userinfo in the endpoint", "invalid_url", { endpoint: "https://SENTINEL-u:SENTINEL-p@x.example/?k=SENTINEL-k" }],
    ["userinfo in the path", "invalid_url", { endpoint: "ftp://x.example/SENTINEL-u:SENTINEL-p@y/?k=SENTINEL-k" }],
    ["a fragment", "invalid_url", { endpoint: "https://x.example/#SENTINEL-fragment" }],
    ["no URL", "invalid_url", { endpoint: "SENTINEL" }],
    ["a proxy that is none", "invalid_options", { proxy: { url: "ftp://SENTINEL-u:SENTINEL-p@proxy.example" } }],
    ["a key that is none", "invalid_options", { clientCertificate: { cert: "SENTINEL-c", key: "SENTINEL-k" } }],
    ["a header's value", "invalid_header", { headers: { "X-A": "SENTINEL\r\n" } }],
    ["a limit that is none", "invalid_options", { maxBodyBytes: "SENTINEL" }],
    ["_meta that is ours", "invalid_options", { meta: { "io.modelcontextprotocol/protocolVersion": "SENTINEL" } }],
  ])("F-6, F-17: what is refused when the client is made is not shown: %s", (_name, code, options: object) => {
    let error: unknown;
    try {
      void new ModernStreamableHTTPClient({ endpoint: "https://x.example/", clientInfo: false, ...options });
    } catch (caught) {
      error = caught;
    }
    expect(error).toMatchObject({ code });
    expect(secretsIn(formsOf(error, { cause: false }))).toEqual([]);
  });
});
