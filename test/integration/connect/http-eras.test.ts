import { describe, expect, it, vi } from "vitest";
import { createEraMemory } from "../../../src/connect/index.js";
import { deliveryOf, isRemoteConnectorError } from "../../../src/errors.js";
import { LEGACY_REVISIONS } from "../../../src/protocol/index.js";
import {
  type Answer,
  answerBody,
  answerError,
  answerEvents,
  answerNothing,
  answerResult,
  answerStatus,
  likeLegacyServer,
  likeModernServer,
  likeSseServer,
  type Handler,
  errorMessage,
} from "../../../src/testing/index.js";
import { ChangingServer, failureOf, reach } from "./parties.js";

const TOOLS = { tools: [{ name: "echo" }] };
const modern = likeModernServer(TOOLS);
const legacy = likeLegacyServer({ ...TOOLS, revision: "2025-11-25", sessionId: "s-1" });

/** A legacy server that gives this answer to the probe. */
async function probedWith(answer: Answer): Promise<ChangingServer> {
  return ChangingServer.start((request) => (request.method === "server/discover" ? answer : legacy(request)));
}

describe("connect over HTTP", () => {
  it("L-18 L-19 speaks the modern era with a server that discovers", async () => {
    const server = await ChangingServer.start(modern);
    const { client } = await reach(server.url);
    expect([client.era, client.revision]).toEqual(["modern", "2026-07-28"]);
    await client.callTool({ name: "echo" });
    expect(server.methods).toEqual(["server/discover", "tools/list", "tools/call"]);
  });

  it("L-20 W-27 goes on with initialize after a legacy answer", async () => {
    const server = await ChangingServer.start(legacy);
    const { client } = await reach(server.url);
    expect([client.era, client.revision]).toEqual(["legacy", "2025-11-25"]);
    const { content } = await client.callTool({ name: "echo", arguments: { a: 1 } });
    expect(content).toEqual([{ type: "text", text: '{"a":1}' }]);
    expect(server.posted).toEqual(["server/discover", "initialize", "notifications/initialized", "tools/call"]);
  });

  it("L-18 never probes when only legacy revisions may be spoken", async () => {
    const server = await ChangingServer.start(legacy);
    const { client } = await reach(server.url, { revisions: ["2025-11-25"] });
    expect(client.era).toBe("legacy");
    expect(server.posted).toEqual(["initialize", "notifications/initialized"]);
  });

  it("L-18 asks with initialize first when a legacy revision is preferred, and probes when that is refused", async () => {
    const revisions = ["2025-11-25", "2026-07-28"] as const;
    const old = await ChangingServer.start(legacy);
    expect((await reach(old.url, { revisions })).client.era).toBe("legacy");
    expect(old.posted).toEqual(["initialize", "notifications/initialized"]);
    const young = await ChangingServer.start(modern);
    expect((await reach(young.url, { revisions })).client.era).toBe("modern");
    expect(young.posted.filter((method) => method !== "initialize")).toEqual(["server/discover"]);
  });

  it("L-18 never sends initialize when only modern revisions may be spoken", async () => {
    const server = await ChangingServer.start(legacy);
    const error = await failureOf(reach(server.url, { revisions: ["2026-07-28"] }));
    expect(error.code).toBe("peer_error");
    expect(server.methods).toEqual(["server/discover"]);
  });

  it("L-18 ends with both lists when the negotiated revision may not be spoken", async () => {
    const server = await ChangingServer.start(likeLegacyServer({ revision: "2024-11-05" }));
    const error = await failureOf(reach(server.url, { revisions: ["2025-11-25"] }));
    expect(isRemoteConnectorError(error, "unsupported_version") && error.details).toMatchObject({
      supported: ["2024-11-05"],
      ours: ["2025-11-25"],
    });
  });

  const discovered = (versions: readonly string[]): Answer =>
    answerResult({ supportedVersions: versions, capabilities: {}, resultType: "complete" });

  it.each<[string, Answer]>([
    ["-32601 as JSON", answerError(-32601, "Method not found", { status: 200 })],
    ["-32601 as an event", answerEvents([errorMessage(-32601, "Method not found")])],
    ["-32602 under 200", answerError(-32602, "Invalid request parameters", { status: 200 })],
    ["400 without a session", answerError(-32000, "Bad Request: No valid session ID provided", { id: "null" })],
    ["400 in text", answerBody("Bad Request: Mcp-Session-Id header is required", { status: 400 })],
    ["404 in HTML", answerBody("<html>Not Found</html>", { status: 404, type: "text/html" })],
    ["405", answerStatus(405)],
    ["406 with an error", answerError(-32000, "Not Acceptable", { status: 406 })],
    ["415", answerStatus(415)],
    ["422", answerBody('{"detail":[]}', { status: 422, type: "application/json" })],
    ["500 with our id", answerError(-32603, "Internal error", { status: 500 })],
    ["501", answerStatus(501)],
    ["200 in HTML", answerBody("<html>Welcome</html>", { type: "text/html" })],
    ["202 and nothing", answerStatus(202)],
    ["a result without versions", answerResult({})],
    ["a result with no version at all", answerResult({ supportedVersions: [] })],
    ["a result of another type", answerResult({ supportedVersions: ["2026-07-28"], resultType: "input_required" })],
    ["legacy versions", discovered(["2025-11-25", "2025-06-18"])],
    ["-32022 with legacy versions", answerError(-32022, "no", { data: { supported: ["2025-11-25"] } })],
  ])("L-19 takes %s for the legacy era", async (_, answer) => {
    const server = await probedWith(answer);
    const { client } = await reach(server.url);
    expect(client.era).toBe("legacy");
    expect(server.posted).toEqual(["server/discover", "initialize", "notifications/initialized"]);
  });

  it("L-19 takes a stream without a message for the legacy era, after the retries of a read", async () => {
    const server = await probedWith(answerEvents([]));
    const { client } = await reach(server.url, { random: () => 0, maxReadRetries: 1 });
    expect(client.era).toBe("legacy");
    expect(server.posted.slice(0, 3)).toEqual(["server/discover", "server/discover", "initialize"]);
  });

  it.each<[string, Answer, string]>([
    ["401", answerStatus(401, { headers: { "WWW-Authenticate": "Bearer" } }), "unexpected_answer"],
    [
      "403 for want of a scope",
      answerStatus(403, { headers: { "WWW-Authenticate": 'Bearer error="insufficient_scope"' } }),
      "unexpected_answer",
    ],
    ["403", answerStatus(403), "unexpected_answer"],
    ["428", answerStatus(428), "unexpected_answer"],
    ["a redirect", answerStatus(301, { headers: { Location: "/other" } }), "redirect_refused"],
    ["-32020", answerError(-32020, "Header mismatch"), "peer_error"],
    ["-32021", answerError(-32021, "Missing capability", { status: 200 }), "peer_error"],
    [
      "-32022 without a revision of ours",
      answerError(-32022, "no", { data: { supported: ["2031-01-01"] } }),
      "unsupported_version",
    ],
    ["no version of ours", discovered(["2031-01-01"]), "unsupported_version"],
    ["500 without an error", answerStatus(500), "unexpected_answer"],
    ["500 without our id", answerError(-32603, "Internal error", { status: 500, id: "null" }), "peer_error"],
  ])("L-19 hands %s on and says nothing of the era", async (_, answer, code) => {
    const server = await probedWith(answer);
    const eraMemory = createEraMemory();
    const write = vi.spyOn(eraMemory, "write");
    const error = await failureOf(reach(server.url, { eraMemory, maxReadRetries: 0 }));
    expect(error.code).toBe(code);
    expect(server.posted.filter((method) => method !== "server/discover")).toEqual([]);
    expect(write).not.toHaveBeenCalled();
  });

  it("L-20 reports the probe's failure with that of initialize as its cause", async () => {
    const server = await ChangingServer.start((request) =>
      request.method === "initialize"
        ? answerError(-32603, "The database is away", { status: 500 })
        : answerBody("Not Found", { status: 404 }),
    );
    const error = await failureOf(reach(server.url));
    expect(isRemoteConnectorError(error, "unexpected_answer") && error.details.status).toBe(404);
    expect(isRemoteConnectorError(error.cause, "peer_error") && error.cause.details.rpcCode).toBe(-32603);
  });

  it("L-20 holds the whole search to one deadline", async () => {
    const server = await ChangingServer.start((request) =>
      request.method === "server/discover" ? answerStatus(404) : answerNothing(),
    );
    const error = await failureOf(reach(server.url, { lifecycleTimeoutMs: 300 }));
    expect(isRemoteConnectorError(error, "timeout") && error.details.option).toBe("lifecycleTimeoutMs");
  });

  it("F-2 rejects with the caller's own reason", async () => {
    const server = await ChangingServer.start(() => answerNothing());
    const abort = new AbortController();
    const connecting = reach(server.url, { signal: abort.signal });
    await vi.waitFor(() => expect(server.methods).toEqual(["server/discover"]));
    abort.abort("enough");
    await expect(connecting).rejects.toBe("enough");
  });

  it("W-28 asks a modern server again that refused the version and yet names it", async () => {
    let refused = 0;
    const server = await ChangingServer.start((request) => {
      if (request.method !== "server/discover" || refused > 0) return modern(request);
      refused += 1;
      return answerError(-32022, "no", { data: { supported: ["2026-07-28"] } });
    });
    const { client } = await reach(server.url);
    expect(client.era).toBe("modern");
    expect(server.methods).toEqual(["server/discover", "server/discover"]);
  });
});

describe("what is remembered of eras", () => {
  it("L-22 probes a server once", async () => {
    const eraMemory = createEraMemory();
    for (const handler of [legacy, modern]) {
      const server = await ChangingServer.start(handler);
      const { era } = (await reach(server.url, { eraMemory })).client;
      const probes = server.methods.filter((method) => method === "server/discover").length;
      const { client } = await reach(server.url, { eraMemory });
      expect(client.era).toBe(era);
      expect(server.methods.filter((method) => method === "server/discover")).toHaveLength(probes);
    }
  });

  it("L-22 remembers for one authorization context alone", async () => {
    const server = await ChangingServer.start(legacy);
    const eraMemory = createEraMemory();
    await reach(server.url, { eraMemory, authorizationContext: "ada" });
    await reach(server.url, { eraMemory, authorizationContext: "bob" });
    expect(server.methods.filter((method) => method === "server/discover")).toHaveLength(2);
  });

  it("L-22 probes again when initialize is refused", async () => {
    const server = await ChangingServer.start(legacy);
    const eraMemory = createEraMemory();
    await reach(server.url, { eraMemory });
    server.become(modern);
    const { client } = await reach(server.url, { eraMemory });
    expect(client.era).toBe("modern");
    expect(await reach(server.url, { eraMemory })).toMatchObject({ client: { era: "modern" } });
  });

  it("L-22 does not forget because of a server that is away", async () => {
    const server = await ChangingServer.start(legacy);
    const eraMemory = createEraMemory();
    await reach(server.url, { eraMemory });
    server.become(() => answerStatus(503));
    const error = await failureOf(reach(server.url, { eraMemory }));
    expect(isRemoteConnectorError(error, "unexpected_answer") && error.details.status).toBe(503);
    server.become(legacy);
    await reach(server.url, { eraMemory });
    expect(server.methods.filter((method) => method === "server/discover")).toHaveLength(1);
  });

  it("L-22 repeats a call that a replaced server refused, in the other era", async () => {
    const server = await ChangingServer.start(modern);
    const eraMemory = createEraMemory();
    await reach(server.url, { eraMemory });
    server.become(legacy);
    const { client } = await reach(server.url, { eraMemory, modern: { unknownTools: "call" } });
    expect(client.era).toBe("modern");
    const { content } = await client.callTool({ name: "echo", arguments: { a: 1 } });
    expect(content).toEqual([{ type: "text", text: '{"a":1}' }]);
    expect([client.era, client.revision]).toEqual(["legacy", "2025-11-25"]);
    await reach(server.url, { eraMemory });
    expect(server.methods.filter((method) => method === "server/discover")).toHaveLength(2);
  });

  it("L-22 notices in the middle that a legacy server has become a modern one", async () => {
    const server = await ChangingServer.start(legacy);
    const { client } = await reach(server.url, { recheckPauseMs: 0.001 });
    await client.callTool({ name: "echo" });
    server.become(modern);
    await client.callTool({ name: "echo" });
    expect(client.era).toBe("modern");
  });

  it("F-7 L-22 holds a call to its total deadline while the era is looked at again", async () => {
    const server = await ChangingServer.start(legacy);
    const { client } = await reach(server.url, { recheckPauseMs: 0.001 });
    await client.callTool({ name: "echo" });
    server.become((request) =>
      request.method === "server/discover" ? answerNothing() : answerBody("gone", { status: 405 }),
    );
    const startedAt = performance.now();
    const calling = client.callTool({ name: "echo" }, { totalTimeoutMs: 300 });
    const error = await failureOf(calling);
    expect(isRemoteConnectorError(error, "unexpected_answer") && error.details.status).toBe(405);
    expect([deliveryOf(calling), performance.now() - startedAt < 5_000]).toEqual(["answered", true]);
  });

  it("L-22 leaves errors of tools alone once the era is proven", async () => {
    const server = await ChangingServer.start(modern);
    const { client } = await reach(server.url, { modern: { unknownTools: "call" }, recheckPauseMs: 0.001 });
    const call = client.callTool({ name: "echo" });
    await call;
    server.become((request) =>
      request.method === "tools/call" ? answerError(-32602, "no such tool", { status: 200 }) : modern(request),
    );
    const failing = client.callTool({ name: "gone" });
    const error = await failureOf(failing);
    expect([error.code, deliveryOf(failing)]).toEqual(["peer_error", "answered"]);
    expect(server.methods.filter((method) => method === "server/discover")).toHaveLength(1);
  });

  it("L-22 checks an old legacy verdict again in the background", async () => {
    const server = await ChangingServer.start(legacy);
    const eraMemory = createEraMemory();
    let now = 1_000_000;
    const wallNow = (): number => now;
    await reach(server.url, { eraMemory, wallNow, recheckLegacyAfterMs: 1_000 });
    server.become((request) =>
      request.method === "initialize" || request.verb !== "POST" ? legacy(request) : modern(request),
    );
    now += 999;
    const young = await reach(server.url, { eraMemory, wallNow, recheckLegacyAfterMs: 1_000 });
    now += 1;
    const old = await reach(server.url, { eraMemory, wallNow, recheckLegacyAfterMs: 1_000 });
    await vi.waitFor(() => expect(old.client.era).toBe("modern"));
    expect(young.client.era).toBe("legacy");
  });

  it("L-22 works without a memory that fails, and says so", async () => {
    const server = await ChangingServer.start(legacy);
    const fail = (): never => {
      throw new Error("The disk is full.");
    };
    const eraMemory = { read: fail, write: () => Promise.reject(new Error("The disk is full.")), forget: fail };
    const { client, diagnostics } = await reach(server.url, { eraMemory });
    expect(client.era).toBe("legacy");
    await vi.waitFor(() => expect(diagnostics.filter(({ subject }) => subject === "eraMemory")).toHaveLength(2));
  });
});

describe("connect and the transport before Streamable HTTP", () => {
  const sse = likeSseServer({ ...TOOLS });
  const refusing =
    (answer: Answer): Handler =>
    (request) =>
      request.verb === "POST" && request.path === "/mcp" ? answer : sse(request);

  it.each([400, 404, 405])("L-20 MB-074 tries it once, at once, after %i", async (code) => {
    const server = await ChangingServer.start(refusing(answerStatus(code)));
    const { client } = await reach(server.url, { random: () => 0, legacy: { listen: "never" } });
    expect([client.era, client.revision]).toEqual(["legacy", "2024-11-05"]);
    const { content } = await client.callTool({ name: "echo", arguments: { a: 1 } });
    expect(content).toEqual([{ type: "text", text: '{"a":1}' }]);
    expect(server.methods.slice(0, 3)).toEqual(["server/discover", "initialize", "GET"]);
  });

  it("L-20 MB-068 does not try it after a server that is away, and hides nothing", async () => {
    const server = await ChangingServer.start((request) =>
      request.method === "server/discover" ? answerStatus(404) : answerStatus(request.verb === "POST" ? 503 : 405),
    );
    const error = await failureOf(reach(server.url));
    expect(isRemoteConnectorError(error.cause, "unexpected_answer") && error.cause.details.status).toBe(503);
    expect(server.methods).not.toContain("GET");
  });

  it("L-20 keeps every failure: the probe's, that of initialize, and that of the stream", async () => {
    const server = await ChangingServer.start((request) => answerStatus(request.verb === "POST" ? 405 : 501));
    const error = await failureOf(reach(server.url));
    const statuses: unknown[] = [];
    for (let one: unknown = error; isRemoteConnectorError(one, "unexpected_answer"); one = one.cause) {
      statuses.push(one.details.status);
    }
    expect(statuses).toEqual([405, 405, 501]);
  });

  it("L-18 L-20 speaks it at once where nothing else is wanted, and nothing else then", async () => {
    const both: Handler = likeSseServer({ ...TOOLS, revision: "2025-06-18" });
    const server = await ChangingServer.start(both);
    const { client } = await reach(server.url, { revisions: LEGACY_REVISIONS, legacyTransport: "sse" });
    expect([client.era, client.revision, server.methods[0]]).toEqual(["legacy", "2025-06-18", "GET"]);
    const other = await ChangingServer.start(legacy);
    const error = await failureOf(reach(other.url, { revisions: LEGACY_REVISIONS, legacyTransport: "sse" }));
    expect([error.code, other.methods]).toEqual(["peer_error", ["GET"]]);
  });

  it("MB-076 goes by behaviour, not by the path", async () => {
    const server = await ChangingServer.start(legacy);
    const { client } = await reach(server.url.replace("/mcp", "/sse?key=k"));
    expect(client.era).toBe("legacy");
    expect(server.posted).toContain("initialize");
  });
});
