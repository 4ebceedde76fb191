import { scanArray } from "../../protocol/index.js";

/** One message out of a batch. */
export interface BatchedMessage {
  readonly value: unknown;
  readonly message: Uint8Array | string;
}

/** What one body, or one event, holds: a batch where the revision has them, else a single message. */
export function messagesIn(
  value: unknown,
  message: Uint8Array | string,
  takesBatches: boolean,
): readonly BatchedMessage[] {
  return takesBatches && Array.isArray(value) ? splitBatch(value, message) : [{ value, message }];
}

/** The messages of a batch, each with its own bytes. Source: 2025-03-26, Overview, Batching. */
function splitBatch(values: readonly unknown[], text: Uint8Array | string): readonly BatchedMessage[] {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const places = scanArray(bytes) ?? [];
  return places.map(({ start, end }, index) => ({ value: values[index], message: bytes.subarray(start, end) }));
}
