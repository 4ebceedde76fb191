import type { ServerResponse } from "node:http";
import { type ExtraHeaders, sendJson } from "../../serving/index.js";

/** Why the control plane refuses a request. */
export interface ControlError {
  readonly status: number;
  readonly code:
    | "connector_incompatible"
    | "connector_market_invalid_request"
    | "connector_market_revision_conflict"
    | "connector_market_unavailable"
    | "connector_not_found"
    | "connector_operation_in_progress";
  /** For people. Holds nothing that the request held but names. */
  readonly message: string;
  /** The same request may succeed later. */
  readonly retryable: boolean;
}

export function isControlError(value: object): value is ControlError {
  return Object.hasOwn(value, "retryable");
}

export function sendControlError(response: ServerResponse, error: ControlError, headers: ExtraHeaders = {}): void {
  const { code, message, retryable, status } = error;
  // What still comes of a body that is too large is not waited for.
  const ending = status === 413 ? { Connection: "close" } : {};
  sendJson(response, status, JSON.stringify({ code, message, retryable }), { ...headers, ...ending });
}

export function invalidRequest(message: string, status = 400): ControlError {
  return { status, code: "connector_market_invalid_request", message, retryable: false };
}

export function notFound(what: "authorization session" | "connector" | "path"): ControlError {
  return { status: 404, code: "connector_not_found", message: `There is no such ${what}`, retryable: false };
}

export function unavailable(message: string): ControlError {
  return { status: 503, code: "connector_market_unavailable", message, retryable: true };
}

/** Something else has to end first. `retryable` when it ends by itself, soon. */
export function inProgress(message: string, retryable: boolean): ControlError {
  return { status: 409, code: "connector_operation_in_progress", message, retryable };
}
