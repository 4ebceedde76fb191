import { describe, expect, it } from "vitest";
import { capabilityOf, readAskedInput } from "../../../../src/protocol/input/index.js";

const FORM = { method: "elicitation/create", params: { message: "Who?" } };

describe("a result that asks for input, as it is handed on", () => {
  it("is read by its outermost shape: keys, methods, params and state", () => {
    const inputRequests = { a: FORM, b: { method: "roots/list" }, c: { method: "x", params: null } };
    const { asks, hasRequests, state } = readAskedInput({ inputRequests, requestState: "" });
    expect([...asks]).toEqual([
      ["a", FORM],
      ["b", { method: "roots/list", params: undefined }],
      ["c", { method: "x", params: undefined }],
    ]);
    expect([hasRequests, state]).toEqual([true, ""]);
  });

  it("tells an empty inputRequests from none", () => {
    expect(readAskedInput({ inputRequests: {} })).toMatchObject({ hasRequests: true, state: undefined });
    expect(readAskedInput({ inputRequests: null, requestState: "s" })).toMatchObject({
      hasRequests: false,
      state: "s",
    });
  });

  it("keeps a key that objects have by themselves", () => {
    const result: unknown = JSON.parse(`{"inputRequests":{"__proto__":${JSON.stringify(FORM)}}}`);
    expect([...readAskedInput(Object(result)).asks]).toEqual([["__proto__", FORM]]);
  });

  it.each([
    {},
    { inputRequests: null, requestState: null },
    { requestState: 1 },
    { inputRequests: [] },
    { inputRequests: { a: null } },
    { inputRequests: { a: {} } },
    { inputRequests: { a: { method: "x", params: [] } } },
  ])("is refused when it breaks the protocol: %j", (result) => {
    expect(() => readAskedInput(result)).toThrowError(
      expect.objectContaining({ code: "invalid_answer", delivery: "unknown" }),
    );
  });
});

describe("what has to be declared to be asked", () => {
  it.each([
    ["elicitation/create", undefined, "elicitation.form"],
    ["elicitation/create", { mode: "url" }, "elicitation.url"],
    ["elicitation/create", { mode: 7 }, "elicitation.number"],
    ["sampling/createMessage", {}, "sampling"],
    ["sampling/createMessage", { tools: [] }, "sampling.tools"],
    ["sampling/createMessage", { toolChoice: {} }, "sampling.tools"],
    ["roots/list", undefined, "roots"],
    ["tasks/list\u0000", undefined, "tasks/list"],
  ])("%s of %j is %s", (method, params, capability) => {
    expect(capabilityOf({ method, params })).toContain(capability);
  });
});
