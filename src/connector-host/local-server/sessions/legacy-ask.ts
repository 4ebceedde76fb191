import { isJsonObject, type JsonObject, type JsonRpcError, RpcCode } from "../../../protocol/index.js";
import type { ServerAsk } from "../../../protocol/input/index.js";
import type { LegacyHttpRevision } from "../classify-surface.js";

/** A question in the form that the agent's revision has it, or why it is not put. */
export type LegacyAsk =
  | { readonly kind: "put"; readonly params: JsonObject | undefined }
  | { readonly kind: "refused"; readonly error: JsonRpcError };

/**
 * Decides whether an agent that declared `capabilities`, in the newest form, can be asked this, and in what form. Pure.
 *
 * What it did not declare is refused with the error by which it would itself refuse it: `-32601` for a method, `-32602` for a mode of
 * elicitation and for sampling with tools. `includeContext` is handed on whatever was declared, since agents may ignore it.
 * Otherwise parameters stay as they are, but that `mode` is left out of forms for a revision without modes, and a page gets an
 * `elicitationId` where it has none, which only 2025-11-25 requires; `id` is used.
 *
 * Source: 2025-11-25, Elicitation, Error Handling; Sampling, Error Handling; Roots, Error Handling.
 */
export function planLegacyAsk(
  { method, params }: ServerAsk,
  { capabilities, revision, id }: { capabilities: JsonObject; revision: LegacyHttpRevision; id: string },
): LegacyAsk {
  const { elicitation, sampling, roots } = capabilities;
  switch (method) {
    case "elicitation/create":
      if (isJsonObject(elicitation)) return planElicitation(params ?? {}, elicitation, { revision, id });
      break;
    case "sampling/createMessage":
      if (isJsonObject(sampling)) return planSampling(params ?? {}, sampling);
      break;
    case "roots/list":
      if (isJsonObject(roots)) return { kind: "put", params };
      break;
    default:
  }
  return refused(RpcCode.methodNotFound, "The agent did not declare that it can be asked this.");
}

function planElicitation(
  params: JsonObject,
  declared: JsonObject,
  { revision, id }: { revision: LegacyHttpRevision; id: string },
): LegacyAsk {
  const mode = params["mode"] ?? "form";
  if (typeof mode !== "string" || !isJsonObject(Object.hasOwn(declared, mode) ? declared[mode] : undefined)) {
    return refused(RpcCode.invalidParams, "The agent did not declare this mode of elicitation.");
  }
  if (mode === "url" && params["elicitationId"] === undefined) {
    return { kind: "put", params: { ...params, elicitationId: id } };
  }
  if (revision === "2025-11-25" || !Object.hasOwn(params, "mode")) return { kind: "put", params };
  const { mode: _mode, ...form } = params;
  return { kind: "put", params: form };
}

function planSampling(params: JsonObject, { tools }: JsonObject): LegacyAsk {
  const isWithTools = (params["tools"] ?? params["toolChoice"] ?? undefined) !== undefined;
  if (!isWithTools || isJsonObject(tools)) return { kind: "put", params };
  return refused(RpcCode.invalidParams, "The agent did not declare that it samples with tools.");
}

function refused(code: number, message: string): LegacyAsk {
  return { kind: "refused", error: { code, message } };
}
