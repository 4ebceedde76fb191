import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { Gateway } from "../../../src/gateway/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import {
  Cleanup,
  httpConnector,
  json,
  runs,
  post,
  type Received,
  snapshotOf,
  startGateway,
  startUpstream,
  stdioConnector,
  subscribe,
} from "./support.js";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const NOWHERE = "http://127.0.0.1:9/mcp";

/** The status with which an upgrade is refused. */
async function upgradeStatus(
  gateway: Gateway,
  path: string,
  headers: Record<string, string>,
): Promise<number | undefined> {
  const socket = new WebSocket(`${gateway.origin.replace("http", "ws")}${path}`, { headers });
  cleanup.add(() => socket.terminate());
  socket.on("error", () => undefined);
  const status = new Promise<number | undefined>((resolve) => {
    socket.on("unexpected-response", (_request, response) => resolve(response.statusCode));
    socket.on("open", () => resolve(101));
  });
  return status;
}

const hint = (connectorId: string, revision: string): object => ({
  protocol_version: 2,
  event_type: "connector.authorization.changed",
  payload: { connectorId, revision },
});

describe("the snapshot", () => {
  it("P-1: follows every change of its own account, revision by revision", async () => {
    const gateway = await startGateway(cleanup, [
      httpConnector("b", NOWHERE, "account"),
      httpConnector("a", NOWHERE, "account"),
      httpConnector("free", NOWHERE),
    ]);
    const read = async (session = "s-ada"): Promise<object> =>
      Object(await (await snapshotOf(gateway, session)).json());
    const start = await read();
    expect(start).toEqual({
      revision: "1",
      epoch: expect.any(String),
      connectors: [
        {
          connectorId: "a",
          connectorVersion: "1.0.0",
          state: "disconnected",
          connectionId: null,
          connectionVersion: "0",
        },
        {
          connectorId: "b",
          connectorVersion: "1.0.0",
          state: "disconnected",
          connectionId: null,
          connectionVersion: "0",
        },
      ],
    });
    await gateway.grant("ada", "a");
    const granted = await read();
    expect(granted).toMatchObject({
      revision: "2",
      epoch: Reflect.get(start, "epoch"),
      connectors: [{ state: "connected", connectionVersion: "1" }, {}],
    });
    await gateway.grant("ada", "a");
    expect(await read()).toMatchObject({
      revision: "3",
      connectors: [{ state: "connected", connectionVersion: "2" }, {}],
    });
    await gateway.expire("ada", "a");
    await gateway.expire("ada", "a");
    expect(await read()).toMatchObject({
      revision: "4",
      connectors: [{ state: "reauth_required", connectionVersion: "2" }, {}],
    });
    await gateway.revoke("ada", "a");
    expect(await read()).toMatchObject({ revision: "5", connectors: [{ state: "disconnected" }, {}] });
    expect(await read("s-bob")).toEqual(start);
  });

  it("P-3: has another epoch after the gateway began anew", async () => {
    const connectors = [httpConnector("a", NOWHERE, "account")];
    const epochs = await Promise.all(
      [1, 2].map(async () => {
        const body: unknown = await (await snapshotOf(await startGateway(cleanup, connectors), "s-ada")).json();
        return Reflect.get(Object(body), "epoch");
      }),
    );
    expect(epochs[0]).not.toBe(epochs[1]);
  });

  it("P-1: needs a session and GET", async () => {
    const gateway = await startGateway(cleanup, []);
    const unknown = await snapshotOf(gateway, "s-eve");
    expect([unknown.status, unknown.headers.get("www-authenticate")]).toEqual([
      401,
      'Cookie realm="gateway", cookie-name="session"',
    ]);
    const posted = await fetch(`${gateway.origin}/v1/connector-authorizations/snapshot`, { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET"]);
  });
});

describe("hints", () => {
  it("P-9: go to every subscriber of the account whose connector changed, after the change", async () => {
    const gateway = await startGateway(cleanup, [httpConnector("a", NOWHERE, "account")]);
    const [ada, again, bob] = await Promise.all([
      subscribe(cleanup, gateway, "s-ada"),
      subscribe(cleanup, gateway, "s-ada"),
      subscribe(cleanup, gateway, "s-bob"),
    ]);
    await gateway.grant("ada", "a");
    await gateway.revoke("ada", "a");
    await gateway.revoke("ada", "a");
    await expect.poll(() => [ada.told.length, again.told.length]).toEqual([2, 2]);
    expect(ada.told).toEqual([hint("a", "2"), hint("a", "3")]);
    expect(bob.told).toEqual([]);
  });

  it("P-9: refuses whoever has no session, comes from elsewhere, or means another path", async () => {
    const gateway = await startGateway(cleanup, [], { allowedOrigins: ["https://app.test"] });
    const Cookie = "session=s-ada";
    expect(await upgradeStatus(gateway, "/v1/events", {})).toBe(401);
    expect(await upgradeStatus(gateway, "/v1/events", { Cookie: "session=s-eve" })).toBe(401);
    expect(await upgradeStatus(gateway, "/v1/events", { Cookie, Origin: "https://evil.test" })).toBe(403);
    expect(await upgradeStatus(gateway, "/v1/connectors/a/mcp", { Cookie })).toBe(404);
    expect(await upgradeStatus(gateway, "/v1/events", { Cookie, Origin: "https://app.test" })).toBe(101);
    const plain = await fetch(`${gateway.origin}/v1/events`, { headers: { Cookie } });
    expect([plain.status, plain.headers.get("upgrade")]).toEqual([426, "websocket"]);
  });

  it("P-9: pings, and ends the connection of whoever does not answer", async () => {
    const clock = new FakeClock();
    const gateway = await startGateway(cleanup, [], { clock });
    const { socket } = await subscribe(cleanup, gateway, "s-ada");
    const mute = new WebSocket(`${gateway.origin.replace("http", "ws")}/v1/events`, {
      headers: { Cookie: "session=s-ada" },
      autoPong: false,
    });
    cleanup.add(() => mute.terminate());
    await once(mute, "open");
    for (let round = 0; round < 2; round += 1) {
      const pinged = once(socket, "ping");
      await clock.advance(30_000);
      await pinged;
      // The answer has to be back before the next round.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await expect.poll(() => mute.readyState).toBe(WebSocket.CLOSED);
    expect(socket.readyState).toBe(WebSocket.OPEN);
  });

  it("P-9: a message that is too large ends the connection that sent it, and no other", async () => {
    const gateway = await startGateway(cleanup, [httpConnector("a", NOWHERE, "account")]);
    const [loud, other] = await Promise.all([
      subscribe(cleanup, gateway, "s-ada"),
      subscribe(cleanup, gateway, "s-ada"),
    ]);
    loud.socket.send("hello, which nobody minds");
    loud.socket.send(Buffer.alloc(20_000));
    await once(loud.socket, "close");
    await gateway.grant("ada", "a");
    await expect.poll(() => other.told).toEqual([hint("a", "2")]);
  });

  it("P-9: end with the gateway, which says that it goes", async () => {
    const gateway = await startGateway(cleanup, []);
    const { socket } = await subscribe(cleanup, gateway, "s-ada");
    const closed = once(socket, "close");
    await gateway.close();
    expect((await closed)[0]).toBe(1001);
  });
});

describe("a connection that ends", () => {
  it.each([
    ["revoke", -33001],
    ["expire", -33002],
  ] as const)("H-6: %s ends the calls under way with %i, and the account's process", async (change, code) => {
    let arrived = (_request: Received): void => undefined;
    const arrival = new Promise<Received>((resolve) => (arrived = resolve));
    const upstream = await startUpstream(cleanup, async (request) => {
      if (request.method !== "tools/call") return;
      arrived(request);
      await request.closed;
    });
    const gateway = await startGateway(cleanup, [httpConnector("c", upstream.url, "account")]);
    await gateway.grant("ada", "c");
    const call = post(gateway, { connectorId: "c", method: "tools/call", params: { name: "echo" } });
    await arrival;
    await gateway[change]("ada", "c");
    const answer = await call;
    expect([answer.status, await answer.json()]).toMatchObject([428, { error: { code } }]);
  });

  it("H-6: revoke ends the calls of a program too, and the program", async () => {
    const program = [
      "const { createInterface } = require('node:readline');",
      "const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');",
      "createInterface({ input: process.stdin }).on('line', (line) => {",
      "  const { id, method, params } = JSON.parse(line);",
      "  if (method === 'initialize') say({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } });",
      "  if (method === 'tools/list') say({ id, result: { tools: [] } });",
      "  if (method === 'tools/call') say({ method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress: 1, message: String(process.pid) } });",
      "});",
    ];
    const gateway = await startGateway(cleanup, [stdioConnector("c", ["-e", program.join("\n")], "account")]);
    await gateway.grant("ada", "c");
    const call = { connectorId: "c", method: "tools/call", params: { name: "slow" }, meta: { progressToken: 7 } };
    const answer = await post(gateway, call);
    await gateway.revoke("ada", "c");
    const [progress = "", end = ""] = (await answer.text()).trim().split("\n\n");
    expect(JSON.parse(end.replace("data: ", ""))).toMatchObject({ id: 1, error: { code: -33001 } });
    const pid = Number(/"message":"(\d+)"/.exec(progress)?.[1]);
    await expect.poll(() => runs(pid)).toBe(false);
  });

  it("H-6: a new credential for a connected account leaves its calls alone", async () => {
    let arrived = (_request: Received): void => undefined;
    const arrival = new Promise<Received>((resolve) => (arrived = resolve));
    let finish = (): void => undefined;
    const upstream = await startUpstream(cleanup, async (request) => {
      if (request.method !== "tools/call") return;
      arrived(request);
      await new Promise<void>((resolve) => (finish = resolve));
      json(request.response, request.id, '{"resultType":"complete","content":[]}');
    });
    const gateway = await startGateway(cleanup, [httpConnector("c", upstream.url, "account")]);
    await gateway.grant("ada", "c");
    const call = post(gateway, { connectorId: "c", method: "tools/call", params: { name: "echo" } });
    await arrival;
    await gateway.grant("ada", "c");
    await new Promise((resolve) => setTimeout(resolve, 30));
    finish();
    expect((await call).status).toBe(200);
  });
});
