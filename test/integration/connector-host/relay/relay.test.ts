import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { deliveryOf } from "../../../../src/errors.js";
import { createRelayServer, type RelayLogins, relayLogins } from "../../../../src/connector-host/index.js";
import { LoginGuard } from "../../../../src/auth-projection/index.js";
import { isJsonObject } from "../../../../src/protocol/index.js";
import { createFetchExchange } from "../../../../src/transport/index.js";
import { type ConnectorCall, working } from "../../../support/scripted-gateway.js";
import { CALL, type Carrier, CARRIERS, RelayParties } from "./relay-parties.js";

const parties = new RelayParties();
afterEach(parties.opened.close);

const soon = { timeout: 5_000, interval: 5 };

/** A gateway whose calls of `tools/call` are held, a desktop before it, and a guest. */
async function setUp(
  carrier: Carrier,
  ...rest: Parameters<RelayParties["desktop"]> extends [unknown, unknown?, ...infer R] ? R : never
) {
  const gateway = await parties.gateway();
  const desktop = await parties.desktop(gateway, carrier, ...rest);
  const granted = desktop.lease();
  const guest = parties.guest(desktop.relay.address, granted.bearer);
  return { gateway, ...desktop, granted, guest };
}

function hold(gateway: { script(key: string, answer: (call: ConnectorCall) => void): void }): ConnectorCall[] {
  const held: ConnectorCall[] = [];
  gateway.script("docs", (call) => (call.method === "tools/call" ? held.push(call) : working(call)));
  return held;
}

/** The first of the calls that are held, once it is there. */
async function first(held: readonly ConnectorCall[]): Promise<ConnectorCall> {
  await expect.poll(() => held.length, soon).toBe(1);
  const [call] = held;
  if (call === undefined) throw new Error("no call came");
  return call;
}

const event = (message: object): string => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;

describe.each(CARRIERS)("H-7 over %s", (carrier) => {
  it("carries discovery, lists and calls, and makes each request of the lease", async () => {
    const { gateway, relay, guest, granted } = await setUp(carrier);
    expect((await guest.discover()).supportedVersions).toEqual(["2026-07-28"]);
    expect((await guest.listAllTools()).tools.map(({ name }) => name)).toEqual(["echo"]);
    const args = { big: 12345678901234567890n.toString(), text: "größe" };
    expect(await guest.callTool({ name: "echo", arguments: args })).toMatchObject({
      content: [{ type: "text", text: JSON.stringify(args) }],
    });
    expect(gateway.calls.map(({ method }) => method)).toEqual(["server/discover", "tools/list", "tools/call"]);
    for (const { request, params } of gateway.calls) {
      expect(request.headers).toMatchObject({
        cookie: "session=acc-1",
        "tutti-connector-version": "1.0.0",
        "mcp-protocol-version": "2026-07-28",
        host: new URL(gateway.url).host,
      });
      expect(params["_meta"]).toMatchObject({ "sh.tutti/connectorVersion": "1.0.0" });
      expect(request.url).toBe("/v1/connectors/docs/mcp");
      expect(JSON.stringify(request.rawHeaders)).not.toContain(granted.bearer);
      expect(Object.keys(request.headers).filter((name) => name.startsWith("relay-"))).toEqual([]);
    }
    expect(relay.counts).toEqual({ leases: 1, requests: 0 });
  });

  it("hands a stream on event by event", async () => {
    const { gateway, guest } = await setUp(carrier);
    const held = hold(gateway);
    const seen: number[] = [];
    const result = guest.callTool(CALL[0], { ...CALL[1], onProgress: ({ progress }) => seen.push(progress) });
    const { response, id, params } = await first(held);
    const meta = params["_meta"];
    const token = isJsonObject(meta) ? meta["progressToken"] : undefined;
    response.writeHead(200, { "Content-Type": "text/event-stream", "Set-Cookie": "gateway=1" }).flushHeaders();
    for (const progress of [1, 2, 3]) {
      response.write(event({ method: "notifications/progress", params: { progressToken: token, progress } }));
      await expect.poll(() => seen, soon).toEqual([1, 2, 3].slice(0, progress));
    }
    response.end(event({ id, result: { content: [], extra: 1 } }));
    expect(await result).toEqual({ content: [], extra: 1 });
  });

  it("ends the desktop's request and the gateway's when the guest gives up", async () => {
    const { gateway, guest, relay } = await setUp(carrier);
    const held = hold(gateway);
    const controller = new AbortController();
    const call = guest.callTool(CALL[0], { ...CALL[1], signal: controller.signal });
    const { response } = await first(held);
    expect(relay.counts.requests).toBe(1);
    const gone = once(response, "close");
    controller.abort("enough");
    await expect(call).rejects.toBe("enough");
    expect(deliveryOf(call)).toBe("unknown");
    await gone;
    await expect.poll(() => relay.counts.requests, soon).toBe(0);
  });

  it.each(["before the answer", "in the answer"])("revocation ends what is under way, %s", async (when) => {
    const { gateway, guest, relay, granted } = await setUp(carrier);
    const held = hold(gateway);
    const call = guest.callTool(...CALL);
    const { response } = await first(held);
    if (when === "in the answer") {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write(": here\n\n");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const gone = once(response, "close");
    expect(relay.revoke(granted.leaseId)).toBe(true);
    expect(relay.counts).toEqual({ leases: 0, requests: 0 });
    await expect(call).rejects.toMatchObject({ code: "connection_broken", delivery: "unknown" });
    await gone;
    const refused = { code: "relay_refused", delivery: "not_sent", details: { reason: "unauthorized" } };
    await expect(guest.callTool(...CALL)).rejects.toMatchObject(refused);
    expect(held).toHaveLength(1);
  });

  it("P-8: so does the end of the login, and the account's next login is no way back in", async () => {
    const { gateway, guard, guest, relay, lease } = await setUp(carrier);
    const held = hold(gateway);
    const call = guest.callTool(...CALL);
    await first(held);
    guard.signOut();
    expect(relay.counts).toEqual({ leases: 0, requests: 0 });
    await expect(call).rejects.toMatchObject({
      code: "connection_broken",
      delivery: "unknown",
      details: { reason: "login_ended" },
    });
    guard.signIn("acc-1");
    await expect(guest.discover()).rejects.toMatchObject({ code: "relay_refused", delivery: "not_sent" });
    const next = parties.guest(relay.address, lease().bearer);
    await next.discover();
  });

  it("and so does its time", async () => {
    const { gateway, relay, lease } = await setUp(carrier);
    const held = hold(gateway);
    const guest = parties.guest(relay.address, lease(["docs"], { lifetimeMs: 400 }).bearer);
    const call = guest.callTool(...CALL);
    await first(held);
    await expect(call).rejects.toMatchObject({ delivery: "unknown", details: { reason: "expired" } });
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({ code: "relay_refused", delivery: "not_sent" });
    expect(held).toHaveLength(1);
  });

  it("survives its own restart, with nothing but a new lease", async () => {
    const { gateway, guard, guest, relay } = await setUp(carrier);
    await guest.discover();
    await relay.close();
    await relay.close();
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({ code: "connect_failed", delivery: "not_sent" });
    const { address } = relay;
    const listen = "socketPath" in address ? address : { port: Number(new URL(address.url).port) };
    const again = await createRelayServer({ baseUrl: gateway.url, logins: relayLogins(guard), listen });
    parties.opened.push(again);
    expect(again.address).toEqual(address);
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({ code: "relay_refused", delivery: "not_sent" });
    const connectors = [{ connectorKey: "docs", releaseDigest: "d-docs", version: "1.0.0" }];
    const { bearer } = again.grant({ accountId: "acc-1", connectors });
    await parties.guest(address, bearer).discover();
  });

  it("closes at once, tells what is under way, and leaves no lease, request, or file", async () => {
    const { gateway, guest, relay } = await setUp(carrier);
    const held = hold(gateway);
    const call = guest.callTool(...CALL);
    await first(held);
    const told = expect(call).rejects.toMatchObject({ delivery: "unknown", details: { reason: "closing" } });
    const began = performance.now();
    await relay.close();
    expect(performance.now() - began).toBeLessThan(1_500);
    await told;
    expect(relay.counts).toEqual({ leases: 0, requests: 0 });
    await expect.poll(() => gateway.connections(), soon).toBe(0);
    if ("socketPath" in relay.address) expect(existsSync(relay.address.socketPath)).toBe(false);
  });
});

describe("H-7: each guest has its own lease", () => {
  it("and no other connector, release or version, nor the other guest's", async () => {
    const { gateway, relay, lease } = await setUp("TCP");
    const mail = lease(["mail"]).bearer;
    await parties.guest(relay.address, mail, { connectorKey: "mail", releaseDigest: "d-mail" }).discover();
    gateway.calls.length = 0;
    const refused = (detail: string): object => ({
      code: "relay_refused",
      delivery: "not_sent",
      details: { reason: "not_leased", detail },
    });
    const changes: [object, string][] = [
      [{}, "another connector"],
      [{ connectorKey: "mail" }, "another release"],
      [{ connectorKey: "mail", releaseDigest: "d-mail", version: "2.0.0" }, "another version"],
      [{ connectorKey: "mail", releaseDigest: "d-mail", accountId: "acc-2" }, "another account"],
    ];
    for (const [change, detail] of changes) {
      await expect(parties.guest(relay.address, mail, change).callTool(...CALL)).rejects.toMatchObject(refused(detail));
    }
    await expect(parties.guest(relay.address, "x".repeat(43)).discover()).rejects.toMatchObject({
      code: "relay_refused",
      delivery: "not_sent",
      details: { reason: "unauthorized" },
    });
    expect(gateway.calls).toEqual([]);
    expect(relay.counts.requests).toBe(0);
  });

  it("and its own number of requests", async () => {
    const { gateway, guest, relay, lease } = await setUp("TCP", { maxRequestsPerLease: 2 });
    const held = hold(gateway);
    const calls = [guest.callTool(...CALL), guest.callTool(...CALL)];
    await expect.poll(() => held.length, soon).toBe(2);
    await expect(guest.discover()).rejects.toMatchObject({
      code: "relay_refused",
      delivery: "not_sent",
      details: { reason: "busy", detail: "maxRequestsPerLease" },
    });
    await parties.guest(relay.address, lease().bearer).discover();
    for (const call of held) call.result('{"content":[]}');
    await Promise.all(calls);
    await guest.discover();
  });
});

describe("F-1, H-7: the verdict on the desktop's own request", () => {
  it("is not_sent without a connection to the gateway, and the guest's one new attempt reaches it anew", async () => {
    const { gateway, guest } = await setUp("TCP");
    await gateway.close();
    const began = performance.now();
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({
      code: "connect_failed",
      delivery: "not_sent",
      details: { reason: "ECONNREFUSED", evidence: { handedOver: false, attempts: 2 } },
    });
    expect(performance.now() - began).toBeLessThan(2_000);
    parties.opened.push(await parties.gateway());
  });

  it("F-20: is as good over another exchange of the desktop's own", async () => {
    const { gateway, guest } = await setUp("TCP", { createExchange: (origin) => createFetchExchange({ origin }) });
    await guest.discover();
    gateway.script("docs", ({ response }) => response.destroy());
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({ code: "connection_broken", delivery: "unknown" });
    // What came before a break is worth as much as it is without a relay.
    gateway.script("docs", ({ response, id }) => {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write(event({ id, result: { content: [] } }), () => response.destroy());
    });
    for (let i = 0; i < 20; i += 1) await expect(guest.callTool(...CALL)).resolves.toEqual({ content: [] });
    await gateway.close();
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({
      code: "connect_failed",
      delivery: "not_sent",
      details: { reason: "ECONNREFUSED" },
    });
    parties.opened.push(await parties.gateway());
  });

  it("is unknown when the gateway cuts without a head, or in its answer", async () => {
    const { gateway, guest } = await setUp("TCP");
    gateway.script("docs", ({ response }) => response.destroy());
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({
      code: "connection_broken",
      delivery: "unknown",
      details: { evidence: { handedOver: true, headersSeen: false } },
    });
    gateway.script("docs", ({ response }) => {
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "100" });
      response.write("{", () => response.destroy());
    });
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({
      code: "connection_broken",
      delivery: "unknown",
      details: { evidence: { headersSeen: true } },
    });
  });

  it("F-3: is answered for whatever the gateway says", async () => {
    const { gateway, guest } = await setUp("TCP");
    gateway.script("docs", (call) => call.error(-33005, 429, { retryAfterMs: 5 }));
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({
      code: "peer_error",
      delivery: "answered",
      details: { rpcCode: -33005, httpStatus: 429, rpcData: { retryAfterMs: 5 } },
    });
    gateway.script("docs", ({ response }) => response.writeHead(428, { "Retry-After": "7" }).end());
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({
      delivery: "answered",
      details: { status: 428, retryAfter: "7" },
    });
    // The gateway can't speak for the relay.
    const forged = { "Content-Type": "text/html", "Relay-Outcome": "not_sent", "Relay-Reason": "busy" };
    gateway.script("docs", ({ response }) => response.writeHead(502, forged).end("<p>"));
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({ code: "unexpected_answer", delivery: "unknown" });
  });

  it.each([301, 302, 307, 308])("F-14: follows no redirect of status %s, and shows no place", async (status) => {
    const { gateway, guest } = await setUp("TCP");
    gateway.script("docs", ({ response }) => response.writeHead(status, { Location: "/v1/connectors/mail/mcp" }).end());
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({
      code: "redirect_refused",
      delivery: "answered",
      details: { location: "" },
    });
    expect(gateway.calls).toHaveLength(1);
  });

  it("is not_sent without credentials, and for what the authorizer throws", async () => {
    let credentials: () => Record<string, string> | undefined = () => undefined;
    const { gateway, guest, relay } = await setUp("TCP", {}, { authorize: () => credentials() });
    for (const give of [
      () => undefined,
      () => {
        throw new Error("the keychain says secret-1");
      },
      () => ({ Host: "elsewhere" }),
    ]) {
      credentials = give;
      const error: unknown = await guest.callTool(...CALL).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: "account_not_ready", delivery: "not_sent" });
      expect(JSON.stringify(error)).not.toContain("secret-1");
    }
    expect(gateway.calls).toEqual([]);
    expect(relay.counts.requests).toBe(0);
  });

  it("H-14: is not_sent when the desktop's last check refuses, or its lease ends while credentials are fetched", async () => {
    const told: unknown[] = [];
    let answer: (() => string | undefined) | undefined;
    let wait: Promise<void> | undefined;
    const { gateway, guest, relay, granted, lease } = await setUp(
      "TCP",
      {
        admit(request) {
          told.push(request);
          return answer?.();
        },
      },
      {
        async authorize() {
          await wait;
          return { Cookie: "session=acc-1" };
        },
      },
    );
    answer = () => "paused";
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({
      code: "not_admitted",
      delivery: "not_sent",
      details: { reason: "paused" },
    });
    for (const odd of ["\ud800", "x".repeat(100_000), "größe"]) {
      answer = () => odd;
      await expect(guest.callTool(...CALL)).rejects.toMatchObject({ code: "not_admitted", delivery: "not_sent" });
    }
    told.length = 1;
    answer = () => {
      throw new Error("broken");
    };
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({ code: "not_admitted", delivery: "not_sent" });
    answer = undefined;
    await guest.discover();
    const identity = { leaseId: granted.leaseId, accountId: "acc-1", connectorKey: "docs" };
    expect(told).toEqual([
      { ...identity, method: "tools/call" },
      { ...identity, method: "tools/call" },
      { ...identity, method: "server/discover" },
    ]);
    expect(gateway.calls).toHaveLength(1);

    let goOn = (): void => undefined;
    wait = new Promise((resolve) => (goOn = resolve));
    const call = guest.callTool(...CALL);
    await expect.poll(() => relay.counts.requests, soon).toBe(1);
    relay.revoke(granted.leaseId);
    await expect(call).rejects.toMatchObject({
      code: "relay_refused",
      delivery: "not_sent",
      details: { reason: "lease_ended", detail: "revoked" },
    });
    goOn();
    // The lease ends in the very check: nothing is written then either.
    wait = undefined;
    const other = lease();
    answer = () => (relay.revoke(other.leaseId) ? undefined : "no lease");
    await expect(parties.guest(relay.address, other.bearer).callTool(...CALL)).rejects.toMatchObject({
      code: "relay_refused",
      delivery: "not_sent",
    });
    expect(gateway.calls).toHaveLength(1);
  });

  it("is not_sent when logins that are no guard's give nothing: no request goes out without credentials", async () => {
    const logins: RelayLogins = {
      loginGeneration: () => 1,
      authorizerFor: () => () => undefined,
      loginSignal: () => new AbortController().signal,
    };
    const { gateway, guest } = await setUp("TCP", { logins });
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({ code: "account_not_ready", delivery: "not_sent" });
    expect(gateway.calls).toEqual([]);
  });

  it("H-14, P-8: is not_sent when another login is there by then, though nobody was told of the end of the first", async () => {
    let generation = 1;
    const logins: RelayLogins = {
      loginGeneration: () => generation,
      authorizerFor: () => () => {
        generation += 1;
        return { Cookie: "session=of-another-login" };
      },
      loginSignal: () => new AbortController().signal,
    };
    const { gateway, guest } = await setUp("TCP", { logins });
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({
      code: "relay_refused",
      delivery: "not_sent",
      details: { reason: "lease_ended", detail: "login_ended" },
    });
    expect(gateway.calls).toEqual([]);
  });

  it("H-14: is not_sent when the lease's time is over by then, though the timer is late", async () => {
    let now = 0;
    const { gateway, relay, lease } = await setUp(
      "TCP",
      { clock: { now: () => now, schedule: () => () => undefined } },
      {
        authorize() {
          now += 1_000;
          return { Cookie: "session=acc-1" };
        },
      },
    );
    const guest = parties.guest(relay.address, lease(["docs"], { lifetimeMs: 1_000 }).bearer);
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({
      code: "relay_refused",
      delivery: "not_sent",
      details: { reason: "lease_ended", detail: "expired" },
    });
    expect(gateway.calls).toEqual([]);
  });

  it("F-7: keeps deadlines of its own", async () => {
    const { gateway, guest } = await setUp("TCP", { idleTimeoutMs: 100 });
    const held = hold(gateway);
    const call = guest.callTool(...CALL);
    const gone = once((await first(held)).response, "close");
    await expect(call).rejects.toMatchObject({
      code: "connection_broken",
      delivery: "unknown",
      details: { reason: "idleTimeoutMs" },
    });
    await gone;
  });

  it("F-7: does not wait for credentials for ever, nor gives the connection of the guest up with them", async () => {
    const { gateway, guest, relay } = await setUp(
      "TCP",
      { connectTimeoutMs: 100 },
      { authorize: () => new Promise(() => undefined) },
    );
    await expect(guest.callTool(...CALL)).rejects.toMatchObject({
      code: "relay_refused",
      delivery: "not_sent",
      details: { reason: "timeout", detail: "connectTimeoutMs" },
    });
    expect(relay.counts.requests).toBe(0);
    expect(gateway.calls).toEqual([]);
  });
});

describe.skipIf(process.platform === "win32")("the Unix socket", () => {
  it("is for its owner only, replaces a dead one, and neither a living one nor a file", async () => {
    const folder = await parties.folder();
    const gateway = await parties.gateway();
    const guard = new LoginGuard({ authorize: () => ({ Cookie: "c" }) });
    const start = (name: string) =>
      createRelayServer({
        baseUrl: gateway.url,
        logins: relayLogins(guard),
        listen: { socketPath: join(folder, name) },
      });
    const living = await start("a.sock");
    parties.opened.push(living);
    expect(statSync(join(folder, "a.sock")).mode & 0o777).toBe(0o600);
    const failed = { code: "listen_failed", details: { reason: "EADDRINUSE" } };
    await expect(start("a.sock")).rejects.toMatchObject(failed);
    expect(existsSync(join(folder, "a.sock"))).toBe(true);
    // What a killed process leaves.
    const dead = createServer().listen(join(folder, "b.sock"));
    await once(dead, "listening");
    const { renameSync, writeFileSync } = await import("node:fs");
    renameSync(join(folder, "b.sock"), join(folder, "c.sock"));
    dead.close();
    await once(dead, "close");
    parties.opened.push(await start("c.sock"));
    writeFileSync(join(folder, "d.sock"), "not a socket");
    await expect(start("d.sock")).rejects.toMatchObject(failed);
    expect(existsSync(join(folder, "d.sock"))).toBe(true);
  });
});
