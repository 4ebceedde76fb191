/**
 * JSON text in its one canonical form: members sorted by UTF-16 code units, no spaces, numbers and strings as
 * `JSON.stringify` writes them, members without a value left out. Source: RFC 8785.
 *
 * `value` must be what JSON can hold, and its text well-formed; neither is checked.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}
