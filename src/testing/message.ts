import { isJsonObject, MetaKey, RawJson, type RequestId } from "../protocol/index.js";

/**
 * The id of a response: that of the request, that id as a string, `null`, none at all, or any other JSON value.
 */
export type AnswerId = "echo" | "string" | "null" | "absent" | { readonly other: unknown };

/** A JSON-RPC message of the server, complete but for what it takes from the request that it answers. */
export type MessageTemplate =
  | { readonly kind: "result"; readonly result: unknown; readonly id: AnswerId }
  | {
      readonly kind: "error";
      readonly code: number;
      readonly message: string;
      readonly data: unknown;
      readonly id: AnswerId;
    }
  | { readonly kind: "progress"; readonly progress: number; readonly params: object }
  /** A notification, a request of the server, or any other JSON value, sent as it is. */
  | { readonly kind: "value"; readonly value: unknown };

/** What a message takes from the request that it answers. */
export interface AnsweredRequest {
  readonly id: RequestId | undefined;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A response with a result. A {@link RawJson} is sent as its text is. `id` is `"echo"` when left out. */
export function resultMessage(result: unknown, id: AnswerId = "echo"): MessageTemplate {
  return { kind: "result", result, id };
}

/** A response with an error. `id` is `"echo"` when left out. */
export function errorMessage(
  code: number,
  message: string,
  options: { readonly data?: unknown; readonly id?: AnswerId | undefined } = {},
): MessageTemplate {
  return { kind: "error", code, message, data: options.data, id: options.id ?? "echo" };
}

/** A progress notification with the request's own progress token, or with the token in `params`. */
export function progressMessage(progress: number, params: object = {}): MessageTemplate {
  return { kind: "progress", progress, params };
}

/** A notification. */
export function notificationMessage(method: string, params?: unknown): MessageTemplate {
  return { kind: "value", value: { jsonrpc: "2.0", method, params } };
}

/** A request of the server. */
export function requestMessage(id: RequestId, method: string, params?: unknown): MessageTemplate {
  return { kind: "value", value: { jsonrpc: "2.0", id, method, params } };
}

/** Any JSON value in the place of a message: a batch, a message without its version, no message at all. */
export function anyMessage(value: unknown): MessageTemplate {
  return { kind: "value", value };
}

/** The message's JSON text, on one line. */
export function encodeMessage(template: MessageTemplate, request: AnsweredRequest): string {
  switch (template.kind) {
    case "result":
      return `{"jsonrpc":"2.0",${encodeId(template.id, request.id)}"result":${encodeValue(template.result)}}`;
    case "error": {
      const { code, message, data } = template;
      return `{"jsonrpc":"2.0",${encodeId(template.id, request.id)}"error":${JSON.stringify({ code, message, data })}}`;
    }
    case "progress": {
      const meta = request.params["_meta"];
      const progressToken = isJsonObject(meta) ? meta[MetaKey.progressToken] : undefined;
      const params = { progressToken, progress: template.progress, ...template.params };
      return encodeValue({ jsonrpc: "2.0", method: "notifications/progress", params });
    }
    case "value":
      return encodeValue(template.value);
  }
}

function encodeId(choice: AnswerId, id: RequestId | undefined): string {
  if (choice === "absent") return "";
  if (typeof choice === "object") return `"id":${encodeValue(choice.other)},`;
  if (choice === "null" || id === undefined) return '"id":null,';
  return `"id":${JSON.stringify(choice === "string" ? String(id) : id)},`;
}

function encodeValue(value: unknown): string {
  return value instanceof RawJson ? value.text : JSON.stringify(value ?? null);
}
