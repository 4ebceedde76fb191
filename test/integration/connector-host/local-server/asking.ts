import type { BoundAgent } from "../../../../src/connector-host/local-server/index.js";
import { modernBody, modernHeaders, post, postLegacy, type RawAnswer } from "./raw-agent.js";

export type Era = "modern" | "legacy";

export const ERAS: readonly Era[] = ["modern", "legacy"];

export interface Question {
  readonly method: string;
  /** JSON text, without `_meta`. */
  readonly params?: string;
  readonly meta?: object;
  readonly id?: number | string;
  readonly headers?: Record<string, string | undefined>;
  readonly signal?: AbortSignal;
}

/** Puts a question in the form of one era, with the headers that go with it. */
export function ask(agent: BoundAgent, era: Era, question: Question): Promise<RawAnswer> {
  const { method, params = "{}", meta, id = 1, headers = {}, signal } = question;
  if (era === "modern") {
    const { name, uri }: { name?: string; uri?: string } = JSON.parse(params);
    const mirrored = modernHeaders(method, method === "completion/complete" ? undefined : (name ?? uri));
    const body = modernBody(method, params, { id, ...(meta && { meta }) });
    return post(agent, body, { ...mirrored, ...headers }, signal === undefined ? {} : { signal });
  }
  const inner = params.trim().slice(1, -1).trim();
  const members = [...(inner === "" ? [] : [inner]), ...(meta ? [`"_meta":${JSON.stringify(meta)}`] : [])].join(",");
  const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"${method}","params":{${members}}}`;
  return postLegacy(agent, text, { "MCP-Protocol-Version": "2025-11-25", ...headers });
}

/** The result of a plain answer. */
export function resultOf({ text }: RawAnswer): unknown {
  const { result }: { result?: unknown } = JSON.parse(text);
  return result;
}

/** The error of a plain answer. */
export function errorOf({ text }: RawAnswer): { code: number; message: string; data?: unknown } {
  const { error }: { error: { code: number; message: string; data?: unknown } } = JSON.parse(text);
  return error;
}
