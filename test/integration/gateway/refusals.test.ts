import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Gateway } from "../../../src/gateway/index.js";
import {
  type CallSpec,
  Cleanup,
  httpConnector,
  post,
  type ScriptedUpstream,
  startGateway,
  startUpstream,
} from "./support.js";

const cleanup = new Cleanup();
let gateway: Gateway;
let upstream: ScriptedUpstream;

beforeAll(async () => {
  upstream = await startUpstream(cleanup, () => undefined);
  gateway = await startGateway(
    cleanup,
    [httpConnector("open", upstream.url), httpConnector("private", upstream.url, "account")],
    { maxBodyBytes: 10_000 },
  );
});
afterAll(() => cleanup.run());

const list: CallSpec = { connectorId: "open", method: "tools/list" };

describe("requests that never reach an upstream", () => {
  it.each<[string, Partial<CallSpec>, number, number, unknown]>([
    ["no session", { headers: { Cookie: undefined } }, 401, -32600, undefined],
    ["an unknown session", { headers: { Cookie: "session=s-eve" } }, 401, -32600, undefined],
    ["a session in another cookie", { headers: { Cookie: "sid=s-ada" } }, 401, -32600, undefined],
    ["an unknown connector", { connectorId: "nothing" }, 404, -33003, undefined],
    ["a foreign origin", { headers: { Origin: "https://evil.test" } }, 403, -32600, undefined],
    ["an origin from a sandbox", { headers: { Origin: "null" } }, 403, -32600, undefined],
    ["another content type", { headers: { "Content-Type": "text/plain" } }, 415, -32600, undefined],
    ["an Accept without streams", { headers: { Accept: "application/json" } }, 406, -32600, undefined],
    ["no JSON", { body: "{" }, 400, -32700, undefined],
    ["a batch", { body: "[]" }, 400, -32600, undefined],
    ["a body over the limit", { params: { padding: "x".repeat(10_000) } }, 413, -32600, undefined],
    ["no version header", { headers: { "MCP-Protocol-Version": undefined } }, 400, -32020, 1],
    ["another method header", { headers: { "Mcp-Method": "tools/call" } }, 400, -32020, 1],
    [
      "no name header",
      { method: "tools/call", params: { name: "echo" }, headers: { "Mcp-Name": undefined } },
      400,
      -32020,
      1,
    ],
    [
      "another name header",
      { method: "tools/call", params: { name: "echo" }, headers: { "Mcp-Name": "other" } },
      400,
      -32020,
      1,
    ],
    ["no _meta", { body: '{"jsonrpc":"2.0","id":"x","method":"tools/list"}' }, 400, -32602, "x"],
    [
      "an unknown revision",
      {
        headers: { "MCP-Protocol-Version": "2027-01-01" },
        meta: { "io.modelcontextprotocol/protocolVersion": "2027-01-01" },
      },
      400,
      -32022,
      1,
    ],
    [
      "an older revision",
      {
        headers: { "MCP-Protocol-Version": "2025-11-25" },
        meta: { "io.modelcontextprotocol/protocolVersion": "2025-11-25" },
      },
      400,
      -32022,
      1,
    ],
    ["no pinned version in the headers", { headers: { "Tutti-Connector-Version": undefined } }, 400, -32020, 1],
    ["no pinned version in the body", { meta: { "sh.tutti/connectorVersion": undefined } }, 400, -32020, 1],
    ["two pinned versions", { headers: { "Tutti-Connector-Version": "2.0.0" } }, 400, -32020, 1],
    [
      "another release",
      { headers: { "Tutti-Connector-Version": "2.0.0" }, meta: { "sh.tutti/connectorVersion": "2.0.0" } },
      409,
      -33003,
      1,
    ],
    ["a method that is not served", { method: "resources/list" }, 404, -32601, 1],
    ["a subscription", { method: "subscriptions/listen" }, 404, -32601, 1],
    ["a connector that was never authorized", { connectorId: "private" }, 428, -33001, 1],
    ["discovery of it", { connectorId: "private", method: "server/discover" }, 428, -33001, 1],
  ])("C-5: %s", async (_what, changes, status, code, id) => {
    const before = upstream.received.length;
    const answer = await post(gateway, { ...list, ...changes });
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const body: unknown = await answer.json();
    expect([answer.status, body]).toMatchObject([
      status,
      { jsonrpc: "2.0", error: { code, message: expect.any(String) } },
    ]);
    expect(Reflect.get(Object(body), "id")).toBe(id);
    expect(upstream.received).toHaveLength(before);
  });

  it("W-27: an unknown revision is told which are known", async () => {
    const answer = await post(gateway, {
      ...list,
      headers: { "MCP-Protocol-Version": "2027-01-01" },
      meta: { "io.modelcontextprotocol/protocolVersion": "2027-01-01" },
    });
    expect(await answer.json()).toMatchObject({
      error: { data: { supported: ["2026-07-28"], requested: "2027-01-01" } },
    });
  });

  it("P-2: another release is told which is served", async () => {
    const answer = await post(gateway, {
      ...list,
      headers: { "Tutti-Connector-Version": "2.0.0" },
      meta: { "sh.tutti/connectorVersion": "2.0.0" },
    });
    expect(await answer.json()).toMatchObject({
      error: { data: { reason: "release_mismatch", published: "1.0.0", requested: "2.0.0" } },
    });
  });

  it("C-5: whoever has to authorize again is told so, and no longer once it did", async () => {
    const codeFor = async (method: string): Promise<unknown> => {
      const answer = await post(gateway, { connectorId: "private", method });
      const body: unknown = await answer.json();
      return [answer.status, Reflect.get(Object(Reflect.get(Object(body), "error")), "code")];
    };
    await gateway.grant("ada", "private");
    expect(await codeFor("tools/list")).toEqual([200, undefined]);
    await gateway.expire("ada", "private");
    expect(await codeFor("tools/list")).toEqual([428, -33002]);
    await gateway.revoke("ada", "private");
    expect(await codeFor("tools/list")).toEqual([428, -33001]);
  });

  it.each(["GET", "DELETE", "PUT"])("W-3: %s is 405", async (method) => {
    const answer = await fetch(`${gateway.origin}/v1/connectors/open/mcp`, { method });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
  });

  it("C-5: another path is 404, before anyone is asked for a session", async () => {
    expect((await fetch(`${gateway.origin}/v1/connectors`)).status).toBe(404);
  });

  it("W-7: a notification is taken with 202 and no body", async () => {
    const answer = await post(gateway, { ...list, body: '{"jsonrpc":"2.0","method":"notifications/cancelled"}' });
    expect([answer.status, await answer.text()]).toEqual([202, ""]);
  });

  it("W-3: no session id is made or echoed", async () => {
    const answer = await post(gateway, { ...list, headers: { "Mcp-Session-Id": "s" } });
    expect([answer.status, answer.headers.get("mcp-session-id")]).toEqual([200, null]);
  });

  it("W-26: server/discover is answered without an upstream", async () => {
    const before = upstream.received.length;
    const answer = await post(gateway, { ...list, method: "server/discover" });
    expect(await answer.json()).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {
        resultType: "complete",
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {} },
        ttlMs: 300_000,
        cacheScope: "private",
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "remote-connector-gateway", version: "1" } },
      },
    });
    expect(upstream.received).toHaveLength(before);
  });
});
