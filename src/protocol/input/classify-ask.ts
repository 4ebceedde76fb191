import { refuseOption, refuseUnknownOptions } from "../../options.js";
import { isJsonObject, type JsonObject } from "../json-rpc.js";
import type { InputRelay, ServerAsk } from "./server-ask.js";

/** What a request of a server is to whoever declared these capabilities. */
export type AskVerdict =
  | { readonly kind: "declared" }
  /** A method of no capability that was declared. */
  | { readonly kind: "unknown_method" }
  /** A mode or a use of a declared method that was not declared, or params that are none. */
  | { readonly kind: "invalid_params"; readonly reason: string };

const DECLARED: AskVerdict = { kind: "declared" };
const UNKNOWN_METHOD: AskVerdict = { kind: "unknown_method" };

/**
 * Tells whether a server may ask this of whoever declared `capabilities`, in the form of the newest revision. Pure and total: it looks
 * at what was asked for, not at how.
 *
 * Source: 2025-11-25, Elicitation, Capabilities; Sampling, Capabilities; Roots, Capabilities.
 */
export function classifyAsk(method: string, params: unknown, capabilities: JsonObject): AskVerdict {
  const declared = capabilities[CAPABILITY_OF.get(method) ?? ""];
  if (!isJsonObject(declared)) return UNKNOWN_METHOD;
  if (params !== undefined && !isJsonObject(params)) return invalid("the params are no object");
  if (method === "elicitation/create") {
    const mode = params?.["mode"] ?? "form";
    if (mode === "form" ? !takesForms(declared) : mode !== "url" || !isJsonObject(declared["url"])) {
      return invalid("this mode of elicitation was not declared");
    }
  } else if (method === "sampling/createMessage") {
    const { tools = null, toolChoice = null } = params ?? {};
    const hasTools = tools !== null || toolChoice !== null;
    if (hasTools && !isJsonObject(declared["tools"])) return invalid("sampling with tools was not declared");
  }
  return DECLARED;
}

/** Whether a declared elicitation has forms: one that names no mode means them. Pure. Source: 2025-11-25, Elicitation, Capabilities. */
export function takesForms(elicitation: JsonObject): boolean {
  return isJsonObject(elicitation["form"]) || elicitation["url"] === undefined;
}

const CAPABILITY_OF: ReadonlyMap<string, string> = new Map([
  ["elicitation/create", "elicitation"],
  ["sampling/createMessage", "sampling"],
  ["roots/list", "roots"],
]);

/** Throws `invalid_options` for what can't hand on a server's requests. `option` is its name. */
export function checkRelay(option: string, relay: InputRelay): void {
  if (!isJsonObject(relay)) refuseOption(option, "must be an object");
  refuseUnknownOptions(relay, ["answer", "capabilities"]);
  if (typeof relay.answer !== "function") refuseOption(`${option}.answer`, "must be a function");
  const { capabilities } = relay;
  if (!isJsonObject(capabilities)) refuseOption(`${option}.capabilities`, "must be an object");
  refuseUnknownOptions(capabilities, [...CAPABILITY_OF.values()]);
  if (!Object.values(capabilities).every(isJsonObject)) {
    refuseOption(`${option}.capabilities`, "must have objects as values");
  }
}

/** A server's request as it is handed on. Its params have been classified. */
export function serverAskOf(method: string, params: unknown): ServerAsk {
  return { method, params: isJsonObject(params) ? params : undefined };
}

function invalid(reason: string): AskVerdict {
  return { kind: "invalid_params", reason };
}
