import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { RegistrationFactory } from "../../../../src/connector-host/device/index.js";
import { type DeviceLeases, LeasingClient } from "../../../../src/connector-host/device/leases/index.js";
import type { RegistrationFactoryOptions } from "../../../../src/connector-host/device/registration-factory-options.js";
import type { CallLease, RemoteMcpClient } from "../../../../src/connector-host/factories/index.js";
import { isJsonObject, type JsonObject } from "../../../../src/protocol/index.js";
import type { ServerAsk, ServerAskAnswer } from "../../../../src/protocol/input/index.js";
import { type Handler, likeModernServer, ScriptedServer } from "../../../../src/testing/index.js";
import { AskingServer } from "../../../support/asking-server.js";
import { type DeviceConnector } from "../../../../src/connector-host/device/index.js";
import { Device, published, scripted, server as registered } from "../../../support/device.js";
import { FakeClock } from "../../../support/fake-clock.js";

const clientInfo = { name: "test", version: "1" };
const OPENED = { capabilities: ["tools", "elicitation", "sampling", "roots"] };
const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
const FORMS = { elicitation: { form: {} } };
const FORM = { method: "elicitation/create", params: { message: "Name?", requestedSchema: { type: "object" } } };
const never = new AbortController().signal;

interface OpenParty {
  readonly client: RemoteMcpClient;
  readonly leases: DeviceLeases;
}

async function opened(connector: DeviceConnector, options: Partial<RegistrationFactoryOptions> = {}) {
  const over = new AbortController();
  const factory = new RegistrationFactory({ clientInfo, ...options });
  const { client, leases } = await factory.open(connector, { signal: over.signal, onToolsChanged: () => undefined });
  const all = leases === undefined ? client : new LeasingClient(client, leases);
  onTestFinished(async () => {
    over.abort();
    await all.close();
  });
  return { client: all, leases, plain: client };
}

async function open(connector: DeviceConnector, options: Partial<RegistrationFactoryOptions> = {}): Promise<OpenParty> {
  const { client, leases } = await opened(connector, options);
  if (leases === undefined) throw new Error("There are no leases.");
  return { client, leases };
}

async function serve(handler: Handler): Promise<string> {
  const server = await ScriptedServer.start(handler);
  onTestFinished(() => server.close());
  return server.url;
}

/** Somebody whose calls a server may ask about, and what they were asked. */
class Caller {
  readonly asked: ServerAsk[] = [];
  /** Told of what is asked, which is never answered then. */
  onAsk: (() => void) | undefined;
  readonly name: string;
  readonly capabilities: JsonObject;

  constructor(name: string, capabilities: JsonObject = ALL) {
    this.name = name;
    this.capabilities = capabilities;
  }

  acquire(leases: Pick<DeviceLeases, "acquire">, signal = never): Promise<CallLease<RemoteMcpClient>> {
    const answer = async (ask: ServerAsk): Promise<ServerAskAnswer> => {
      this.asked.push(ask);
      if (this.onAsk !== undefined) {
        this.onAsk();
        return new Promise(() => undefined);
      }
      if (ask.method === "roots/list") return { result: { roots: [{ uri: `file:///${this.name}` }] } };
      return { result: { action: "accept", content: { name: this.name } } };
    };
    return leases.acquire({ holder: this, capabilities: this.capabilities, answer, signal });
  }

  /** Calls the tool that asks. */
  async call(leases: DeviceLeases, asks: readonly object[] = [FORM]): Promise<unknown> {
    const lease = await this.acquire(leases);
    try {
      return await answersOf(lease.client, asks);
    } finally {
      lease.release();
    }
  }
}

async function answersOf(client: RemoteMcpClient, asks: readonly object[] = [FORM]): Promise<unknown> {
  const { structuredContent } = await client.callTool({ name: "asks", arguments: { asks } });
  return isJsonObject(structuredContent) ? structuredContent["answers"] : undefined;
}

const accepted = (name: string) => [{ result: { action: "accept", content: { name } } }];
const DECLINED = [{ result: { action: "decline" } }];
const NO_ROOTS = { error: expect.objectContaining({ code: -32_603 }) as unknown };

const OVER_HTTP = [
  ["Streamable HTTP", {}, "streamable"],
  ["HTTP+SSE", { protocol: "sse" }, "sse"],
] as const;

describe.each(OVER_HTTP)("leases of a legacy server over %s", (_transport, settings, handler) => {
  async function party(options: Partial<RegistrationFactoryOptions> = {}, more = {}) {
    const server = new AskingServer(more);
    const endpoint = await serve(server[handler]);
    return { server, ...(await open(registered(endpoint, OPENED, settings), options)) };
  }

  it("H-27: each of two callers is asked what its own call brought about; the plain connection declares nothing", async () => {
    const { server, leases } = await party();
    const [ada, bob] = [new Caller("ada"), new Caller("bob", FORMS)];
    const answers = await Promise.all([ada.call(leases), bob.call(leases), ada.call(leases, [FORM, FORM])]);
    expect(answers).toEqual([accepted("ada"), accepted("bob"), [...accepted("ada"), ...accepted("ada")]]);
    expect([ada.asked.length, bob.asked.length]).toEqual([3, 1]);
    const declared = server.introduced.map(({ capabilities }) => JSON.stringify(capabilities)).toSorted();
    expect(declared).toEqual([{}, FORMS, ALL, ALL].map((one) => JSON.stringify(one)).toSorted());
  });

  it("H-27: who can be asked nothing has the plain connection, and shares it", async () => {
    const { server, leases } = await party();
    const [a, b] = [new Caller("a", {}), new Caller("b", { tasks: {} })];
    const held = await Promise.all([a.acquire(leases), b.acquire(leases)]);
    expect(held[0]?.client).toBe(held[1]?.client);
    for (const lease of held) lease.release();
    expect(server.introduced).toHaveLength(1);
  });

  it("H-27: the fifth waits, and proceeds in its turn; one whose signal fires is not sent", async () => {
    const { server, leases } = await party();
    const callers = ["1", "2", "3", "4"].map((name) => new Caller(name));
    const held = await Promise.all(callers.map((caller) => caller.acquire(leases)));
    const over = new AbortController();
    const gone = new Caller("gone").acquire(leases, over.signal);
    const [fifth, sixth] = [new Caller("5"), new Caller("6")];
    const order: string[] = [];
    const waiting = [fifth, sixth].map(async (caller) => {
      await caller.call(leases);
      order.push(caller.name);
    });
    const reason = new Error("the deadline");
    over.abort(reason);
    await expect(gone).rejects.toBe(reason);
    expect(server.introduced).toHaveLength(5);
    held[1]?.release();
    await Promise.all(waiting);
    expect(order).toEqual(["5", "6"]);
    expect([fifth.asked.length, sixth.asked.length]).toEqual([1, 1]);
    for (const lease of held) lease.release();
  });

  it("H-27: an idle one is given to the same holder with the same, and to nobody else", async () => {
    const { server, leases } = await party({ maxLeasedConnections: 1 });
    const ada = new Caller("ada");
    await ada.call(leases);
    await ada.call(leases);
    expect(server.introduced).toHaveLength(2);
    expect(new Set(server.calls).size).toBe(1);
    await new Caller("bob").call(leases);
    expect(server.introduced).toHaveLength(3);
    expect(new Set(server.calls).size).toBe(2);
    await ada.call(leases);
    expect(server.introduced).toHaveLength(4);
  });

  it("H-27: what is asked after the release is declined", async () => {
    const { leases } = await party();
    const ada = new Caller("ada");
    const lease = await ada.acquire(leases);
    lease.release();
    lease.release();
    expect(await answersOf(lease.client)).toEqual(DECLINED);
    expect(ada.asked).toEqual([]);
  });

  it("H-27: idle ones end after a minute, and all of them with the client", async () => {
    const clock = new FakeClock();
    const { server, client, leases } = await party({ clock });
    const ada = new Caller("ada");
    await ada.call(leases);
    await clock.advance(59_999);
    await ada.call(leases);
    expect(server.introduced).toHaveLength(2);
    await clock.advance(60_000);
    await ada.call(leases);
    expect(server.introduced).toHaveLength(3);
    const held = await new Caller("bob").acquire(leases);
    await client.close();
    await expect(held.client.callTool({ name: "asks" })).rejects.toMatchObject({ code: "cancelled" });
    await expect(ada.acquire(leases)).rejects.toMatchObject({ code: "cancelled", delivery: "not_sent" });
    held.release();
  });

  it("H-27: after a call that was given up its connection is nobody's: the server may still ask about it", async () => {
    const { server, leases } = await party();
    const ada = new Caller("ada");
    const lease = await ada.acquire(leases);
    const over = new AbortController();
    const held = { asks: [{ method: "elicitation/create", params: FORM.params }] };
    ada.onAsk = () => over.abort("enough");
    await expect(lease.client.callTool({ name: "asks", arguments: held }, { signal: over.signal })).rejects.toBe(
      "enough",
    );
    lease.release();
    ada.onAsk = undefined;
    expect(await ada.call(leases)).toEqual(accepted("ada"));
    expect(new Set(server.calls).size).toBe(2);
  });

  it("H-27: what is asked while it is opened belongs to the call that opens it", async () => {
    const { server, leases } = await party({}, { first: { method: "roots/list" } });
    const ada = new Caller("ada");
    const lease = await ada.acquire(leases);
    await vi.waitFor(() => expect(ada.asked).toEqual([{ method: "roots/list", params: undefined }]));
    // The plain one has no capability.
    await vi.waitFor(() => expect(server.firsts.get("s-1")).toMatchObject({ error: { code: -32601 } }));
    lease.release();
  });

  it("H-27: a connection that can't be opened is not sent, and keeps nobody from the next one", async () => {
    if (handler === "sse") return;
    const { leases } = await party({ maxLeasedConnections: 1 }, { maxSessions: 1 });
    for (const _ of [1, 2]) {
      await expect(new Caller("ada").acquire(leases)).rejects.toMatchObject({
        code: "unexpected_answer",
        delivery: "not_sent",
      });
    }
  });

  it("H-27: a connection that broke is not given again", async () => {
    if (handler !== "sse") return;
    const { server, leases } = await party();
    const ada = new Caller("ada");
    await ada.call(leases);
    server.breakStream(server.calls[0] ?? "");
    await vi.waitFor(async () => expect(await ada.call(leases)).toEqual(accepted("ada")));
    expect(new Set(server.calls).size).toBe(2);
  });
});

describe("a connector that is opened for nothing that a server may ask", () => {
  it("H-4: declares nothing, and has no leases", async () => {
    const server = new AskingServer();
    const { client, leases } = await opened(registered(await serve(server.streamable)));
    expect([leases, Reflect.get(client, "leases"), server.introduced[0]?.["capabilities"]]).toEqual([
      undefined,
      undefined,
      {},
    ]);
    expect(await answersOf(client)).toMatchObject([{ error: { code: -32601 } }]);
  });
});

describe("a modern server of a connector that is opened for all", () => {
  it("H-27: has no leases, and is told nothing beforehand", async () => {
    const server = await ScriptedServer.start(likeModernServer({ tools: [{ name: "echo" }] }));
    onTestFinished(() => server.close());
    const { client } = await open(registered(server.url, OPENED));
    expect([client.era, client.leases]).toEqual(["modern", undefined]);
    await client.callTool({ name: "echo" });
    expect(JSON.stringify(server.requests.map(({ params }) => params))).not.toContain("elicitation");
  });
});

describe("the route of a connector", () => {
  it("H-27: has the leases of a legacy server, and none where the connector is opened for nothing", async () => {
    const device = new Device();
    const url = await serve(new AskingServer().streamable);
    const route = await device.publish(registered(url, OPENED));
    expect([route.client.era, route.client.leases]).toEqual(["legacy", expect.anything()]);
    if (route.client.leases === undefined) return;
    const ada = new Caller("ada");
    const lease = await ada.acquire(route.client.leases);
    expect(await answersOf(lease.client)).toEqual(accepted("ada"));
    await device.close();
    await expect(ada.acquire(route.client.leases)).rejects.toMatchObject({ code: "cancelled", delivery: "not_sent" });
    lease.release();
  });
});

describe("the leases of a program", () => {
  it("H-27: one process and one call at a time, whoever makes it; each is asked its own", async () => {
    const { client, leases } = await open(scripted("scripted-stdio-server", { revision: "2025-11-25" }, OPENED));
    const [ada, bob, mute] = [new Caller("ada"), new Caller("bob", FORMS), new Caller("mute", {})];
    const roots = { method: "roots/list" };
    const answers = await Promise.all([
      ada.call(leases),
      mute.call(leases, [FORM, roots, { method: "sampling/createMessage", params: {} }]),
      bob.call(leases, [FORM, roots]),
    ]);
    expect(answers).toEqual([
      accepted("ada"),
      [...DECLINED, NO_ROOTS, { error: expect.objectContaining({ code: -1 }) }],
      [...accepted("bob"), NO_ROOTS],
    ]);
    expect([ada.asked.length, mute.asked.length, bob.asked.length]).toEqual([1, 0, 1]);
    expect(await answersOf(client)).toEqual(DECLINED);
    const { structuredContent } = await client.callTool({ name: "seen" });
    expect(structuredContent).toMatchObject({
      seen: expect.arrayContaining([
        expect.objectContaining({ method: "initialize", params: expect.objectContaining({ capabilities: ALL }) }),
      ]),
    });
  });

  it("H-27: the next one waits for the release; its signal ends the waiting, and so does the end of the client", async () => {
    const { client, leases } = await open(scripted("scripted-stdio-server", { revision: "2025-11-25" }, OPENED));
    const first = await new Caller("ada").acquire(leases);
    const over = new AbortController();
    const second = new Caller("bob", {}).acquire(leases, over.signal);
    over.abort("late");
    await expect(second).rejects.toBe("late");
    // Lists are nobody's call.
    await client.listAllTools();
    const third = new Caller("cyd").acquire(leases);
    const refused = expect(third).rejects.toMatchObject({ code: "cancelled", delivery: "not_sent" });
    await client.close();
    await refused;
    first.release();
  });

  it("H-27: after a call that was given up the next one waits until the server has heard of it", async () => {
    const { client, leases } = await open(scripted("scripted-stdio-server", { revision: "2025-11-25" }, OPENED));
    const [ada, bob] = [new Caller("ada"), new Caller("bob")];
    const lease = await ada.acquire(leases);
    const over = new AbortController();
    ada.onAsk = () => over.abort("enough");
    const given = { name: "asks", arguments: { asks: [FORM] } };
    await expect(lease.client.callTool(given, { signal: over.signal })).rejects.toBe("enough");
    lease.release();
    expect(await bob.call(leases)).toEqual(accepted("bob"));
    const { structuredContent } = await client.callTool({ name: "seen" });
    const seen = isJsonObject(structuredContent) ? structuredContent["seen"] : undefined;
    const methods = Array.isArray(seen) ? seen.map((one: JsonObject) => one["method"]) : [];
    const asked = methods.flatMap((method, index) => (method === "tools/call" ? [index] : []));
    expect(methods.slice(asked[0], (asked[1] ?? 0) + 1).filter((method) => method !== undefined)).toEqual([
      "tools/call",
      "notifications/cancelled",
      "ping",
      "tools/call",
    ]);
  });

  it("H-27: the published server with everything asks the caller of its tool", async () => {
    const { leases } = await open(published("server-everything", OPENED));
    const ada = new Caller("ada");
    const lease = await ada.acquire(leases);
    const result = await lease.client.callTool({ name: "trigger-elicitation-request", arguments: {} });
    lease.release();
    expect(ada.asked.map(({ method }) => method)).toContain("elicitation/create");
    expect(result.isError).not.toBe(true);
    // It asks for roots by itself 350 ms after its start, for no call, and keeps what it is answered.
    await pause(500);
    const again = await ada.acquire(leases);
    const listed = await again.client.callTool({ name: "get-roots-list", arguments: {} });
    again.release();
    expect(JSON.stringify(listed)).toContain("file:///ada");
  });
});
