import {
  classifyMessage,
  isJsonObject,
  isRequestId,
  type Message,
  MetaKey,
  type RequestId,
} from "../../protocol/index.js";

/** What a line of an agent is taken for. */
export type LineVerdict =
  /** A request of revision 2026-07-28, or one that only that revision can refuse. */
  | { readonly kind: "modern"; readonly ids: readonly [RequestId]; readonly method: string }
  /** The beginning of a legacy session. */
  | { readonly kind: "initialize"; readonly id: RequestId; readonly offered: unknown }
  /** A request of a legacy session. */
  | { readonly kind: "legacy"; readonly ids: readonly [RequestId]; readonly method: string; readonly params: unknown }
  /** Several messages of a legacy session. `ids` are those of its requests, if there are any. */
  | { readonly kind: "batch"; readonly ids: readonly RequestId[] }
  /** A notification of a legacy session. */
  | { readonly kind: "aside"; readonly method: string }
  /** An answer to a request of the host, or what was meant as one. */
  | { readonly kind: "response"; readonly id: RequestId | undefined }
  /** A request is not wanted any more. */
  | { readonly kind: "cancel"; readonly requestId: RequestId }
  /** Answered here, whatever the host is at. */
  | { readonly kind: "ping"; readonly id: RequestId }
  /** Nothing that could be answered, nor needs to be. */
  | { readonly kind: "ignored" }
  | { readonly kind: "malformed"; readonly id: RequestId | undefined; readonly reason: string };

/** The one legacy revision that has batches. */
const BATCH_REVISION = "2025-03-26";
const MAX_BATCH = 64;

/**
 * Tells what a line is, by what it holds and by the revision that an `initialize` has agreed on, if there was one. Pure.
 *
 * A request that names its protocol version is modern, whatever came before it. Without one it belongs to the session; before any
 * session it is taken for a modern request that misses its version, so that it gets an answer that says so, and is never run under
 * rules that nobody agreed on.
 *
 * Source: 2026-07-28, stdio, Backward Compatibility; 2025-11-25, Lifecycle, Initialization.
 */
export function classifyLine(value: unknown, revision: string | undefined): LineVerdict {
  if (Array.isArray(value)) return classifyBatch(value, revision);
  const message = classifyMessage(value);
  switch (message.kind) {
    case "request":
      return classifyRequest(message, revision);
    case "notification":
      return classifyNotification(message, revision);
    case "result":
    case "error":
      return revision === undefined ? IGNORED : { kind: "response", id: message.id };
    case "invalid":
      return classifyInvalid(value, message, revision);
  }
}

const IGNORED: LineVerdict = { kind: "ignored" };

type OneOf<K extends Message["kind"]> = Extract<Message, { readonly kind: K }>;

function classifyRequest({ id, method, params }: OneOf<"request">, revision: string | undefined): LineVerdict {
  if (namesVersion(params)) return { kind: "modern", ids: [id], method };
  if (method === "initialize") {
    return { kind: "initialize", id, offered: isJsonObject(params) ? params["protocolVersion"] : undefined };
  }
  if (revision !== undefined) return { kind: "legacy", ids: [id], method, params };
  return method === "ping" ? { kind: "ping", id } : { kind: "modern", ids: [id], method };
}

function classifyNotification({ method, params }: OneOf<"notification">, revision: string | undefined): LineVerdict {
  if (method === "notifications/cancelled") {
    const requestId = isJsonObject(params) ? params["requestId"] : undefined;
    return isRequestId(requestId) ? { kind: "cancel", requestId } : IGNORED;
  }
  return revision === undefined || namesVersion(params) ? IGNORED : { kind: "aside", method };
}

/** Source: 2025-03-26, Overview, Batching; Lifecycle, Initialization. */
function classifyBatch(values: readonly unknown[], revision: string | undefined): LineVerdict {
  if (revision !== BATCH_REVISION) return malformed("a batch, which the revision does not have");
  if (values.length === 0 || values.length > MAX_BATCH) {
    return malformed(`a batch that does not have 1 to ${String(MAX_BATCH)} messages`);
  }
  const ids: RequestId[] = [];
  for (const value of values) {
    const message = classifyMessage(value);
    if (message.kind === "request") ids.push(message.id);
  }
  return { kind: "batch", ids };
}

/** A broken answer is for the host, whom it tells that there is no other; a broken request is answered, by its id if that can be read. */
function classifyInvalid(
  value: unknown,
  { id: answered, reason }: OneOf<"invalid">,
  revision: string | undefined,
): LineVerdict {
  if (!isJsonObject(value)) return malformed(reason);
  const isRequest = (value["method"] ?? undefined) !== undefined;
  if (!isRequest && ("result" in value || "error" in value)) {
    return revision === undefined ? IGNORED : { kind: "response", id: answered };
  }
  const id = value["id"];
  return malformed(reason, isRequestId(id) ? id : undefined);
}

function malformed(reason: string, id?: RequestId): LineVerdict {
  return { kind: "malformed", id, reason };
}

function namesVersion(params: unknown): boolean {
  const meta = isJsonObject(params) ? params["_meta"] : undefined;
  return isJsonObject(meta) && meta[MetaKey.protocolVersion] !== undefined;
}
