import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import { SERVER_CERTIFICATE, SERVER_KEY } from "../../support/certificates.js";

/** What is answered at one path: a document, a status alone, or anything else. */
export type Place = object | number | ((request: IncomingMessage, response: ServerResponse) => void);

/** A request as it came. */
export interface Visit {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An HTTP server with something at some paths, which remembers who asked; 404 at all others. */
export class Places {
  readonly #server: Server;
  readonly #scheme: string;
  readonly visits: Visit[] = [];
  /** By path, query included. May change. */
  places: Readonly<Record<string, Place>> = {};
  connections = 0;

  private constructor(server: Server, scheme: string) {
    this.#server = server;
    this.#scheme = scheme;
  }

  static async start(scheme: "http" | "https" = "http"): Promise<Places> {
    const tls = { cert: SERVER_CERTIFICATE, key: SERVER_KEY };
    const server = scheme === "http" ? createServer() : createTlsServer(tls);
    const made = new Places(server, scheme);
    server.on("connection", () => (made.connections += 1));
    server.on("request", (request, response) => made.#serve(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return made;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  get origin(): string {
    return this.originAt("localhost");
  }

  originAt(host: string): string {
    return `${this.#scheme}://${host}:${String(this.port)}`;
  }

  /** `METHOD path` of each visit, without the method if it is GET. */
  get asked(): readonly string[] {
    return this.visits.map(({ method, path }) => (method === "GET" ? path : `${method} ${path}`));
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request;
      this.visits.push({ method, path, headers, body });
      const place = this.places[path] ?? 404;
      if (typeof place === "function") place(request, response);
      else if (typeof place === "number") response.writeHead(place, { "Content-Type": "application/json" }).end("{}");
      else response.writeHead(200, { "Content-Type": "application/json; charset=utf-8" }).end(JSON.stringify(place));
    });
  }
}

/** Answers with a redirect. */
export function redirectTo(location: string, status = 302): Place {
  return (_request, response) => response.writeHead(status, { Location: location }).end("Moved.");
}

/** Answers with bytes of a type. */
export function textOf(type: string, text: string, status = 200): Place {
  return (_request, response) => response.writeHead(status, { "Content-Type": type }).end(text);
}

/** Ends the connection in the middle of a document. */
export const cutDocument: Place = (_request, response) => {
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "1000" });
  response.write('{"issuer":');
  setImmediate(() => response.destroy());
};

/** Ends the connection without a word. */
export const hangUp: Place = (_request, response) => response.destroy();

/** A promise, and what fulfils it. */
export function latch(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
