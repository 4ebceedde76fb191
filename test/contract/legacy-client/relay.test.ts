import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type LegacyClient,
  type LegacyClientOptions,
  LegacySSEClient,
  LegacyStdioClient,
  LegacyStreamableHTTPClient,
} from "../../../src/legacy-client/index.js";
import type { InputRelay, ServerAsk } from "../../../src/protocol/input/index.js";
import { isJsonObject, type JsonObject } from "../../../src/protocol/index.js";
import { ScriptedServer, type Handler } from "../../../src/testing/index.js";
import { scripted } from "../../integration/legacy-client/servers.js";
import { AskingServer } from "../../support/asking-server.js";

const FORM = {
  method: "elicitation/create",
  params: { message: "Name?", requestedSchema: { type: "object" }, x: [1] },
};
const VISIT = { method: "elicitation/create", params: { mode: "url", message: "Go.", url: "https://a.example/" } };
const SAMPLE = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1, _meta: { k: 1 } } };
const ROOTS = { method: "roots/list" };

type Party = (options: Partial<LegacyClientOptions>) => Promise<LegacyClient>;

async function serve(handler: Handler): Promise<string> {
  const server = await ScriptedServer.start(handler);
  onTestFinished(() => server.close());
  return server.url;
}

const clientInfo = { name: "test", version: "1" };

const TRANSPORTS: readonly [string, Party][] = [
  [
    "Streamable HTTP",
    async (options) => {
      const endpoint = await serve(new AskingServer().streamable);
      return LegacyStreamableHTTPClient.connect({ endpoint, clientInfo, ...options });
    },
  ],
  [
    "HTTP+SSE",
    async (options) => {
      const endpoint = await serve(new AskingServer().sse);
      return LegacySSEClient.connect({ endpoint, clientInfo, ...options });
    },
  ],
  ["stdio", (options) => LegacyStdioClient.connect(scripted({ revision: "2025-11-25" }, options))],
];

/** What a client with this relay answers to these requests, and what reached the relay. */
async function met(party: Party, relay: InputRelay, args: JsonObject, more: Partial<LegacyClientOptions> = {}) {
  const client = await party({ relay, ...more });
  onTestFinished(() => client.close());
  const { structuredContent } = await client.callTool({ name: "asks", arguments: args });
  return isJsonObject(structuredContent) ? structuredContent["answers"] : undefined;
}

function recording(capabilities: JsonObject, answer: InputRelay["answer"]) {
  const asked: ServerAsk[] = [];
  const relay: InputRelay = {
    capabilities,
    answer: (ask, signal) => {
      asked.push(ask);
      return answer(ask, signal);
    },
  };
  return { asked, relay };
}

const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

describe.each(TRANSPORTS)("a relay over %s", (_transport, party) => {
  it("L-6 H-27: gets requests as they came, and its answers go out as they are given", async () => {
    const results = [{ result: { action: "accept", content: { n: 1 }, extra: 1 } }, { result: { action: "cancel" } }];
    const error = { code: -1, message: "no", data: { why: [2] } };
    const answers = [...results, { error }, { result: { roots: [{ uri: "file:///a" }], y: 1 } }];
    let next = 0;
    const { asked, relay } = recording(ALL, async () => answers[next++] ?? { result: {} });
    expect(await met(party, relay, { asks: [FORM, VISIT, SAMPLE, ROOTS] })).toEqual(answers);
    expect(asked).toEqual([FORM, VISIT, SAMPLE, { ...ROOTS, params: undefined }]);
  });

  it("L-6: nobody is asked what was not declared", async () => {
    const { asked, relay } = recording({ elicitation: { url: {} } }, async () => ({ result: { action: "accept" } }));
    const sampling = { ...SAMPLE, params: { ...SAMPLE.params, tools: [] } };
    const odd = { method: "elicitation/create", params: { mode: "odd", message: "?" } };
    expect(await met(party, relay, { asks: [FORM, odd, SAMPLE, sampling, ROOTS, VISIT] })).toEqual([
      { error: expect.objectContaining({ code: -32602 }) },
      { error: expect.objectContaining({ code: -32602 }) },
      { error: expect.objectContaining({ code: -32601 }) },
      { error: expect.objectContaining({ code: -32601 }) },
      { error: expect.objectContaining({ code: -32601 }) },
      { result: { action: "accept" } },
    ]);
    expect(asked).toEqual([VISIT]);
  });

  it("L-6: sampling with tools needs that to be declared; a relay that rejects is an internal error", async () => {
    const withTools = { ...SAMPLE, params: { ...SAMPLE.params, tools: [] } };
    const { asked, relay } = recording({ sampling: {} }, () => Promise.reject(new Error("gone")));
    expect(await met(party, relay, { asks: [withTools, SAMPLE] })).toEqual([
      { error: expect.objectContaining({ code: -32602 }) },
      { error: { code: -32603, message: "Internal error" } },
    ]);
    expect(asked).toEqual([SAMPLE]);
  });

  it("L-6: the server's notifications/cancelled fires the signal, and nothing is answered", async () => {
    const signals: AbortSignal[] = [];
    const { relay } = recording(ALL, async (_ask, signal) => {
      signals.push(signal);
      if (signals.length === 1) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return { result: { action: "decline" } };
    });
    const answers = await met(party, relay, { asks: [FORM, VISIT], cancels: 0 });
    expect(answers).toEqual([{ result: { action: "decline" } }]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  it("L-6: time in it stops the idle deadlines of calls", async () => {
    const { relay } = recording(ALL, async () => {
      await pause(250);
      return { result: { action: "decline" } };
    });
    const answers = await met(party, relay, { asks: [FORM] }, { idleTimeoutMs: 120 });
    expect(answers).toEqual([{ result: { action: "decline" } }]);
  });

  it("is refused beside handlers, and when it is none", async () => {
    const { relay } = recording(ALL, async () => ({ result: {} }));
    const given = { roots: () => [] };
    await expect(party({ relay, handlers: given })).rejects.toMatchObject({
      code: "invalid_options",
      details: { option: "relay" },
    });
    const odd = { ...relay, capabilities: { tasks: {} } };
    await expect(party({ relay: odd })).rejects.toMatchObject({ code: "invalid_options" });
  });
});
