import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { createLocalServer } from "../../../../src/connector-host/local-server/index.js";
import { FixedDirectory, HELLO, says } from "./fixed-directory.js";
import { callModern, modernBody, modernHeaders, plainRequest, post, postLegacy } from "./raw-agent.js";
import { start } from "./start.js";

const DISCOVER = modernBody("server/discover");
const DISCOVER_HEADERS = modernHeaders("server/discover");

describe("H-20: the way in", () => {
  it("is on loopback, at /mcp, on a free port", async () => {
    const { server } = await start();
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
  });

  it("takes the port that is asked for", async () => {
    const first = await createLocalServer({ directory: new FixedDirectory() });
    const port = Number(new URL(first.url).port);
    await first.close();
    const { server } = await start(undefined, { port });
    expect(new URL(server.url).port).toBe(String(port));
  });

  it("can't be where something else listens", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await expect(createLocalServer({ directory: new FixedDirectory(), port })).rejects.toMatchObject({
      code: "listen_failed",
      details: { address: `127.0.0.1:${String(port)}`, reason: "EADDRINUSE" },
    });
    await new Promise((resolve) => other.close(resolve));
  });

  it.each<[string, Record<string, string>]>([
    ["no bearer", {}],
    ["another bearer", { Authorization: `Bearer ${"A".repeat(43)}` }],
    ["another scheme", { Authorization: "Basic eDp5" }],
  ])("is shut with %s", async (_name, headers) => {
    const { server, agent } = await start();
    const answer = await post({ ...agent, headers: { Authorization: "" } }, DISCOVER, {
      ...DISCOVER_HEADERS,
      Authorization: undefined,
      ...headers,
    });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    expect(JSON.parse(answer.text)).not.toHaveProperty("id");
    expect(server.url).toBe(agent.url);
  });

  it("is shut for a bearer that was revoked, replaced or swept", async () => {
    const { server, agent } = await start();
    const other = server.bind({ workspaceId: "w", agentSessionId: "t" });
    const ask = async (bound: typeof agent) => (await post(bound, DISCOVER, DISCOVER_HEADERS)).status;
    expect([await ask(agent), await ask(other)]).toEqual([200, 200]);
    const replacement = server.bind({ workspaceId: "w", agentSessionId: "s" });
    expect([await ask(agent), await ask(replacement), await ask(other)]).toEqual([401, 200, 200]);
    agent.revoke();
    expect(await ask(replacement)).toBe(200);
    other.revoke();
    other.revoke();
    expect([await ask(replacement), await ask(other)]).toEqual([200, 401]);
    server.revokeAll();
    expect(await ask(replacement)).toBe(401);
    expect(server.bind({ workspaceId: "w", agentSessionId: "u" }).headers.Authorization).not.toBe(
      agent.headers.Authorization,
    );
  });

  it("does not let a body tell who calls", async () => {
    const { server, directory, agent } = await start((tools) => tools.add("a_hello", says(HELLO)));
    const other = server.bind({ workspaceId: "w2", agentSessionId: "s2", login: { accountId: "x", generation: 4 } });
    await callModern(agent, "a_hello", '{"workspaceId":"w2"}', { meta: { "com.example/workspaceId": "w2" } });
    await callModern(other, "a_hello");
    expect(directory.calls.map(({ binding }) => [binding.workspaceId, binding.login?.accountId])).toEqual([
      ["w", undefined],
      ["w2", "x"],
    ]);
    expect(directory.calls.map(({ binding }) => binding)).toEqual([agent.binding, other.binding]);
  });

  it.each(["evil.test", "evil.test:80", "127.0.0.1.evil.test"])("is shut for Host %s", async (Host) => {
    const { agent } = await start();
    const headers = { ...DISCOVER_HEADERS, ...agent.headers, Host };
    expect((await plainRequest(agent.url, { headers, body: DISCOVER })).status).toBe(403);
  });

  it.each(["https://evil.test", "null", "http://localhost.evil.test"])("is shut for Origin %s", async (Origin) => {
    const { agent } = await start();
    expect((await post(agent, DISCOVER, { ...DISCOVER_HEADERS, Origin })).status).toBe(403);
  });

  it("is open for origins on loopback, and those that were allowed", async () => {
    const { agent } = await start(undefined, { allowedOrigins: ["https://app.test"] });
    for (const Origin of ["http://localhost:5173", "https://app.test"]) {
      expect((await post(agent, DISCOVER, { ...DISCOVER_HEADERS, Origin })).status).toBe(200);
    }
  });

  it.each(["GET", "DELETE", "PUT", "OPTIONS"])("takes no %s", async (method) => {
    const { agent } = await start();
    const answer = await fetch(agent.url, { method, headers: { ...agent.headers, Accept: "text/event-stream" } });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
  });

  it.each(["/", "/mcp/", "/mcp/connector", "/.well-known/oauth-protected-resource"])(
    "opens nothing at %s",
    async (path) => {
      const { agent } = await start();
      const answer = await post({ ...agent, url: new URL(path, agent.url).href }, DISCOVER, DISCOVER_HEADERS);
      expect(answer.status).toBe(404);
    },
  );

  it("F-3: takes a body up to its limit, and names the option beyond it", async () => {
    const { agent } = await start(undefined, { maxBodyBytes: DISCOVER.length });
    expect((await post(agent, DISCOVER, DISCOVER_HEADERS)).status).toBe(200);
    const answer = await post(agent, `${DISCOVER} `, DISCOVER_HEADERS);
    expect(answer.status).toBe(413);
    expect(answer.text).toContain("maxBodyBytes");
  });

  it("counts a body that comes in pieces", async () => {
    const { agent } = await start(undefined, { maxBodyBytes: 1_000 });
    const piece = new TextEncoder().encode("x".repeat(600));
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(piece);
        controller.enqueue(piece);
        controller.close();
      },
    });
    const init: RequestInit & { duplex: "half" } = {
      method: "POST",
      body,
      duplex: "half",
      headers: { ...DISCOVER_HEADERS, ...agent.headers },
    };
    const answer = await fetch(agent.url, init);
    expect(answer.status).toBe(413);
  });

  it.each(["", "{", "nothing", "\u0000", '{"a":1}x'])(
    "answers a body that is no JSON, in either era: %j",
    async (body) => {
      const { agent } = await start();
      for (const headers of [DISCOVER_HEADERS, { "MCP-Protocol-Version": "2025-06-18" }]) {
        const answer = await post(agent, body, { ...DISCOVER_HEADERS, "Mcp-Method": undefined, ...headers });
        expect([answer.status, JSON.parse(answer.text)]).toMatchObject([400, { error: { code: -32700 } }]);
      }
    },
  );

  it("refuses a legacy revision without this transport", async () => {
    const { agent } = await start();
    const answer = await postLegacy(
      agent,
      { jsonrpc: "2.0", id: 1, method: "ping" },
      { "MCP-Protocol-Version": "2024-11-05" },
    );
    expect(answer.status).toBe(400);
  });

  it("H-16: keeps at most so many bearers, and none after close", async () => {
    const { server } = await start(undefined, { maxBindings: 2 });
    server.bind({ workspaceId: "w", agentSessionId: "t" });
    expect(() => server.bind({ workspaceId: "w", agentSessionId: "u" })).toThrowError(
      expect.objectContaining({ code: "limit_exceeded" }),
    );
    await server.close();
    expect(() => server.bind({ workspaceId: "w", agentSessionId: "t" })).toThrowError(
      expect.objectContaining({ code: "cancelled" }),
    );
  });
});
