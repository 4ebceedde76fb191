import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { RemoteConnectorError } from "../../errors.js";
import type { Clock } from "../../transport/index.js";
import { addressesOf, type LoopbackPlace } from "./loopback-place.js";

/** A browser sends along the cookies of everything that ever ran on this host, whatever its port. */
const MAX_HEADER_BYTES = 32_768;
const REQUEST_TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 64;
/** How long answers may take to reach their browsers once the listener closes. */
const LINGER_MS = 1_000;
/** How often a port that is free on one address only is given back for another. */
const PORT_ATTEMPTS = 5;
/** The machine has no such address: nobody else can have it either. */
const ABSENT: ReadonlySet<string> = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT"]);

/** Answers a request, now or later. */
export type LoopbackHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** HTTP on one port of loopback: bounded in what it takes, and with nothing left of it after its end. */
export class LoopbackListener {
  readonly port: number;
  readonly #servers: readonly Server[];
  readonly #sockets: Set<Socket>;

  /**
   * Listens on all addresses of the place; of two, one that this machine lacks is passed over. Rejects with `listen_failed`.
   */
  static async open(place: LoopbackPlace, handler: LoopbackHandler): Promise<LoopbackListener> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await LoopbackListener.#bind(place, handler);
      } catch (error) {
        const isTaken = error instanceof ListenError && error.reason === "EADDRINUSE";
        if (isTaken && place.port === 0 && attempt < PORT_ATTEMPTS) continue;
        throw error instanceof ListenError ? listenFailed(error.address, error.reason, error.cause) : error;
      }
    }
  }

  static async #bind(place: LoopbackPlace, handler: LoopbackHandler): Promise<LoopbackListener> {
    const sockets = new Set<Socket>();
    const servers: Server[] = [];
    let { port } = place;
    let absent: ListenError | undefined;
    for (const host of addressesOf(place)) {
      const server = createLimitedServer(handler, sockets);
      try {
        port = await listenAt(server, host, port);
        servers.push(server);
      } catch (error) {
        if (error instanceof ListenError && ABSENT.has(error.reason)) {
          absent = error;
          continue;
        }
        await closeAll(servers, sockets);
        throw error;
      }
    }
    if (servers.length === 0 && absent !== undefined) throw absent;
    return new LoopbackListener(port, servers, sockets);
  }

  private constructor(port: number, servers: readonly Server[], sockets: Set<Socket>) {
    this.port = port;
    this.#servers = servers;
    this.#sockets = sockets;
  }

  /**
   * Waits until `answers`, whose ends were written, are on their way, a second at most; then stops listening and ends all connections.
   * Resolves when nothing is left. Never rejects.
   */
  async close(answers: readonly ServerResponse[], clock: Clock): Promise<void> {
    const cancel = clock.schedule(LINGER_MS, () => destroyAll(this.#sockets));
    // Before the server is closed: Node would cut an answer that is not wholly handed over yet.
    await Promise.all(answers.map(hasLeft));
    cancel();
    await closeAll(this.#servers, this.#sockets);
  }
}

function hasLeft(answer: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (answer.writableFinished || answer.destroyed) resolve();
    else answer.once("close", () => resolve());
  });
}

class ListenError extends Error {
  readonly address: string;
  readonly reason: string;

  constructor(address: string, cause: NodeJS.ErrnoException) {
    super(cause.message, { cause });
    this.address = address;
    this.reason = cause.code ?? "unknown";
  }
}

function createLimitedServer(handler: LoopbackHandler, sockets: Set<Socket>): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: 1_000,
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.maxRequestsPerSocket = 1;
  // Node doesn't end connections by itself on which no request ever came, such as browsers open as spares.
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("request", handler);
  return server;
}

/** Answers with the port. Whether others listen on other addresses is not asked: `exclusive` shares it with no other process. */
function listenAt(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const written = `${host.includes(":") ? `[${host}]` : host}:${String(port)}`;
    server.once("error", (error: NodeJS.ErrnoException) => reject(new ListenError(written, error)));
    server.listen({ host, port, exclusive: true }, () => {
      server.removeAllListeners("error");
      // A connection that can't be accepted must not end the process.
      server.on("error", () => undefined);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

async function closeAll(servers: readonly Server[], sockets: ReadonlySet<Socket>): Promise<void> {
  const ends = servers.map((server) => new Promise<void>((resolve) => void server.close(() => resolve())));
  destroyAll(sockets);
  await Promise.all(ends);
}

function destroyAll(sockets: ReadonlySet<Socket>): void {
  for (const socket of sockets) socket.destroy();
}

/** For an address that nobody can listen on now. */
export function listenFailed(address: string, reason: string, cause?: unknown): RemoteConnectorError<"listen_failed"> {
  return new RemoteConnectorError("listen_failed", {
    message: `Can't wait for a browser on ${address}: ${reason}.`,
    details: { address, reason },
    cause,
  });
}
