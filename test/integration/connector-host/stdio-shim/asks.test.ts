import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ForwardedRequest, UpstreamAnswer } from "../../../../src/connector-host/local-server/index.js";
import type { ServerAskAnswer } from "../../../../src/protocol/input/index.js";
import { answerOf } from "../local-server/fixed-directory.js";
import { ACCEPTED, answered, ASKABLE, askOf, asks, FORM, PAGE, ROOTS, SAMPLING } from "../local-server/questions.js";
import { gate } from "../local-server/start.js";
import type { Heard, LineAgent } from "./line-agent.js";
import { ShimParty } from "./shim-party.js";

const CANCELLED = "notifications/cancelled";

let party: ShimParty;

beforeEach(async () => {
  party = await ShimParty.begin();
  party.directory.add("a_x", asks([FORM]));
});

afterEach(() => party.opened.close());

/** An agent that can be asked, in a session of a host that serves the directory. */
async function begin(revision = "2025-11-25", options: Parameters<ShimParty["agent"]>[0] = {}) {
  const served = await party.serve();
  const agent = party.agent(options);
  await agent.initialize(revision, ASKABLE);
  return { ...served, agent };
}

/** The next question that the agent hears, from which message on. */
function question(agent: LineAgent, method = FORM.method, after = 0): Promise<Heard> {
  return agent.until((one) => one.method === method && agent.heard.indexOf(one) >= after);
}

function answer(agent: LineAgent, { id }: Heard, members: object = { result: ACCEPTED }): void {
  agent.write({ jsonrpc: "2.0", id, ...members });
}

/** What a call gave in the end. */
async function answersTo(agent: LineAgent, id: number): Promise<unknown> {
  return (await agent.answerTo(id)).result?.["answers"];
}

/** Answers an `initialize` in the place of a host. */
function agree(response: ServerResponse): void {
  const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "h", version: "1" } };
  response.writeHead(200, { "Content-Type": "application/json", "Mcp-Session-Id": "s" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
}

function told(agent: LineAgent): readonly unknown[] {
  return agent.heard.filter(({ method }) => method === CANCELLED).map(({ params }) => params?.["requestId"]);
}

describe("H-23, H-27: a legacy agent over stdio that is asked in the midst of its call", () => {
  it.each([
    ["2025-11-25", [FORM, PAGE, SAMPLING, ROOTS]],
    ["2025-06-18", [FORM, SAMPLING, ROOTS]],
    ["2025-03-26", [SAMPLING, ROOTS]],
    ["2024-11-05", [SAMPLING, ROOTS]],
  ])("reads it as a line, and answers with one: %s", async (revision, questions) => {
    party.directory.add("a_all", asks(questions));
    const { agent } = await begin(revision);
    const id = agent.send("tools/call", { name: "a_all" });
    let seen = 0;
    for (const each of questions) {
      const asked = await question(agent, each.method, seen);
      seen = agent.heard.length;
      answer(agent, asked, { result: { n: seen } });
    }
    expect(await answersTo(agent, id)).toHaveLength(questions.length);
    expect(JSON.stringify(await answersTo(agent, id))).not.toContain("error");
    expect(told(agent)).toEqual([]);
  });

  it("is not asked what the oldest revision does not have", async () => {
    const { agent } = await begin("2024-11-05");
    const id = agent.send("tools/call", { name: "a_x" });
    expect(await answersTo(agent, id)).toMatchObject([{ error: { code: -32601 } }]);
  });

  it("has its errors handed on, and a broken answer ends the question", async () => {
    const { agent } = await begin();
    const first = agent.send("tools/call", { name: "a_x" });
    answer(agent, await question(agent), { error: { code: -1, message: "no" } });
    expect(await answersTo(agent, first)).toEqual([{ error: { code: -1, message: "no" } }]);
    const seen = agent.heard.length;
    const second = agent.send("tools/call", { name: "a_x" });
    answer(agent, await question(agent, FORM.method, seen), { result: "yes" });
    expect(await answersTo(agent, second)).toMatchObject([{ error: { code: -32603 } }]);
    expect(agent.heard.filter(({ error }) => error !== undefined)).toEqual([]);
  });

  it("is told that a question is over when it cancels the call, of which it hears nothing else", async () => {
    const answers: ServerAskAnswer[] = [];
    party.directory.add("a_kept", async (request) => {
      answers.push(await askOf(request, FORM));
      return answered(answers);
    });
    const { agent } = await begin();
    const id = agent.send("tools/call", { name: "a_kept" });
    const asked = await question(agent);
    agent.notify(CANCELLED, { requestId: id });
    await agent.until(({ method }) => method === CANCELLED);
    expect(told(agent)).toEqual([asked.id]);
    await expect.poll(() => answers).toMatchObject([{ error: { code: -32603 } }]);
    await agent.ask("ping");
    expect(agent.heard.filter((one) => one.id === id)).toEqual([]);
  });

  it("is told that a question is over when its answer is no longer wanted", async () => {
    const wanted = new AbortController();
    party.directory.add("a_kept", async (request) => answered([await askOf(request, FORM, wanted.signal)]));
    const { agent } = await begin();
    const id = agent.send("tools/call", { name: "a_kept" });
    const asked = await question(agent);
    wanted.abort();
    await agent.answerTo(id);
    expect(told(agent)).toEqual([asked.id]);
  });

  it("is heard although the connection breaks over which it answers", async () => {
    let breaks = 2;
    const posted: string[] = [];
    await party.answer(({ body }, response) => {
      if (body.includes('"initialize"')) agree(response);
      else if (body.includes('"q-1"') && breaks > 0) {
        breaks -= 1;
        response.destroy();
      } else {
        posted.push(body);
        response.writeHead(202).end();
      }
    });
    const agent = party.agent();
    await agent.initialize("2025-11-25", ASKABLE);
    answer(agent, { id: "q-1" });
    await expect.poll(() => posted.filter((body) => body.includes('"q-1"')).length).toBe(1);
    expect(breaks).toBe(0);
  });

  it("is told that a question is over when the host is killed, before the call fails, and an answered one is not", async () => {
    const ask = (id: string) => `data: ${JSON.stringify({ jsonrpc: "2.0", id, ...FORM })}\n\n`;
    const posted: string[] = [];
    const server = await party.answer(({ body }, response) => {
      posted.push(body);
      if (body.includes('"initialize"')) agree(response);
      else if (body.includes('"tools/call"')) {
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        response.write(ask("q-1") + ask("q-2"));
      } else response.writeHead(202).end();
    });
    const agent = party.agent();
    await agent.initialize("2025-11-25", ASKABLE);
    const id = agent.send("tools/call", { name: "a_x" });
    await agent.until((one) => one.id === "q-2");
    answer(agent, { id: "q-1" });
    await expect.poll(() => posted.some((body) => body.includes('"q-1"'))).toBe(true);
    server.close();
    server.closeAllConnections();
    expect(await agent.verdictOn(id)).toMatchObject({ delivery: "unknown" });
    expect(told(agent)).toEqual(["q-2"]);
    expect(agent.heard.at(-1)?.id).toBe(id);
  });

  it("is told that a question is over when the host is gone, and its late answer reaches no other", async () => {
    const served = await begin();
    const { agent } = served;
    const id = agent.send("tools/call", { name: "a_x" });
    const asked = await question(agent);
    await served.close();
    await agent.answerTo(id);
    expect(told(agent)).toEqual([asked.id]);
    await party.serve();
    const again = agent.send("tools/call", { name: "a_x" });
    const second = await question(agent, FORM.method, agent.heard.indexOf(asked) + 1);
    expect(second.id).not.toBe(asked.id);
    answer(agent, asked, { result: { action: "accept", content: { name: "late" } } });
    answer(agent, second);
    expect(await answersTo(agent, again)).toEqual([{ result: ACCEPTED }]);
  });
});

describe("H-23, H-27: an agent over stdio that says nothing any more", () => {
  it("can still answer with its last line", async () => {
    const { agent } = await begin();
    const id = agent.send("tools/call", { name: "a_x" });
    answer(agent, await question(agent));
    agent.stdin.end();
    await agent.ended;
    expect(await answersTo(agent, id)).toEqual([{ result: ACCEPTED }]);
  });

  it("keeps no call waiting for what it was asked, and will be asked nothing", async () => {
    const going = gate();
    party.directory.add("a_late", async (request) => {
      const first = await askOf(request, FORM);
      going.open();
      return answered([first, await askOf(request, ROOTS)]);
    });
    const { agent } = await begin();
    const id = agent.send("tools/call", { name: "a_late" });
    await question(agent);
    agent.stdin.end();
    await going.opened;
    const internal = { error: { code: -32603 } };
    expect(await answersTo(agent, id)).toMatchObject([internal, internal]);
    await agent.ended;
    expect(agent.heard.filter(({ method }) => method === ROOTS.method)).toEqual([]);
  });

  it.each(["is told to end", "does not read any more"])("ends its calls when it %s", async (how) => {
    const answers: ServerAskAnswer[] = [];
    party.directory.add("a_kept", async (request) => {
      answers.push(await askOf(request, FORM));
      return answered(answers);
    });
    const { agent } = await begin();
    agent.send("tools/call", { name: "a_kept" });
    await question(agent);
    if (how === "is told to end") void agent.leave();
    else agent.stdout.destroy();
    await agent.ended;
    await expect.poll(() => answers).toMatchObject([{ error: { code: -32603 } }]);
  });
});

it("H-21, H-27: a modern agent over stdio gets a result that asks as it is, and goes on with lines", async () => {
  const raw =
    '{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}},"requestState":"é \\u2028"}';
  const inputs: ForwardedRequest["input"][] = [];
  party.directory.add("a_rounds", async ({ input }): Promise<UpstreamAnswer> => {
    inputs.push(input);
    return answerOf(inputs.length === 1 ? raw : '{"resultType":"complete","content":[]}');
  });
  await party.serve();
  const agent = party.agent();
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { roots: {} },
  };
  const id = agent.send("tools/call", { name: "a_rounds", _meta });
  await agent.answerTo(id);
  expect(agent.texts.at(-1)).toBe(`{"jsonrpc":"2.0","id":${String(id)},"result":${raw}}`);
  const more = { inputResponses: { k: { roots: [] } }, requestState: "é \u2028" };
  const done = await agent.answerTo(agent.send("tools/call", { name: "a_rounds", ...more, _meta }));
  expect(done.result).toMatchObject({ resultType: "complete" });
  expect(inputs[0]).toEqual({ capabilities: { roots: {} } });
  expect(inputs[1]?.continuation?.responses?.value).toEqual(more.inputResponses);
  expect(inputs[1]?.continuation?.state).toBe(more.requestState);
});
