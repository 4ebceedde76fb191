import { RemoteConnectorError } from "../../errors.js";
import { invalidAnswer } from "../answer-errors.js";
import { isJsonObject, type JsonObject } from "../json-rpc.js";
import { plainText } from "../plain-text.js";
import { isLoopback, shownUrl } from "../web-address.js";

/** One thing that a server asks for. */
export type InputRequest =
  | { readonly kind: "form"; readonly message: string; readonly requestedSchema: JsonObject }
  | { readonly kind: "url"; readonly message: string; readonly url: string }
  | { readonly kind: "sampling"; readonly params: JsonObject }
  | { readonly kind: "roots" }
  /** A method or a mode that no revision of ours has. */
  | { readonly kind: "unknown"; readonly capability: string };

/**
 * Reads one request for input. Pure. Throws `invalid_answer` (`unknown`) for one that breaks the protocol, and `invalid_url`
 * (`answered`) for a URL that nobody should be sent to.
 *
 * Source: 2026-07-28, Elicitation; Sampling; Roots. 2025-11-25 has the same.
 */
export function readInputRequest(request: unknown): InputRequest {
  const method = isJsonObject(request) ? request["method"] : undefined;
  if (!isJsonObject(request) || typeof method !== "string") throw invalidAnswer("an input request without a method");
  const params = request["params"] ?? {};
  if (!isJsonObject(params)) throw invalidAnswer("an input request whose params are no object");
  if (method === "roots/list") return { kind: "roots" };
  if (method === "elicitation/create") return readElicitation(params);
  if (method === "sampling/createMessage") return readSampling(params);
  return { kind: "unknown", capability: plainText(method, 64) };
}

function readElicitation(params: JsonObject): InputRequest {
  const { message, requestedSchema, url } = params;
  const mode = params["mode"] ?? "form";
  if (mode !== "form" && mode !== "url") {
    return {
      kind: "unknown",
      capability: `elicitation.${typeof mode === "string" ? plainText(mode, 64) : typeof mode}`,
    };
  }
  if (typeof message !== "string") throw invalidAnswer("an elicitation without a message");
  if (mode === "form") {
    if (!isJsonObject(requestedSchema)) throw invalidAnswer("a form without a requestedSchema");
    return { kind: "form", message, requestedSchema };
  }
  if (typeof url !== "string") throw invalidAnswer("an elicitation of the mode url without a URL");
  requireSafeLink(url);
  return { kind: "url", message, url };
}

/** A person is only sent where nobody on the way can read or change what is said. */
function requireSafeLink(text: string): void {
  const url = PLAIN.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  // What comes before an @ is made to look like a host.
  if (isSafe && url.username === "" && url.password === "") return;
  throw new RemoteConnectorError("invalid_url", {
    message: "The server asks for a visit to a URL that nobody should be sent to.",
    delivery: "answered",
    details: { url: url === undefined ? "" : shownUrl(url), reason: "not a plain https URL, or http on loopback" },
  });
}

/** URLs are ASCII; browsers drop some characters and hide others, so that what is shown would not be what is opened. */
const PLAIN = /^[!-~]+$/;

function readSampling(params: JsonObject): InputRequest {
  const { messages, maxTokens } = params;
  if (!Array.isArray(messages) || typeof maxTokens !== "number") {
    throw invalidAnswer("a sampling request without messages or maxTokens");
  }
  for (const message of messages) {
    const content = isJsonObject(message) ? message["content"] : undefined;
    if (!Array.isArray(content)) continue;
    const results = content.filter((block) => isJsonObject(block) && block["type"] === "tool_result").length;
    if (results > 0 && results < content.length)
      throw invalidAnswer("a message with tool results beside other content");
  }
  return { kind: "sampling", params };
}
