import { refuseOption, refuseUnknownOptions } from "../../options.js";
import { isJsonObject, type JsonObject } from "../json-rpc.js";
import type { Implementation } from "../results.js";

/** Who asks, and for how long it matters. */
export interface InputContext {
  readonly server: {
    /** The origin of the endpoint, or `stdio:` and the command: the one thing that the server can't make up. */
    readonly origin: string;
    /** What the server calls itself; for display. */
    readonly info: Implementation | undefined;
  };
  /** Fires when the answer is no longer wanted: the call ended, or the handler of another request failed. */
  readonly signal: AbortSignal;
}

/** A form to be filled in. Source: 2026-07-28, Elicitation, Form Mode. */
export interface FormRequest {
  readonly mode: "form";
  readonly message: string;
  /** An object schema with members of primitive types. */
  readonly requestedSchema: JsonObject;
}

/** A page to be visited. Source: 2026-07-28, Elicitation, URL Mode. */
export interface UrlRequest {
  readonly mode: "url";
  readonly message: string;
  /** The whole URL, as it must be shown before consent: https, or http on loopback. Nothing here fetches or opens it. */
  readonly url: string;
}

/** What the person did. */
export type FormAnswer =
  | { readonly action: "accept"; readonly content?: JsonObject | undefined }
  | { readonly action: "decline" | "cancel" };

export interface UrlAnswer {
  readonly action: "accept" | "decline" | "cancel";
}

/** A folder that the server may know of. */
export interface Root {
  /** A `file:` URI. */
  readonly uri: string;
  readonly name?: string | undefined;
  readonly _meta?: JsonObject | undefined;
}

type Answer<T> = T | PromiseLike<T>;

/**
 * Who answers what a server asks for on the way to a result. Each one that is there is declared as a capability with every
 * request. What a handler throws ends the call with `handler_failed` (`answered`).
 */
export interface InputHandlers {
  /** Who fills in forms, and who visits pages; each stands for its own mode. */
  readonly elicitation?:
    | {
        /** Members that the answer leaves out get the schema's defaults. */
        readonly form?: ((request: FormRequest, context: InputContext) => Answer<FormAnswer>) | undefined;
        readonly url?: ((request: UrlRequest, context: InputContext) => Answer<UrlAnswer>) | undefined;
      }
    | undefined;
  /** Who asks a model on the server's behalf. */
  readonly sampling?:
    | {
        /** Takes the params of `sampling/createMessage` as they came, and gives its result. `maxTokens` must be respected. */
        readonly createMessage: (params: JsonObject, context: InputContext) => Answer<JsonObject>;
        /** Whether requests with tools are taken. Default false. */
        readonly tools?: boolean | undefined;
        /** Whether requests for context of other servers are taken. Default false. */
        readonly context?: boolean | undefined;
      }
    | undefined;
  /** Who says which folders the server may know of. */
  readonly roots?: ((context: InputContext) => Answer<readonly Root[]>) | undefined;
}

/** The capabilities that handlers stand for. Source: 2026-07-28, Client Capabilities. */
export function capabilitiesOf({ elicitation, sampling, roots }: InputHandlers): Record<string, JsonObject> {
  const capabilities: Record<string, JsonObject> = {};
  if (elicitation?.form !== undefined || elicitation?.url !== undefined) {
    capabilities["elicitation"] = {
      ...(elicitation.form === undefined ? {} : { form: {} }),
      ...(elicitation.url === undefined ? {} : { url: {} }),
    };
  }
  if (sampling !== undefined) {
    capabilities["sampling"] = {
      ...(sampling.tools === true ? { tools: {} } : {}),
      ...(sampling.context === true ? { context: {} } : {}),
    };
  }
  if (roots !== undefined) capabilities["roots"] = {};
  return capabilities;
}

/** Throws `invalid_options` for a handler that nobody would ever call, or that can't be called. */
export function checkHandlers(handlers: InputHandlers): void {
  checkGroup("handlers", handlers, ["elicitation", "roots", "sampling"]);
  const { elicitation, sampling, roots } = handlers;
  if (elicitation !== undefined) {
    checkGroup("handlers.elicitation", elicitation, ["form", "url"]);
    checkFunction("handlers.elicitation.form", elicitation.form);
    checkFunction("handlers.elicitation.url", elicitation.url);
  }
  if (sampling !== undefined) {
    checkGroup("handlers.sampling", sampling, ["context", "createMessage", "tools"]);
    if (typeof sampling.createMessage !== "function")
      refuseOption("handlers.sampling.createMessage", "must be a function");
  }
  checkFunction("handlers.roots", roots);
}

function checkGroup(option: string, group: unknown, known: readonly string[]): void {
  if (!isJsonObject(group)) refuseOption(option, "must be an object");
  refuseUnknownOptions(group, known);
}

function checkFunction(option: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function") refuseOption(option, "must be a function");
}
