import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { clientRequest, type ClientRequest, type Exchange, type Piece } from "./transcript.js";

interface Recording {
  readonly request: Buffer[];
  readonly answer: { after: number; readonly bytes: Buffer[] }[];
  isClosed: boolean;
}

/** Stands between a client and a server over HTTP/1.1 without TLS, hands every byte on, and keeps them by exchange. */
export class RecordingProxy {
  readonly #server: Server;
  readonly #upstream: URL;
  readonly #recordings: Recording[] = [];

  private constructor(upstream: URL) {
    this.#upstream = upstream;
    this.#server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => this.#accept(client));
  }

  static async start(upstream: string): Promise<RecordingProxy> {
    const proxy = new RecordingProxy(new URL(upstream));
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** The server's URL, but through here. */
  get url(): string {
    const address = this.#server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    return `http://127.0.0.1:${String(port)}${this.#upstream.pathname}`;
  }

  exchanges(): readonly Exchange[] {
    return this.#recordings.map(({ request, answer, isClosed }) => ({
      request: readRequest(Buffer.concat(request).toString("utf8")),
      answer: answer.map(({ after, bytes }): Piece => ({ after, text: linesOf(Buffer.concat(bytes)) })),
      isClosed,
    }));
  }

  /** Resolves when all connections are closed. */
  async close(): Promise<void> {
    this.#server.close();
    await once(this.#server, "close");
  }

  #accept(client: Socket): void {
    const server = connect(Number(this.#upstream.port), this.#upstream.hostname);
    let current: Recording | undefined;
    client.on("data", (bytes) => {
      // No pipelining: bytes behind an answer are the next request.
      if (current === undefined || current.answer.length > 0) {
        current = { request: [], answer: [], isClosed: false };
        this.#recordings.push(current);
      }
      current.request.push(bytes);
      server.write(bytes);
    });
    server.on("data", (bytes) => {
      const after = this.#recordings.length;
      const last = current?.answer.at(-1);
      if (last?.after === after) last.bytes.push(bytes);
      else current?.answer.push({ after, bytes: [bytes] });
      client.write(bytes);
    });
    server.on("end", () => {
      if (current !== undefined && !client.destroyed && !client.readableEnded) current.isClosed = true;
      client.end();
    });
    client.on("end", () => server.end());
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  }
}

function readRequest(text: string): ClientRequest {
  const end = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const [verb = "", target = ""] = first.split(" ");
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return clientRequest(verb, target, headers, text.slice(end + 4));
}

/** The bytes as text, cut behind each line end. Throws when they are not UTF-8. */
function linesOf(bytes: Buffer): readonly string[] {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).split(/(?<=\n)/);
}
