import type { ToolContract } from "../../protocol/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { ResolvedTool } from "../local-server/index.js";
import type { AdmissionPins, Route } from "../routes/index.js";
import type { CallableTool } from "./route-listings.js";

/** A tool, and the route that it was found on. */
export interface FoundTool extends ResolvedTool {
  readonly route: Route<RemoteMcpClient>;
  readonly nativeName: string;
  readonly exposedName: string;
  readonly contract: ToolContract;
  /** As it was found: see {@link CallableTool}. */
  readonly definition: CallableTool["definition"];
  /** What must still hold when it is called. */
  readonly pins: AdmissionPins | undefined;
  /** `ask`: it is called once that was approved. */
  readonly permission: "allow" | "ask";
}

/** The connector of a tool that `resolve` gave; `""` for another. */
export function connectorOf(tool: ResolvedTool): string {
  return isFoundTool(tool) ? tool.route.connectorKey : "";
}

export function isFoundTool(tool: ResolvedTool): tool is FoundTool {
  return "route" in tool && "nativeName" in tool;
}
