import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  activateRemote,
  ActivationMemory,
  classifyActivationFault,
  type RemoteActivation,
} from "../../../src/connector-host/activation/index.js";
import { DirectFactory, type RemoteMcpClient } from "../../../src/connector-host/factories/index.js";
import { parseRelease } from "../../../src/connector-host/release/index.js";
import { createAdmitter, Route, RouteTable } from "../../../src/connector-host/routes/index.js";
import { deliveryOf } from "../../../src/errors.js";
import { isJsonObject, type JsonObject } from "../../../src/protocol/index.js";

const RELEASE = parseRelease({
  connectorId: "tencent-docs",
  version: "1.4.0",
  runtime: {
    kind: "remote_mcp",
    protocolVersion: "2026-07-28",
    bindingRef: "tencent-docs.primary",
    contractVersion: 1,
    bindingContractHash: `sha256:${"0".repeat(64)}`,
  },
  authorization: { kind: "oauth2", profile: "tencent-docs.account" },
  requiredCapabilities: ["tools"],
  minimumHostVersion: "0.0.0",
  display: { name: "Tencent Docs" },
});

interface Seen {
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly method: string;
  readonly params: JsonObject;
}

/** A gateway on a real socket. `answer` may hold a response back: it is given the way to send it. */
class Gateway {
  readonly seen: Seen[] = [];
  /** Requests whose connection was closed by the client before they were answered. */
  abandoned = 0;
  answer: (seen: Seen, send: (status: number, body: JsonObject) => void) => void = (seen, send) => {
    if (seen.method === "server/discover") {
      send(200, { result: { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } } });
    } else if (seen.method === "tools/list") {
      send(200, { result: { tools: [{ name: "search", inputSchema: { type: "object" } }] } });
    } else send(200, { result: { content: [{ type: "text", text: "found" }] } });
  };
  readonly #server: Server = createServer((request, response) => void this.#serve(request, response));

  async listen(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    return `http://127.0.0.1:${String(isAddress(address) ? address.port : 0)}/api`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Connections that are open. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) if (chunk instanceof Buffer) chunks.push(chunk);
    const message: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    if (!isJsonObject(message)) throw new Error("the client sent no object");
    const { method, params, id } = message;
    const seen = {
      url: request.url ?? "",
      headers: request.headers,
      method: String(method),
      params: isJsonObject(params) ? params : {},
    };
    this.seen.push(seen);
    response.on("close", () => {
      if (!response.writableEnded) this.abandoned += 1;
    });
    this.answer(seen, (status, body) => {
      response.writeHead(status, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
    });
  }
}

function isAddress(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === "object" && address !== null;
}

/** Waits for what happens on the other side of a socket. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; round < 500; round += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("it never came to be");
}

let gateway: Gateway;
let factory: DirectFactory;
let memory: ActivationMemory;
let routes: RouteTable<RemoteMcpClient>;

beforeEach(async () => {
  gateway = new Gateway();
  const baseUrl = await gateway.listen();
  let requests = 0;
  factory = new DirectFactory({
    baseUrl,
    clientInfo: { name: "test-host", version: "1" },
    logins: {
      loginGeneration: (accountId) => (accountId === "acc-1" ? 1 : undefined),
      authorizerFor: () => async () => {
        await new Promise((resolve) => setImmediate(resolve));
        requests += 1;
        return { Cookie: `session=${String(requests)}` };
      },
    },
  });
  memory = new ActivationMemory();
  memory.switchLogin(1);
  routes = new RouteTable();
  routes.openScope("acc-1", "e1");
});

afterEach(async () => {
  await routes.close(1_000);
  await gateway.close();
});

function activate(signal = new AbortController().signal): Promise<RemoteActivation> {
  const request = {
    operationId: "op",
    accountId: "acc-1",
    loginGeneration: 1,
    generation: 1,
    release: RELEASE,
    authorizationState: "connected",
    connectionVersion: 1n,
    serverRevision: 1n,
  } as const;
  return activateRemote(request, { factory, memory, hostVersion: "1.0.0", signal });
}

async function publish(generation: number): Promise<Route<RemoteMcpClient>> {
  const { client, tools, releaseDigest } = await activate();
  const route = new Route({
    connectorKey: RELEASE.connectorId,
    scope: "acc-1",
    scopeEpoch: "e1",
    generation,
    releaseDigest,
    connectionVersion: 1n,
    client,
    tools,
  });
  expect(await routes.commit(route)).toMatchObject({ published: true });
  return route;
}

/** A call as the host makes one: counted in, ended with the route, admitted last. */
function call(route: Route<RemoteMcpClient>) {
  const leave = route.enter();
  const promise = route.client.callTool(
    { name: "search", arguments: {} },
    {
      contract: route.tools.get("search")?.contract,
      signal: route.signal,
      admit: createAdmitter(routes, route),
    },
  );
  promise.then(leave, leave);
  return promise;
}

/** From now on calls are held; the returned functions answer them. */
function holdCalls(): (() => void)[] {
  const held: (() => void)[] = [];
  const answer = gateway.answer.bind(gateway);
  gateway.answer = (seen, send) => {
    if (seen.method === "tools/call") held.push(() => send(200, { result: { content: [] } }));
    else answer(seen, send);
  };
  return held;
}

describe("H-6, H-9: activation over real sockets", () => {
  it("reaches the one endpoint, pinned and authorized request by request", async () => {
    const route = await publish(1);
    await call(route);
    expect(gateway.seen.map((seen) => seen.method)).toEqual(["server/discover", "tools/list", "tools/call"]);
    for (const [index, { url, headers, params }] of gateway.seen.entries()) {
      expect(url).toBe("/api/v1/connectors/tencent-docs/mcp");
      expect(headers["tutti-connector-version"]).toBe("1.4.0");
      expect(headers["cookie"]).toBe(`session=${String(index + 1)}`);
      expect(params["_meta"]).toMatchObject({ "sh.tutti/connectorVersion": "1.4.0" });
    }
  });

  it("asks again but lists once for the same identity", async () => {
    await publish(1);
    await publish(2);
    expect(gateway.seen.map((seen) => seen.method)).toEqual(["server/discover", "tools/list", "server/discover"]);
  });

  it("leaves no connection after 428, and says that the account has to act", async () => {
    gateway.answer = (_, send) => send(428, { error: { code: -33_001, message: "authorize first" } });
    const failure: unknown = await activate().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "authorization_required", delivery: "answered" });
    expect(classifyActivationFault(failure, 0)).toEqual({ counts: false, authorization: { reauthorize: false } });
    await until(async () => (await gateway.connections()) === 0);
  });

  it("leaves no connection when it is aborted while the gateway is silent", async () => {
    gateway.answer = () => {};
    const controller = new AbortController();
    const activating = activate(controller.signal);
    await until(() => gateway.seen.length === 1);
    controller.abort("newer desired");
    await expect(activating).rejects.toBe("newer desired");
    await until(async () => gateway.abandoned === 1 && (await gateway.connections()) === 0);
  });

  it("R-4: a gateway that is gone is no fault of the connector", async () => {
    await gateway.close();
    const failure: unknown = await activate().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "connect_failed", delivery: "not_sent" });
    expect(classifyActivationFault(failure, 0)).toEqual({ counts: false });
  });
});

describe("H-13, H-14: fences reach the socket", () => {
  it("★ item 18: a revoking fence ends a call in flight at once, honestly, and drops its connection", async () => {
    const route = await publish(1);
    holdCalls();
    const calling = call(route);
    const outcome = calling.catch((error: unknown) => error);
    await until(() => gateway.seen.at(-1)?.method === "tools/call");
    routes.fence("acc-1", RELEASE.connectorId, 1, "revoke");
    expect(await outcome).toMatchObject({ code: "cancelled" });
    expect(deliveryOf(calling)).toBe("unknown");
    await until(async () => gateway.abandoned === 1 && (await gateway.connections()) === 0);
    expect(routes.counts).toMatchObject({ published: 0, retiring: 0 });
  });

  it("a call that was not sent when the fence fell never is", async () => {
    const route = await publish(1);
    const calling = call(route);
    const outcome = calling.catch((error: unknown) => error);
    routes.fenceAll("acc-1");
    await outcome;
    expect(deliveryOf(calling)).toBe("not_sent");
    expect(gateway.seen.map((seen) => seen.method)).not.toContain("tools/call");
  });

  it("a superseded route finishes what it has, takes nothing new, and is closed when it is done", async () => {
    const old = await publish(1);
    const held = holdCalls();
    const calling = call(old);
    await until(() => held.length === 1);
    const next = await publish(2);
    expect(routes.current(RELEASE.connectorId)).toBe(next);
    expect(routes.counts.retiring).toBe(1);
    await expect(call(old)).rejects.toMatchObject({ code: "not_admitted", delivery: "not_sent" });
    held[0]?.();
    await expect(calling).resolves.toEqual({ content: [] });
    await until(() => routes.counts.retiring === 0);
    await expect(call(old)).rejects.toMatchObject({ delivery: "not_sent" });
    const answered = call(next);
    await until(() => held.length === 2);
    held[1]?.();
    await expect(answered).resolves.toEqual({ content: [] });
  });
});
