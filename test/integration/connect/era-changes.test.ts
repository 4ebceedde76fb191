import { getEventListeners } from "node:events";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { connect, type McpClient } from "../../../src/connect/index.js";
import { deliveryOf, isRemoteConnectorError } from "../../../src/errors.js";
import {
  answerError,
  answerFeed,
  answerNothing,
  answerResult,
  answerStatus,
  EventFeed,
  Gate,
  type Handler,
  holdUntil,
  likeLegacyServer,
  likeModernServer,
  resetAt,
  withFaults,
} from "../../../src/testing/index.js";
import { systemClock } from "../../../src/transport/index.js";
import { ChangingServer, failureOf, reach } from "./parties.js";

const TOOLS = { tools: [{ name: "echo" }, { name: "slow" }] };
const modern = likeModernServer(TOOLS);
const legacy = likeLegacyServer({ ...TOOLS, revision: "2025-11-25", sessionId: "s-1" });
const RECHECK = { recheckPauseMs: 0.001 } as const;
const wrong = JSON.parse("null");

/** The calls of a tool that reached the server. */
function callsOf(server: ChangingServer, name: string): number {
  return server.requests.filter(({ method, params }) => method === "tools/call" && nameIn(params) === name).length;
}

function nameIn(params: unknown): unknown {
  return typeof params === "object" && params !== null ? Reflect.get(params, "name") : undefined;
}

/** A legacy server on which calls of `slow` are held, and a client that has made so many; the first is let go by the test. */
async function holding(
  outcome: Handler,
  count = 2,
): Promise<{
  readonly server: ChangingServer;
  readonly client: McpClient;
  readonly slow: Promise<unknown>;
  readonly let: () => void;
}> {
  const gate = new Gate();
  let held = 0;
  const holdSlow: Handler = async (request) => {
    if (request.method !== "tools/call" || nameIn(request.params) !== "slow") return legacy(request);
    held += 1;
    if (held > 1) return answerNothing();
    await gate.opened;
    return outcome(request);
  };
  const server = await ChangingServer.start(holdSlow);
  const { client } = await reach(server.url, RECHECK);
  const slow = client.callTool({ name: "slow" });
  slow.catch(() => undefined);
  await vi.waitFor(() => expect(held).toBe(1));
  for (let others = count - 1; others > 0; others -= 1) client.callTool({ name: "slow" }).catch(() => undefined);
  await vi.waitFor(() => expect(held).toBe(count));
  server.become(modern);
  return { server, client, slow, let: () => gate.open() };
}

describe("calls while a server is replaced by one of the other era", () => {
  it("L-22 F-11 makes no call again that may have run, though its session was replaced meanwhile", async () => {
    const { server, client, slow, let: release } = await holding(() => withFaults(answerResult({}), resetAt(0)));
    await client.callTool({ name: "echo" });
    expect(client.era).toBe("modern");
    release();
    const error = await failureOf(slow);
    expect([error.code, deliveryOf(slow)]).toEqual(["connection_broken", "unknown"]);
    expect(callsOf(server, "slow")).toBe(2);
  });

  it("L-22 F-11 hands on what a tool said before its session was replaced", async () => {
    const { server, client, slow, let: release } = await holding(() => answerError(-32603, "The tool failed."));
    await client.callTool({ name: "echo" });
    release();
    const error = await failureOf(slow);
    expect(isRemoteConnectorError(error, "peer_error") && error.details.rpcCode).toBe(-32603);
    expect(callsOf(server, "slow")).toBe(2);
  });

  it("L-22 makes a refused call again, though its session was replaced and nothing else ran on it", async () => {
    const { server, client, slow, let: release } = await holding(() => answerStatus(405), 1);
    await client.callTool({ name: "echo" });
    release();
    await expect(slow).resolves.toMatchObject({ content: expect.anything() });
    expect(callsOf(server, "slow")).toBe(2);
  });

  it("L-22 F-11 looks at the era after a 500 that carries an error, and does not call the tool twice", async () => {
    const failing: Handler = (request) =>
      request.method === "tools/call" && request.header("Mcp-Session-Id") !== undefined
        ? answerError(-32603, "It broke half-way.", { status: 500 })
        : modern(request);
    const server = await ChangingServer.start(legacy);
    const { client } = await reach(server.url, RECHECK);
    server.become(failing);
    const error = await failureOf(client.callTool({ name: "echo" }));
    expect(isRemoteConnectorError(error, "peer_error") && error.details.rpcCode).toBe(-32603);
    expect([client.era, callsOf(server, "echo")]).toEqual(["modern", 1]);
  });

  it("L-23 ends the subscriptions of a session that is replaced", async () => {
    const feed = new EventFeed();
    const server = await ChangingServer.start((request) =>
      request.verb === "GET"
        ? answerFeed(feed)
        : likeLegacyServer({ ...TOOLS, revision: "2025-11-25", capabilities: { tools: { listChanged: true } } })(
            request,
          ),
    );
    const { client } = await reach(server.url, RECHECK);
    const subscription = client.listen({ toolsListChanged: true });
    await subscription.acknowledged;
    server.become(modern);
    await client.callTool({ name: "echo" });
    const end = await subscription.closed;
    expect(end.kind === "broken" && end.error.code).toBe("stream_ended");
  });
});

describe("promises of connect and its client", () => {
  it("F-2 settles a call whose signal fires while its failure is handed on", async () => {
    const abort = new AbortController();
    const armed = { now: false };
    const clock = {
      ...systemClock,
      now: () => {
        if (armed.now && getEventListeners(abort.signal, "abort").length === 0) abort.abort("enough");
        return systemClock.now();
      },
    };
    const server = await ChangingServer.start(legacy);
    const { client } = await reach(server.url, { ...RECHECK, clock });
    server.become((request) => {
      armed.now = request.method === "tools/call";
      return answerStatus(405);
    });
    const settled = vi.fn();
    client.callTool({ name: "echo" }, { signal: abort.signal }).then(settled, settled);
    await vi.waitFor(() => expect(settled).toHaveBeenCalledTimes(1));
  });

  it("refuses an unknown option of either era, whichever the server is of", async () => {
    const server = await ChangingServer.start(legacy);
    const misspelt: object[] = [{ modern: { unknownTool: "call" } }, { legacy: { lisen: "never" } }];
    for (const options of misspelt) {
      const error = await failureOf(reach(server.url, { ...options, revisions: ["2025-11-25"] }));
      expect([error.code, error.delivery]).toEqual(["invalid_options", "not_sent"]);
    }
    expect(server.requests).toEqual([]);
  });

  it("F-2 rejects, and throws nothing, for arguments of a wrong type", async () => {
    const server = await ChangingServer.start(legacy);
    const { client } = await reach(server.url);
    const calling = client.callTool(wrong);
    await expect(calling).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(client.listTools({}, wrong)).rejects.toMatchObject({ code: "invalid_options" });
  });

  it("L-22 F-7 waits for no memory that hangs longer than the deadline, or the signal", async () => {
    const server = await ChangingServer.start(legacy);
    const eraMemory = {
      read: () => new Promise<never>(() => undefined),
      write: () => undefined,
      forget: () => undefined,
    };
    const error = await failureOf(reach(server.url, { eraMemory, lifecycleTimeoutMs: 50 }));
    expect(isRemoteConnectorError(error, "timeout") && error.details.option).toBe("lifecycleTimeoutMs");
    await expect(reach(server.url, { eraMemory, signal: AbortSignal.timeout(20) })).rejects.toMatchObject({
      name: "TimeoutError",
    });
  });

  it("L-22 forgets no era because the caller gave up", async () => {
    const server = await ChangingServer.start(() => answerNothing());
    const forgotten = vi.fn();
    const eraMemory = { read: () => ({ era: "legacy", decidedAt: 0 }) as const, write: forgotten, forget: forgotten };
    // A reason that would speak of the era if it came from the server.
    const old = await ChangingServer.start(() => answerStatus(404));
    const refused = await failureOf(reach(old.url));
    const abort = new AbortController();
    const connecting = reach(server.url, { eraMemory, signal: abort.signal, recheckLegacyAfterMs: Infinity });
    await vi.waitFor(() => expect(server.posted).toContain("initialize"));
    abort.abort(refused);
    await expect(connecting).rejects.toBe(refused);
    expect(forgotten).not.toHaveBeenCalled();
  });

  it("F-7 names the option that bounds the search, whatever the moment at which the probe began", async () => {
    const server = await ChangingServer.start(() => answerNothing());
    let skew = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + (skew += 3) };
    const error = await failureOf(reach(server.url, { clock, lifecycleTimeoutMs: 400 }));
    expect(isRemoteConnectorError(error, "timeout") && error.details.option).toBe("lifecycleTimeoutMs");
  });

  it("F-8 leaves no listener on the signal of connect, nor on that of a call", async () => {
    const server = await ChangingServer.start(legacy);
    const abort = new AbortController();
    const add = vi.spyOn(abort.signal, "addEventListener");
    const remove = vi.spyOn(abort.signal, "removeEventListener");
    const { client } = await reach(server.url, { ...RECHECK, signal: abort.signal });
    server.become(modern);
    await client.callTool({ name: "echo" }, { signal: abort.signal });
    expect(client.era).toBe("modern");
    await vi.waitFor(() => expect(remove.mock.calls.length).toBe(add.mock.calls.length));
    expect(add.mock.calls.length).toBeGreaterThan(0);
  });

  it("L-8 closes while the era is looked at again, and the call ends", async () => {
    const gate = new Gate();
    const server = await ChangingServer.start(legacy);
    const { client } = await reach(server.url, RECHECK);
    server.become((request) =>
      request.method === "server/discover" ? withFaults(answerStatus(404), holdUntil(gate.opened)) : answerStatus(405),
    );
    const calling = client.callTool({ name: "echo" });
    calling.catch(() => undefined);
    await vi.waitFor(() => expect(server.posted.filter((method) => method === "server/discover")).toHaveLength(2));
    await client.close();
    await expect(calling).rejects.toMatchObject({ code: "unexpected_answer" });
    gate.open();
  });

  it("ends at once the subscription that is asked for after the end", async () => {
    const server = await ChangingServer.start(legacy);
    const client = await connect({
      endpoint: server.url,
      clientInfo: { name: "test", version: "1" },
      revisions: ["2025-11-25"],
    });
    onTestFinished(() => client.close());
    await client.close();
    expect(await client.listen({ toolsListChanged: true }).closed).toMatchObject({ kind: "cancelled" });
  });
});
