const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The value of a body that is JSON in UTF-8; `undefined` for every other. A byte order mark is no JSON. */
export function parseJsonBody(body: Uint8Array): { readonly value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(body));
    return { value };
  } catch {
    return undefined;
  }
}
