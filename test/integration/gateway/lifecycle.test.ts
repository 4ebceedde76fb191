import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { createGateway, type Gateway, type GatewayOptions } from "../../../src/gateway/index.js";
import { listen } from "../../../src/serving/index.js";
import {
  Cleanup,
  httpConnector,
  runs,
  post,
  type Received,
  startGateway,
  startUpstream,
  stdioConnector,
} from "./support.js";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const empty: GatewayOptions = { accounts: [], connectors: [] };

async function addressRefused(options: Partial<GatewayOptions>): Promise<unknown> {
  const error: unknown = await createGateway({ ...empty, ...options }).catch((caught: unknown) => caught);
  return isRemoteConnectorError(error, "listen_failed") ? error.details : error;
}

describe("createGateway", () => {
  it("C-5: has no admin side without a bearer for it", async () => {
    const gateway = await createGateway(empty);
    cleanup.add(() => gateway.close());
    expect(gateway.adminOrigin).toBeUndefined();
  });

  it("C-5: a port in use is `listen_failed`, on either side, and leaves nothing listening", async () => {
    const other = await listen(() => undefined);
    cleanup.add(() => other.close());
    const taken = { address: `127.0.0.1:${String(other.port)}`, reason: "EADDRINUSE" };
    expect(await addressRefused({ port: other.port })).toEqual(taken);
    const free = await listen(() => undefined);
    const { port } = free;
    await free.close();
    expect(await addressRefused({ port, adminPort: other.port, adminBearer: "0123456789abcdef" })).toEqual(taken);
    const again = await listen(() => undefined, { port });
    await again.close();
  });

  it("C-5: close ends calls under way, and every child process, and may be called again", async () => {
    const program = [
      "const { createInterface } = require('node:readline');",
      "const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');",
      "createInterface({ input: process.stdin }).on('line', (line) => {",
      "  const { id, method } = JSON.parse(line);",
      "  if (method === 'initialize') say(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } });",
      "  if (method === 'tools/list') say(id, { tools: [], pid: process.pid });",
      "});",
    ];
    let arrived = (_request: Received): void => undefined;
    const arrival = new Promise<Received>((resolve) => (arrived = resolve));
    const upstream = await startUpstream(cleanup, async (request) => {
      if (request.method !== "tools/call") return;
      arrived(request);
      await request.closed;
    });
    const gateway = await startGateway(cleanup, [
      stdioConnector("c", ["-e", program.join("\n")]),
      httpConnector("h", upstream.url),
    ]);
    const body: unknown = await (await post(gateway, { connectorId: "c", method: "tools/list" })).json();
    const pid = Number(Reflect.get(Object(Reflect.get(Object(body), "result")), "pid"));
    expect(runs(pid)).toBe(true);
    const call = post(gateway, { connectorId: "h", method: "tools/call", params: { name: "echo" } });
    await arrival;
    await Promise.all([gateway.close(), gateway.close()]);
    const answer = await call;
    expect([answer.status, await answer.json()]).toMatchObject([
      503,
      { error: { code: -33003, data: { reason: "cancelled" } } },
    ]);
    expect(runs(pid)).toBe(false);
    await expect(fetch(gateway.origin)).rejects.toThrow();
  });

  /** A gateway whose only server never shakes hands, and a call that waits for it. */
  async function hungHandshake(): Promise<{ gateway: Gateway; call: Promise<Response>; pid: number }> {
    const folder = mkdtempSync(join(tmpdir(), "gateway-"));
    cleanup.add(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "pid");
    const program =
      "require('node:fs').writeFileSync(process.argv[1], String(process.pid)); setInterval(() => {}, 60000);";
    const gateway = await startGateway(cleanup, [stdioConnector("c", ["-e", program, file], "account")]);
    await gateway.grant("ada", "c");
    const call = post(gateway, { connectorId: "c", method: "tools/list" });
    let pid = 0;
    await expect.poll(() => (pid = Number(readFileSync(file, "utf8"))), { timeout: 10_000 }).toBeGreaterThan(0);
    return { gateway, call, pid };
  }

  it("C-5: close does not wait for a handshake that hangs, but for the end of its process", async () => {
    const { gateway, call, pid } = await hungHandshake();
    await gateway.close();
    expect(runs(pid)).toBe(false);
    expect((await call).status).toBe(503);
  });

  it.each<["revoke" | "expire", number]>([
    ["revoke", -33001],
    ["expire", -33002],
  ])("C-5, H-6: %s ends a handshake that hangs, and its callers learn why", async (change, code) => {
    const { gateway, call, pid } = await hungHandshake();
    await gateway[change]("ada", "c");
    const answer = await call;
    expect([answer.status, await answer.json()]).toMatchObject([428, { error: { code } }]);
    await expect.poll(() => runs(pid), { timeout: 10_000 }).toBe(false);
  });

  it("C-5: takes names of its own for cookie, header and `_meta` key", async () => {
    const upstream = await startUpstream(cleanup, () => undefined);
    const gateway = await startGateway(cleanup, [httpConnector("c", upstream.url)], {
      sessionCookie: "sid",
      versionHeader: "X-Release",
      versionMetaKey: "com.example/release",
    });
    const list = { connectorId: "c", method: "tools/list" };
    expect((await post(gateway, list)).status).toBe(401);
    const headers = { Cookie: "sid=s-ada", "X-Release": "1.0.0" };
    expect((await post(gateway, { ...list, headers })).status).toBe(400);
    expect((await post(gateway, { ...list, headers, meta: { "com.example/release": "1.0.0" } })).status).toBe(200);
  });
});
