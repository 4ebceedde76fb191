import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as SdkClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as SdkTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ServerAskAnswer } from "../../../../src/protocol/input/index.js";
import { answerOf } from "../local-server/fixed-directory.js";
import { ACCEPTED, answered, ASKABLE, askOf, asks, FORM, PAGE, ROOTS, SAMPLING } from "../local-server/questions.js";
import { gate } from "../local-server/start.js";
import { ShimParty } from "./shim-party.js";

const SHIM = "build/examples/stdio-shim.js";

const SAMPLED = { role: "assistant" as const, content: { type: "text" as const, text: "4" }, model: "m" };
const LISTED = { roots: [{ uri: "file:///a" }] };
const ACCEPT = { action: "accept" as const };

let party: ShimParty;

beforeAll(async () => {
  party = await ShimParty.begin();
  party.directory
    .add("a_all", asks([FORM, PAGE, SAMPLING, ROOTS]))
    .add("a_old", asks([SAMPLING, ROOTS]))
    .add("a_rounds", async ({ input }) => {
      const inputRequests = { sampling: SAMPLING, roots: { method: ROOTS.method } };
      const asking = { resultType: "input_required", inputRequests, requestState: "s" };
      if (input?.continuation === undefined) return answerOf(JSON.stringify(asking));
      const { responses, state } = input.continuation;
      return answerOf(JSON.stringify({ resultType: "complete", content: [], responses: responses?.value, state }));
    });
  await party.serve({ resumeWindowMs: 100 });
});

afterAll(() => party.opened.close());

function command() {
  return { command: process.execPath, args: [SHIM, party.stateDirectory, "desk"] };
}

/** The official client, with a shim that it spawned, which answers whatever it is asked. */
async function connect(revision: string): Promise<{ client: Client; transport: StdioClientTransport }> {
  const negotiation =
    revision === "2026-07-28"
      ? { versionNegotiation: { mode: { pin: revision } } }
      : { supportedProtocolVersions: [revision] };
  const client = new Client({ name: "test-agent", version: "1" }, { capabilities: ASKABLE, ...negotiation });
  client.setRequestHandler("elicitation/create", ({ params }) =>
    params.mode === "url" ? ACCEPT : { ...ACCEPT, content: { ...ACCEPTED.content } },
  );
  client.setRequestHandler("sampling/createMessage", () => SAMPLED);
  client.setRequestHandler("roots/list", () => LISTED);
  const transport = new StdioClientTransport(command());
  await client.connect(transport);
  party.opened.push(client);
  return { client, transport };
}

async function connectSdk(): Promise<SdkClient> {
  const client = new SdkClient({ name: "test-agent", version: "1" }, { capabilities: ASKABLE });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) =>
    params.mode === "url" ? ACCEPT : { ...ACCEPT, content: { ...ACCEPTED.content } },
  );
  client.setRequestHandler(CreateMessageRequestSchema, () => SAMPLED);
  client.setRequestHandler(ListRootsRequestSchema, () => LISTED);
  await client.connect(new SdkTransport(command()));
  party.opened.push(client);
  return client;
}

const ANSWERS = [{ result: ACCEPTED }, { result: ACCEPT }, { result: SAMPLED }, { result: LISTED }];

describe("H-23, H-27: official clients over stdio, through shims of their own", () => {
  it("answer what they are asked, at every era", async () => {
    const [oldest, modern, sdk] = await Promise.all([connect("2024-11-05"), connect("2026-07-28"), connectSdk()]);
    expect(await sdk.callTool({ name: "a_all" })).toMatchObject({ answers: ANSWERS });
    expect(await oldest.client.callTool({ name: "a_old" })).toMatchObject({ answers: ANSWERS.slice(2) });
    expect(await modern.client.callTool({ name: "a_rounds" })).toMatchObject({
      responses: { sampling: SAMPLED, roots: LISTED },
      state: "s",
    });
  });

  it("keep no question open when their shim is killed", async () => {
    const asked = gate();
    const answers: ServerAskAnswer[] = [];
    party.directory.add("a_kept", async (request) => {
      answers.push(await askOf(request, FORM));
      return answered(answers);
    });
    const { client, transport } = await connect("2025-11-25");
    client.setRequestHandler("elicitation/create", () => {
      asked.open();
      return new Promise(() => undefined);
    });
    const calling = expect(client.callTool({ name: "a_kept" })).rejects.toThrow();
    await asked.opened;
    if (transport.pid !== null) process.kill(transport.pid, "SIGKILL");
    await calling;
    await expect.poll(() => answers, { timeout: 5_000 }).toMatchObject([{ error: { code: -32603 } }]);
  });
});
