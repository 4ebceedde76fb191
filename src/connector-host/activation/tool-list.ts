import type { ToolList } from "../../protocol/index.js";
import { type Diagnostic, EMPTY_CONTRACT } from "../../protocol/index.js";
import type { SchemaCheck } from "../../protocol/json-schema/index.js";
import type { RouteTool } from "../routes/index.js";

/** What of a connector's list was left out, or tolerated. */
export type ToolListDiagnostic =
  /** As the client that walked the list reports it: entries and tools that it left out are here. */
  | { readonly kind: "tolerated"; readonly diagnostic: Diagnostic }
  /** A name that several tools have. None of them is there. */
  | { readonly kind: "duplicate_tool"; readonly tool: string }
  /** A name that is empty or ill-formed. */
  | { readonly kind: "unusable_name"; readonly tool: string }
  /** Its `inputSchema` is not of type `object`. MCP wants it so, and agents refuse a whole list for one that is not. */
  | { readonly kind: "unusable_schema"; readonly tool: string }
  /** Its `inputSchema` breaks its own dialect at `path`, a JSON pointer: providers of models refuse every request that has it. */
  | { readonly kind: "broken_schema"; readonly tool: string; readonly path: string; readonly reason: string }
  /** More tools than a connector may have. Those after the first `kept` are not there. */
  | { readonly kind: "too_many_tools"; readonly kept: number; readonly leftOut: number };

/** A connector's tools, checked. Shared, and never changed. */
export interface CheckedToolList {
  /** By native name, in the server's order. */
  readonly tools: ReadonlyMap<string, RouteTool>;
  readonly diagnostics: readonly ToolListDiagnostic[];
  /** How long the server said that the list holds, in milliseconds. */
  readonly ttlMs?: number | undefined;
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Takes from a walked list what may be published: names that several tools have are dropped whole, unusable names
 * and schemas one by one, and everything beyond `maxTools`. Without `checkSchema` schemas may break their dialect. Pure.
 */
export function checkToolList(listed: ToolList, maxTools: number, checkSchema?: SchemaCheck): CheckedToolList {
  const diagnostics: ToolListDiagnostic[] = listed.diagnostics.map((diagnostic) => ({ kind: "tolerated", diagnostic }));
  for (const tool of listed.duplicates) diagnostics.push({ kind: "duplicate_tool", tool });
  const tools = new Map<string, RouteTool>();
  let leftOut = 0;
  for (const tool of listed.tools) {
    const { inputSchema, name } = tool;
    if (listed.duplicates.has(name)) continue;
    if (name === "" || LONE_SURROGATE.test(name)) diagnostics.push({ kind: "unusable_name", tool: name });
    else if (inputSchema["type"] !== "object") diagnostics.push({ kind: "unusable_schema", tool: name });
    else if (tools.size === maxTools) leftOut += 1;
    else {
      const problem = checkSchema?.(inputSchema);
      if (problem === undefined) tools.set(name, toolOf(listed, tool));
      else diagnostics.push({ kind: "broken_schema", tool: name, path: problem.path, reason: problem.reason });
    }
  }
  if (leftOut > 0) diagnostics.push({ kind: "too_many_tools", kept: maxTools, leftOut });
  return { tools, diagnostics, ttlMs: listed.ttlMs };
}

/** Its definition only where the walk kept it: most lists are not looked at again. */
function toolOf({ contracts, definitions }: ToolList, tool: RouteTool["tool"]): RouteTool {
  const contract = contracts.get(tool.name) ?? EMPTY_CONTRACT;
  const definition = definitions.get(tool.name);
  return definition === undefined ? { tool, contract } : { tool, contract, definition };
}
