/** A request as its bytes say. Header names and values are as they came, in order, as Latin-1 text. */
export interface RawRequest {
  readonly verb: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

export interface RequestReaderOptions {
  /** The most bytes that one request may have, its head included. */
  readonly maxRequestBytes: number;
  readonly onRequest: (request: RawRequest) => void;
  /** Told once of bytes that are no request; what comes after them is ignored. */
  readonly onFault: (reason: string) => void;
}

type Head = Omit<RawRequest, "body">;
/** What comes next: a head, the rest of a body, a chunk's size line, its data with the line end, or the trailers. */
type State =
  | { readonly kind: "head" }
  | { readonly kind: "sized"; readonly head: Head; readonly length: number }
  | { readonly kind: "chunk_size"; readonly head: Head; readonly chunks: Uint8Array[] }
  | { readonly kind: "chunk"; readonly head: Head; readonly chunks: Uint8Array[]; readonly length: number }
  | { readonly kind: "trailers"; readonly head: Head; readonly chunks: Uint8Array[] }
  | { readonly kind: "broken" };

const HEAD_END = Buffer.from("\r\n\r\n");
const LINE_END = Buffer.from("\r\n");

/**
 * Reads HTTP/1.1 requests out of the bytes of a connection, as they arrive, in linear time.
 *
 * It knows what clients of MCP send: bodies by `Content-Length` or in chunks, and nothing else. Source: RFC 9112.
 */
export class RequestReader {
  readonly #options: RequestReaderOptions;
  #pieces: Uint8Array[] = [];
  /** Bytes in `#pieces`. */
  #held = 0;
  /** How many must be there before another look makes sense: spares joining the pieces for each packet of a long body. */
  #wanted = 1;
  /** Bytes of the current request that were taken out already. */
  #taken = 0;
  #state: State = { kind: "head" };

  constructor(options: RequestReaderOptions) {
    this.#options = options;
  }

  push(bytes: Uint8Array): void {
    if (this.#state.kind === "broken") return;
    this.#pieces.push(bytes);
    this.#held += bytes.length;
    while (this.#held >= this.#wanted && this.#advance()) continue;
    if (this.#taken + this.#held > this.#options.maxRequestBytes)
      this.#break("a request is longer than maxRequestBytes");
  }

  #advance(): boolean {
    const state = this.#state;
    switch (state.kind) {
      case "broken":
        return false;
      case "head":
        return this.#until(HEAD_END, (head) => this.#begin(head));
      case "sized":
        return this.#exactly(state.length, (body) => this.#finish(state.head, body));
      case "chunk_size":
        return this.#until(LINE_END, (line) => {
          const length = Number.parseInt(line.toString("latin1"), 16);
          if (!(length >= 0)) this.#break("a chunk without a size");
          else if (length === 0) this.#go({ ...state, kind: "trailers" });
          else this.#go({ ...state, kind: "chunk", length }, length + LINE_END.length);
        });
      case "chunk":
        return this.#exactly(state.length + LINE_END.length, (chunk) => {
          state.chunks.push(chunk.subarray(0, state.length));
          this.#go({ ...state, kind: "chunk_size" });
        });
      case "trailers":
        return this.#until(LINE_END, (line) => {
          if (line.length === 0) this.#finish(state.head, Buffer.concat(state.chunks));
        });
    }
  }

  #begin(text: Buffer): void {
    const [first = "", ...lines] = text.toString("latin1").split("\r\n");
    const [verb = "", target = "", version = ""] = first.split(" ");
    const headers = lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, Math.max(colon, 0)), line.slice(colon + 1).trim()];
    });
    if (!version.startsWith("HTTP/1.") || headers.some(([name]) => name === "")) {
      this.#break("bytes that are no HTTP/1.1 request");
      return;
    }
    const head = { verb, target, headers };
    const valueOf = (wanted: string): string | undefined =>
      headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
    if (valueOf("transfer-encoding")?.toLowerCase() === "chunked") {
      this.#go({ kind: "chunk_size", head, chunks: [] });
      return;
    }
    const length = Number(valueOf("content-length") ?? 0);
    if (!Number.isSafeInteger(length) || length < 0) this.#break("a Content-Length that is no number");
    else if (length > this.#options.maxRequestBytes) this.#break("a request is longer than maxRequestBytes");
    else if (length === 0) this.#finish(head, Buffer.alloc(0));
    else this.#go({ kind: "sized", head, length }, length);
  }

  #finish(head: Head, body: Uint8Array): void {
    this.#go({ kind: "head" });
    this.#taken = 0;
    this.#options.onRequest({ ...head, body });
  }

  #go(state: State, wanted = 1): void {
    this.#state = state;
    this.#wanted = wanted;
  }

  #break(reason: string): void {
    this.#go({ kind: "broken" });
    this.#pieces = [];
    this.#held = 0;
    this.#options.onFault(reason);
  }

  /** Takes what stands before `mark`, and `mark`; whether it was there. */
  #until(mark: Buffer, use: (bytes: Buffer) => void): boolean {
    const all = this.#joined();
    const at = all.indexOf(mark);
    if (at === -1) return false;
    this.#take(all, at + mark.length);
    use(all.subarray(0, at));
    return true;
  }

  #exactly(length: number, use: (bytes: Buffer) => void): boolean {
    if (this.#held < length) return false;
    const all = this.#joined();
    this.#take(all, length);
    use(all.subarray(0, length));
    return true;
  }

  #joined(): Buffer {
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [all];
    return all;
  }

  #take(all: Buffer, length: number): void {
    this.#pieces = [all.subarray(length)];
    this.#held -= length;
    this.#taken += length;
  }
}
