import { describe, expect, it } from "vitest";
import type {
  BoundAgent,
  ForwardedRequest,
  UpstreamAnswer,
} from "../../../../src/connector-host/local-server/index.js";
import { recordDelivery, RemoteConnectorError } from "../../../../src/errors.js";
import { MetaKey } from "../../../../src/protocol/index.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { ask, ERAS, errorOf, type Question, resultOf } from "./asking.js";
import { answerOf, type FixedDirectory, hangs, says } from "./fixed-directory.js";
import { FixedPrompts, FixedResources } from "./fixed-offers.js";
import { messagesOf, postLegacy } from "./raw-agent.js";
import { start } from "./start.js";

/** Big numbers, odd spaces and foreign members, which only bytes that nobody touched keep. */
const ODD = '"n" : [12345678901234567890,1.0], "foreign":{"b":1,"a":2}';
const ASKED: readonly [string, Question][] = [
  ["prompts/get", { method: "prompts/get", params: '{"name":"a_p"}' }],
  ["resources/read", { method: "resources/read", params: '{"uri":"file:///a"}' }],
  [
    "completion/complete",
    {
      method: "completion/complete",
      params: '{"ref":{"type":"ref/prompt","name":"a_p"},"argument":{"name":"x","value":""}}',
    },
  ],
];

/** A directory in which everything that is asked for is served alike. */
function offering(serve: (request: ForwardedRequest) => Promise<UpstreamAnswer>): (directory: FixedDirectory) => void {
  return (directory) => {
    directory.prompts = new FixedPrompts().add("a_p", serve);
    directory.resources = new FixedResources().add("file:///a", serve);
    directory.complete = (_binding, request) => serve(request);
  };
}

async function initialize(agent: BoundAgent): Promise<unknown> {
  const params = '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}';
  // An agent that takes no streams gets no session, and what needs one is not offered to it.
  const headers = { Accept: "application/json" };
  return resultOf(await ask(agent, "legacy", { method: "initialize", params, headers }));
}

describe("H-21, H-22: capabilities", () => {
  it("name what the directory offers, and what the surface can carry", async () => {
    const { agent } = await start(offering(says("{}")));
    expect(resultOf(await ask(agent, "modern", { method: "server/discover" }))).toMatchObject({
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        completions: {},
        logging: {},
      },
    });
    expect(await initialize(agent)).toHaveProperty("capabilities", {
      tools: { listChanged: false },
      prompts: { listChanged: false },
      resources: { listChanged: false, subscribe: false },
      completions: {},
    });
  });

  it("leave out what it doesn't offer, and its methods are not there", async () => {
    const { agent } = await start();
    expect(resultOf(await ask(agent, "modern", { method: "server/discover" }))).toHaveProperty("capabilities", {
      tools: { listChanged: true },
      logging: {},
    });
    expect(await initialize(agent)).toHaveProperty("capabilities", { tools: { listChanged: false } });
    const lists = ["prompts/list", "resources/list", "resources/templates/list"].map((method) => ({ method }));
    for (const question of [...lists, ...ASKED.map(([, asked]) => asked)]) {
      for (const era of ERAS) {
        const answer = await ask(agent, era, question);
        expect([answer.status, errorOf(answer).code]).toEqual([era === "modern" ? 404 : 200, -32601]);
      }
    }
  });
});

describe("H-21, H-22: lists", () => {
  const omitted = [{ connectorKey: "slow", reason: "no answer" }];
  const listed = (directory: FixedDirectory): void => {
    directory.prompts = new FixedPrompts();
    directory.prompts.listing = { entries: [`{"name":"a_p",${ODD}}`, '{"name":"b"}'], omitted };
    directory.resources = new FixedResources();
    directory.resources.listing = { entries: [`{"uri":"a:b",${ODD}}`], omitted };
    directory.resources.templates = { entries: [`{"uriTemplate":"a:{x}",${ODD}}`], omitted: [] };
  };

  it("are one fresh, private page of whole definitions for a modern agent", async () => {
    const { agent } = await start(listed);
    const prompts = await ask(agent, "modern", { method: "prompts/list" });
    expect(prompts.text).toContain(`"prompts":[{"name":"a_p",${ODD}},{"name":"b"}]`);
    const serverInfo = { name: "connector", version: "1" };
    expect(resultOf(prompts)).toMatchObject({
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private",
      _meta: { [MetaKey.serverInfo]: serverInfo, "sh.tutti/omitted": omitted },
    });
    const resources = await ask(agent, "modern", { method: "resources/list" });
    expect(resources.text).toContain(`"resources":[{"uri":"a:b",${ODD}}]`);
    expect(resultOf(resources)).toMatchObject({ ttlMs: 0, cacheScope: "private" });
    const templates = await ask(agent, "modern", { method: "resources/templates/list" });
    expect(templates.text).toContain(`"resourceTemplates":[{"uriTemplate":"a:{x}",${ODD}}]`);
    expect(resultOf(templates)).toMatchObject({ ttlMs: 0, _meta: { [MetaKey.serverInfo]: serverInfo } });
  });

  it("have nothing that only the modern revision has for a legacy agent", async () => {
    const { agent } = await start(listed);
    const bodies = [];
    for (const method of ["prompts/list", "resources/list", "resources/templates/list"]) {
      bodies.push((await ask(agent, "legacy", { method })).text);
    }
    const meta = '"_meta":{"sh.tutti/omitted":[{"connectorKey":"slow","reason":"no answer"}]}';
    expect(bodies).toEqual([
      `{"jsonrpc":"2.0","id":1,"result":{"prompts":[{"name":"a_p",${ODD}},{"name":"b"}],${meta}}}`,
      `{"jsonrpc":"2.0","id":1,"result":{"resources":[{"uri":"a:b",${ODD}}],${meta}}}`,
      `{"jsonrpc":"2.0","id":1,"result":{"resourceTemplates":[{"uriTemplate":"a:{x}",${ODD}}]}}`,
    ]);
  });

  it.each(["prompts/list", "resources/list", "resources/templates/list"])("%s has no second page", async (method) => {
    const { agent } = await start(listed);
    const answer = await ask(agent, "modern", { method, params: '{"cursor":""}' });
    expect([answer.status, errorOf(answer).code]).toEqual([400, -32602]);
  });
});

describe.each(ASKED)("H-26: %s", (method, question) => {
  const lifetime = method === "resources/read" ? ',"ttlMs":5,"cacheScope":"public"' : "";
  const hint = method === "resources/read" ? ',"ttlMs":0,"cacheScope":"private"' : "";

  it("hands back a modern server's own bytes", async () => {
    const raw = `{ ${ODD},"resultType":"complete"${lifetime} }`;
    const { agent } = await start(offering(says(raw)));
    expect((await ask(agent, "modern", question)).text).toBe(`{"jsonrpc":"2.0","id":1,"result":${raw}}`);
    expect((await ask(agent, "legacy", question)).text).toBe(`{"jsonrpc":"2.0","id":1,"result":{ ${ODD} }}`);
  });

  it("hands back a legacy server's own bytes, with what the modern revision requires", async () => {
    const raw = `{ ${ODD} }`;
    const { agent } = await start(offering(says(raw, "legacy")));
    expect((await ask(agent, "legacy", question)).text).toBe(`{"jsonrpc":"2.0","id":1,"result":${raw}}`);
    expect((await ask(agent, "modern", question)).text).toBe(
      `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"${hint},${raw.slice(1)}}`,
    );
  });

  it("hands on no result of a type that nobody knows", async () => {
    const { agent } = await start(offering(says('{"resultType":"task","requestState":"s"}')));
    for (const era of ERAS) {
      expect(errorOf(await ask(agent, era, question))).toMatchObject({
        code: -32603,
        data: { "sh.tutti/delivery": { code: "unsupported", delivery: "answered" } },
      });
    }
  });

  it("tells of progress, in order and before the result, and keeps the agent's own keys", async () => {
    const { agent } = await start(
      offering(async ({ onProgress, meta }) => {
        for (const progress of [1, 2]) onProgress?.({ progress });
        return answerOf(JSON.stringify({ resultType: "complete", meta, asked: onProgress !== undefined }));
      }),
    );
    const meta = { progressToken: 0, "com.example/x": 1, "sh.tutti/connector": "a" };
    for (const era of ERAS) {
      const answer = await ask(agent, era, { ...question, meta });
      expect(messagesOf(answer.text)).toMatchObject([
        { method: "notifications/progress", params: { progressToken: 0, progress: 1 } },
        { method: "notifications/progress", params: { progressToken: 0, progress: 2 } },
        { id: 1, result: { meta: { "com.example/x": 1 }, asked: true } },
      ]);
      expect(resultOf(await ask(agent, era, question))).toMatchObject({ asked: false });
    }
  });

  it("passes on log messages of the level that was asked for and above, to a modern agent only", async () => {
    const { agent } = await start(
      offering(async ({ onNotification, logLevel }) => {
        for (const level of ["debug", "warning", "emergency", "loud"]) {
          onNotification?.({ method: "notifications/message", params: { level, data: level } });
        }
        onNotification?.({ method: "notifications/tools/list_changed", params: {} });
        return answerOf(JSON.stringify({ resultType: "complete", logLevel }));
      }),
    );
    const meta = { [MetaKey.logLevel]: "warning" };
    expect(messagesOf((await ask(agent, "modern", { ...question, meta })).text)).toMatchObject([
      { method: "notifications/message", params: { level: "warning" } },
      { method: "notifications/message", params: { level: "emergency" } },
      { result: { logLevel: "warning" } },
    ]);
    const other = await ask(agent, "legacy", { ...question, meta });
    expect(other.headers.get("content-type")).toBe("application/json");
  });

  it("keeps a peer's error, and adds the verdict", async () => {
    const { agent } = await start(
      offering(async () => {
        throw new RemoteConnectorError("peer_error", {
          message: "m",
          delivery: "answered",
          details: { rpcCode: -33003, rpcMessage: "theirs", rpcData: { state: "down" } },
        });
      }),
    );
    for (const era of ERAS) {
      expect(errorOf(await ask(agent, era, question))).toEqual({
        code: -33003,
        message: "theirs",
        data: { state: "down", "sh.tutti/delivery": { delivery: "answered", code: "peer_error" } },
      });
    }
  });

  it("F-7: ends with its deadline, and says how far it got", async () => {
    const clock = new FakeClock();
    let running: ForwardedRequest | undefined;
    const late = offering((request) => {
      running = request;
      const { signal } = request;
      const asked: Promise<never> = new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          recordDelivery(asked, signal.reason, "not_sent");
          reject(signal.reason);
        });
      });
      return asked;
    });
    const { agent } = await start(late, { clock, callTimeoutMs: 3_000 });
    const asking = ask(agent, "modern", question);
    await expect.poll(() => running?.deadline).toBe(clock.now() + 3_000);
    await clock.advance(4_000);
    const verdict = {
      code: "timeout",
      delivery: "not_sent",
      phase: "total",
      option: "callTimeoutMs",
      limitMs: 3_000,
    };
    expect(errorOf(await asking)).toMatchObject({ code: -32603, data: { "sh.tutti/delivery": verdict } });
  });

  it("ends upstream when a modern agent closes the connection", async () => {
    const aborted: unknown[] = [];
    let running = 0;
    const hanging = hangs((reason) => aborted.push(reason));
    const { agent } = await start(
      offering((request) => {
        running += 1;
        return hanging(request);
      }),
    );
    const leaving = new AbortController();
    const asking = ask(agent, "modern", { ...question, signal: leaving.signal });
    asking.catch(() => undefined);
    await expect.poll(() => running).toBe(1);
    leaving.abort();
    await expect(asking).rejects.toThrow();
    await expect.poll(() => aborted.length).toBe(1);
  });

  it("ends upstream when a legacy agent says so, and not when it names another request", async () => {
    const aborted: unknown[] = [];
    let running = 0;
    const hanging = hangs((reason) => aborted.push(reason));
    const { agent } = await start(
      offering((request) => {
        running += 1;
        return hanging(request);
      }),
    );
    const asking = ask(agent, "legacy", { ...question, id: "it" });
    await expect.poll(() => running).toBe(1);
    const cancel = (requestId: string): object => ({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId },
    });
    await postLegacy(agent, cancel("other"));
    expect(aborted).toEqual([]);
    await postLegacy(agent, cancel("it"));
    expect(errorOf(await asking)).toMatchObject({
      code: -32603,
      data: { "sh.tutti/delivery": { code: "cancelled", reason: "agent_cancelled", delivery: "unknown" } },
    });
    expect(aborted.length).toBe(1);
  });
});

describe("L-1: batches at 2025-03-26", () => {
  it("carry every method", async () => {
    const { agent } = await start(offering(says(`{${ODD}}`, "legacy")));
    const messages = ASKED.map(
      ([method, { params = "{}" }], id) =>
        `{"jsonrpc":"2.0","id":${String(id)},"method":${JSON.stringify(method)},"params":${params}}`,
    );
    const answer = await postLegacy(agent, `[${messages.join(",")}]`);
    const answers = ASKED.map((_asked, id) => `{"jsonrpc":"2.0","id":${String(id)},"result":{${ODD}}}`);
    expect(answer.text).toBe(`[${answers.join(",")}]`);
  });
});
