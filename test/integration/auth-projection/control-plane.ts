import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

/** A control plane on a real port: what it answers can be changed at any time, and it remembers what it was asked. */
export class ControlPlane {
  readonly requests: IncomingMessage[] = [];
  readonly handshakes: IncomingMessage[] = [];
  /** The sockets of hints that are open, the oldest first. */
  readonly sockets: WebSocket[] = [];
  answer: (response: ServerResponse) => void = (response) => response.end('{"revision":1,"connectors":[]}');
  /** The status that refuses a handshake. */
  refusal: string | undefined;
  readonly #server: Server;
  readonly #hints = new WebSocketServer({ noServer: true });

  private constructor() {
    this.#server = createServer((request, response) => {
      this.requests.push(request);
      this.answer(response);
    });
    this.#server.on("upgrade", (request, socket, head) => {
      this.handshakes.push(request);
      if (this.refusal !== undefined) {
        socket.end(`HTTP/1.1 ${this.refusal}\r\nContent-Length: 0\r\n\r\n`);
        return;
      }
      this.#hints.handleUpgrade(request, socket, head, (hints) => {
        this.sockets.push(hints);
        hints.on("error", () => undefined);
        hints.on("close", () => this.sockets.splice(this.sockets.indexOf(hints), 1));
      });
    });
  }

  static async listen(): Promise<ControlPlane> {
    const plane = new ControlPlane();
    plane.#server.listen(0, "127.0.0.1");
    await once(plane.#server, "listening");
    return plane;
  }

  get base(): string {
    return `http://127.0.0.1:${String(this.#port)}`;
  }

  get hintUrl(): string {
    return `ws://127.0.0.1:${String(this.#port)}/hints?deviceId=d1`;
  }

  json(body: unknown, status = 200): void {
    this.answer = (response) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
  }

  hint(message: unknown): void {
    for (const socket of this.sockets) socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** Connections that are open, of both kinds. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#hints.clients) socket.terminate();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  get #port(): number {
    const address: AddressInfo | string | null = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }
}
