import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { GatewayConnector } from "../../../src/gateway/index.js";
import { ModernStreamableHTTPClient } from "../../../src/modern-client/index.js";
import {
  admin,
  type CallSpec,
  Cleanup,
  httpConnector,
  json,
  post,
  raw,
  type Received,
  startGateway,
  startUpstream,
  stdioConnector,
  VERSION,
} from "./support.js";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const EVERYTHING = ["completions", "prompts", "resources", "subscriptions"] as const;
const offering = (connector: GatewayConnector, offers: GatewayConnector["offers"] = EVERYTHING): GatewayConnector => ({
  ...connector,
  offers,
});

/** A request of each method, and a result with everything that must survive. */
const METHODS: readonly { method: string; params: Record<string, unknown>; name?: string; result: string }[] = [
  {
    method: "prompts/list",
    params: { cursor: "" },
    result: '{"prompts":[{ "name":"p","n":18446744073709551616}],"nextCursor":"1"',
  },
  { method: "resources/list", params: {}, result: '{"resources":[{ "uri":"x:1","size":1e400}]' },
  { method: "resources/templates/list", params: {}, result: '{"resourceTemplates":[{ "uriTemplate":"x:{id}"}]' },
  { method: "prompts/get", params: { name: "p" }, name: "p", result: '{"messages":[ ],"n":9007199254740993' },
  { method: "resources/read", params: { uri: "x:1" }, name: "x:1", result: '{"contents":[ ],"n":9007199254740993' },
  {
    method: "completion/complete",
    params: { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "b" } },
    result: '{"completion":{"values":[],"total":18446744073709551616}',
  },
];
const CACHED = new Set(["prompts/list", "resources/list", "resources/templates/list", "resources/read"]);

const specOf = ({ method, params, name }: (typeof METHODS)[number], changes: Partial<CallSpec> = {}): CallSpec => ({
  connectorId: "c",
  method,
  params,
  ...(name === undefined ? {} : { headers: { "Mcp-Name": name } }),
  ...changes,
});

/** A program that answers each line with what `answers` has for its method. */
function program(capabilities: object, answers: Record<string, string>, more = ""): string[] {
  const source = [
    "const { createInterface } = require('node:readline');",
    "const out = (text) => process.stdout.write(text + '\\n');",
    `const answers = ${JSON.stringify(answers)};`,
    "createInterface({ input: process.stdin }).on('line', (line) => {",
    "  const { id, method, params } = JSON.parse(line);",
    `  if (method === 'initialize') out(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25', capabilities: ${JSON.stringify(capabilities)}, serverInfo: { name: 's', version: '1' } } }));`,
    '  else if (answers[method]) out(`{"jsonrpc":"2.0","id":${id},${answers[method]}}`);',
    more,
    "});",
  ];
  return ["-e", source.join("\n")];
}

describe("what an upstream has beside tools", () => {
  it("C-5, H-26: of a modern one every result passes with its own bytes, and every request with the caller's", async () => {
    const upstream = await startUpstream(cleanup, ({ id, method, response }) => {
      const known = METHODS.find((one) => one.method === method);
      if (known === undefined) return undefined;
      json(response, id, `${known.result},"resultType":"complete","ttlMs":5,"cacheScope":"public"}`);
      return true;
    });
    const gateway = await startGateway(cleanup, [offering(httpConnector("c", upstream.url))]);
    for (const one of METHODS) {
      const answer = await post(gateway, specOf(one));
      expect([answer.status, await answer.text()]).toEqual([
        200,
        `{"jsonrpc":"2.0","id":1,"result":${one.result},"resultType":"complete","ttlMs":5,"cacheScope":"public"}}`,
      ]);
      const sent = upstream.received.at(-1);
      expect(sent?.params).toMatchObject(one.params);
      expect(sent?.headers["mcp-name"]).toBe(one.name);
    }
  });

  it("C-5: of a legacy one every result is made one of the modern era, and nothing else", async () => {
    const answers = Object.fromEntries(
      METHODS.map(({ method, result }) => [method, `"result":${result},"resultType":"x"}`]),
    );
    const args = program({ prompts: {}, resources: {}, completions: {} }, answers);
    const gateway = await startGateway(cleanup, [offering(stdioConnector("c", args))]);
    for (const one of METHODS) {
      const text = await (await post(gateway, specOf(one))).text();
      const added = CACHED.has(one.method)
        ? '"resultType":"complete","ttlMs":0,"cacheScope":"private"'
        : '"resultType":"complete"';
      expect(text).toBe(`{"jsonrpc":"2.0","id":1,"result":{${added},${one.result.slice(1)}}}`);
    }
  });

  it("C-5: arguments and references travel as they were written", async () => {
    const upstream = await startUpstream(cleanup, ({ id, response }) => {
      json(response, id, '{"resultType":"complete","messages":[],"completion":{"values":[]}}');
      return true;
    });
    const gateway = await startGateway(cleanup, [offering(httpConnector("c", upstream.url))]);
    const meta = JSON.stringify({
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
      "sh.tutti/connectorVersion": VERSION,
    });
    const bodyOf = (method: string, params: string): string =>
      `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{${params},"_meta":${meta}}}`;
    const args = '{ "n":"\\u0031", "big":9007199254740993 }';
    const ref = '{ "type":"ref/prompt","name":"p","x":1.0 }';
    const headers = { "Mcp-Name": "p" };
    const get = bodyOf("prompts/get", `"name":"p","arguments":${args}`);
    await post(gateway, { connectorId: "c", method: "prompts/get", headers, body: get });
    expect(upstream.received.at(-1)?.text).toContain(`"arguments":${args}`);
    const complete = bodyOf("completion/complete", `"ref":${ref},"argument":${args},"context":${args}`);
    await post(gateway, { connectorId: "c", method: "completion/complete", body: complete });
    const sent = upstream.received.at(-1)?.text;
    expect(sent).toContain(`"ref":${ref},"argument":${args},"context":${args}`);
  });

  it("C-5: progress and log messages of such a request reach who asked for them", async () => {
    const upstream = await startUpstream(cleanup, ({ id, params, response }) => {
      const { progressToken }: { progressToken?: unknown } = Object(params["_meta"]);
      const said = [
        { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1 } },
        { jsonrpc: "2.0", method: "notifications/message", params: { level: "error", data: "x" } },
        { jsonrpc: "2.0", id, result: { resultType: "complete", contents: [] } },
      ];
      raw(response, 200, "text/event-stream", said.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(""));
      return true;
    });
    const gateway = await startGateway(cleanup, [offering(httpConnector("c", upstream.url))]);
    const meta = { progressToken: "mine", "io.modelcontextprotocol/logLevel": "error" };
    const text = await (
      await post(gateway, {
        connectorId: "c",
        method: "resources/read",
        params: { uri: "x:1" },
        headers: { "Mcp-Name": "x:1" },
        meta,
      })
    ).text();
    expect(text).toContain('"progressToken":"mine","progress":1');
    expect(text).toContain("notifications/message");
  });
});

describe("what is refused", () => {
  it("C-5, H-4: what a connector does not offer is no method of it, and its discovery says what it offers", async () => {
    const upstream = await startUpstream(cleanup, () => undefined);
    const gateway = await startGateway(cleanup, [
      httpConnector("plain", upstream.url),
      offering(httpConnector("prompts", upstream.url), ["prompts"]),
      offering(httpConnector("all", upstream.url)),
    ]);
    const discover = async (connectorId: string): Promise<unknown> => {
      const answer = await post(gateway, { connectorId, method: "server/discover" });
      return JSON.parse(await answer.text()).result.capabilities;
    };
    expect(await discover("plain")).toEqual({ tools: {} });
    expect(await discover("prompts")).toEqual({ tools: {}, prompts: {} });
    expect(await discover("all")).toEqual({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      completions: {},
    });
    const refused = [...METHODS, { method: "subscriptions/listen", params: { notifications: {} }, result: "" }];
    for (const one of refused) {
      const answer = await post(gateway, specOf(one, { connectorId: "plain" }));
      expect([one.method, answer.status, JSON.parse(await answer.text()).error.code]).toEqual([
        one.method,
        404,
        -32601,
      ]);
    }
    expect((await post(gateway, { connectorId: "prompts", method: "resources/list" })).status).toBe(404);
    expect(upstream.received).toEqual([]);
  });

  it.each([
    ["prompts/list", { cursor: 1 }, {}],
    ["prompts/get", {}, {}],
    ["prompts/get", { name: "p", arguments: [] }, { "Mcp-Name": "p" }],
    ["prompts/get", { name: "p" }, { "Mcp-Name": "q" }],
    ["resources/read", { uri: 1 }, {}],
    ["resources/read", { uri: "x:1" }, {}],
    ["completion/complete", { ref: {} }, {}],
    ["completion/complete", { ref: "p", argument: {} }, {}],
    ["subscriptions/listen", {}, {}],
    ["subscriptions/listen", { notifications: { resourceSubscriptions: [1] } }, {}],
  ])("C-5: %s with %j never reaches the upstream", async (method, params, headers) => {
    const upstream = await startUpstream(cleanup, () => undefined);
    const gateway = await startGateway(cleanup, [offering(httpConnector("c", upstream.url))]);
    const answer = await post(gateway, {
      connectorId: "c",
      method,
      params,
      headers: { "Mcp-Name": undefined, ...headers },
    });
    expect([200, 400]).toContain(answer.status);
    expect([-32602, -32020]).toContain(JSON.parse(await answer.text()).error.code);
    expect(upstream.received).toEqual([]);
  });

  it("C-5: a legacy upstream is not asked for what it does not declare; its missing resource has the revision's code", async () => {
    const missing = '"error":{"code":-32002,"message":"none","data":{"more":1}}';
    const gateway = await startGateway(cleanup, [
      offering(stdioConnector("c", program({ resources: {} }, { "resources/read": missing }))),
    ]);
    const outcome = async (spec: CallSpec): Promise<unknown> => {
      const answer = await post(gateway, spec);
      const { error, result } = JSON.parse(await answer.text());
      return [answer.status, error ?? result];
    };
    expect(await outcome({ connectorId: "c", method: "prompts/list" })).toEqual([
      200,
      { prompts: [], resultType: "complete", ttlMs: 0, cacheScope: "private" },
    ]);
    expect(await outcome({ connectorId: "c", method: "prompts/get", params: { name: "p" } })).toEqual([
      404,
      expect.objectContaining({ code: -32601 }),
    ]);
    const read = { connectorId: "c", method: "resources/read", params: { uri: "x:1" }, headers: { "Mcp-Name": "x:1" } };
    expect(await outcome(read)).toEqual([200, { code: -32602, message: "none", data: { more: 1, uri: "x:1" } }]);
  });
});

function clientOf(gateway: { readonly origin: string }): ModernStreamableHTTPClient {
  const client = new ModernStreamableHTTPClient({
    endpoint: `${gateway.origin}/v1/connectors/c/mcp`,
    clientInfo: { name: "test", version: "1" },
    headers: { "Tutti-Connector-Version": VERSION, Cookie: "session=s-ada" },
    meta: { "sh.tutti/connectorVersion": VERSION },
  });
  cleanup.add(() => client.close());
  return client;
}

const WANTED = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ["x:1"] };

describe("subscriptions", () => {
  const said = (response: ServerResponse, method: string, id: unknown, params: object): void => {
    const _meta = { "io.modelcontextprotocol/subscriptionId": id };
    response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", method, params: { ...params, _meta } })}\n\n`);
  };

  it("C-5: to a modern upstream: what is offered is asked for, and told under the caller's own id, until either leaves", async () => {
    let listening: Received | undefined;
    const upstream = await startUpstream(cleanup, (request) => {
      const { id, method, params, response } = request;
      if (method !== "subscriptions/listen") return undefined;
      listening = request;
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      said(response, "notifications/subscriptions/acknowledged", id, { notifications: params["notifications"] });
      said(response, "notifications/resources/updated", id, { uri: "x:1", more: 1 });
      return true;
    });
    const gateway = await startGateway(cleanup, [
      offering(httpConnector("c", upstream.url), ["resources", "subscriptions"]),
    ]);
    const subscription = clientOf(gateway).listen(WANTED);
    const { promptsListChanged: _none, ...offered } = WANTED;
    expect(await subscription.acknowledged).toEqual(offered);
    const told = subscription[Symbol.asyncIterator]();
    expect((await told.next()).value).toMatchObject({
      method: "notifications/resources/updated",
      params: { uri: "x:1", more: 1 },
    });
    subscription.close();
    await listening?.closed;
    const second = clientOf(gateway).listen(WANTED);
    await second.acknowledged;
    listening?.response.end(
      `data: ${JSON.stringify({ jsonrpc: "2.0", id: listening.id, result: { resultType: "complete" } })}\n\n`,
    );
    expect(await second.closed).toMatchObject({ kind: "completed" });
  });

  it("C-5: to a legacy upstream: what it declares, each resource once, and no more when nobody listens", async () => {
    const more = [
      "  if (method === 'resources/subscribe') out(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: params.uri } }));",
      "  if (method && method.startsWith('resources/')) calls.push(method);",
      "  if (method === 'prompts/list') out(JSON.stringify({ jsonrpc: '2.0', id, result: { prompts: calls.map((name, at) => ({ name: at + name })) } }));",
    ].join("\n");
    const args = program(
      { tools: {}, prompts: { listChanged: true }, resources: { subscribe: true } },
      { "resources/subscribe": '"result":{}', "resources/unsubscribe": '"result":{}' },
      more,
    );
    const [flag, source = ""] = args;
    const gateway = await startGateway(cleanup, [
      offering(stdioConnector("c", [flag ?? "", `const calls = [];\n${source}`])),
    ]);
    const client = clientOf(gateway);
    const one = client.listen(WANTED);
    expect(await one.acknowledged).toEqual({ promptsListChanged: true, resourceSubscriptions: ["x:1"] });
    const other = client.listen(WANTED);
    await other.acknowledged;
    expect((await one[Symbol.asyncIterator]().next()).value).toMatchObject({
      method: "notifications/resources/updated",
      params: { uri: "x:1" },
    });
    one.close();
    const users = async (): Promise<number> => {
      const { upstreams }: { upstreams: { users: number }[] } = JSON.parse(
        await (await admin(gateway, "GET", "/admin/state")).text(),
      );
      return upstreams[0]?.users ?? 0;
    };
    await expect.poll(users, { interval: 10 }).toBe(1);
    const third = client.listen(WANTED);
    await third.acknowledged;
    other.close();
    third.close();
    const calls = async (): Promise<string[]> => (await client.listPrompts()).prompts.map(({ name }) => name);
    await expect.poll(calls, { interval: 10 }).toEqual(["0resources/subscribe", "1resources/unsubscribe"]);
  });

  it("C-5: end in peace when a new credential has another upstream", async () => {
    const upstream = await startUpstream(cleanup, ({ id, method, response }) => {
      if (method !== "subscriptions/listen") return undefined;
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      said(response, "notifications/subscriptions/acknowledged", id, { notifications: {} });
      return true;
    });
    const gateway = await startGateway(cleanup, [offering(httpConnector("c", upstream.url, "account"))]);
    await gateway.grant("ada", "c", "first");
    const subscription = clientOf(gateway).listen(WANTED);
    await subscription.acknowledged;
    await gateway.grant("ada", "c", "second");
    expect(await subscription.closed).toMatchObject({ kind: "completed" });
  });
});
