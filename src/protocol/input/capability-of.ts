import { plainText } from "../plain-text.js";
import type { ServerAsk } from "./server-ask.js";

/**
 * The capability that whoever is asked this has to declare, such as `elicitation.url`; for a method of none, the method. Pure.
 *
 * Source: 2026-07-28, Elicitation, Capabilities; Sampling, Capabilities; Roots, Capabilities.
 */
export function capabilityOf({ method, params = {} }: ServerAsk): string {
  switch (method) {
    case "elicitation/create": {
      const mode = params["mode"] ?? "form";
      return `elicitation.${typeof mode === "string" ? plainText(mode, 64) : typeof mode}`;
    }
    case "sampling/createMessage": {
      const { tools = null, toolChoice = null } = params;
      return tools === null && toolChoice === null ? "sampling" : "sampling.tools";
    }
    case "roots/list":
      return "roots";
    default:
      return plainText(method, 64);
  }
}
