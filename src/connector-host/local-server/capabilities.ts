import type { JsonObject } from "../../protocol/index.js";
import { completes } from "./complete-argument.js";
import type { ToolDirectory } from "./ports.js";

/** What an agent can get on a surface beyond answers to its requests. */
export interface SurfaceTraits {
  /** Whether it can listen: for changes of lists, and of resources. */
  readonly listens: boolean;
  /** Whether it can ask for log messages. */
  readonly logs: boolean;
}

/**
 * The server's capabilities: what the directory offers, as far as the surface can carry it.
 * Source: 2026-07-28, Discovery, and Capabilities of each feature; 2025-11-25, Lifecycle, Capability Negotiation.
 */
export function capabilitiesOf(directory: ToolDirectory, { listens, logs }: SurfaceTraits): JsonObject {
  const listChanged = listens;
  return {
    tools: { listChanged },
    ...(directory.prompts === undefined ? {} : { prompts: { listChanged } }),
    ...(directory.resources === undefined ? {} : { resources: { listChanged, subscribe: listens } }),
    ...(completes(directory) ? { completions: {} } : {}),
    ...(logs ? { logging: {} } : {}),
  };
}
