import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  createSecureServer,
  type Http2Session,
  type Http2SecureServer,
  type SecureServerOptions,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { SERVER_CERTIFICATE, SERVER_KEY } from "./certificates.js";

/** A request over HTTP/2, with its whole body. */
export interface StreamRequest {
  readonly stream: ServerHttp2Stream;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly body: string;
  /** Of the JSON-RPC request in the body. */
  readonly id: number;
  readonly session: Http2Session;
}

export interface Http2ServerOptions extends SecureServerOptions {
  /** What is done with a request, as soon as its body is there. */
  readonly answer: (request: StreamRequest) => void;
  /** Answers a request as soon as its head is there, in the place of `answer`; its body is not read. */
  readonly answerHead?: (stream: ServerHttp2Stream) => void;
  /** Answers HTTP/1.1 too. */
  readonly answerPlain?: (request: IncomingMessage, response: ServerResponse) => void;
}

/** A server that speaks HTTP/2 over TLS; HTTP/1.1 beside it only when it is told how. */
export class Http2Server {
  readonly #server: Http2SecureServer;
  readonly #sockets = new Set<Socket>();
  readonly requests: StreamRequest[] = [];
  readonly sessions: Http2Session[] = [];
  connections = 0;

  private constructor(server: Http2SecureServer) {
    this.#server = server;
  }

  static async start({ answer, answerHead, answerPlain, ...options }: Http2ServerOptions): Promise<Http2Server> {
    const settings = { cert: SERVER_CERTIFICATE, key: SERVER_KEY, allowHTTP1: answerPlain !== undefined, ...options };
    const server = createSecureServer(settings);
    const made = new Http2Server(server);
    server.on("secureConnection", (socket: Socket) => made.#keep(socket));
    server.on("session", (session) => {
      made.sessions.push(session);
      session.on("error", () => undefined);
    });
    server.on("sessionError", () => undefined);
    server.on("stream", (stream, headers) => {
      let body = "";
      stream.on("error", () => undefined);
      if (answerHead !== undefined) {
        answerHead(stream);
        return;
      }
      stream.on("data", (chunk: Buffer) => (body += chunk.toString()));
      stream.on("end", () => {
        const { id }: { readonly id: number } = body === "" ? { id: 0 } : JSON.parse(body);
        const session = stream.session;
        if (session === undefined) return;
        const request = { stream, headers, body, id, session };
        made.requests.push(request);
        answer(request);
      });
    });
    server.on("request", (request, response) => {
      // The compatibility layer is told of streams, too.
      if (request.httpVersionMajor === 1) answerPlain?.(Object(request), Object(response));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return made;
  }

  get url(): string {
    const address = this.#server.address();
    return `https://127.0.0.1:${String(typeof address === "object" && address !== null ? address.port : 0)}/mcp`;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  /** Cuts all connections, without a word. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    for (const session of this.sessions) session.destroy();
    this.drop();
    this.#server.close();
    await once(this.#server, "close");
  }

  #keep(socket: Socket): void {
    this.connections += 1;
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => this.#sockets.delete(socket));
  }
}

/** Answers with a result, in one piece. */
export function respondResult({ stream, id }: StreamRequest, result: object = { content: [] }): void {
  if (stream.destroyed) return;
  stream.respond({ ":status": 200, "content-type": "application/json" });
  stream.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}
