/**
 * The headers of a request as `node:http` gives them: names in lower case. A repeated header is a list, or one text
 * joined with commas.
 */
export type HeaderFields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The value of a header whose name is given in lower case; a list is joined with commas. `""` is a value. */
export function headerValue(headers: HeaderFields, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" || value === undefined ? value : value.join(", ");
}

/**
 * Whether a header value consists of the characters that HTTP allows in new values: visible ASCII, space and tab.
 * Source: RFC 9110, Field Values; 2026-07-28, Streamable HTTP, Value Encoding.
 */
export function isPlainHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(value);
}
