import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { connect, type Socket } from "node:net";

export interface ConnectProxyOptions {
  /** What is answered to CONNECT; 200 opens a tunnel, 0 says nothing at all. Default 200. */
  readonly status?: number | undefined;
}

/** A proxy that tunnels. Whatever name is asked for, the tunnel leads to that port of this machine. */
export class ConnectProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** What CONNECT asked for, and the credentials that came with it. */
  readonly tunnels: { readonly to: string; readonly authorization: string | undefined }[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start({ status = 200 }: ConnectProxyOptions = {}): Promise<ConnectProxy> {
    const server = createServer((_, response) => response.writeHead(400).end());
    const proxy = new ConnectProxy(server);
    server.on("connection", (socket) => proxy.#keep(socket));
    server.on("connect", (request, socket: Socket) => proxy.#tunnel(request, socket, status));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${String(typeof address === "object" && address !== null ? address.port : 0)}`;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #tunnel(request: IncomingMessage, socket: Socket, status: number): void {
    this.tunnels.push({ to: request.url ?? "", authorization: request.headers["proxy-authorization"] });
    if (status === 0) {
      socket.resume().on("end", () => socket.destroy());
      return;
    }
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${String(status)} X\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const upstream = connect(Number(request.url?.split(":").at(-1)), "127.0.0.1");
    this.#keep(upstream);
    upstream.once("connect", () => {
      socket.write("HTTP/1.1 200 X\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on("close", () => socket.destroy());
    socket.on("close", () => upstream.destroy());
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
  }
}
