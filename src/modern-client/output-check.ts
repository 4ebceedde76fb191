import { RemoteConnectorError } from "../errors.js";
import type { CallToolResult, JsonObject, LoadValidator } from "../protocol/index.js";
import type { SchemaVerdict } from "../protocol/json-schema/index.js";

/** The verdict on a result's structured output; `undefined` when there is nothing to judge. */
export async function judgeOutput(
  outputSchema: JsonObject | undefined,
  result: CallToolResult,
  load: LoadValidator,
): Promise<SchemaVerdict | undefined> {
  // What asks for input is no result yet.
  if (outputSchema === undefined || result["resultType"] === "input_required") return undefined;
  const { judgeStructuredContent } = await import("../protocol/json-schema/index.js");
  return judgeStructuredContent({ outputSchema }, result, await load());
}

/** A verdict that is not `valid` as an error: the tool was run, and its answer is here. */
export function invalidOutput(
  tool: string,
  verdict: SchemaVerdict,
): RemoteConnectorError<"invalid_output"> | undefined {
  if (verdict.kind === "valid") return undefined;
  const { path, reason } = verdict.problems[0] ?? { path: "", reason: verdict.kind };
  return new RemoteConnectorError("invalid_output", {
    message: `The output of the tool ${JSON.stringify(tool)} does not fit its schema: ${reason}`,
    delivery: "answered",
    details: { tool, verdict: verdict.kind, path, reason },
  });
}

/** Output that could not be judged, as an error: the tool was run, and its answer is here. */
export function unjudgedOutput(tool: string, reason: string, cause?: unknown): RemoteConnectorError<"invalid_output"> {
  return new RemoteConnectorError("invalid_output", {
    message: `The output of the tool ${JSON.stringify(tool)} could not be judged: ${reason}.`,
    delivery: "answered",
    details: { tool, verdict: "not_judged", path: "", reason },
    cause,
  });
}
