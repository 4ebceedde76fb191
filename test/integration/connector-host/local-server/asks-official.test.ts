import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as SdkClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as SdkTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it, onTestFinished } from "vitest";
import type { BoundAgent, ToolCall } from "../../../../src/connector-host/local-server/index.js";
import { answerOf } from "./fixed-directory.js";
import { ACCEPTED, ASKABLE, asks, FORM, PAGE, ROOTS, SAMPLING } from "./questions.js";
import { cuttingProxy } from "./session-agent.js";
import { start } from "./start.js";

const SAMPLED = { role: "assistant" as const, content: { type: "text" as const, text: "4" }, model: "m" };
const LISTED = { roots: [{ uri: "file:///a" }] };
const ACCEPT = { action: "accept" as const };

/** The official client of both eras, which answers whatever it is asked. */
async function connect(agent: BoundAgent, revision: string, url = agent.url): Promise<Client> {
  const negotiation =
    revision === "2026-07-28"
      ? { versionNegotiation: { mode: { pin: revision } } }
      : { supportedProtocolVersions: [revision] };
  const client = new Client({ name: "test-agent", version: "1" }, { capabilities: ASKABLE, ...negotiation });
  client.setRequestHandler("elicitation/create", ({ params }) => (params.mode === "url" ? ACCEPT : accepted()));
  client.setRequestHandler("sampling/createMessage", () => SAMPLED);
  client.setRequestHandler("roots/list", () => LISTED);
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: agent.headers },
      reconnectionOptions: {
        initialReconnectionDelay: 10,
        maxReconnectionDelay: 100,
        reconnectionDelayGrowFactor: 1,
        maxRetries: 5,
      },
    }),
  );
  onTestFinished(() => client.close());
  return client;
}

function accepted() {
  return { ...ACCEPT, content: { ...ACCEPTED.content } };
}

/** The official client of older days. */
async function connectSdk(agent: BoundAgent): Promise<SdkClient> {
  const client = new SdkClient({ name: "test-agent", version: "1" }, { capabilities: ASKABLE });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => (params.mode === "url" ? ACCEPT : accepted()));
  client.setRequestHandler(CreateMessageRequestSchema, () => SAMPLED);
  client.setRequestHandler(ListRootsRequestSchema, () => LISTED);
  const transport = new SdkTransport(new URL(agent.url), { requestInit: { headers: agent.headers } });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

const ANSWERS = [{ result: ACCEPTED }, { result: { action: "accept" } }, { result: SAMPLED }, { result: LISTED }];

describe("H-22, H-27: official clients that are asked in the midst of their calls", () => {
  it.each(["2025-11-25", "sdk"])("answer forms, pages, sampling and roots: %s", async (which) => {
    const { agent } = await start((tools) => tools.add("a_x", asks([FORM, PAGE, SAMPLING, ROOTS])));
    const client = which === "sdk" ? await connectSdk(agent) : await connect(agent, which);
    expect(await client.callTool({ name: "a_x" })).toMatchObject({ answers: ANSWERS });
  });

  it("answer what 2025-06-18 has", async () => {
    const { agent } = await start((tools) => tools.add("a_x", asks([FORM, PAGE, SAMPLING, ROOTS])));
    const client = await connect(agent, "2025-06-18");
    const [form, , sampled, listed] = ANSWERS;
    expect(await client.callTool({ name: "a_x" })).toMatchObject({
      answers: [form, { error: { code: -32602 } }, sampled, listed],
    });
  });

  it("answer once when the stream of the call is cut while they are asked", async () => {
    const { agent } = await start((tools) => tools.add("a_x", asks([FORM, ROOTS])), { streamRetryMs: 10 });
    const proxy = await cuttingProxy(agent.url);
    const client = await connect(agent, "2025-11-25", proxy.url);
    let asked = 0;
    client.setRequestHandler("elicitation/create", () => {
      asked += 1;
      // The next byte that comes, whatever it belongs to, is the last of its connection.
      proxy.cutNext(1);
      return accepted();
    });
    const result = await client.callTool({ name: "a_x" }, { timeout: 5_000 }).catch((error: unknown) => error);
    expect([asked, proxy.cuts]).toEqual([1, 1]);
    expect(result).toMatchObject({ answers: [{ result: ACCEPTED }, { result: LISTED }] });
  });
});

describe("H-21, H-27: the official client of 2026-07-28", () => {
  /** Asks for everything once, and results in what it was told. */
  const rounds = async ({ input }: ToolCall) => {
    const { continuation } = input ?? {};
    if (continuation === undefined) {
      const { mode: _mode, ...form } = FORM.params ?? {};
      const { elicitationId: _id, ...page } = PAGE.params ?? {};
      const inputRequests = {
        form: { ...FORM, params: form },
        page: { ...PAGE, params: page },
        sampling: SAMPLING,
        roots: { method: ROOTS.method },
      };
      return answerOf(JSON.stringify({ resultType: "input_required", inputRequests, requestState: "s\u0000é" }));
    }
    const { responses, state } = continuation;
    return answerOf(JSON.stringify({ resultType: "complete", content: [], responses: responses?.value, state }));
  };

  it("answers a result that asks, and makes its call again", async () => {
    const { agent, directory } = await start((tools) => tools.add("a_x", rounds));
    const client = await connect(agent, "2026-07-28");
    const [form, page, sampling, roots] = ANSWERS.map(({ result }) => result);
    expect(await client.callTool({ name: "a_x" })).toMatchObject({
      responses: { form, page, sampling, roots },
      state: "s\u0000é",
    });
    expect(directory.calls.map(({ call }) => call.input?.capabilities)).toEqual([ASKABLE, ASKABLE]);
  });
});
