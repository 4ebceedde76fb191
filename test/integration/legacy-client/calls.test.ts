import { describe, expect, it } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import { type Diagnostic, isJsonObject, type Notification, RawJson } from "../../../src/protocol/index.js";
import { connect, failure, scripted, verdict } from "./servers.js";

interface Heard {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: unknown;
}

function heard(structured: unknown): readonly Heard[] {
  return isJsonObject(structured) && Array.isArray(structured["seen"]) ? structured["seen"] : [];
}

describe("LegacyStdioClient", () => {
  it("begins with initialize and its notification, and uses ids from 1 once each", async () => {
    const client = await connect(scripted());
    await client.ping();
    const { structuredContent } = await client.callTool({ name: "seen" });
    expect(heard(structuredContent)).toMatchObject([
      {
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
      },
      { method: "notifications/initialized" },
      { id: 2, method: "ping" },
      { id: 3, method: "tools/call" },
    ]);
    expect(client.instructions).toBe("Misbehave.");
  });

  it("W-45: hands the result over whole, and its exact bytes on demand", async () => {
    const client = await connect(scripted());
    const call = { name: "echo", arguments: new RawJson('{ "n": 1e2,\n "text": "é" }') };
    expect(await client.callTool(call)).toEqual({
      content: [],
      structuredContent: { n: 100, text: "é" },
      unknownMember: { kept: true },
    });
    const { raw, diagnostics, delivery } = await client.callTool(call, { detail: true });
    expect(new TextDecoder().decode(raw)).toBe(
      '{"content":[],"structuredContent":{"n":100,"text":"é"},"unknownMember":{"kept":true}}',
    );
    expect({ diagnostics, delivery }).toEqual({ diagnostics: [], delivery: "answered" });
  });

  it("L-13: matches answers that come in another order", async () => {
    const client = await connect(scripted());
    const calls = [1, 2, 3].map((n) => client.callTool({ name: "held-back", arguments: { n } }));
    const texts = (await Promise.all(calls)).map(({ content }) => content?.[0]?.["text"]);
    expect(texts).toEqual(["1", "2", "3"]);
  });

  it("W-5: accepts ids that come back as strings, with a diagnostic", async () => {
    const diagnostics: Diagnostic[] = [];
    const client = await connect(scripted({ stringIds: true }, { onDiagnostic: (noted) => diagnostics.push(noted) }));
    const detailed = await client.callTool({ name: "echo" }, { detail: true });
    expect(detailed.diagnostics.map(({ kind }) => kind)).toEqual(["id_echoed_as_string"]);
    expect(diagnostics.map(({ kind }) => kind)).toEqual(["id_echoed_as_string", "id_echoed_as_string"]);
  });

  it.each<[string, object]>([
    ["error", { code: "peer_error", delivery: "answered" }],
    ["error-without-id", { code: "peer_error", delivery: "answered" }],
    ["no-response", { code: "invalid_answer", delivery: "unknown" }],
  ])("F-1: ends a call by the server's %s", async (name, expected) => {
    const client = await connect(scripted());
    const call = client.callTool({ name });
    expect(await verdict(call)).toEqual(expected);
    expect(deliveryOf(call)).toBe(Reflect.get(expected, "delivery"));
    await client.ping();
  });

  it("W-9: an error without an id settles nothing while two calls wait", async () => {
    const diagnostics: Diagnostic[] = [];
    const client = await connect(scripted({}, { onDiagnostic: (noted) => diagnostics.push(noted) }));
    const silent = verdict(client.callTool({ name: "silent" }));
    const other = verdict(client.callTool({ name: "error-without-id" }));
    await client.ping();
    expect(diagnostics.map(({ kind }) => kind)).toEqual(["unmatched_response"]);
    await client.close();
    const closed = { code: "cancelled", delivery: "unknown" };
    expect([await silent, await other]).toEqual([closed, closed]);
  });

  it("W-18, W-14: passes progress and notifications on, in order, before the result", async () => {
    const log: unknown[] = [];
    const toClient: Notification[] = [];
    const client = await connect(scripted({}, { onNotification: (notification) => toClient.push(notification) }));
    await client
      .callTool(
        { name: "progress" },
        {
          onProgress: ({ progress }) => log.push(progress),
          onNotification: ({ method }) => log.push(method),
        },
      )
      .then(() => log.push("result"));
    expect(log).toEqual([1, 2, 2, "notifications/message", "result"]);
    expect(toClient).toEqual([{ method: "notifications/message", params: { level: "info", data: "hello" } }]);
  });

  it("L-6: answers the server's ping, though its id be ours, and knows nothing else", async () => {
    const client = await connect(scripted());
    const { structuredContent } = await client.callTool({ name: "ask" });
    expect(heard(structuredContent)).toEqual([
      { jsonrpc: "2.0", id: 2, result: {} },
      { jsonrpc: "2.0", id: "q", error: { code: -32601, message: "Method not found" } },
    ]);
  });

  it("F-2, L-7: an abort rejects at once, untouched, and tells the server without a reason of its own", async () => {
    const client = await connect(scripted());
    const reason = new Error("a private reason");
    const controller = new AbortController();
    const call = client.callTool({ name: "silent" }, { signal: controller.signal });
    controller.abort(reason);
    expect(await verdict(call)).toEqual({ reason });
    expect(deliveryOf(call)).toBe("unknown");
    const { structuredContent } = await client.callTool({ name: "seen" });
    const cancelled = heard(structuredContent).filter(({ method }) => method === "notifications/cancelled");
    expect(cancelled).toMatchObject([{ params: { requestId: 2 } }]);
    expect(JSON.stringify(cancelled)).not.toContain("private");
  });

  it("F-2: a signal that fired before sends nothing", async () => {
    const client = await connect(scripted());
    for (const call of [
      client.callTool({ name: "echo" }, { signal: AbortSignal.abort("enough") }),
      client.listAllTools({ signal: AbortSignal.abort("enough") }),
    ]) {
      await expect(call).rejects.toBe("enough");
      expect(deliveryOf(call)).toBe("not_sent");
    }
    const { structuredContent } = await client.callTool({ name: "seen" });
    expect(heard(structuredContent)).toHaveLength(3);
  });

  it("F-7, L-7: a deadline ends a call, and tells the server", async () => {
    const client = await connect(scripted());
    const error = await failure(client.callTool({ name: "silent" }, { idleTimeoutMs: 50 }));
    expect(error).toMatchObject({ code: "timeout", delivery: "unknown", details: { phase: "idle", limitMs: 50 } });
    const total = await failure(client.callTool({ name: "silent" }, { totalTimeoutMs: 50 }));
    expect(total).toMatchObject({ details: { phase: "total", option: "totalTimeoutMs" } });
    const { structuredContent } = await client.callTool({ name: "seen" });
    const cancelled = heard(structuredContent).filter(({ method }) => method === "notifications/cancelled");
    expect(cancelled).toHaveLength(2);
  });

  it("F-7: what the server says of itself keeps its calls alive; the answer to one call says nothing of another", async () => {
    const client = await connect(scripted());
    await client.callTool({ name: "chatty" }, { idleTimeoutMs: 150 });
    const silent = verdict(client.callTool({ name: "silent" }, { idleTimeoutMs: 150, totalTimeoutMs: 5_000 }));
    let outcome: unknown;
    do outcome = await Promise.race([silent, client.ping()]);
    while (outcome === undefined);
    expect(outcome).toEqual({ code: "timeout", delivery: "unknown" });
  });

  it("asks admit before anything is written", async () => {
    const client = await connect(scripted());
    const call = client.callTool({ name: "echo" }, { admit: () => "revoked" });
    expect(await verdict(call)).toEqual({ code: "not_admitted", delivery: "not_sent" });
    const { structuredContent } = await client.callTool({ name: "seen" }, { admit: () => undefined });
    expect(heard(structuredContent)).toHaveLength(3);
  });

  it("F-1: refuses what can't be sent", async () => {
    const client = await connect(scripted());
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    const refused = { code: "invalid_argument", delivery: "not_sent" };
    expect(await verdict(client.callTool({ name: "echo", arguments: circular }))).toEqual(refused);
    expect(await verdict(client.callTool({ name: "echo", arguments: new RawJson("[]") }))).toEqual(refused);
    expect(await verdict(client.request("initialize"))).toEqual(refused);
    const misspelt = Object.assign({ meta: undefined }, { timeoutMs: 5 });
    expect(await verdict(client.request("ping", undefined, misspelt))).toEqual({
      code: "invalid_options",
      delivery: "not_sent",
    });
  });

  it("L-10: sends nothing that the server did not declare", async () => {
    const client = await connect(scripted({ capabilities: {} }));
    expect(await client.listTools()).toEqual({ tools: [] });
    expect(await client.listAllTools()).toMatchObject({ tools: [], diagnostics: [] });
    expect(await client.request("prompts/list")).toEqual({ prompts: [] });
    const unsupported = { code: "unsupported", delivery: "not_sent" };
    expect(await verdict(client.callTool({ name: "seen" }))).toEqual(unsupported);
    expect(await verdict(client.request("resources/read", { uri: "a:b" }))).toEqual(unsupported);
    const aborted = client.listTools({}, { signal: AbortSignal.abort("enough") });
    await expect(aborted).rejects.toBe("enough");
  });

  it("L-10: reads a declared list that is not there as empty, with a diagnostic", async () => {
    const client = await connect(scripted({ listError: { code: -32601, message: "Method not found" } }));
    const { result, diagnostics } = await client.listTools({}, { detail: true });
    expect(result).toEqual({ tools: [] });
    expect(diagnostics.map(({ kind }) => kind)).toEqual(["declared_but_missing"]);
    expect(await client.listAllTools()).toMatchObject({ tools: [], diagnostics: [{ kind: "declared_but_missing" }] });
  });

  it("W-30, W-32: walks through pages that are checked entry by entry", async () => {
    const tool = (name: string): object => ({ name, inputSchema: { type: "object" } });
    const pages = [
      { tools: [tool("a"), null], nextCursor: "" },
      { tools: [tool("b"), tool("a")], nextCursor: "2" },
      { tools: [tool("c")], nextCursor: null },
    ];
    const client = await connect(scripted({ pages, refusedCursors: 1 }));
    const { tools, contracts, duplicates, definitions, diagnostics } = await client.listAllTools({ definitions: true });
    expect(tools.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(diagnostics.map(({ kind }) => kind)).toEqual(["entry_dropped", "duplicate_entry", "walk_restarted"]);
    expect([...duplicates]).toEqual(["a"]);
    expect(new TextDecoder().decode(definitions.get("c"))).toBe('{"name":"c","inputSchema":{"type":"object"}}');
    expect([...contracts.keys()]).toEqual(["a", "b", "c"]);
    const page = await client.listTools({ cursor: "" });
    expect(page).toMatchObject({ tools: [{ name: "b" }, { name: "a" }], nextCursor: "2" });
  });

  it("W-30: a page with a cursor and nothing new ends the walk in peace, with a diagnostic", async () => {
    const diagnostics: Diagnostic[] = [];
    const pages = [{ tools: [{ name: "a", inputSchema: {} }], nextCursor: "0" }];
    const client = await connect(scripted({ pages }, { onDiagnostic: (noted) => diagnostics.push(noted) }));
    const list = await client.listAllTools();
    expect(list.tools).toHaveLength(1);
    expect(list.diagnostics.length).toBeGreaterThan(0);
    expect(diagnostics).toEqual(list.diagnostics);
  });

  it("F-10: a list is never cut silently", async () => {
    const pages = [
      { tools: [{ name: "a", inputSchema: {} }], nextCursor: "1" },
      { tools: [{ name: "b", inputSchema: {} }], nextCursor: "2" },
    ];
    const client = await connect(scripted({ pages }, { maxPages: 1 }));
    const walk = client.listAllTools();
    expect(await failure(walk)).toMatchObject({ code: "limit_exceeded", details: { option: "maxPages", limit: 1 } });
    expect(deliveryOf(walk)).toBe("answered");
  });

  it("F-7: a walk has one deadline for all its pages, and names the option that set it", async () => {
    const pages = [{ tools: [{ name: "a", inputSchema: {} }], nextCursor: "silence" }];
    const client = await connect(scripted({ pages }, { lifecycleTimeoutMs: 400 }));
    const own = await failure(client.listAllTools({ totalTimeoutMs: 100 }));
    expect(own).toMatchObject({
      code: "timeout",
      delivery: "unknown",
      details: { option: "totalTimeoutMs", limitMs: 100 },
    });
    const walk = client.listAllTools();
    const shared = await failure(walk);
    expect(shared).toMatchObject({ details: { phase: "total", option: "lifecycleTimeoutMs", limitMs: 400 } });
    expect(deliveryOf(walk)).toBe("unknown");
  });

  it("L-13: skips stray text, blank lines and CRLF, and reports once", async () => {
    const diagnostics: Diagnostic[] = [];
    const options = scripted(
      { junk: "\uFEFFStarting…\r\n\r\n\u001B[1m{not json\n" },
      {
        onDiagnostic: (noted) => diagnostics.push(noted),
      },
    );
    const client = await connect(options);
    await client.callTool({ name: "flood", arguments: { lines: 2_000 } });
    expect(diagnostics).toMatchObject([{ kind: "not_a_message", message: expect.stringContaining("Starting…") }]);
  });

  it("F-10: a line of 20 MiB ends its own call only", async () => {
    const client = await connect(scripted());
    const silent = verdict(client.callTool({ name: "silent" }));
    const error = await failure(client.callTool({ name: "huge", arguments: { bytes: 20 * 1024 * 1024 } }));
    expect(error).toMatchObject({
      code: "limit_exceeded",
      delivery: "unknown",
      details: { option: "maxLineBytes", limit: 16 * 1024 * 1024 },
    });
    const { content } = await client.callTool({ name: "huge", arguments: { bytes: 10 * 1024 * 1024 } });
    expect(String(content?.[0]?.["text"])).toHaveLength(10 * 1024 * 1024);
    await client.close();
    expect(await silent).toEqual({ code: "cancelled", delivery: "unknown" });
  });

  it("F-8: 2,000 calls on one signal leave nothing behind", async () => {
    const client = await connect(scripted());
    const { signal } = new AbortController();
    const warnings: unknown[] = [];
    const note = (warning: unknown): number => warnings.push(warning);
    process.on("warning", note);
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(Array.from({ length: 100 }, () => client.callTool({ name: "echo" }, { signal })));
    }
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });
});
