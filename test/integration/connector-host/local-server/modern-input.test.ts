import { describe, expect, it } from "vitest";
import type { ForwardedRequest, LocalServerOptions } from "../../../../src/connector-host/local-server/index.js";
import { MetaKey } from "../../../../src/protocol/index.js";
import { ask, errorOf, type Question, resultOf } from "./asking.js";
import { says } from "./fixed-directory.js";
import { FixedPrompts, FixedResources } from "./fixed-offers.js";
import { start } from "./start.js";

const ASKING =
  '{ "resultType":"input_required","inputRequests":{ "k" :{"method":"roots/list"}} ,"requestState":"é\\u00e9","n":12345678901234567890}';

/** A directory that asks, and the requests that it got. */
async function asking(options: Partial<LocalServerOptions> = {}) {
  const begun: ForwardedRequest[] = [];
  const serve = (request: ForwardedRequest) => {
    begun.push(request);
    return says(ASKING)();
  };
  const started = await start((tools) => {
    tools.add("a_x", serve);
    tools.prompts = new FixedPrompts().add("a_p", serve);
    tools.resources = new FixedResources().add("a:1", serve);
    tools.complete = (_binding, request) => serve(request);
  }, options);
  return { ...started, begun };
}

const METHODS: readonly (readonly [string, string])[] = [
  ["tools/call", '"name":"a_x"'],
  ["prompts/get", '"name":"a_p"'],
  ["resources/read", '"uri":"a:1"'],
];

function question(method: string, members: string, capabilities: object = {}): Question {
  return { method, params: `{${members}}`, meta: { [MetaKey.clientCapabilities]: capabilities } };
}

describe.each(METHODS)("H-21, H-27: a modern agent that is asked before %s goes on", (method, member) => {
  it("gets the result that asks, byte for byte", async () => {
    const { agent } = await asking();
    const { status, text } = await ask(agent, "modern", question(method, member, { roots: {} }));
    expect([status, text]).toEqual([200, `{"jsonrpc":"2.0","id":1,"result":${ASKING}}`]);
  });

  it("has what it declares handed on, and what it goes on with as it wrote it", async () => {
    const { agent, begun } = await asking();
    await ask(agent, "modern", question(method, member, { elicitation: { url: {} }, roots: {}, extensions: {} }));
    const responses = '{ "k" : {"roots":[],"n":12345678901234567890} }';
    const given = `${member},"inputResponses":${responses},"requestState":"s\\u00e9"`;
    await ask(agent, "modern", question(method, given));
    await ask(agent, "modern", question(method, `${member},"requestState":""`, { sampling: {} }));
    const [first, second, third] = begun.map(({ input }) => input);
    expect(first).toEqual({ capabilities: { elicitation: { url: {} }, roots: {} } });
    expect(second?.capabilities).toEqual({});
    expect([second?.continuation?.responses?.text, second?.continuation?.state]).toEqual([responses, "sé"]);
    expect(third).toEqual({ capabilities: { sampling: {} }, continuation: expect.objectContaining({ state: "" }) });
    expect(begun.map(({ input }) => input?.ask)).toEqual([undefined, undefined, undefined]);
  });

  it("has nothing handed on when it declares nothing, and goes on with nothing", async () => {
    const { agent, begun } = await asking();
    await ask(agent, "modern", question(method, member, { experimental: { roots: {} } }));
    expect(begun.map(({ input }) => input)).toEqual([undefined]);
  });

  it("H-16: may go on with so much, and no more", async () => {
    const { agent, begun } = await asking({ maxInputBytes: 19 });
    const fits = `"inputResponses":{"k":{}},"requestState":"123456789"`;
    expect((await ask(agent, "modern", question(method, `${member},${fits}`))).status).toBe(200);
    const refused = await ask(agent, "modern", question(method, `${member},${fits.replace("9", "90")}`));
    expect([refused.status, errorOf(refused).code]).toEqual([400, -32602]);
    expect(errorOf(refused).message).toContain("maxInputBytes");
    expect(begun).toHaveLength(1);
  });

  it("and a legacy one is not: the result is an error to it, and so is what it would go on with", async () => {
    const { agent, begun } = await asking();
    expect(errorOf(await ask(agent, "legacy", { method, params: `{${member}}` }))).toMatchObject({
      code: -32603,
      data: { "sh.tutti/delivery": { code: "unsupported", delivery: "answered" } },
    });
    for (const more of ['"requestState":"s"', '"inputResponses":{}']) {
      expect(errorOf(await ask(agent, "legacy", { method, params: `{${member},${more}}` })).code).toBe(-32602);
    }
    expect(begun).toHaveLength(1);
  });
});

describe("H-27: requests that can't ask", () => {
  it("of a modern agent go on with nothing: what belongs to another request is ignored", async () => {
    const { agent, begun } = await asking();
    const more = '"requestState":"s","inputResponses":{}';
    const listed = await ask(agent, "modern", question("tools/list", more, { roots: {} }));
    expect(resultOf(listed)).toMatchObject({ tools: [{ name: "a_x" }] });
    const params = `"ref":{"type":"ref/prompt","name":"a_p"},"argument":{"name":"n","value":""},${more}`;
    const completed = await ask(agent, "modern", question("completion/complete", params, { roots: {} }));
    expect(errorOf(completed)).toMatchObject({ data: { "sh.tutti/delivery": { code: "unsupported" } } });
    expect(begun.map(({ input }) => input)).toEqual([undefined]);
  });
});
