import { isJsonObject, scanObject } from "../../protocol/index.js";

/**
 * The bytes of each message of a batch, in order, so that each can be handled as if it had come alone. `undefined` when an
 * element is no object. `parsed` is the parsed value of `body`, which is valid JSON.
 */
export function splitBatch(body: Uint8Array, parsed: readonly unknown[]): readonly Uint8Array[] | undefined {
  if (!parsed.every(isJsonObject)) return undefined;
  const messages: Uint8Array[] = [];
  // Between elements there are only white space, commas and the brackets, so that the next brace opens the next one.
  for (let open = body.indexOf(OPEN_BRACE); open !== -1;) {
    const end = scanObject(body, open)?.end ?? body.length;
    messages.push(body.subarray(open, end));
    open = body.indexOf(OPEN_BRACE, end);
  }
  return messages;
}

const OPEN_BRACE = 0x7b;
