import { headerValue, type HeaderFields } from "./header-fields.js";

/** Whether `Content-Type` says JSON, compared without case and without parameters. */
export function hasJsonContent(headers: HeaderFields): boolean {
  const value = headerValue(headers, "content-type");
  return value !== undefined && essence(value) === "application/json";
}

/**
 * Whether `Accept` lists both JSON and an event stream by name, as the revision asks of every POST. A wildcard lists
 * nothing, and neither does a range with `q=0`. Source: 2026-07-28, Streamable HTTP, Sending Messages.
 */
export function acceptsBothAnswers(headers: HeaderFields): boolean {
  if (headers["accept"] === AS_MOST_WRITE_IT) return true;
  const listed = listedTypes(headers);
  return listed.has("application/json") && listed.has(STREAM);
}

/** Whether `Accept` lists an event stream, in the same sense. */
export function acceptsStream(headers: HeaderFields): boolean {
  return listedTypes(headers).has(STREAM);
}

const STREAM = "text/event-stream";
const AS_MOST_WRITE_IT = `application/json, ${STREAM}`;

function listedTypes(headers: HeaderFields): ReadonlySet<string> {
  const listed = new Set<string>();
  for (const range of headerValue(headers, "accept")?.split(",") ?? []) {
    const [, ...parameters] = range.split(";");
    if (parameters.some((parameter) => /^\s*q\s*=\s*0(?:\.0*)?\s*$/i.test(parameter))) continue;
    listed.add(essence(range));
  }
  return listed;
}

function essence(mediaType: string): string {
  const end = mediaType.indexOf(";");
  return (end === -1 ? mediaType : mediaType.slice(0, end)).trim().toLowerCase();
}
