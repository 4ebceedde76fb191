import { isUtf8 } from "node:buffer";

/** The value of a body that is JSON in UTF-8; `undefined` for every other. A byte order mark is no JSON. */
export function parseJsonBody(body: Uint8Array): { readonly value: unknown } | undefined {
  if (!isUtf8(body)) return undefined;
  try {
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
    const value: unknown = JSON.parse(text);
    return { value };
  } catch {
    return undefined;
  }
}
