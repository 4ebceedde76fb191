import { describe, expect, it } from "vitest";
import {
  classifyStructuredContent,
  judgeStructuredContent,
  type SchemaValidator,
  type StructuredContentCase,
} from "../../../../src/protocol/json-schema/index.js";

const tool = { outputSchema: { type: "object" } };

describe("classifyStructuredContent", () => {
  it.each([null, 0, "", false, [], {}])("W-39: takes %j for content", (structuredContent) => {
    expect(classifyStructuredContent(tool, { structuredContent })).toEqual({
      kind: "judge",
      schema: tool.outputSchema,
      value: structuredContent,
    });
  });

  it("W-39: content that is missing under a schema is a mismatch", () => {
    const missing: StructuredContentCase = { kind: "missing" };
    expect(classifyStructuredContent(tool, {})).toEqual(missing);
    expect(classifyStructuredContent(tool, { structuredContent: undefined, isError: false })).toEqual({
      kind: "missing",
    });
  });

  it.each([{}, { structuredContent: 1 }])("W-39: never judges an error of the tool: %j", (result) => {
    expect(classifyStructuredContent(tool, { ...result, isError: true })).toEqual({
      kind: "not_judged",
      because: "tool_error",
    });
  });

  it("W-39: without a schema there is nothing to judge", () => {
    expect(classifyStructuredContent({}, { structuredContent: 1 })).toMatchObject({ because: "no_output_schema" });
  });
});

describe("judgeStructuredContent", () => {
  const asked: unknown[] = [];
  const validator: SchemaValidator = {
    validate: (schema, value) => {
      asked.push([schema, value]);
      return Promise.resolve({ kind: "valid" });
    },
    load: () => Promise.resolve(),
  };

  it("W-39: asks the validator only when there is something to judge", async () => {
    expect(await judgeStructuredContent(tool, { structuredContent: 1, isError: true }, validator)).toBeUndefined();
    expect(await judgeStructuredContent({}, { structuredContent: 1 }, validator)).toBeUndefined();
    expect(await judgeStructuredContent(tool, {}, validator)).toMatchObject({ kind: "invalid", of: "value" });
    expect(asked).toEqual([]);
    expect(await judgeStructuredContent(tool, { structuredContent: null }, validator)).toEqual({ kind: "valid" });
    expect(asked).toEqual([[tool.outputSchema, null]]);
  });
});
