import type { ServerResponse } from "node:http";
import { sendEmpty, sendJson } from "../../serving/index.js";
import type { AuthorizationServerFault } from "./fault.js";
import { type JsonAnswer, oauthError } from "./json-answer.js";

/** Whether a fault was the whole answer. */
export function playFault(fault: AuthorizationServerFault, response: ServerResponse): boolean {
  if (fault.kind === "drop_connection") response.destroy();
  else if (fault.kind === "malformed") sendJson(response, 200, '{"access_token":');
  else if (fault.kind === "status") sendJson(response, fault.status, fault.body ?? "", fault.headers);
  else if (fault.kind === "error" && fault.endpoint !== "authorize") {
    sendAnswer(response, oauthError(fault.error, "as scripted"));
  } else return false;
  return true;
}

export function sendAnswer(response: ServerResponse, { body, headers, status }: JsonAnswer): void {
  if (body === undefined) sendEmpty(response, status, headers);
  else sendJson(response, status, typeof body === "string" ? body : JSON.stringify(body), headers);
}

/** A page for a person. */
export function sendPage(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" });
  response.end(`${text}\n`);
}
