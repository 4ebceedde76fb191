import type { ServerResponse } from "node:http";
import type { Refusal } from "./refusal.js";
import { errorLine } from "./response-body.js";

/** Headers to send beside those that a function sets itself. */
export type ExtraHeaders = Readonly<Record<string, string>>;

/** No cache may keep an answer, and no browser may guess what it is. */
const ALWAYS: ExtraHeaders = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };
const JSON_TYPE = "application/json";
const JSON_ALWAYS = [...Object.entries(ALWAYS).flat(), "Content-Type", JSON_TYPE, "Content-Length"];
const NONE: ExtraHeaders = Object.freeze({});

/**
 * Answers with a JSON body and its length. Does nothing when the caller is gone or an answer began already.
 */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: Uint8Array | string,
  headers: ExtraHeaders = NONE,
): void {
  if (response.headersSent || response.destroyed) return;
  const bytes = typeof body === "string" ? Buffer.from(body, "utf8") : body;
  const length = String(bytes.byteLength);
  // A flat list, as nearly every answer has nothing beside it: objects that are spread into one are slow to make.
  if (headers === NONE) response.writeHead(status, [...JSON_ALWAYS, length]);
  else response.writeHead(status, { ...ALWAYS, ...headers, "Content-Type": JSON_TYPE, "Content-Length": length });
  response.end(bytes);
}

/** Answers a refused request: its status, and a JSON-RPC error as the body. */
export function sendRefusal(response: ServerResponse, refusal: Refusal, headers: ExtraHeaders = {}): void {
  sendJson(response, refusal.status, errorLine(refusal.id, refusal.error), headers);
}

/** Answers without a body: 202 for a notification, 204. */
export function sendEmpty(response: ServerResponse, status: number, headers: ExtraHeaders = {}): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { ...ALWAYS, ...headers, ...(status === 204 ? {} : { "Content-Length": "0" }) });
  response.end();
}
