import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { LoginGuard } from "../../../src/auth-projection/index.js";
import {
  createRelayServer,
  DirectFactory,
  RelayFactory,
  relayLogins,
  type RemoteMcpClient,
  type RemoteMcpClientFactory,
  type RemoteMcpClientRequest,
} from "../../../src/connector-host/index.js";
import { deliveryOf } from "../../../src/errors.js";
import { Opened } from "../../support/opened.js";
import { type ConnectorCall, ScriptedGateway, working } from "../../support/scripted-gateway.js";

const opened = new Opened();
afterEach(opened.close);

const REQUEST: RemoteMcpClientRequest = {
  operationId: "op",
  connectionId: "c",
  connectorKey: "docs",
  accountId: "acc-1",
  releaseDigest: "d",
  version: "1.0.0",
  generation: 1,
  binding: {
    protocolVersion: "2026-07-28",
    bindingRef: "docs.primary",
    contractVersion: 1,
    bindingContractHash: `sha256:${"0".repeat(64)}`,
  },
};
const CONNECTORS = [{ connectorKey: "docs", releaseDigest: "d", version: "1.0.0" }];
const clientInfo = { name: "host", version: "1" };

type Make = (gateway: ScriptedGateway, guard: LoginGuard) => Promise<RemoteMcpClientFactory>;

const FACTORIES: readonly (readonly [name: string, make: Make])[] = [
  [
    "DirectFactory",
    async (gateway, guard) => new DirectFactory({ baseUrl: gateway.url, logins: relayLogins(guard), clientInfo }),
  ],
  [
    "RelayFactory",
    async (gateway, guard) => {
      const relay = await createRelayServer({ baseUrl: gateway.url, logins: relayLogins(guard) });
      opened.push(relay);
      const { bearer } = relay.grant({ accountId: "acc-1", connectors: CONNECTORS });
      return new RelayFactory({ relay: relay.address, bearer, clientInfo });
    },
  ],
];

/** Everything that a factory's client can be asked. */
const CALLS: readonly (readonly [string, (client: RemoteMcpClient, options: object) => Promise<unknown>])[] = [
  ["discover", (client, options) => client.discover(options)],
  ["listAllTools", (client, options) => client.listAllTools(options)],
  ["callTool", (client, options) => client.callTool({ name: "echo" }, { contract: { parameters: [] }, ...options })],
];

describe.each(FACTORIES)("the clients of %s", (_, make) => {
  async function setUp() {
    const gateway = await ScriptedGateway.start();
    opened.push(gateway);
    const guard = new LoginGuard({ authorize: ({ accountId }) => ({ Cookie: `session=${accountId}` }) });
    guard.signIn("acc-1");
    const factory = await make(gateway, guard);
    const client = factory.create(REQUEST);
    opened.push(client);
    return { gateway, guard, factory, client };
  }

  it("H-6, H-7: reach the one address, pinned twice, with the account's credentials, and no session", async () => {
    const { gateway, client } = await setUp();
    for (const [, call] of CALLS) await call(client, {});
    expect(gateway.calls.map(({ method }) => method)).toEqual(["server/discover", "tools/list", "tools/call"]);
    for (const { request, params } of gateway.calls) {
      expect(request.url).toBe("/v1/connectors/docs/mcp");
      expect(request.headers).toMatchObject({ cookie: "session=acc-1", "tutti-connector-version": "1.0.0" });
      expect(request.headers["mcp-session-id"]).toBeUndefined();
      expect(params["_meta"]).toMatchObject({
        "sh.tutti/connectorVersion": "1.0.0",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": clientInfo,
      });
    }
  });

  it.each(CALLS)("H-5, H-14: %s asks admit last, and sends nothing when it refuses", async (_name, call) => {
    const { gateway, client } = await setUp();
    await expect(call(client, { admit: () => "route_revoked" })).rejects.toMatchObject({
      code: "not_admitted",
      delivery: "not_sent",
      details: { reason: "route_revoked" },
    });
    expect(gateway.calls).toEqual([]);
  });

  it.each(CALLS)("H-5, F-2: %s ends with its signal's reason, at the gateway too", async (_name, call) => {
    const { gateway, client } = await setUp();
    const held: ConnectorCall[] = [];
    gateway.script("docs", (each) => held.push(each));
    const controller = new AbortController();
    const promise = call(client, { signal: controller.signal });
    await expect.poll(() => held.length).toBe(1);
    const gone = Promise.all(held.map(({ response }) => once(response, "close")));
    controller.abort("reason");
    await expect(promise).rejects.toBe("reason");
    expect(deliveryOf(promise)).toBe("unknown");
    await gone;
  });

  it("H-5: close at once what runs, and may be closed again", async () => {
    const { gateway, client } = await setUp();
    const held: ConnectorCall[] = [];
    gateway.script("docs", (each) => held.push(each));
    const ended = expect(client.discover()).rejects.toMatchObject({ code: "cancelled", delivery: "unknown" });
    await expect.poll(() => held.length).toBe(1);
    const began = performance.now();
    await client.close();
    await client.close();
    expect(performance.now() - began).toBeLessThan(1_000);
    await ended;
    await expect(client.discover()).rejects.toMatchObject({ code: "cancelled", delivery: "not_sent" });
  });

  it("P-8: send nothing for a login that has ended, though the account signs in again", async () => {
    const { gateway, guard, client } = await setUp();
    await client.discover();
    guard.signIn("acc-1");
    await expect(client.discover()).rejects.toMatchObject({ delivery: "not_sent" });
    expect(gateway.calls).toHaveLength(1);
  });

  it("H-6: keep every digit of what is sent and answered", async () => {
    const { gateway, client } = await setUp();
    gateway.script("docs", (call) =>
      call.method === "tools/call"
        ? call.result('{"content":[],"structuredContent":{"big":12345678901234567890,"z":1,"a":2}}')
        : working(call),
    );
    const detailed = await client.callTool({ name: "echo" }, { contract: { parameters: [] }, detail: true });
    expect(Buffer.from(detailed.raw).toString()).toContain('{"big":12345678901234567890,"z":1,"a":2}');
  });
});
