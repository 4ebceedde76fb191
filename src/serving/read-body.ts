import type { IncomingMessage } from "node:http";

/** How reading a request body ended. */
export type BodyReading =
  | { readonly kind: "complete"; readonly body: Uint8Array }
  /** More than `limit` bytes were announced or came. What is left of it is discarded. */
  | { readonly kind: "too_large"; readonly limit: number }
  /** The caller went away before the end. There is nobody to answer. */
  | { readonly kind: "aborted" };

/**
 * Reads a request's body, keeping at most `maxBytes` of it. Never rejects. After `too_large` answer with 413 and
 * `Connection: close`: what the caller goes on sending is discarded, not collected.
 */
export function readBody(request: IncomingMessage, options: { readonly maxBytes: number }): Promise<BodyReading> {
  const { maxBytes } = options;
  return new Promise((resolve) => {
    if (Number(request.headers["content-length"] ?? 0) > maxBytes) {
      request.resume();
      resolve({ kind: "too_large", limit: maxBytes });
      return;
    }
    const chunks: Uint8Array[] = [];
    let length = 0;
    // The listeners go with the request: to take them away costs more than they do.
    let isOver = false;
    const finish = (reading: BodyReading): void => {
      if (isOver) return;
      isOver = true;
      resolve(reading);
    };
    const onData = (chunk: Uint8Array): void => {
      length += chunk.byteLength;
      if (length <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      // The stream flows on: what still comes is lost, as it should be.
      chunks.length = 0;
      finish({ kind: "too_large", limit: maxBytes });
    };
    const onEnd = (): void => {
      const [only] = chunks;
      const body = only === undefined || chunks.length > 1 ? Buffer.concat(chunks) : only;
      finish({ kind: "complete", body });
    };
    const onClose = (): void => finish({ kind: "aborted" });
    // A cut upload emits an error as well; `close` follows it, and says all there is to say.
    request.on("error", ignore).on("data", onData).on("end", onEnd).on("close", onClose);
  });
}

function ignore(): void {}
