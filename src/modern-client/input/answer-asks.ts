import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { isJsonObject, type JsonObject, plainText } from "../../protocol/index.js";
import type { SchemaValidator } from "../../protocol/json-schema/index.js";
import { encodeJson } from "../encode-json.js";
import type { OurTime } from "../person-time.js";
import { fillDefaults } from "./fill-defaults.js";
import type { InputRequest } from "./input-asks.js";
import type { InputContext, InputHandlers, Root } from "./input-handlers.js";

/** Answers a request, when somebody here does. */
type Answerer = (context: InputContext) => Promise<JsonObject>;

/** What the answers depend on. */
export interface AnswerSources {
  readonly handlers: InputHandlers;
  /** Gives what judges the content of forms. */
  readonly loadValidator: () => Promise<SchemaValidator>;
  readonly server: InputContext["server"];
  /** Judging an answer is no person's work. */
  readonly ours: OurTime;
}

/**
 * Asks the handlers for everything at once; resolves to `inputResponses` as JSON: every key, and no other.
 *
 * Nobody is asked anything before it is certain that everything has a handler. The first failure ends it: the `signal` of the
 * other handlers fires. Rejects with `input_required` and `handler_failed` (both `answered`).
 */
export async function answerAsks(
  requests: ReadonlyMap<string, InputRequest>,
  sources: AnswerSources,
  signal: AbortSignal,
): Promise<string> {
  const answerers = [...requests].map(([key, request]) => ({
    key,
    request,
    answer: answererOf(key, request, sources),
  }));
  const failure = new AbortController();
  const context: InputContext = { server: sources.server, signal: AbortSignal.any([signal, failure.signal]) };
  try {
    const members = await Promise.all(
      answerers.map(async ({ key, request, answer }) => {
        try {
          return `${JSON.stringify(key)}:${encodeJson("input", await answer(context))}`;
        } catch (error) {
          throw isRemoteConnectorError(error, "handler_failed")
            ? error
            : handlerFailed(key, request, "it threw", error);
        }
      }),
    );
    return `{${members.join(",")}}`;
  } catch (error) {
    failure.abort(error);
    throw error;
  }
}

function answererOf(key: string, request: InputRequest, sources: AnswerSources): Answerer {
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

function handlerFailed(key: string, { kind }: InputRequest, reason: string, cause?: unknown): RemoteConnectorError {
  return new RemoteConnectorError("handler_failed", {
    message: `The handler of ${kind} gave no answer: ${reason}.`,
    delivery: "answered",
    details: { kind, key: plainText(key, 128), reason },
    cause,
  });
}
