import type { CallToolResult, Tool } from "../results.js";
import type { SchemaValidator, SchemaVerdict } from "./verdict.js";

/** What there is to judge in a tool's result. */
export type StructuredContentCase =
  /** Nothing: the tool promises no structure, or the result is an error of the tool. */
  | { readonly kind: "not_judged"; readonly because: "no_output_schema" | "tool_error" }
  /** The tool promises structure and the result has none. */
  | { readonly kind: "missing" }
  | { readonly kind: "judge"; readonly schema: unknown; readonly value: unknown };

/**
 * Decides what to do with a result's `structuredContent`. Pure. Any JSON value can be one, `null`, `0` and `""` included;
 * only `undefined` is absence. A result with `isError: true` is never judged.
 * Source: 2026-07-28, Tools, Structured Content and Output Schema.
 */
export function classifyStructuredContent(
  tool: Pick<Tool, "outputSchema">,
  result: Pick<CallToolResult, "structuredContent" | "isError">,
): StructuredContentCase {
  if (result.isError === true) return { kind: "not_judged", because: "tool_error" };
  if (tool.outputSchema === undefined) return { kind: "not_judged", because: "no_output_schema" };
  const value = result.structuredContent;
  return value === undefined ? { kind: "missing" } : { kind: "judge", schema: tool.outputSchema, value };
}

const MISSING: SchemaVerdict = {
  kind: "invalid",
  of: "value",
  problems: [{ path: "", reason: "structuredContent is missing, and the tool has an output schema" }],
};

/**
 * The verdict on a result's `structuredContent` under its tool's `outputSchema`; `undefined` when there is nothing to
 * judge. It belongs beside the result, which stays as it came. Rejects only as `SchemaValidator.validate` does.
 */
export async function judgeStructuredContent(
  tool: Pick<Tool, "outputSchema">,
  result: Pick<CallToolResult, "structuredContent" | "isError">,
  validator: SchemaValidator,
): Promise<SchemaVerdict | undefined> {
  const found = classifyStructuredContent(tool, result);
  if (found.kind === "not_judged") return undefined;
  return found.kind === "missing" ? MISSING : validator.validate(found.schema, found.value);
}
