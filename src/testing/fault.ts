/**
 * A place in an answer: a number of bytes from its status line on, of bytes of its payload, or of whole events of its
 * stream. A negative number counts from the end.
 */
export type Place = number | { readonly body: number } | { readonly event: number };

/** Something that an answer does beside arriving at once and whole. */
export type Fault =
  /** Closes, resets or falls silent at a place; nothing behind it is sent. */
  | { readonly kind: "stop"; readonly at: Place; readonly how: "fin" | "reset" | "stall" }
  /** Waits at a place. */
  | { readonly kind: "pause"; readonly at: Place; readonly ms: number }
  | { readonly kind: "hold"; readonly at: Place; readonly until: Promise<unknown> }
  /** Sends in pieces of so many bytes, with a pause between them. */
  | { readonly kind: "drip"; readonly bytes: number; readonly everyMs: number }
  /** An informational answer before this one. */
  | { readonly kind: "inform"; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: "compress" }
  /** The body does not end after what it holds. */
  | { readonly kind: "keep_open" }
  /** Sends a piece again and again, at the end of the body or of the headers. */
  | {
      readonly kind: "flood";
      readonly of: "body" | "headers";
      readonly piece: string;
      readonly everyMs: number;
      readonly maxBytes: number;
    }
  /** Closes the connection when it has been idle for so long after the answer. */
  | { readonly kind: "close_idle"; readonly ms: number };

/** Long enough that two pieces are two reads of the other side, on loopback. */
const BETWEEN_PIECES_MS = 2;
const FLOOD_BYTES = 256 * 1024 * 1024;

/** Closes the connection (FIN) at a place. */
export function cutAt(at: Place): Fault {
  return { kind: "stop", at, how: "fin" };
}

/** Resets the connection (RST) at a place. What was sent before can be lost with it. */
export function resetAt(at: Place): Fault {
  return { kind: "stop", at, how: "reset" };
}

/** Falls silent at a place, and keeps the connection. */
export function stallAt(at: Place): Fault {
  return { kind: "stop", at, how: "stall" };
}

/** Sends in pieces that end at these places. With chunked framing each piece of the payload is a chunk. */
export function splitAt(...places: readonly Place[]): readonly Fault[] {
  return places.map((at) => ({ kind: "pause", at, ms: BETWEEN_PIECES_MS }));
}

/** Sends `bytes` at a time, every `everyMs`. */
export function drip(bytes: number, everyMs: number): Fault {
  return { kind: "drip", bytes, everyMs };
}

/** Waits before the answer begins, or at a place in it. */
export function delay(ms: number, at: Place = 0): Fault {
  return { kind: "pause", at, ms };
}

/** Waits for a promise, whatever becomes of it, before the answer begins or at a place in it. See {@link Gate}. */
export function holdUntil(until: Promise<unknown>, at: Place = 0): Fault {
  return { kind: "hold", at, until };
}

/** Sends an informational answer (1xx) before this one. */
export function inform(status = 103, headers: Readonly<Record<string, string>> = {}): Fault {
  return { kind: "inform", status, headers };
}

/** Compresses the body with gzip, whether or not it was asked for. Places in the body are those of what is sent. */
export function compress(): Fault {
  return { kind: "compress" };
}

/** Keeps the body open after all that it holds; with `beatMs`, a comment comes every so many milliseconds. */
export function keepOpen(options: { readonly beatMs?: number | undefined } = {}): Fault {
  const { beatMs } = options;
  if (beatMs === undefined) return { kind: "keep_open" };
  return floodBody({ piece: ": beat\n\n", everyMs: beatMs });
}

/** How a flood runs. */
export interface FloodOptions {
  /** What is sent again and again. */
  readonly piece?: string | undefined;
  /** Milliseconds between two pieces. 0, which is also what counts when left out: as fast as the reader reads. */
  readonly everyMs?: number | undefined;
  /** When it stops, and the answer stalls. 256 MiB when left out. */
  readonly maxBytes?: number | undefined;
}

/** A body that never ends: white space, or any piece, behind all that the body holds. */
export function floodBody(options: FloodOptions = {}): Fault {
  return flood("body", " ".repeat(16 * 1024), options);
}

/** Headers that never end. The piece is a header line with its line end. */
export function floodHeaders(options: FloodOptions = {}): Fault {
  return flood("headers", `X-Flood: ${"x".repeat(1_000)}\r\n`, options);
}

/** Closes the connection when no request came for `ms` after this answer. */
export function closeIdleAfter(ms: number): Fault {
  return { kind: "close_idle", ms };
}

function flood(of: "body" | "headers", piece: string, options: FloodOptions): Fault {
  return {
    kind: "flood",
    of,
    piece: options.piece ?? piece,
    everyMs: options.everyMs ?? 0,
    maxBytes: options.maxBytes ?? FLOOD_BYTES,
  };
}
