import { describe, expect, it } from "vitest";
import type { ConnectHttpOptions } from "../../../src/connect/index.js";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { RawJson } from "../../../src/protocol/index.js";
import type { InputRelay, ServerAsk } from "../../../src/protocol/input/index.js";
import { answerError, likeLegacyServer, likeModernServer } from "../../../src/testing/index.js";
import { AskingServer } from "../../support/asking-server.js";
import { ChangingServer, failureOf, reach } from "./parties.js";

const LEGACY: Partial<ConnectHttpOptions> = { revisions: ["2025-11-25"] };
const VISIT = { mode: "url", elicitationId: "1", url: "https://pay.example/1", message: "Pay first.", more: [1] };

function recording(
  answer: InputRelay["answer"],
  capabilities: InputRelay["capabilities"] = { elicitation: { url: {} } },
) {
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

/** What buying came to, who was asked, and how often it was tried. */
async function buy(
  action: string,
  more: { readonly repeats?: "never"; readonly elicitations?: readonly object[] } = {},
) {
  const { repeats, elicitations = [VISIT] } = more;
  let calls = 0;
  const run = () => {
    calls += 1;
    return calls > 1 ? { content: [] } : answerError(-32042, "Pay first.", { status: 200, data: { elicitations } });
  };
  const server = await ChangingServer.start(
    likeLegacyServer({ revision: "2025-11-25", tools: [{ name: "buy", run }] }),
  );
  const { asked, relay } = recording(async () => ({ result: { action } }));
  const { client } = await reach(server.url, { ...LEGACY, legacy: { relay } });
  const outcome = await client.callTool({ name: "buy" }, { repeats }).then(
    () => "bought",
    (error: unknown) => (isRemoteConnectorError(error, "peer_error") ? error.details.rpcCode : error),
  );
  return [outcome, asked, calls];
}

describe("legacy.relay of connect", () => {
  it("L-6 H-27: is asked by a legacy server in the midst of a call", async () => {
    const asking = new AskingServer();
    const server = await ChangingServer.start(asking.streamable);
    const { relay } = recording(async () => ({ result: { roots: [] } }), { roots: {} });
    const { client } = await reach(server.url, { ...LEGACY, legacy: { relay } });
    const called = await client.callTool({ name: "asks", arguments: { asks: [{ method: "roots/list" }] } });
    expect(called).toMatchObject({ structuredContent: { answers: [{ result: { roots: [] } }] } });
    expect(asking.introduced).toMatchObject([{ capabilities: { roots: {} } }]);
  });

  it("L-23: is asked for each page of a -32042, as it came, and the call is made once more", async () => {
    const asked = { method: "elicitation/create", params: VISIT };
    expect(await buy("accept")).toEqual(["bought", [asked], 2]);
    expect(await buy("decline")).toEqual([-32042, [asked], 1]);
    const form = { message: "?", requestedSchema: {} };
    expect(await buy("accept", { elicitations: [form] })).toEqual([-32042, [], 1]);
  });

  it("L-23 H-33: nobody is asked, and nothing made again, with repeats: never", async () => {
    expect(await buy("accept", { repeats: "never" })).toEqual([-32042, [], 1]);
  });

  it("W-34 L-23: declares nothing to a modern server", async () => {
    const server = await ChangingServer.start(likeModernServer({ tools: [{ name: "echo" }] }));
    const { relay } = recording(async () => ({ result: {} }));
    const { client } = await reach(server.url, { legacy: { relay } });
    await client.callTool({ name: "echo" });
    const key = "io.modelcontextprotocol/clientCapabilities";
    for (const { params } of server.requests) expect(params).toMatchObject({ _meta: { [key]: {} } });
    expect(JSON.stringify(server.requests.map(({ params }) => params))).not.toContain("elicitation");
  });

  it("is refused beside handlers", async () => {
    const { relay } = recording(async () => ({ result: {} }));
    const options = { ...LEGACY, handlers: { roots: () => [] }, legacy: { relay } };
    await expect(reach("http://127.0.0.1:9", options)).rejects.toMatchObject({
      code: "invalid_options",
      details: { option: "legacy.relay" },
    });
  });
});

describe("what only modern servers are told with a call", () => {
  it("W-34 L-23: means nothing to a legacy one, but for answers to what none asked", async () => {
    const server = await ChangingServer.start(likeLegacyServer({ revision: "2025-11-25", tools: [{ name: "echo" }] }));
    const { client } = await reach(server.url, LEGACY);
    await client.callTool({ name: "echo" }, { capabilities: { roots: {} }, input: "return" });
    const given = [{ inputResponses: {} }, { inputResponses: new RawJson("{}") }, { requestState: "" }];
    for (const options of given) {
      expect(await failureOf(client.callTool({ name: "echo" }, options))).toMatchObject({
        code: "unsupported",
        delivery: "not_sent",
      });
    }
    expect(server.posted.filter((method) => method === "tools/call")).toHaveLength(1);
    expect(JSON.stringify(server.requests.map(({ params }) => params))).not.toContain("roots");
  });

  it("L-22 H-33: a call that shows that the era changed is not made again with repeats: never; the next one is made in that era", async () => {
    const legacy = likeLegacyServer({ revision: "2025-11-25", tools: [{ name: "echo" }] });
    const server = await ChangingServer.start(legacy);
    const { client } = await reach(server.url, { recheckPauseMs: 0.001 });
    await client.callTool({ name: "echo" });
    server.become(likeModernServer({ tools: [{ name: "echo" }] }));
    const calls = (): number => server.posted.filter((method) => method === "tools/call").length;
    const before = calls();
    await expect(client.callTool({ name: "echo" }, { repeats: "never" })).rejects.toMatchObject({
      delivery: "answered",
    });
    expect(calls()).toBe(before + 1);
    await client.callTool({ name: "echo" });
    expect(client.era).toBe("modern");
  });
});
