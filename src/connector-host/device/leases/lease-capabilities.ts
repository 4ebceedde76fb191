import { isJsonObject, type JsonObject, RpcCode } from "../../../protocol/index.js";
import { type ServerAskAnswer, takesForms } from "../../../protocol/input/index.js";
import type { Capability } from "../../registration/index.js";

/**
 * What a server may be told, at most, that whoever calls it can be asked, as client capabilities. Pure. Empty for a connector that is
 * opened for none of it. Context of other servers is not in it: the host would have to know which of them a server may know of.
 */
export function offeredCapabilities(capabilities: readonly Capability[]): JsonObject {
  return {
    ...(capabilities.includes("elicitation") ? { elicitation: { form: {}, url: {} } } : {}),
    ...(capabilities.includes("sampling") ? { sampling: { tools: {} } } : {}),
    ...(capabilities.includes("roots") ? { roots: {} } : {}),
  };
}

/** What of the offered capabilities a caller has, too. Pure; the same members in the same order for the same callers. */
export function commonCapabilities(offered: JsonObject, callers: JsonObject): JsonObject {
  const common: Record<string, JsonObject> = {};
  for (const [name, members] of Object.entries(offered)) {
    const has = callers[name];
    if (!isJsonObject(members) || !isJsonObject(has)) continue;
    const uses = Object.keys(members).filter((use) => isJsonObject(has[use]) || impliesForms(name, use, has));
    // An elicitation without a mode would be one of forms.
    if (name === "elicitation" && uses.length === 0) continue;
    common[name] = Object.fromEntries(uses.map((use) => [use, {}]));
  }
  return common;
}

/**
 * What a server gets for a request that belongs to no call, or that its call's agent can't be asked. Pure.
 *
 * Forms and visits have an answer of their own for that, and a refused sampling has a code. For roots it is an error: servers that ask at
 * their start keep a list, also an empty one, and would not ask in the midst of a call any more.
 * Source: 2025-11-25, Elicitation, Response Actions; Sampling, Error Handling; Roots, Listing Roots.
 */
export function declinedAnswer(method: string): ServerAskAnswer {
  switch (method) {
    case "elicitation/create":
      return { result: { action: "decline" } };
    case "sampling/createMessage":
      return { error: { code: REFUSED_SAMPLING, message: "The sampling request was refused." } };
    case "roots/list":
      return { error: { code: RpcCode.internalError, message: "There is no call whose agent has folders." } };
    default:
      return { error: { code: RpcCode.methodNotFound, message: "Method not found" } };
  }
}

const REFUSED_SAMPLING = -1;

function impliesForms(name: string, use: string, members: JsonObject): boolean {
  return name === "elicitation" && use === "form" && takesForms(members);
}
