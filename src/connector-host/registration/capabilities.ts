import { z } from "zod";

/** What a connector may be used for, in the order in which lists of it are kept. */
export const CAPABILITIES = ["tools", "resources", "prompts", "elicitation", "sampling", "roots"] as const;

/**
 * `tools`, `resources` and `prompts` are what agents see of a connector; `elicitation`, `sampling` and `roots` are what its server
 * may ask of them. Only `tools` is there unasked.
 */
export type Capability = (typeof CAPABILITIES)[number];

export const DEFAULT_CAPABILITIES: readonly Capability[] = Object.freeze<Capability[]>(["tools"]);

/** The schema of a list of capabilities: some, each once. The order means nothing, and is always the same one. */
export const capabilityList = z
  .array(z.enum(CAPABILITIES))
  .min(1)
  .refine((list) => new Set(list).size === list.length, "must name each once")
  .transform(inOrder)
  .readonly();

function inOrder(list: readonly Capability[]): Capability[] {
  return CAPABILITIES.filter((capability) => list.includes(capability));
}
