import { createHash, randomBytes } from "node:crypto";
import { getEventListeners, once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { createFetchExchange } from "../../../../src/transport/index.js";
import { working } from "../../../support/scripted-gateway.js";
import { RawServer } from "../../../support/raw-server.js";
import { answerTo, callBody, callHeaders, rawGuest, requestBytes } from "./raw-guest.js";
import { CARRIERS, RelayParties } from "./relay-parties.js";

const parties = new RelayParties();
afterEach(parties.opened.close);

const soon = { timeout: 10_000, interval: 10 };

describe("H-7: what a hostile guest sends", () => {
  it("never gets a forged header through", async () => {
    const gateway = await parties.gateway();
    const { relay, lease } = await parties.desktop(gateway);
    const { bearer } = lease();
    const forged = {
      Cookie: "session=forged",
      Host: "127.0.0.1",
      "X-Forwarded-For": "forged",
      "Tutti-Connector-Version": "forged",
      "Mcp-Session-Id": "forged",
      "Relay-Outcome": "forged",
      "User-Agent": "forged",
    };
    const headers = { ...callHeaders(bearer), ...forged, "Mcp-Param-City": "Lima" };
    expect(await answerTo(relay, requestBytes(headers, callBody()))).toMatchObject({
      status: 200,
      outcome: "answered",
    });
    const [call] = gateway.calls;
    const raw = call?.request.rawHeaders.join("\n") ?? "";
    expect(raw).not.toContain("forged");
    expect(raw).not.toContain(bearer);
    expect(call?.request.headers).toMatchObject({
      cookie: "session=acc-1",
      host: new URL(gateway.url).host,
      "tutti-connector-version": "1.0.0",
      "mcp-param-city": "Lima",
    });
    expect(call?.body).toBe(callBody());
  });

  it("never gets what the lease does not say through, nor anything without a bearer", async () => {
    const gateway = await parties.gateway();
    const { relay, lease } = await parties.desktop(gateway, "TCP", { maxBodyBytes: 10_000 });
    const good = callHeaders(lease().bearer);
    const { Authorization: _, ...anonymous } = good;
    const [big, huge] = [20_000, 20_000_000].map((size) => callBody({ "org.example/fill": "x".repeat(size) }));
    const cases: [Buffer, number, string][] = [
      [requestBytes(anonymous, callBody()), 401, "unauthorized"],
      [requestBytes({ ...good, Authorization: "Basic x" }, callBody()), 401, "unauthorized"],
      [requestBytes({ ...good, Authorization: `Bearer ${"A".repeat(43)}` }, callBody()), 401, "unauthorized"],
      [requestBytes({ ...good, "Relay-Connector": "mail" }, callBody()), 403, "not_leased"],
      [requestBytes({ ...good, "Relay-Connector": "../../admin" }, callBody()), 403, "not_leased"],
      [requestBytes(good, callBody({ "sh.tutti/connectorVersion": "2.0.0" })), 403, "not_leased"],
      [requestBytes(good, callBody({ "sh.tutti/else": 1 })), 400, "invalid_request"],
      [requestBytes(good, callBody({ "sh.tutti/\ud800": 1 })), 400, "invalid_request"],
      [requestBytes(good, callBody({ [`sh.tutti/${"x".repeat(9_000)}`]: 1 })), 400, "invalid_request"],
      [requestBytes(good, "{"), 400, "invalid_request"],
      [requestBytes(good, big ?? ""), 413, "invalid_request"],
      [requestBytes(good, huge ?? ""), 413, "invalid_request"],
      [requestBytes(anonymous, huge ?? ""), 401, "unauthorized"],
      [requestBytes(good, callBody(), "GET /v1/relay"), 403, "invalid_request"],
      [requestBytes(good, callBody(), "POST /v1/connectors/docs/mcp"), 403, "invalid_request"],
      [requestBytes(good, callBody(), "POST http://127.0.0.1:1/v1/relay"), 403, "invalid_request"],
      [requestBytes({ ...good, Origin: "http://localhost" }, callBody()), 403, "invalid_request"],
      [requestBytes({ ...good, Host: "desktop.example" }, callBody()), 403, "invalid_request"],
    ];
    for (const [bytes, status, reason] of cases) {
      expect(await answerTo(relay, bytes)).toMatchObject({ status, outcome: "not_sent", reason });
    }
    expect(gateway.calls).toEqual([]);
    await expect.poll(() => relay.counts, soon).toEqual({ leases: 1, requests: 0 });
  });

  it("F-10: a body beyond the limit is not_sent at the guest, and its client goes on", async () => {
    const gateway = await parties.gateway();
    const { relay, lease } = await parties.desktop(gateway);
    const guest = parties.guest(relay.address, lease().bearer);
    const call = { name: "echo", arguments: { fill: "x".repeat(5 * 1024 * 1024) } };
    await expect(guest.callTool(call, { contract: { parameters: [] } })).rejects.toMatchObject({
      code: "relay_refused",
      delivery: "not_sent",
      details: { reason: "invalid_request", detail: "maxBodyBytes" },
    });
    await guest.discover();
    expect(gateway.calls).toHaveLength(1);
  });

  it("a guest that leaves in its body, or before it, is forgotten", async () => {
    const gateway = await parties.gateway();
    const { relay, lease } = await parties.desktop(gateway);
    const bytes = requestBytes(callHeaders(lease().bearer), callBody());
    for (const part of [bytes.subarray(0, 40), bytes.subarray(0, -10), bytes]) {
      const socket = await rawGuest(relay);
      socket.on("error", () => undefined);
      socket.write(part, () => socket.resetAndDestroy());
      await once(socket, "close");
    }
    await expect.poll(() => relay.counts.requests, soon).toBe(0);
    await parties.guest(relay.address, lease().bearer).discover();
  });
});

describe("H-7: what a hostile guest is shown", () => {
  it("is no cookie, place or session of the gateway", async () => {
    const gateway = await parties.gateway();
    const { relay, lease } = await parties.desktop(gateway);
    gateway.script("docs", ({ response }) => {
      response.writeHead(307, {
        Location: `${gateway.url}/secret`,
        "Set-Cookie": "secret=1",
        "Mcp-Session-Id": "secret",
        "X-Anything": "secret",
        "WWW-Authenticate": "Bearer secret",
        "Retry-After": "3",
      });
      response.end();
    });
    const socket = await rawGuest(relay);
    socket.write(requestBytes(callHeaders(lease().bearer), callBody()));
    const [head] = await once(socket, "data");
    socket.destroy();
    expect(String(head)).toMatch(/^HTTP\/1.1 307 .*retry-after: 3\r\n/s);
    expect(String(head)).not.toMatch(/secret|location|127\.0\.0\.1/i);
  });
});

describe("H-7: a lease that ends while a body comes in", () => {
  it("is told at once, and asks nobody for credentials when the rest is there", async () => {
    const gateway = await parties.gateway();
    let asked = 0;
    const accounts = { authorize: () => ({ Cookie: String((asked += 1)) }) };
    const { relay, lease } = await parties.desktop(gateway, "TCP", {}, accounts);
    const { leaseId, bearer } = lease();
    const bytes = requestBytes(callHeaders(bearer), callBody());
    const socket = await rawGuest(relay);
    socket.write(bytes.subarray(0, -10));
    await expect.poll(() => relay.counts.requests, soon).toBe(1);
    relay.revoke(leaseId);
    const [head] = await once(socket, "data");
    expect(String(head)).toMatch(/^HTTP\/1.1 403 .*relay-outcome: not_sent\r\nrelay-reason: lease_ended/s);
    socket.write(bytes.subarray(-10));
    // The connection goes on, for whoever has a lease.
    socket.write(requestBytes(callHeaders(bearer), callBody()));
    const [next] = await once(socket, "data");
    expect(String(next)).toMatch(/^HTTP\/1.1 401 /);
    socket.destroy();
    expect(asked).toBe(0);
    expect(gateway.calls).toEqual([]);
  });
});

describe("F-8, H-16: what a relay keeps", () => {
  it("is nothing, after hundreds of calls that ended in every way", async () => {
    const gateway = await parties.gateway();
    const { relay, guard, lease } = await parties.desktop(gateway);
    const granted = lease();
    const guest = parties.guest(relay.address, granted.bearer);
    let turn = 0;
    let held = 0;
    let settled = 0;
    gateway.script("docs", (call) => {
      turn += 1;
      if (turn % 4 === 0) call.response.destroy();
      else if (turn % 4 === 1) call.error(-32_000);
      else if (turn % 4 === 2) working(call);
      else held += 1;
    });
    for (let round = 0; round < 10; round += 1) {
      const controller = new AbortController();
      const options = { contract: { parameters: [] }, signal: controller.signal };
      held = 0;
      settled = 0;
      const call = () => guest.callTool({ name: "echo" }, options).finally(() => (settled += 1));
      const ended = Promise.allSettled(Array.from({ length: 40 }, call));
      // Only those that the gateway holds are under way.
      await expect.poll(() => held + settled, { timeout: 10_000, interval: 5 }).toBe(40);
      controller.abort("enough");
      await ended;
    }
    await expect.poll(() => relay.counts, soon).toEqual({ leases: 1, requests: 0 });
    // The one of the lease; none of any call.
    const { current } = guard;
    expect(current && getEventListeners(guard.signalOf(current), "abort")).toHaveLength(1);
    relay.revokeAll();
    expect(relay.counts.leases).toBe(0);
    await expect.poll(() => gateway.connections(), soon).toBe(0);
  });
});

describe.each(CARRIERS)("H-7: the pace of a guest over %s", (carrier) => {
  const SIZE = 48 * 1024 * 1024;

  /** A gateway that answers with as much as the desktop takes. */
  async function flood(body: Buffer) {
    const server = await RawServer.start(({ socket }) => {
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: ${String(body.length)}\r\n\r\n`,
      );
      socket.write(body);
    });
    parties.opened.push(server);
    return server;
  }

  it("is the gateway's: what a guest does not read is not read for it, and nothing is lost", async () => {
    const body = randomBytes(SIZE);
    const gateway = await flood(body);
    const { relay, lease } = await parties.desktop({ url: `http://127.0.0.1:${String(gateway.port)}` }, carrier);
    const socket = await rawGuest(relay);
    const hash = createHash("sha256");
    let read = 0;
    let head = "";
    socket.write(requestBytes(callHeaders(lease().bearer), callBody()));
    socket.pause();
    await expect.poll(() => gateway.requests.length, soon).toBe(1);
    const upstream = gateway.requests[0]?.socket;
    const before = process.memoryUsage().arrayBuffers;
    let taken = -1;
    // As long as anything still moves.
    while (taken !== upstream?.bytesWritten) {
      taken = upstream?.bytesWritten ?? 0;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect(upstream?.writableLength).toBeGreaterThan(0);
    // 48 MiB wait, and the desktop has none of them but what sockets hold.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
    let pending = Buffer.alloc(0);
    const done = new Promise<void>((resolve) => {
      socket.on("data", (chunk) => {
        pending = Buffer.concat([pending, chunk]);
        if (head === "") {
          const end = pending.indexOf("\r\n\r\n");
          if (end === -1) return;
          head = pending.toString("latin1", 0, end);
          pending = pending.subarray(end + 4);
        }
        for (;;) {
          const line = pending.indexOf("\r\n");
          if (line === -1) return;
          const size = Number.parseInt(pending.toString("latin1", 0, line), 16);
          if (pending.length < line + 2 + size + 2) return;
          if (size === 0) return resolve();
          hash.update(pending.subarray(line + 2, line + 2 + size));
          read += size;
          pending = pending.subarray(line + 2 + size + 2);
        }
      });
    });
    socket.resume();
    await done;
    expect(head).toMatch(/relay-outcome: answered/);
    expect(read).toBe(SIZE);
    expect(hash.digest("hex")).toBe(createHash("sha256").update(body).digest("hex"));
    socket.destroy();
    await expect.poll(() => relay.counts.requests, soon).toBe(0);
  });

  it("F-10: costs its answer where the desktop's exchange can't wait, at maxBufferedBytes", async () => {
    const gateway = await flood(Buffer.alloc(SIZE));
    const { relay, lease } = await parties.desktop({ url: `http://127.0.0.1:${String(gateway.port)}` }, carrier, {
      createExchange: (origin) => createFetchExchange({ origin }),
      maxBufferedBytes: 4 * 1024 * 1024,
    });
    const socket = await rawGuest(relay);
    socket.on("error", () => undefined);
    socket.pause();
    socket.write(requestBytes(callHeaders(lease().bearer), callBody()));
    await expect.poll(() => gateway.requests.length, soon).toBe(1);
    await expect.poll(() => relay.counts.requests, soon).toBe(0);
    await expect.poll(() => gateway.openSockets, soon).toBe(0);
  });

  it("is given all that came before a break, though it reads it late, and no end", async () => {
    const size = 6 * 1024 * 1024;
    const server = await RawServer.start(({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: ${String(SIZE)}\r\n\r\n`);
      socket.end(Buffer.alloc(size, "x"));
    });
    parties.opened.push(server);
    const { relay, lease } = await parties.desktop({ url: `http://127.0.0.1:${String(server.port)}` }, carrier, {
      createExchange: (origin) => createFetchExchange({ origin }),
    });
    const socket = await rawGuest(relay);
    socket.pause();
    socket.write(requestBytes(callHeaders(lease().bearer), callBody()));
    await expect.poll(() => server.requests.length, soon).toBe(1);
    await expect.poll(() => server.openSockets, soon).toBe(0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString("latin1")));
    const closed = once(socket, "close");
    socket.resume();
    await closed;
    expect(text.slice(text.indexOf("\r\n\r\n")).match(/x/g)).toHaveLength(size);
    expect(text.endsWith("0\r\n\r\n")).toBe(false);
  });

  it("has an end: its lease's, the relay's close, or the idle deadline", async () => {
    const gateway = await flood(Buffer.alloc(SIZE));
    const { relay, lease } = await parties.desktop({ url: `http://127.0.0.1:${String(gateway.port)}` }, carrier, {
      idleTimeoutMs: 500,
    });
    const stuck = async () => {
      const granted = lease();
      const socket = await rawGuest(relay);
      socket.on("error", () => undefined);
      socket.pause();
      socket.write(requestBytes(callHeaders(granted.bearer), callBody()));
      await expect.poll(() => relay.counts.requests, soon).toBe(1);
      return granted;
    };
    await stuck();
    await expect.poll(() => relay.counts.requests, soon).toBe(0);
    const { leaseId } = await stuck();
    relay.revoke(leaseId);
    expect(relay.counts.requests).toBe(0);
    await stuck();
    const began = performance.now();
    await relay.close();
    expect(performance.now() - began).toBeLessThan(1_500);
    await expect.poll(() => gateway.openSockets, soon).toBe(0);
  });
});
