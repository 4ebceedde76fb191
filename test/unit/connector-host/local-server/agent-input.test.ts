import { describe, expect, it } from "vitest";
import { readAgentInput } from "../../../../src/connector-host/local-server/agent-input.js";
import { BatchPart } from "../../../../src/connector-host/local-server/batch-part.js";
import type { AgentInput } from "../../../../src/connector-host/local-server/index.js";
import { isJsonObject, type JsonObject } from "../../../../src/protocol/index.js";

const binding = { workspaceId: "w", agentSessionId: "s", invocation: undefined, login: undefined };
const target = new BatchPart(binding, 1);

/** Reads a request whose params have these members, as JSON text. */
function read(members: string, clientCapabilities: JsonObject | undefined, maxInputBytes = 100) {
  const text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${members}}}`;
  const parsed: unknown = JSON.parse(text);
  const params = isJsonObject(parsed) ? parsed["params"] : undefined;
  return readAgentInput(
    {
      id: 1,
      method: "tools/call",
      params: isJsonObject(params) ? params : {},
      message: Buffer.from(`  ${text}`),
      era: clientCapabilities === undefined ? "legacy" : "modern",
      headers: undefined,
      progressToken: undefined,
      logLevel: undefined,
      clientCapabilities,
    },
    target,
    maxInputBytes,
  );
}

function inputOf(members: string, declared: JsonObject): AgentInput | undefined {
  const reading = read(members, declared);
  if (reading.kind === "refused") throw new Error(reading.error.message);
  return reading.input;
}

describe("H-27: what a modern agent gives beside the parameters of its first request", () => {
  it("is nothing, when it declares nothing and goes on with nothing, at no cost", () => {
    expect(inputOf("", {})).toBeUndefined();
    expect(read("", {})).toBe(read('"a":1', { experimental: {} }));
  });

  it("is what it can be asked", () => {
    expect(inputOf("", { roots: {}, other: {} })).toEqual({ capabilities: { roots: {} } });
  });

  it("is its answers as it wrote them, and the state", () => {
    const text = '{ "a" : {"n":12345678901234567890,"s":"\\u00e9é"} }';
    const input = inputOf(`"inputResponses":${text} ,"requestState":"s\\n\\ud800"`, { elicitation: {} });
    expect(input?.capabilities).toEqual({ elicitation: {} });
    expect(input?.continuation?.responses?.text).toBe(text);
    expect(input?.continuation?.responses?.value).toEqual(JSON.parse(text));
    expect(input?.continuation?.state).toBe("s\n\ud800");
  });

  it("goes on although nothing is declared, with an empty state too, and with either alone", () => {
    expect(inputOf('"requestState":""', {})).toMatchObject({ capabilities: {}, continuation: { state: "" } });
    expect(inputOf('"requestState":""', {})?.continuation?.responses).toBeUndefined();
    expect(inputOf('"inputResponses":{}', {})?.continuation).toMatchObject({ responses: { text: "{}" } });
    expect(inputOf('"inputResponses":{}', {})?.continuation?.state).toBeUndefined();
  });

  it("counts the last of several members with a name, as their parsed value does", () => {
    const { continuation } = inputOf('"inputResponses":{"a":1},"inputResponses":{"b":2}', {}) ?? {};
    expect([continuation?.responses?.text, continuation?.responses?.value]).toEqual(['{"b":2}', { b: 2 }]);
  });

  it.each(['"requestState":7', '"requestState":null', '"inputResponses":[]', '"inputResponses":null'])(
    "is refused when it is malformed: %s",
    (members) => expect(read(members, {})).toMatchObject({ kind: "refused", status: 400, error: { code: -32602 } }),
  );

  it("H-16: is refused beyond its limit, both members together, and names the option", () => {
    const members = '"inputResponses":{"a":1},"requestState":"éé"';
    expect(read(members, {}, 13)).toMatchObject({ kind: "valid" });
    const refused = read(members, {}, 12);
    expect(refused).toMatchObject({ kind: "refused", error: { code: -32602 } });
    expect(JSON.stringify(refused)).toContain("maxInputBytes");
  });
});

describe("H-22, H-27: what a legacy agent gives", () => {
  it("is nothing in a batch or outside of sessions", () => {
    expect(read("", undefined)).toEqual({ kind: "valid", input: undefined });
  });

  it.each(['"requestState":"s"', '"inputResponses":{}'])(
    "is refused where it goes on with what there is not: %s",
    (m) => {
      expect(read(m, undefined)).toMatchObject({ kind: "refused", error: { code: -32602 } });
    },
  );
});
