import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";

/** A request as its bytes say. */
export interface RawRequest {
  readonly head: string;
  readonly body: string;
  readonly socket: Socket;
  /** The header's value, by any case of its name. */
  header(name: string): string | undefined;
}

/** What a raw server does with a request: whatever it likes with the socket. */
export type RawAnswerer = (request: RawRequest) => void;

/** A TCP server that reads HTTP requests and answers with bytes, so that a test decides about every one of them. */
export class RawServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly requests: RawRequest[] = [];
  connections = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(answer: RawAnswerer): Promise<RawServer> {
    const server = createServer({ noDelay: true });
    const raw = new RawServer(server);
    server.on("connection", (socket) => raw.#serve(socket, answer));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return raw;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}/mcp`;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #serve(socket: Socket, answer: RawAnswerer): void {
    this.connections += 1;
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    let buffered = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      buffered = Buffer.concat([buffered, chunk]);
      for (;;) {
        const headEnd = buffered.indexOf("\r\n\r\n");
        if (headEnd === -1) return;
        const head = buffered.toString("latin1", 0, headEnd);
        const header = (name: string): string | undefined =>
          new RegExp(`^${name}: *(.*)$`, "im").exec(head)?.[1]?.trim();
        const bodyEnd = headEnd + 4 + Number(header("content-length") ?? 0);
        if (buffered.length < bodyEnd) return;
        const request = { head, body: buffered.toString("utf8", headEnd + 4, bodyEnd), socket, header };
        buffered = buffered.subarray(bodyEnd);
        this.requests.push(request);
        answer(request);
      }
    });
  }
}

/** The id of the JSON-RPC request in a body. */
export function idOf(request: RawRequest): number {
  const message: { readonly id: number } = JSON.parse(request.body);
  return message.id;
}

export type Framing = "content-length" | "chunked" | "close";

interface AnswerOptions {
  readonly status?: number;
  readonly type?: string;
  readonly framing?: Framing;
  /** Further header lines, each with its line end. */
  readonly headers?: string;
}

/** A whole HTTP answer as bytes. */
export function httpAnswer(
  body: string,
  { status = 200, type = "application/json", framing = "content-length", headers = "" }: AnswerOptions = {},
): Buffer {
  const bytes = Buffer.from(body);
  const head = `HTTP/1.1 ${String(status)} X\r\nContent-Type: ${type}\r\n${headers}`;
  if (framing === "content-length") {
    return Buffer.concat([Buffer.from(`${head}Content-Length: ${String(bytes.length)}\r\n\r\n`), bytes]);
  }
  if (framing === "close") return Buffer.concat([Buffer.from(`${head}Connection: close\r\n\r\n`), bytes]);
  const size = bytes.length.toString(16);
  const framed = [
    Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n${size}\r\n`),
    bytes,
    Buffer.from("\r\n0\r\n\r\n"),
  ];
  return Buffer.concat(framed);
}
