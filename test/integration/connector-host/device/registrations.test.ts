import { describe, expect, it } from "vitest";
import { createEraMemory } from "../../../../src/connect/index.js";
import {
  answerError,
  answerStatus,
  type EventFeed,
  Gate,
  type Handler,
  likeLegacyServer,
  likeModernServer,
  likeSseServer,
} from "../../../../src/testing/index.js";
import { ChangingServer } from "../../connect/parties.js";
import { Device, server, soon } from "../../../support/device.js";

const TOOLS = { tools: [{ name: "echo", outputSchema: { type: "object", required: ["never"] } }] };
const modern = likeModernServer(TOOLS);
const legacy = likeLegacyServer({ ...TOOLS, revision: "2025-11-25", sessionId: "s-1" });

const TOKEN = { headers: { Authorization: ["Bearer ", { secret: "docs.token" }] } };

/** Answers as `handler` does to whoever has the token, and with 401 to everybody else. */
function guarded(token: string, handler: Handler): Handler {
  return (request) =>
    request.header("Authorization") === `Bearer ${token}`
      ? handler(request)
      : answerStatus(401, { headers: { "WWW-Authenticate": 'Bearer resource_metadata="https://nowhere.example/"' } });
}

/** A server of HTTP+SSE whose streams are noted. */
function noting(feeds: EventFeed[]): Handler {
  const sse = likeSseServer(TOOLS);
  return async (request) => {
    const answer = await sse(request);
    if (request.verb === "GET" && answer?.body.kind === "feed") feeds.push(answer.body.feed);
    return answer;
  };
}

describe("registered servers", () => {
  it.each([
    ["modern", modern, "auto", "modern"],
    ["Streamable HTTP", legacy, "auto", "legacy"],
    ["Streamable HTTP, by its preference", legacy, "legacy", "legacy"],
    ["one revision", legacy, "2025-11-25", "legacy"],
    ["HTTP+SSE", likeSseServer(TOOLS), "sse", "legacy"],
    ["HTTP+SSE, found by itself", likeSseServer(TOOLS), "auto", "legacy"],
  ] as const)("H-8 H-9: %s: reached, listed and called", async (_name, handler, protocol, era) => {
    const upstream = await ChangingServer.start(handler);
    const device = new Device();
    const route = await device.publish(server(upstream.url, {}, { protocol }));
    expect(route.client.era).toBe(era);
    expect([...route.tools.keys()]).toEqual(["echo"]);
    // No schema is looked at, whatever the era.
    const call = route.client.callTool({ name: "echo", arguments: { a: 1 } }, { outputCheck: "off" });
    expect((await call).content).toEqual([{ type: "text", text: '{"a":1}' }]);
    if (protocol === "sse") expect(upstream.methods[0]).toBe("GET");
  });

  it("H-8: is told of no capability that nobody stands for", async () => {
    const [young, old] = [await ChangingServer.start(modern), await ChangingServer.start(legacy)];
    const [one, other] = [new Device(), new Device()];
    await one.publish(server(young.url, { capabilities: ["tools", "elicitation", "sampling", "roots"] }));
    await other.publish(server(old.url, { capabilities: ["tools", "elicitation", "sampling", "roots"] }));
    const declared = young.requests.map(({ params }) => params["_meta"]);
    for (const meta of declared) expect(meta).toMatchObject({ "io.modelcontextprotocol/clientCapabilities": {} });
    expect(JSON.stringify(declared)).not.toMatch(/elicitation|sampling|roots/);
    expect(old.requests.find(({ method }) => method === "initialize")?.params["capabilities"]).toEqual({});
  });

  it("H-8: secrets and variables are resolved at each start, and travel with every request", async () => {
    const upstream = await ChangingServer.start(guarded("first", modern));
    const kept = new Map([["docs.token", "first"]]);
    const asked: string[] = [];
    const device = new Device({
      secrets: { read: async (name) => kept.get(name) },
      environment: { read: (name) => (asked.push(name), name === "REGION" ? "north" : undefined) },
    });
    const headers = { ...TOKEN.headers, "X-Region": { env: "REGION" }, "X-Team": { env: "TEAM", default: "all" } };
    const route = await device.publish(server(upstream.url, {}, { headers }));
    await route.client.callTool({ name: "echo" });
    expect(upstream.requests.map((each) => [each.header("X-Region"), each.header("X-Team")])).toEqual(
      upstream.requests.map(() => ["north", "all"]),
    );
    expect(asked).toEqual(["REGION", "TEAM"]);
    upstream.become(guarded("second", modern));
    kept.set("docs.token", "second");
    await route.client.callTool({ name: "echo" }).catch((error: unknown) => device.reconciler.onRequest(route, error));
    device.probe("docs");
    expect(await soon(async () => (await device.until("docs")) !== route)).toBe(true);
  });

  it("H-8: a secret or variable that is missing is an error that names it, and nothing is sent", async () => {
    const upstream = await ChangingServer.start(modern);
    const secrets = new Map<string, string>();
    const device = new Device({ secrets: { read: (name) => secrets.get(name) } });
    device.define(server(upstream.url, {}, TOKEN));
    expect(await device.untilFailed("docs")).toBe("unresolved_reference");
    expect((await device.status("docs"))?.lastError?.message).toMatch(
      /headers\.Authorization needs the secret docs\.token/,
    );
    expect(upstream.methods).toEqual([]);
    secrets.set("docs.token", "t");
    device.probe("docs");
    await device.until("docs");
  });

  it.each(["s3cret\r\nX-Evil: 1", "s3cret\n", "s3cret\u2028"])(
    "H-8: a secret that no header can carry is refused, is not shown, and nothing is sent: %j",
    async (secret) => {
      const upstream = await ChangingServer.start(modern);
      const device = new Device({ secrets: { read: () => secret } });
      device.define(server(upstream.url, {}, TOKEN));
      expect(await device.untilFailed("docs")).toBe("invalid_header");
      const { lastError, failures } = (await device.status("docs")) ?? {};
      expect([lastError?.message.includes("Authorization"), failures, upstream.methods]).toEqual([true, 1, []]);
      expect(JSON.stringify([device.events, device.incidents])).not.toContain("s3cret");
    },
  );

  it("H-8: each request is authorized through the port", async () => {
    const upstream = await ChangingServer.start(modern);
    let count = 0;
    const device = new Device({
      authorize:
        ({ slug }) =>
        () => ({ Authorization: `Bearer ${slug}-${String((count += 1))}` }),
    });
    const route = await device.publish(server(upstream.url));
    await route.client.callTool({ name: "echo" });
    expect(upstream.requests.map((request) => request.header("Authorization"))).toEqual(
      upstream.requests.map((_, index) => `Bearer docs-${String(index + 1)}`),
    );
  });

  it("H-8: an era that is remembered is not asked for again", async () => {
    const upstream = await ChangingServer.start(legacy);
    const eraMemory = createEraMemory();
    await new Device({ eraMemory }).publish(server(upstream.url));
    const before = upstream.posted.length;
    await new Device({ eraMemory }).publish(server(upstream.url));
    expect(upstream.posted.slice(before)).toEqual(["initialize", "notifications/initialized", "tools/list"]);
  });

  it("H-8: plain http beyond loopback is refused without its option, whatever let it be registered", async () => {
    const device = new Device();
    device.define(server("http://docs.example/mcp", {}, {}, { allowInsecureHttp: true }));
    expect(await device.untilFailed("docs")).toBe("invalid_url");
  });

  it("H-9: 512 tools at most, each checked; names that are there twice are left out", async () => {
    const many = Array.from({ length: 513 }, (_, n) => ({ name: `t${String(n)}` }));
    const tools = [{ name: "twice" }, { name: "twice" }, { name: "odd", inputSchema: { type: "string" } }, ...many];
    const upstream = await ChangingServer.start(likeModernServer({ tools }));
    const device = new Device();
    const route = await device.publish(server(upstream.url));
    expect(route.tools.size).toBe(512);
    expect([route.tools.has("twice"), route.tools.has("odd"), route.tools.has("t512")]).toEqual([false, false, false]);
    const [incident] = device.incidents;
    expect(incident?.kind).toBe("tools_left_out");
    expect(incident?.diagnostics?.map(({ kind }) => kind)).toEqual([
      "tolerated",
      "duplicate_tool",
      "unusable_schema",
      "too_many_tools",
    ]);
  });

  it.each([
    ["an empty list", likeModernServer({ tools: [] })],
    ["a refused list", likeModernServer({ methods: { "tools/list": () => answerError(-32_603, "no list") } })],
    ["no tools capability", likeLegacyServer({ ...TOOLS, capabilities: {} })],
  ] as const)("H-9: %s of a living server is degraded, and no failure", async (_name, handler) => {
    const upstream = await ChangingServer.start(handler);
    const device = new Device();
    const route = await device.publish(server(upstream.url), "degraded");
    expect(route.tools.size).toBe(0);
    expect((await device.status("docs"))?.attempts).toBe(0);
    // What a legacy server declares stays as it is for as long as its session lasts.
    if (route.client.era === "legacy") return;
    upstream.become(modern);
    await device.clock.advance(30_000);
    expect(await device.until("docs", "ready")).toBe(route);
  });

  it("H-9: a server that is gone when it is listed is a failure, and what was opened is closed", async () => {
    const dying: Handler = (request) => (request.method === "tools/list" ? answerStatus(401) : legacy(request));
    const upstream = await ChangingServer.start(dying);
    const device = new Device();
    device.define(server(upstream.url));
    expect(await device.untilFailed("docs")).toBe("authorization_required");
    await soon(() => expect(upstream.methods.at(-1)).toBe("DELETE"));
    expect(device.routes.current("docs")).toBeUndefined();
  });

  it("H-15 H-9: what opens behind a closed gate waits for it, and is not observed", async () => {
    const feeds: EventFeed[] = [];
    const upstream = await ChangingServer.start(noting(feeds));
    const device = new Device();
    device.closeGate();
    device.define(server(upstream.url, {}, { protocol: "sse" }));
    await soon(() => expect(device.routes.counts.staged).toBe(1));
    expect([device.routes.current("docs"), (await device.status("docs"))?.activity]).toEqual([undefined, "starting"]);
    // That it is looked at again changes nothing.
    device.define(server(upstream.url, {}, { protocol: "sse" }));
    await device.controller.idle();
    expect([feeds.length, device.routes.counts.staged]).toEqual([1, 1]);
    // One that ends there is a failure like any other.
    feeds.at(-1)?.end();
    await device.untilFailed("docs");
    expect(device.routes.counts.staged).toBe(0);
    device.probe("docs");
    await soon(() => expect(device.routes.counts.staged).toBe(1));
    device.openGate();
    const route = await device.until("docs");
    expect(route.discovered?.capabilities).toEqual({ tools: {} });
    // A gate that closes again takes the route, and loses nothing.
    const failures = (await device.status("docs"))?.attempts;
    device.closeGate();
    device.openGate();
    expect(await soon(async () => (await device.until("docs")) !== route)).toBe(true);
    expect((await device.status("docs"))?.attempts).toBe(failures);
  });

  it("H-13 H-9: other settings are reached beside the old ones, whose calls finish", async () => {
    const gate = new Gate();
    const slow = async (): Promise<object & { content: never[] }> => gate.opened.then(() => ({ content: [] }));
    const before = await ChangingServer.start(likeModernServer({ tools: [{ name: "slow", run: slow }] }));
    const after = await ChangingServer.start(modern);
    const device = new Device();
    const old = await device.publish(server(before.url));
    const leave = old.enter();
    const call = old.client.callTool({ name: "slow" });
    await soon(() => expect(before.methods).toContain("tools/call"));
    const next = await device.publish(server(after.url));
    expect([old.state, next.state]).toEqual(["superseded", "open"]);
    gate.open();
    await expect(call).resolves.toMatchObject({ content: [] });
    leave();
  });

  it("H-9: a stream of HTTP+SSE that ends is the end of its server's session, which is reached anew", async () => {
    const feeds: EventFeed[] = [];
    const upstream = await ChangingServer.start(noting(feeds));
    const device = new Device();
    const first = await device.publish(server(upstream.url, {}, { protocol: "sse" }));
    feeds.at(-1)?.end();
    await soon(() => expect(first.state).toBe("revoked"));
    device.probe("docs");
    const second = await device.until("docs");
    await expect(second.client.callTool({ name: "echo" })).resolves.toMatchObject({ content: [{ text: "{}" }] });
  });

  it("MB-143 H-9: a slow server is held to the deadline of another, and one that connects late is never registered", async () => {
    const gate = new Gate();
    const lateList = new Gate();
    const slow = await ChangingServer.start(async (request) => {
      if (request.method === "server/discover") await gate.opened;
      if (request.method === "tools/list") await lateList.opened;
      return modern(request);
    });
    const silent = await ChangingServer.start(async () => {
      await gate.opened;
      return answerStatus(503);
    });
    const device = new Device({ stepped: true });
    const changes: string[] = [];
    device.routes.onPublication((each) => changes.push(...each.map(({ connectorKey }) => connectorKey)));
    const patience = { lifecycleTimeoutMs: 3_600_000, idleTimeoutMs: 3_600_000, listTimeoutMs: 3_600_000 };
    device.define(server(slow.url, { slug: "slow", deadlines: patience }));
    device.define(server(silent.url, { slug: "silent", deadlines: { lifecycleTimeoutMs: 1_000 } }));
    await soon(() => expect([slow, silent].map(({ requests }) => requests.length)).toEqual([1, 1]));
    await device.clock.advance(1_000);
    expect(await device.untilFailed("silent")).toBe("timeout");
    // Longer than any run may take, and than anybody waits.
    await device.clock.advance(200_000);
    expect((await device.status("slow"))?.activity).toBe("starting");
    gate.open();
    await soon(() => expect(slow.methods).toContain("tools/list"));
    await device.clock.advance(200_000);
    expect(changes).toEqual([]);
    lateList.open();
    await device.until("slow");
    expect(changes).toEqual(["slow"]);
    expect((await device.status("slow"))?.attempts).toBe(0);
  });
});
