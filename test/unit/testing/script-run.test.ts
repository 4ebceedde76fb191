import { describe, expect, it } from "vitest";
import { answerStatus } from "../../../src/testing/answer.js";
import { ANY_TIMES, type ExpectedExchange } from "../../../src/testing/script.js";
import { type ScriptOrder, ScriptRun } from "../../../src/testing/script-run.js";
import { received, rpc } from "./requests.js";

const answer = answerStatus(202);
const expecting = (method: string, changes: Partial<ExpectedExchange> = {}): ExpectedExchange => ({
  method,
  answer,
  ...changes,
});

/** Sends requests to a script; what is missing and unexpected at its end. */
function run(script: readonly ExpectedExchange[], methods: readonly string[], order: ScriptOrder = "strict"): object {
  const going = new ScriptRun(script, order);
  for (const method of methods) going.match(rpc(method));
  return violationsOf(going);
}

function violationsOf(going: ScriptRun): object {
  try {
    going.verify();
  } catch (error) {
    expect(error).toMatchObject({ code: "script_violated" });
    const { unexpected, missing }: { unexpected: string[]; missing: string[] } = Reflect.get(Object(error), "details");
    return { unexpected, missing };
  }
  return {};
}

describe("a script", () => {
  it.each<[string, readonly ExpectedExchange[], readonly string[], ScriptOrder, object]>([
    ["all in order", [expecting("a"), expecting("b")], ["a", "b"], "strict", {}],
    ["any order", [expecting("a"), expecting("b")], ["b", "a"], "any", {}],
    ["repetition", [expecting("a", { times: 2 }), expecting("b")], ["a", "a", "b"], "strict", {}],
    ["optional ones left out", [expecting("a", { times: ANY_TIMES }), expecting("b")], ["b"], "strict", {}],
    ["optional ones", [expecting("a", { times: ANY_TIMES }), expecting("b")], ["a", "a", "a", "b"], "strict", {}],
    [
      "one that is missing",
      [expecting("a"), expecting("b", { times: 2 })],
      ["a", "b"],
      "strict",
      { unexpected: [], missing: ["POST b: 1 of 2"] },
    ],
    [
      "the wrong order",
      [expecting("a"), expecting("b")],
      ["b", "a"],
      "strict",
      { unexpected: ["POST /mcp b: POST a was next; the method differs"], missing: ["POST b: 0 of 1"] },
    ],
    [
      "one too many",
      [expecting("a")],
      ["a", "a"],
      "strict",
      { unexpected: ["POST /mcp a: nothing more was expected"], missing: [] },
    ],
    [
      "one too many in any order",
      [expecting("a")],
      ["a", "a"],
      "any",
      { unexpected: ["POST /mcp a: no exchange that is left fits"], missing: [] },
    ],
    [
      "back to an optional one",
      [expecting("a", { times: ANY_TIMES }), expecting("b")],
      ["a", "b", "a"],
      "strict",
      { unexpected: ["POST /mcp a: nothing more was expected"], missing: [] },
    ],
  ])("with %s", (_, script, methods, order, violations) => {
    expect(run(script, methods, order)).toEqual(violations);
  });

  it("gives each request the answer of its exchange", () => {
    const other = answerStatus(204);
    const going = new ScriptRun([expecting("a"), expecting("b", { answer: other })], "strict");
    expect([rpc("a"), rpc("b"), rpc("c")].map((request) => going.match(request))).toEqual([answer, other, undefined]);
  });

  it("names the first 50 violations, and counts all", () => {
    const going = new ScriptRun([], "strict");
    for (let i = 0; i < 60; i += 1) going.match(rpc("x"));
    expect(() => going.verify()).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ unexpectedCount: 60 }) }),
    );
    expect(violationsOf(going)).toMatchObject({ unexpected: { length: 50 } });
  });
});

describe("what a script can tell apart", () => {
  const request = received(
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "t", arguments: { list: [1, { a: null }], b: 2 } } },
    { headers: [["X-Token", "secret"]], target: "/mcp?x=1" },
  );

  it.each<[Partial<ExpectedExchange>, string | undefined]>([
    [{}, undefined],
    [{ path: "/mcp", verb: "POST", method: "tools/call" }, undefined],
    [{ verb: "GET" }, "the HTTP method"],
    [{ path: "/other" }, "the path"],
    [{ headers: { "x-token": "secret" } }, undefined],
    [{ headers: { "x-token": /^sec/ } }, undefined],
    [{ headers: { "x-token": "sec" } }, "the header x-token"],
    [{ headers: { "x-token": null } }, "the header x-token"],
    [{ headers: { "x-other": null } }, undefined],
    [{ headers: { "x-other": /./ } }, "the header x-other"],
    [{ params: { arguments: { list: [1, { a: null }] } } }, undefined],
    [{ params: { arguments: { list: [1, { a: 1 }] } } }, "params.arguments.list[1].a"],
    [{ params: { arguments: { list: [1] } } }, "params.arguments.list"],
    [{ params: { name: { deep: 1 } } }, "params.name"],
    [{ params: (params) => params["name"] === "t" }, undefined],
    [{ params: () => false }, "params"],
  ])("%j: %s", (changes, mismatch) => {
    const going = new ScriptRun([{ answer, ...changes }], "strict");
    going.match(request);
    if (mismatch === undefined) expect(violationsOf(going)).toEqual({});
    else expect(JSON.stringify(violationsOf(going))).toContain(`; ${mismatch} differs`);
    expect(JSON.stringify(violationsOf(going))).not.toContain("secret");
  });
});
