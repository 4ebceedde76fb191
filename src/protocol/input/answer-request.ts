import { RemoteConnectorError } from "../../errors.js";
import type { SchemaValidator } from "../json-schema/index.js";
import { isJsonObject, type JsonObject } from "../json-rpc.js";
import { plainText } from "../plain-text.js";
import { fillDefaults } from "./fill-defaults.js";
import type { InputContext, InputHandlers, Root } from "./input-handlers.js";
import type { InputRequest } from "./input-request.js";

/** Does work of ours in the midst of waiting for a person. */
export type OurTime = <W>(work: () => Promise<W>) => Promise<W>;

/** Answers a request, when somebody here does. */
export type Answerer = (context: InputContext) => Promise<JsonObject>;

/** What an answer depends on. */
export interface AnswerSources {
  readonly handlers: InputHandlers;
  /** Gives what judges the content of forms. */
  readonly loadValidator: () => Promise<SchemaValidator>;
  /** Judging an answer is no person's work. */
  readonly ours: OurTime;
}

/**
 * Who answers a request. Throws `input_required` (`answered`) when nobody here does. The answerer rejects with `handler_failed`
 * (`answered`) for an answer that can't be given, and with what the handler throws.
 */
export function answererOf(key: string, request: InputRequest, sources: AnswerSources): Answerer {
  const { handlers, ours } = sources;
  const { elicitation, sampling, roots } = handlers;
  switch (request.kind) {
    case "form": {
      const form = elicitation?.form ?? missing(key, "elicitation.form");
      return async (context) => {
        const { message, requestedSchema } = request;
        const given: unknown = await form({ mode: "form", message, requestedSchema }, context);
        return ours(() => checkForm(key, request, given, sources.loadValidator));
      };
    }
    case "url": {
      const visit = elicitation?.url ?? missing(key, "elicitation.url");
      const { message, url } = request;
      // The answer has no content: what the person says there is between them and the page.
      return async (context) => ({
        action: actionIn(key, request, await visit({ mode: "url", message, url }, context)),
      });
    }
    case "sampling": {
      const { createMessage, ...accepted } = sampling ?? missing(key, "sampling");
      const { tools = null, toolChoice = null } = request.params;
      const includeContext = request.params["includeContext"] ?? "none";
      if ((tools !== null || toolChoice !== null) && accepted.tools !== true) missing(key, "sampling.tools");
      if (includeContext !== "none" && accepted.context !== true) missing(key, "sampling.context");
      return async (context) => {
        const result: unknown = await createMessage(request.params, context);
        return isJsonObject(result) ? result : fail(key, request, "its result is no object");
      };
    }
    case "roots": {
      const list = roots ?? missing(key, "roots");
      return async (context) => {
        const listed: unknown = await list(context);
        if (!Array.isArray(listed) || !listed.every(isRoot)) fail(key, request, "its roots are no list of file: URIs");
        return { roots: listed };
      };
    }
    case "unknown":
      return missing(key, request.capability);
  }
}

/** The handler's values, then the schema's defaults, then the check. Source: 2026-07-28, Elicitation, Form Mode. */
async function checkForm(
  key: string,
  request: InputRequest & { readonly kind: "form" },
  given: unknown,
  loadValidator: AnswerSources["loadValidator"],
): Promise<JsonObject> {
  const action = actionIn(key, request, given);
  if (action !== "accept") return { action };
  const { content = {} } = isJsonObject(given) ? given : {};
  if (!isJsonObject(content)) fail(key, request, "its content is no object");
  const filled = fillDefaults(request.requestedSchema, content);
  const verdict = await (await loadValidator()).validate(request.requestedSchema, filled);
  if (verdict.kind !== "valid") {
    const { path, reason } = verdict.problems[0] ?? { path: "", reason: verdict.kind };
    fail(key, request, `its content does not fit the form: ${path === "" ? "the whole" : path} ${reason}`);
  }
  return { action, content: filled };
}

function actionIn(key: string, request: InputRequest, given: unknown): "accept" | "decline" | "cancel" {
  const action = isJsonObject(given) ? given["action"] : undefined;
  if (action === "accept" || action === "decline" || action === "cancel") return action;
  return fail(key, request, "its action is none of accept, decline and cancel");
}

function isRoot(value: unknown): value is Root {
  const uri = isJsonObject(value) ? value["uri"] : undefined;
  return typeof uri === "string" && uri.startsWith("file://") && URL.canParse(uri);
}

function missing(key: string, capability: string): never {
  throw new RemoteConnectorError("input_required", {
    message: `The server asks for input that nothing here answers: ${capability}.`,
    delivery: "answered",
    details: { capability, key: plainText(key, 128) },
  });
}

function fail(key: string, request: InputRequest, reason: string): never {
  throw handlerFailed(key, request, reason);
}

/** What a handler's failure ends a call with. */
export function handlerFailed(
  key: string,
  { kind }: InputRequest,
  reason: string,
  cause?: unknown,
): RemoteConnectorError {
  return new RemoteConnectorError("handler_failed", {
    message: `The handler of ${kind} gave no answer: ${reason}.`,
    delivery: "answered",
    details: { kind, key: plainText(key, 128), reason },
    cause,
  });
}
