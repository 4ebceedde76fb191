import { describe, expect, it, onTestFinished } from "vitest";
import {
  LegacySSEClient,
  LegacyStdioClient,
  LegacyStreamableHTTPClient,
  type LegacyStreamableHTTPClientOptions,
} from "../../src/legacy-client/index.js";
import type { Diagnostic } from "../../src/protocol/index.js";
import {
  type Answer,
  answerBody,
  answerError,
  answerEvents,
  answerFeed,
  answerMessage,
  answerNothing,
  answerResult,
  answerStatus,
  anyMessage,
  dataEvent,
  EventFeed,
  Gate,
  type Handler,
  holdUntil,
  keepOpen,
  likeLegacyServer,
  likeSseServer,
  messageEvent,
  type ReceivedRequest,
  requestMessage,
  type ScriptedServer,
  withFaults,
} from "../../src/testing/index.js";
import { CALL, caught, connectTo, OK, PLAIN, serve } from "./parties.js";

const clientInfo = { name: "cases", version: "1" };
const INTRODUCTION = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: clientInfo };

interface Party {
  readonly client: LegacyStreamableHTTPClient;
  readonly kinds: () => readonly Diagnostic["kind"][];
}

/** A client that is closed when the test is over. */
async function connect(endpoint: string, options: Partial<LegacyStreamableHTTPClientOptions> = {}): Promise<Party> {
  const diagnostics: Diagnostic[] = [];
  const onDiagnostic = (diagnostic: Diagnostic): unknown => diagnostics.push(diagnostic);
  const client = await LegacyStreamableHTTPClient.connect({ endpoint, clientInfo, onDiagnostic, ...options });
  onTestFinished(() => client.close());
  return { client, kinds: () => diagnostics.map(({ kind }) => kind) };
}

/** A server with one session, whose calls and GETs a test answers. */
function session(answers: {
  readonly call?: Handler;
  readonly get?: Handler;
  readonly notification?: Answer;
}): Handler {
  const { call = () => answerResult(OK), get = () => answerStatus(405), notification = answerStatus(202) } = answers;
  return (request) => {
    if (request.verb === "GET") return get(request);
    if (request.verb === "DELETE") return answerStatus(200);
    if (request.method === "initialize") return answerResult(INTRODUCTION, { headers: { "Mcp-Session-Id": "s-1" } });
    return request.id === undefined || request.method === undefined ? notification : call(request);
  };
}

const methodsOf = (server: ScriptedServer): readonly string[] =>
  server.requests.map(({ method, verb }) => method ?? verb);
const getsOf = (server: ScriptedServer): readonly ReceivedRequest[] =>
  server.requests.filter(({ verb }) => verb === "GET");

describe("messages", () => {
  it("MB-019: a handshake that timed out is cancelled, and a pipe that is stuck holds the rejection up", async () => {
    const gate = new Gate();
    let isLate = true;
    const handle = session({});
    const server = await serve(async (request) => {
      const answer = await handle(request);
      const held = isLate && request.method === "initialize" && answer !== undefined;
      return held ? withFaults(answer, holdUntil(gate.opened)) : answer;
    });
    const error = await caught(connect(server.url, { lifecycleTimeoutMs: 60 }));
    expect(error).toMatchObject({ code: "timeout", delivery: "unknown" });
    gate.open();
    isLate = false;
    const { client } = await connect(server.url);
    await expect(client.callTool(CALL)).resolves.toEqual(OK);
    expect(methodsOf(server)).toEqual(["initialize", "initialize", "notifications/initialized", "tools/call"]);
    // A program that says hello and reads no more.
    const program = `process.stdin.once("data", () => {
      process.stdin.pause();
      console.log(JSON.stringify({ jsonrpc: "2.0", id: 1, result: ${JSON.stringify(INTRODUCTION)} }));
      setInterval(() => undefined, 1_000);
    });`;
    const stuck = await LegacyStdioClient.connect({
      command: process.execPath,
      args: ["-e", program],
      clientInfo,
      closeGraceMs: 100,
    });
    onTestFinished(() => stuck.close());
    const startedAt = performance.now();
    const arguments_ = { text: "x".repeat(4 * 1024 * 1024) };
    const late = stuck.callTool({ name: "t", arguments: arguments_ }, { totalTimeoutMs: 300 });
    expect(await caught(late)).toMatchObject({ code: "timeout" });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it("MB-021: a response without its version, or inside an array, leaves its call waiting for ever", async () => {
    const without = await serve(session({ call: ({ id }) => answerMessage(anyMessage({ id, result: OK })) }));
    const first = await connect(without.url);
    expect(await caught(first.client.callTool(CALL))).toMatchObject({ code: "invalid_answer", delivery: "unknown" });
    const onStream = await serve(
      session({
        call: ({ id }) => withFaults(answerEvents([messageEvent(anyMessage({ id, result: OK }))]), keepOpen()),
      }),
    );
    const second = await connect(onStream.url);
    expect(await caught(second.client.callTool(CALL))).toMatchObject({ code: "invalid_answer", delivery: "unknown" });
    const waiting: unknown[] = [];
    const feed = new EventFeed();
    const handle = session({
      get: () => answerFeed(feed),
      call: ({ id, params }) => {
        waiting.push({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: params["name"] }] } });
        if (waiting.length === 2) feed.send(messageEvent(anyMessage(waiting)));
        return withFaults(answerEvents([]), keepOpen());
      },
    });
    const batching = await serve((request) =>
      request.method === "initialize"
        ? answerResult({ ...INTRODUCTION, protocolVersion: "2025-03-26" })
        : handle(request),
    );
    const third = await connect(batching.url, { listen: "always" });
    const calls = ["a", "b"].map((name) => third.client.callTool({ name }, { totalTimeoutMs: 5_000 }));
    await expect(Promise.all(calls)).resolves.toMatchObject([
      { content: [{ text: "a" }] },
      { content: [{ text: "b" }] },
    ]);
  });

  it("MB-024: a ping of the server is answered with an unknown method", async () => {
    const feed = new EventFeed();
    const server = await serve(session({ get: () => answerFeed(feed) }));
    await connect(server.url, { listen: "always" });
    feed.send(messageEvent(requestMessage("p1", "ping")));
    await expect.poll(() => server.requests.at(-1)?.message).toEqual({ jsonrpc: "2.0", id: "p1", result: {} });
  });

  it("MB-029: an error for a ping counts as a dead server, which is connected to anew for each call", async () => {
    const call: Handler = ({ method }) => (method === "ping" ? answerError(-32600, "no ping") : answerResult(OK));
    const server = await serve(session({ call }));
    const { client } = await connect(server.url);
    // An answer is a sign of life, whatever it says.
    expect(await caught(client.ping())).toMatchObject({ code: "peer_error", delivery: "answered" });
    for (let i = 0; i < 3; i += 1) await expect(client.callTool(CALL)).resolves.toEqual(OK);
    expect(methodsOf(server).filter((method) => method === "initialize" || method === "ping")).toEqual([
      "initialize",
      "ping",
    ]);
  });
});

describe("optional parts", () => {
  it("MB-033: a server without a listening stream, which says so by anything but 405, loses its connection", async () => {
    const refusals = [
      answerBody("<html>", { status: 404, type: "text/html" }),
      answerBody("{}", { status: 406, type: "application/json" }),
      answerBody("{}", { status: 400, type: "application/json" }),
      answerStatus(501),
      answerStatus(405),
    ];
    for (const refusal of refusals) {
      const server = await serve(session({ get: () => refusal }));
      const { client, kinds } = await connect(server.url, { listen: "always" });
      for (let i = 0; i < 3; i += 1) await expect(client.callTool(CALL)).resolves.toEqual(OK);
      expect(getsOf(server)).toHaveLength(1);
      expect(kinds()).toEqual(refusal.status === 405 ? [] : ["not_listening"]);
    }
  });

  it("MB-035: 204 for a notification crashes the client", async () => {
    const server = await serve(session({ notification: answerStatus(204) }));
    const { client } = await connect(server.url);
    await expect(client.callTool(CALL)).resolves.toEqual(OK);
  });

  it("MB-036: 200 with null, with nothing or with an object for a notification ends the handshake", async () => {
    for (const body of ["null", "", "{}"]) {
      const server = await serve(session({ notification: answerBody(body, { type: "application/json" }) }));
      const { client } = await connect(server.url);
      await expect(client.callTool(CALL)).resolves.toEqual(OK);
    }
  });

  it("MB-043: 401 on the optional listening stream begins a sign-in that nobody needs", async () => {
    const server = await serve(session({ get: () => answerStatus(401) }));
    const asked: string[] = [];
    const authorize = ({ method }: { readonly method: string }): undefined => void asked.push(method);
    const { client } = await connect(server.url, { listen: "always", authorize });
    await expect(client.callTool(CALL)).resolves.toEqual(OK);
    expect(asked.filter((method) => method === "GET")).toHaveLength(1);
    expect(getsOf(server)).toHaveLength(1);
  });
});

describe("streams", () => {
  it("MB-047: a stream that is taken up again and again without bringing anything keeps its call for ever", async () => {
    const primed = (): Answer => answerEvents([dataEvent("", { id: "1", retry: 1 })]);
    const server = await serve(session({ call: primed, get: primed }));
    const { client } = await connect(server.url, { maxFruitlessResumes: 3, random: () => 0 });
    expect(await caught(client.callTool(CALL))).toMatchObject({ code: "stream_ended", delivery: "unknown" });
    expect(getsOf(server)).toHaveLength(3);
  });

  it("MB-052: a pause of days that the server asks for parks the call beyond its own deadline", async () => {
    let retry = 600_000;
    const server = await serve(session({ call: () => answerEvents([dataEvent("", { id: "1", retry })]) }));
    const { client } = await connect(server.url);
    const startedAt = performance.now();
    // Above the ceiling it is not waited for at all.
    const parked = client.callTool(CALL, { totalTimeoutMs: 1_000 });
    expect(await caught(parked)).toMatchObject({ code: "stream_ended", delivery: "unknown" });
    retry = 60_000;
    const late = client.callTool(CALL, { totalTimeoutMs: 100 });
    expect(await caught(late)).toMatchObject({ code: "timeout", delivery: "unknown", details: { phase: "total" } });
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(getsOf(server)).toEqual([]);
  });
});

/** A server that forgets its session when it is told to, and refuses what names it. */
function forgetful(refusal: Answer): { readonly handle: Handler; readonly forget: () => void } {
  let sessions = 0;
  let isKnown = false;
  return {
    forget: () => {
      isKnown = false;
    },
    handle: (request) => {
      if (request.method === "initialize") {
        sessions += 1;
        isKnown = true;
        return answerResult(INTRODUCTION, { headers: { "Mcp-Session-Id": `s-${String(sessions)}` } });
      }
      if (!isKnown || request.header("Mcp-Session-Id") !== `s-${String(sessions)}`) return refusal;
      return request.id === undefined ? answerStatus(202) : answerResult(OK);
    },
  };
}

describe("sessions", () => {
  it("MB-060: 404 for a session that is gone leaves the client stuck until it is made anew", async () => {
    const { handle, forget } = forgetful(answerStatus(404));
    const server = await serve(handle);
    const { client, kinds } = await connect(server.url);
    forget();
    await expect(client.callTool(CALL)).resolves.toEqual(OK);
    await expect(client.callTool(CALL)).resolves.toEqual(OK);
    expect(methodsOf(server).filter((method) => method === "initialize")).toHaveLength(2);
    expect(server.requests.at(3)?.header("mcp-session-id")).toBeUndefined();
    expect(kinds()).toEqual(["session_replaced"]);
    // A second refusal is the error.
    const dying = forgetful(answerStatus(404));
    const second = await serve(async (request) => {
      const answer = await dying.handle(request);
      if (request.method === "notifications/initialized") dying.forget();
      return answer;
    });
    const party = await connect(second.url);
    expect(await caught(party.client.callTool(CALL))).toMatchObject({
      code: "unexpected_answer",
      delivery: "answered",
    });
    expect(methodsOf(second).filter((method) => method === "initialize")).toHaveLength(2);
  });

  it("MB-061: a session that is gone is told by a 400, and every call fails", async () => {
    const { handle, forget } = forgetful(answerError(-32000, "no valid session", { id: "null" }));
    const server = await serve(handle);
    const { client } = await connect(server.url);
    forget();
    await expect(client.callTool(CALL)).resolves.toEqual(OK);
    const plain = await serve(session({ call: () => answerError(-32602, "bad arguments") }));
    const other = await connect(plain.url);
    expect(await caught(other.client.callTool(CALL))).toMatchObject({ code: "peer_error", delivery: "answered" });
    expect(methodsOf(plain).filter((method) => method === "initialize")).toHaveLength(1);
  });

  it("MB-063: a session id on a refusal is kept, and sent with the next handshake", async () => {
    const junk = { headers: { "Mcp-Session-Id": "junk" } };
    const server = await serve((request) => {
      if (request.method === "initialize") {
        const { protocolVersion } = request.params;
        if (protocolVersion === "2025-03-26") return answerResult({ ...INTRODUCTION, protocolVersion });
        return answerError(-32602, "other version", { ...junk, data: { supported: ["2025-03-26"] } });
      }
      return request.id === undefined ? answerStatus(202, junk) : answerResult(OK, junk);
    });
    const { client } = await connect(server.url);
    for (let i = 0; i < 2; i += 1) await expect(client.callTool(CALL)).resolves.toEqual(OK);
    const modern = connectTo(server.url);
    for (let i = 0; i < 2; i += 1) await expect(modern.client.callTool(CALL, PLAIN)).resolves.toEqual(OK);
    expect(server.requests.length).toBeGreaterThan(6);
    expect(server.requests.map((request) => request.header("mcp-session-id")).filter((id) => id !== undefined)).toEqual(
      [],
    );
  });

  it("MB-069: initialize is refused because it names a version in a header", async () => {
    const handle = session({});
    const server = await serve((request) =>
      request.method === "initialize" && request.header("mcp-protocol-version") !== undefined
        ? answerBody("Bad Request: Unsupported protocol version (supported versions: 2024-11-05)", { status: 400 })
        : handle(request),
    );
    const { client } = await connect(server.url);
    await expect(client.callTool(CALL)).resolves.toEqual(OK);
    // A server that wants it gets it, once; then its first refusal is the cause.
    const stubborn = await serve(() => answerBody("Missing MCP-Protocol-Version", { status: 400 }));
    const error = await caught(connect(stubborn.url));
    expect(error).toMatchObject({ code: "unexpected_answer", cause: { code: "unexpected_answer" } });
    expect(stubborn.requests).toHaveLength(2);
  });
});

describe("the oldest transport", () => {
  const tools = [{ name: "t", run: () => OK }];

  async function connectOld(endpoint: string, connectTimeoutMs?: number): Promise<LegacySSEClient> {
    const client = await LegacySSEClient.connect({ endpoint, clientInfo, connectTimeoutMs });
    onTestFinished(() => client.close());
    return client;
  }

  it("MB-073: an endpoint in another form, or of another origin, or none at all, hangs the client", async () => {
    for (const form of ["/m?sid=1&stream={n}", "m?stream={n}", "same"]) {
      let handle: Handler | undefined;
      const server = await serve((request) => {
        handle ??= likeSseServer({ tools, endpoint: form === "same" ? `${server.origin}/m` : form });
        return handle(request);
      });
      const client = await connectOld(server.url);
      await expect(client.callTool(CALL)).resolves.toEqual(OK);
    }
    const foreign = await serve(likeSseServer({ endpoint: "http://other.invalid/m" }));
    expect(await caught(connectOld(foreign.url))).toMatchObject({ code: "invalid_url", delivery: "answered" });
    const silent = await serve(() => withFaults(answerEvents([]), keepOpen({ beatMs: 10 })));
    const late = { code: "timeout", details: { option: "connectTimeoutMs", limitMs: 60 } };
    expect(await caught(connectOld(silent.url, 60))).toMatchObject(late);
    const mute = await serve(() => answerNothing());
    expect(await caught(connectOld(mute.url, 60))).toMatchObject(late);
  });

  it("MB-076: the transport is guessed from the end of the path, which a query changes", async () => {
    const old = await serve(likeSseServer({ tools, endpoint: "/m?stream={n}" }));
    for (const path of ["/sse?key=k", "/mcp", "/"]) {
      const client = await connectOld(`${old.origin}${path}`);
      await expect(client.callTool(CALL)).resolves.toEqual(OK);
    }
    const newer = await serve(likeLegacyServer({ tools, revision: "2025-11-25" }));
    const { client } = await connect(`${newer.origin}/sse?key=k`);
    await expect(client.callTool(CALL)).resolves.toEqual(OK);
    expect(newer.requests.every(({ target, verb }) => target === "/sse?key=k" && verb === "POST")).toBe(true);
  });
});
