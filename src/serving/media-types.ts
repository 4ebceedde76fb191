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
  const value = headerValue(headers, "accept");
  if (value === undefined) return false;
  const listed = new Set<string>();
  for (const range of value.split(",")) {
    const [, ...parameters] = range.split(";");
    if (parameters.some((parameter) => /^\s*q\s*=\s*0(?:\.0*)?\s*$/i.test(parameter))) continue;
    listed.add(essence(range));
  }
  return listed.has("application/json") && listed.has("text/event-stream");
}

function essence(mediaType: string): string {
  const end = mediaType.indexOf(";");
  return (end === -1 ? mediaType : mediaType.slice(0, end)).trim().toLowerCase();
}
