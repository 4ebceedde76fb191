import type { ServerResponse } from "node:http";
import { encodeHeaderValue, plainText } from "../../../protocol/index.js";
import type { ResponseHeaders } from "../../../transport/index.js";
import { RelayHeader, type RelayOutcome, type RelayReason } from "../wire.js";

/** What the guest is told where there is no answer of the gateway. */
export interface Outcome {
  readonly outcome: Exclude<RelayOutcome, "answered">;
  readonly reason: RelayReason;
  readonly detail: string;
}

/** Says all there is to say in the head, which comes whole or not at all. Does nothing when an answer began already. */
export function sendOutcome(response: ServerResponse, status: number, { outcome, reason, detail }: Outcome): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    ...ALWAYS,
    [RelayHeader.outcome]: outcome,
    [RelayHeader.reason]: reason,
    // It can have come from anywhere, and must neither be too long for a head nor without a form in it.
    [RelayHeader.detail]: encodeHeaderValue(plainText(detail, 128).replaceAll(/[\ud800-\udfff]/gu, "?")),
    "Content-Length": "0",
  });
  response.end();
}

/** The headers of the gateway's answer that its guest is shown. None of a session, a place, or a connection. */
const PASSED = ["content-encoding", "content-type", "retry-after"] as const;

/** Begins the gateway's answer. Whether there is room for more. */
export function sendAnswerHead(response: ServerResponse, status: number, headers: ResponseHeaders): boolean {
  const passed: Record<string, string> = {};
  for (const name of PASSED) {
    const value = [headers[name]].flat()[0];
    if (value !== undefined && PLAIN.test(value)) passed[name] = value;
  }
  response.writeHead(status, { ...ALWAYS, ...passed, [RelayHeader.outcome]: "answered" });
  // A stream's first event may be long in coming.
  response.flushHeaders();
  return !response.writableNeedDrain;
}

const ALWAYS = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" } as const;

const PLAIN = /^[\t\x20-\x7e]*$/;
