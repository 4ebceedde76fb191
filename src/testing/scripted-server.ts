import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { createSecureContext, type SecureContext, TLSSocket } from "node:tls";
import { RemoteConnectorError } from "../errors.js";
import { answerBody } from "./answer.js";
import { Connection } from "./connection.js";
import { describeRequest } from "./match-request.js";
import { type AnswerPlan, planAnswer } from "./plan-answer.js";
import type { ReceivedRequest } from "./received-request.js";
import { ScriptRun } from "./script-run.js";
import type { Handler, Script } from "./script.js";
import {
  resolveScriptedServerOptions,
  type ScriptedServerConfig,
  type ScriptedServerOptions,
} from "./server-options.js";

/** What a request gets that the script does not expect, so that its sender fails at once. */
const UNEXPECTED = answerBody("The script expects no such request.\n", { status: 500 });

/**
 * A server on a real socket that answers by a script, fault by fault.
 *
 * Requests of one connection are answered in their order, connections beside each other. Nothing it does can fail a test
 * by itself: call {@link verify} at the end. Nothing is left after {@link close}.
 */
export class ScriptedServer {
  readonly #server: Server;
  readonly #run: ScriptRun;
  readonly #config: ScriptedServerConfig;
  readonly #secureContext: SecureContext | undefined;
  readonly #sockets = new Map<Socket, number>();
  readonly #open = new Set<Connection>();
  readonly #requests: ReceivedRequest[] = [];
  #connections = 0;
  #closing: Promise<void> | undefined;

  private constructor(script: Script, config: ScriptedServerConfig) {
    this.#config = config;
    this.#run = new ScriptRun(script, config.order);
    this.#secureContext = config.tls === undefined ? undefined : createSecureContext(config.tls);
    this.#server = createServer({ noDelay: true });
    this.#server.on("connection", (socket) => this.#accept(socket));
  }

  /** Starts a server. Rejects with `listen_failed`, or `invalid_options` (both `not_sent`). */
  static async start(script: Script, options: ScriptedServerOptions = {}): Promise<ScriptedServer> {
    const config = resolveScriptedServerOptions(options);
    const started = new ScriptedServer(script, config);
    const server = started.#server;
    server.listen(config.port, config.host);
    try {
      await once(server, "listening");
    } catch (cause) {
      const address = `${config.host}:${String(config.port)}`;
      throw new RemoteConnectorError("listen_failed", {
        message: `The scripted server can't listen on ${address}.`,
        details: { address, reason: String(Reflect.get(Object(cause), "code")) },
        cause,
      });
    }
    // A connection that can't be accepted any more is the other side's to notice.
    server.on("error", () => undefined);
    return started;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  /** Where a client finds it. */
  get url(): string {
    return `${this.origin}${this.#config.path}`;
  }

  get origin(): string {
    const { tls, host } = this.#config;
    const name = host.includes(":") ? `[${host}]` : host;
    return `${tls === undefined ? "http" : "https"}://${name}:${String(this.port)}`;
  }

  /** The requests so far, in the order of their ends, the unexpected ones included. */
  get requests(): readonly ReceivedRequest[] {
    return this.#requests;
  }

  /** Connections accepted so far. */
  get connections(): number {
    return this.#connections;
  }

  /** The connections that are open now, counted from 0 as {@link ReceivedRequest.connection} is. */
  get openConnections(): readonly number[] {
    return [...this.#sockets.values()];
  }

  /**
   * Throws `script_violated` when a request came that the script did not expect, or one that it expects did not come.
   * The error names each. May be called at any time, and again.
   */
  verify(): void {
    this.#run.verify();
  }

  /** Destroys all connections and stops listening. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const connection of this.#open) connection.close();
    for (const socket of this.#sockets.keys()) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    const index = this.#connections;
    this.#connections += 1;
    this.#sockets.set(socket, index);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    switch (this.#config.connections[index] ?? "serve") {
      case "close":
        socket.resume().end();
        return;
      case "reset":
        socket.resetAndDestroy();
        return;
      case "silent":
        socket.resume();
        return;
      case "serve":
        this.#serve(index, socket);
    }
  }

  #serve(index: number, socket: Socket): void {
    const { clock, closeIdleAfterMs, maxRequestBytes } = this.#config;
    const secureContext = this.#secureContext;
    const stream = secureContext === undefined ? socket : new TLSSocket(socket, { isServer: true, secureContext });
    const connection = new Connection({
      index,
      socket,
      stream,
      clock,
      closeIdleAfterMs,
      maxRequestBytes,
      onRequest: (request) => this.#answer(request),
      onFault: (reason) => this.#run.report(reason),
    });
    this.#open.add(connection);
    socket.on("close", () => this.#open.delete(connection));
  }

  async #answer(request: ReceivedRequest): Promise<AnswerPlan> {
    const { maxRequests } = this.#config;
    if (this.#requests.length >= maxRequests) {
      this.#run.report(`more than ${String(maxRequests)} requests`);
      return planAnswer(UNEXPECTED, request);
    }
    this.#requests.push(request);
    const answer = this.#run.match(request);
    if (answer === undefined) return planAnswer(UNEXPECTED, request);
    try {
      return typeof answer === "function" ? await this.#ask(answer, request) : planAnswer(answer, request);
    } catch (error) {
      this.#run.report(`${describeRequest(request)}: no answer could be given: ${String(error)}`);
      return planAnswer(UNEXPECTED, request);
    }
  }

  async #ask(handler: Handler, request: ReceivedRequest): Promise<AnswerPlan> {
    const answer = await handler(request);
    if (answer !== undefined) return planAnswer(answer, request);
    this.#run.report(`${describeRequest(request)}: the handler has no answer to it`);
    return planAnswer(UNEXPECTED, request);
  }
}
