import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { ask, ERAS, errorOf, resultOf } from "./asking.js";
import { answerOf, type FixedDirectory, says } from "./fixed-directory.js";
import { FixedPrompts, FixedResources } from "./fixed-offers.js";
import { modernBody, modernHeaders, post } from "./raw-agent.js";
import { start, type Started } from "./start.js";

const EMPTY = '{"resultType":"complete"}';
const STRANGE = "a_ Zürich \u2028";

interface Offers {
  readonly prompts: FixedPrompts;
  readonly resources: FixedResources;
  /** What was asked of the directory to complete. */
  readonly completions: unknown[];
}

async function started(): Promise<Started & Offers> {
  const prompts = new FixedPrompts().add("a_p", says(EMPTY)).add(STRANGE, says(EMPTY));
  const resources = new FixedResources().add("file:///a", says(EMPTY)).add(STRANGE, says(EMPTY));
  const completions: unknown[] = [];
  const prepare = (directory: FixedDirectory): void => {
    directory.prompts = prompts;
    directory.resources = resources;
    directory.complete = async (_binding, { ref, argument, context, connectorKey }) => {
      completions.push({ ref, argument, context, connectorKey });
      return answerOf(EMPTY);
    };
  };
  return { ...(await start(prepare, { maxArgumentsBytes: 64 })), prompts, resources, completions };
}

describe("H-21, H-22: prompts/get", () => {
  it("passes the arguments on as they were written", async () => {
    const { agent, prompts } = await started();
    for (const era of ERAS) {
      await ask(agent, era, { method: "prompts/get", params: '{"name":"a_p","arguments":{ "s":"\\u00e9é" }}' });
      await ask(agent, era, { method: "prompts/get", params: '{"name":"a_p","arguments":null}' });
    }
    const texts = prompts.begun.map(({ request }) => request.argumentsText);
    expect(texts).toEqual(['{ "s":"\\u00e9é" }', undefined, '{ "s":"\\u00e9é" }', undefined]);
  });

  it.each([
    ["no name", "{}", -32602],
    ["a name that is no text", '{"name":7}', -32602],
    ["arguments that are no object", '{"name":"a_p","arguments":[]}', -32602],
    ["an argument that is no text", '{"name":"a_p","arguments":{"n":1}}', -32602],
    ["too many arguments", `{"name":"a_p","arguments":{"s":"${"x".repeat(64)}"}}`, -32602],
    ["a state that is no text", '{"name":"a_p","requestState":7}', -32602],
    ["answers that are no object", '{"name":"a_p","inputResponses":7}', -32602],
  ])("refuses %s before anything is asked", async (_name, params, code) => {
    const { agent, prompts } = await started();
    const modern = await ask(agent, "modern", { method: "prompts/get", params, headers: { "Mcp-Name": "a_p" } });
    expect([modern.status, errorOf(modern).code]).toEqual([400, code]);
    const legacy = await ask(agent, "legacy", { method: "prompts/get", params });
    expect([legacy.status, errorOf(legacy).code]).toEqual([200, code]);
    expect(prompts.begun).toEqual([]);
  });

  it("H-34: names the option that bounds the arguments", async () => {
    const { agent } = await started();
    const params = `{"name":"a_p","arguments":{"s":"${"x".repeat(64)}"}}`;
    expect(errorOf(await ask(agent, "legacy", { method: "prompts/get", params })).message).toContain(
      "maxArgumentsBytes",
    );
  });

  it("does not know every name", async () => {
    const { agent } = await started();
    for (const era of ERAS) {
      const answer = await ask(agent, era, { method: "prompts/get", params: '{"name":"constructor"}' });
      expect([answer.status, errorOf(answer)]).toMatchObject([
        200,
        {
          code: -32602,
          data: { "sh.tutti/delivery": { delivery: "not_sent", code: "unknown_prompt", prompt: "constructor" } },
        },
      ]);
    }
  });
});

describe.each([
  ["prompts/get", "name", "a_p"],
  ["resources/read", "uri", "file:///a"],
])("H-21: Mcp-Name of %s", (method, member, subject) => {
  const body = (value: string): string => modernBody(method, JSON.stringify({ [member]: value }));

  it("is decoded, and compared before anything is looked up", async () => {
    const { agent, prompts, resources } = await started();
    const headers = modernHeaders(method, STRANGE);
    expect(headers["Mcp-Name"]).toContain("=?base64?");
    expect((await post(agent, body(STRANGE), headers)).status).toBe(200);
    expect([...prompts.begun, ...resources.begun].map((begun) => begun.subject)).toEqual([STRANGE]);
  });

  it.each<[string, string | undefined]>([
    ["missing", undefined],
    ["another", "other"],
    ["in another case", subject.toUpperCase()],
    ["undecodable", "=?base64?!?="],
    ["the sentinel of another", "=?base64?b3RoZXI=?="],
  ])("is refused when it is %s", async (_name, value) => {
    const { agent, prompts, resources } = await started();
    const answer = await post(agent, body(subject), { ...modernHeaders(method), "Mcp-Name": value });
    expect([answer.status, errorOf(answer).code]).toEqual([400, -32020]);
    expect([...prompts.begun, ...resources.begun]).toEqual([]);
  });

  it("is not wanted of a legacy agent", async () => {
    const { agent } = await started();
    const params = JSON.stringify({ [member]: subject });
    expect((await ask(agent, "legacy", { method, params, headers: { "Mcp-Name": "other" } })).status).toBe(200);
  });
});

describe("H-28: resources/read", () => {
  it.each([
    ["modern", -32602],
    ["legacy", -32002],
  ] as const)("tells a %s agent of a resource that is not there", async (era, code) => {
    const { agent } = await started();
    const uri = "file:///b?token=1";
    const answer = await ask(agent, era, { method: "resources/read", params: JSON.stringify({ uri }) });
    const verdict = { "sh.tutti/delivery": { delivery: "not_sent", code: "resource_not_found" } };
    expect([answer.status, errorOf(answer)]).toEqual([
      200,
      { code, message: "No connector has this resource.", data: { uri, ...(era === "legacy" ? verdict : {}) } },
    ]);
  });

  it("names the owners of a URI that has several, and takes the agent's choice", async () => {
    const { agent, resources } = await started();
    resources.add("both:///", async ({ connectorKey }) => {
      if (connectorKey !== undefined) return answerOf(JSON.stringify({ resultType: "complete", connectorKey }));
      throw new RemoteConnectorError("ambiguous_resource", {
        message: "Two connectors own it.",
        details: { uri: "both:///", connectorKeys: ["a", "b"] },
      });
    });
    for (const era of ERAS) {
      const question = { method: "resources/read", params: '{"uri":"both:///"}' };
      expect(errorOf(await ask(agent, era, question))).toMatchObject({
        code: -32602,
        data: { "sh.tutti/delivery": { delivery: "not_sent", code: "ambiguous_resource", connectorKeys: ["a", "b"] } },
      });
      const meta = { "sh.tutti/connector": "b" };
      expect(resultOf(await ask(agent, era, { ...question, meta }))).toMatchObject({ connectorKey: "b" });
      expect(errorOf(await ask(agent, era, { ...question, meta: { "sh.tutti/connector": 7 } })).code).toBe(-32602);
    }
  });

  it.each([
    ["no URI", "{}"],
    ["a URI that is no text", '{"uri":7}'],
    ["a state that is no text", '{"uri":"file:///a","requestState":7}'],
    ["answers that are no object", '{"uri":"file:///a","inputResponses":7}'],
  ])("refuses %s before anything is asked", async (_name, params) => {
    const { agent, resources } = await started();
    const headers = { "Mcp-Name": "file:///a" };
    const modern = await ask(agent, "modern", { method: "resources/read", params, headers });
    expect([modern.status, errorOf(modern).code]).toEqual([400, -32602]);
    const legacy = await ask(agent, "legacy", { method: "resources/read", params });
    expect([legacy.status, errorOf(legacy).code]).toEqual([200, -32602]);
    expect(resources.begun).toEqual([]);
  });
});

describe("H-21, H-22: completion/complete", () => {
  const argument = { name: "x", value: "" };

  it("asks for a prompt's or a template's argument, with what is known of others", async () => {
    const { agent, completions } = await started();
    const prompt = { ref: { type: "ref/prompt", name: "a_p" }, argument };
    const template = {
      ref: { type: "ref/resource", uri: "file:///{x}" },
      argument,
      context: { arguments: { y: "1" } },
    };
    for (const era of ERAS) {
      await ask(agent, era, { method: "completion/complete", params: JSON.stringify(prompt) });
      const meta = { "sh.tutti/connector": "b" };
      await ask(agent, era, { method: "completion/complete", params: JSON.stringify(template), meta });
    }
    const [first, second] = [
      { ...prompt, context: undefined, connectorKey: undefined },
      { ...template, connectorKey: "b" },
    ];
    expect(completions).toEqual([first, second, first, second]);
  });

  it.each<[string, object]>([
    ["no reference", { argument }],
    ["a reference of another kind", { ref: { type: "ref/tool", name: "a" }, argument }],
    ["a prompt without a name", { ref: { type: "ref/prompt", uri: "a" }, argument }],
    ["a template without a URI", { ref: { type: "ref/resource", name: "a" }, argument }],
    ["no argument", { ref: { type: "ref/prompt", name: "a_p" } }],
    ["an argument without a value", { ref: { type: "ref/prompt", name: "a_p" }, argument: { name: "x" } }],
    ["a context that is no object", { ref: { type: "ref/prompt", name: "a_p" }, argument, context: 1 }],
    [
      "known arguments that are no texts",
      { ref: { type: "ref/prompt", name: "a_p" }, argument, context: { arguments: { y: 1 } } },
    ],
    [
      "a value that is too long",
      { ref: { type: "ref/prompt", name: "a_p" }, argument: { name: "x", value: "x".repeat(64) } },
    ],
    [
      "too much context",
      { ref: { type: "ref/prompt", name: "a_p" }, argument, context: { arguments: { y: "x".repeat(64) } } },
    ],
  ])("refuses %s", async (_name, params) => {
    const { agent, completions } = await started();
    for (const era of ERAS) {
      const answer = await ask(agent, era, { method: "completion/complete", params: JSON.stringify(params) });
      expect([answer.status, errorOf(answer).code]).toEqual([era === "modern" ? 400 : 200, -32602]);
    }
    expect(completions).toEqual([]);
  });
});

describe("H-22: logging/setLevel without a session", () => {
  it("is taken, and has no effect", async () => {
    const { agent } = await started();
    const answer = await ask(agent, "legacy", { method: "logging/setLevel", params: '{"level":"debug"}' });
    expect(answer.text).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
  });

  it("knows the levels", async () => {
    const { agent } = await started();
    for (const params of ["{}", '{"level":"loud"}', '{"level":1}']) {
      expect(errorOf(await ask(agent, "legacy", { method: "logging/setLevel", params })).code).toBe(-32602);
    }
  });

  it.each(["resources/subscribe", "resources/unsubscribe", "server/discover", "subscriptions/listen"])(
    "%s is not there",
    async (method) => {
      const { agent } = await started();
      const answer = await ask(agent, "legacy", { method, params: '{"uri":"file:///a"}' });
      expect([answer.status, errorOf(answer).code]).toEqual([200, -32601]);
    },
  );
});
