import type { AnswerHints, Delivery } from "../errors.js";
import { plainText } from "../protocol/index.js";
import type { ResponseHeaders } from "./exchange.js";

/** The head of an answer. */
export interface AnswerHead {
  readonly status: number;
  /** In lower case, without parameters; empty when there is none. */
  readonly mediaType: string;
  readonly headers: ResponseHeaders;
  /** Where it came from, when redirects were followed; otherwise that is the endpoint. */
  readonly url?: URL | undefined;
}

/** Reads an answer's head; media types are compared without case and without parameters. */
export function readAnswerHead(status: number, headers: ResponseHeaders, url?: URL): AnswerHead {
  const contentType = firstValue(headers["content-type"]) ?? "";
  const semicolon = contentType.indexOf(";");
  const bare = semicolon === -1 ? contentType : contentType.slice(0, semicolon);
  return { status, mediaType: bare.trim().toLowerCase(), headers, url };
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * What a status alone says of delivery, when no JSON-RPC response came with it: any 3xx, and any 4xx but 408 and 499, is an
 * answer; everything else leaves open whether the request was acted on.
 */
export function deliveryByStatus(status: number): Delivery {
  const answered = status >= 300 && status < 500 && status !== 408 && status !== 499;
  return answered ? "answered" : "unknown";
}

/** The headers that callers act on. */
export function hintsOf(headers: ResponseHeaders): AnswerHints {
  const challenges = headers["www-authenticate"];
  // Several lines are one list: a challenge that can be met may stand behind one that can't.
  const wwwAuthenticate = Array.isArray(challenges) ? challenges.join(", ") : challenges;
  const retryAfter = firstValue(headers["retry-after"]);
  return {
    ...(wwwAuthenticate === undefined ? {} : { wwwAuthenticate }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

const SNIPPET_CHARACTERS = 512;

/** The beginning of a body as it may be shown: bounded, without control characters. */
export function snippetOf(body: Uint8Array): string {
  return plainText(new TextDecoder().decode(body.subarray(0, SNIPPET_CHARACTERS * 4)), SNIPPET_CHARACTERS);
}

function firstValue(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
