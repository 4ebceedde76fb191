import { describe, expect, it, vi } from "vitest";
import { deliveryOf, isRemoteConnectorError } from "../../../src/errors.js";
import {
  type Answer,
  answerFeed,
  answerStatus,
  answerError,
  answerResult,
  anyMessage,
  EventFeed,
  type Handler,
  messageEvent,
  type ScriptedServer,
} from "../../../src/testing/index.js";
import { caught, connectHttp, type HttpParty, serve } from "./http-parties.js";
import { SessionServer } from "./session-server.js";

const CALL = { name: "t" } as const;
const OK = { content: [{ type: "text", text: "ok" }] } as const;

interface Scene extends HttpParty {
  readonly server: ScriptedServer;
  readonly sessions: SessionServer;
  readonly feed: EventFeed;
}

/** A server that takes calls with 202, and says everything else on the listening stream, where the test speaks. */
async function scene(listen: "always" | "never" = "always", taken: Handler = () => answerStatus(202)): Promise<Scene> {
  const feed = new EventFeed();
  const sessions = new SessionServer({ answer: taken, listen: () => answerFeed(feed) });
  const server = await serve(sessions.handle);
  return { ...(await connectHttp(server.url, { listen })), server, sessions, feed };
}

/** The id of the last call that the server got. */
async function idOfCall(server: ScriptedServer): Promise<unknown> {
  await vi.waitFor(() => expect(server.requests.at(-1)?.method).toBe("tools/call"));
  return server.requests.at(-1)?.id;
}

function methodsOf(server: ScriptedServer): readonly (string | undefined)[] {
  return server.requests.map(({ method, verb }) => method ?? verb);
}

describe("a request that is taken with 202", () => {
  it.each<[string, Answer]>([
    ["202", answerStatus(202)],
    ["202 with a body", answerStatus(202, { type: "text/plain" })],
    ["204", answerStatus(204)],
    ["200 and nothing", answerStatus(200)],
  ])("L-5: after %s it is settled by the response on the listening stream", async (_, taken) => {
    const { client, server, feed } = await scene("always", () => taken);
    const calling = client.callTool(CALL);
    const id = await idOfCall(server);
    await new Promise((resolve) => setTimeout(resolve, 20));
    feed.send(messageEvent(anyMessage({ jsonrpc: "2.0", id, result: OK })));
    await expect(calling).resolves.toEqual(OK);
  });

  it("L-5 F-1: fails at once where there is no listening stream", async () => {
    const { client } = await scene("never");
    const calling = client.callTool(CALL);
    expect(await caught(calling)).toMatchObject({ code: "unexpected_answer", details: { status: 202 } });
    expect(deliveryOf(calling)).toBe("unknown");
  });

  it("L-5 F-7: is waited for within the idle deadline, which what comes on that stream starts anew", async () => {
    const { client, server, feed } = await scene();
    const onProgress = vi.fn();
    const calling = client.callTool(CALL, { idleTimeoutMs: 400, onProgress });
    const outcome = caught(calling);
    const id = await idOfCall(server);
    for (const method of ["notifications/message", "notifications/message", "notifications/progress"]) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      feed.send(messageEvent(anyMessage({ jsonrpc: "2.0", method, params: { progressToken: id, progress: 1 } })));
    }
    await vi.waitFor(() => expect(onProgress).toHaveBeenCalledTimes(1));
    const error = await outcome;
    expect(isRemoteConnectorError(error, "timeout") && error.details).toMatchObject({ phase: "idle", limitMs: 400 });
    expect(deliveryOf(calling)).toBe("unknown");
    await vi.waitFor(() => expect(methodsOf(server)).toContain("notifications/cancelled"));
  });

  it("L-5 F-2: ends with the caller's reason, and is cancelled", async () => {
    const { client, server } = await scene();
    const abort = new AbortController();
    const calling = client.callTool(CALL, { signal: abort.signal });
    const outcome = caught(calling);
    await idOfCall(server);
    await new Promise((resolve) => setTimeout(resolve, 20));
    abort.abort("enough");
    expect(await outcome).toBe("enough");
    expect(deliveryOf(calling)).toBe("unknown");
    await vi.waitFor(() => expect(methodsOf(server)).toContain("notifications/cancelled"));
  });

  it("L-5: fails when the listening stream ends for good", async () => {
    const feed = new EventFeed();
    let gets = 0;
    const sessions = new SessionServer({
      answer: () => answerStatus(202),
      listen: () => ((gets += 1) === 1 ? answerFeed(feed) : answerStatus(403)),
    });
    const server = await serve(sessions.handle);
    const { client } = await connectHttp(server.url, { listen: "always" });
    const calling = client.callTool(CALL);
    const outcome = caught(calling);
    await idOfCall(server);
    await new Promise((resolve) => setTimeout(resolve, 20));
    feed.send({ ...messageEvent(anyMessage({ jsonrpc: "2.0", method: "notifications/message" }), { retry: 1 }) });
    feed.end();
    expect(await outcome).toMatchObject({ code: "unexpected_answer", details: { status: 202 } });
    expect(deliveryOf(calling)).toBe("unknown");
  });

  it("L-8: ends with the client", async () => {
    const { client, server } = await scene();
    const calling = client.callTool(CALL);
    const outcome = caught(calling);
    await idOfCall(server);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await client.close();
    expect(await outcome).toMatchObject({ code: "cancelled", delivery: "unknown" });
  });
});

describe("a session that comes with a useless answer to initialize", () => {
  const ID = { headers: { "Mcp-Session-Id": "s-1" } };
  const introduction = (protocolVersion: string): object => ({
    protocolVersion,
    capabilities: { tools: null },
    serverInfo: { name: "s", version: "1" },
  });

  it.each<[string, Answer]>([
    ["another version", answerResult(introduction("2031-01-01"), ID)],
    ["a refusal under 200", answerError(-32603, "no", { status: 200, ...ID })],
    ["no version", answerResult({}, ID)],
  ])("L-8 F-8: is ended after %s", async (_, answer) => {
    const server = await serve(({ method, verb }) =>
      verb === "DELETE" ? answerStatus(200) : method === "initialize" ? answer : answerStatus(500),
    );
    expect(await caught(connectHttp(server.url))).toMatchObject({ code: expect.any(String) });
    await vi.waitFor(() => expect(methodsOf(server)).toEqual(["initialize", "DELETE"]));
    expect(server.requests.at(-1)?.header("Mcp-Session-Id")).toBe("s-1");
    expect(server.requests.at(-1)?.header("MCP-Protocol-Version")).toBeUndefined();
  });

  it("L-1 L-8: is ended when another version is offered", async () => {
    let offers = 0;
    const data = { supported: ["2025-06-18"] };
    const server = await serve(({ method, id }) => {
      if (method !== "initialize") return answerStatus(id === undefined ? 202 : 500);
      offers += 1;
      const headers = { "Mcp-Session-Id": `s-${String(offers)}` };
      return offers === 1
        ? answerError(-32602, "no", { status: 200, data, headers })
        : answerResult(introduction("2025-06-18"), { headers });
    });
    const { client } = await connectHttp(server.url, { listen: "never" });
    expect(client.revision).toBe("2025-06-18");
    const deleted = (): unknown =>
      server.requests.filter(({ verb }) => verb === "DELETE").map((one) => one.header("Mcp-Session-Id"));
    await vi.waitFor(() => expect(deleted()).toEqual(["s-1"]));
    await client.close();
    expect(deleted()).toEqual(["s-1", "s-2"]);
  });

  it("connects although onDiagnostic throws during the handshake", async () => {
    const server = await serve(({ method, id, verb }) => {
      if (verb === "DELETE") return answerStatus(200);
      if (method !== "initialize") return answerStatus(id === undefined ? 202 : 500);
      return answerResult({ ...introduction("2025-11-25"), serverInfo: "s" });
    });
    const onDiagnostic = vi.fn(() => {
      throw new Error("no");
    });
    const { client } = await connectHttp(server.url, { onDiagnostic, listen: "never" });
    expect([client.revision, onDiagnostic.mock.calls.length]).toEqual(["2025-11-25", 1]);
  });
});
