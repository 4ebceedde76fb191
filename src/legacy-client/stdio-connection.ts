import { RemoteConnectorError } from "../errors.js";
import { type Diagnostic, type JsonObject, MessageChannel, type Notification } from "../protocol/index.js";
import { Lifetimes } from "../transport/index.js";
import { ChildProcess, type Envelope, MessageReader, type ProcessExit } from "../transport/process/index.js";
import { ClientListeners } from "./client-listeners.js";
import type { CallSpec, LegacyConnection } from "./connection.js";
import type { ServerIntroduction } from "./initialize.js";
import { type CallHost, type OpenCall, PendingCall } from "./pending-call.js";
import { holdCalls, ServerRequests } from "./server-requests.js";
import type { LegacyStdioConfig } from "./stdio-options.js";

/** A pipe that breaks is mostly the first sign of an exit, which says more; so long is it waited for. */
const EXIT_GRACE_MS = 250;

/**
 * One conversation with one server process: its calls, what it sends by itself, and the end of either.
 *
 * Messages are handled in the order in which they arrive, each to its end. After the end, whoever brought it about, every
 * open call is rejected and every later one refused.
 */
export class StdioConnection implements LegacyConnection {
  readonly #config: LegacyStdioConfig;
  readonly #channel = new MessageChannel<OpenCall>();
  readonly #reader: MessageReader;
  readonly #host: CallHost;
  readonly #served: ServerRequests;
  readonly #listeners: ClientListeners;
  /** All calls that are not settled, those that still wait to be written included. */
  readonly #calls = new Set<OpenCall>();
  /** Calls whose writing failed, which wait for the exit that explains it. */
  readonly #stranded = new Map<OpenCall, Error>();
  #introduction: ServerIntroduction = UNKNOWN;
  #process: ChildProcess | undefined;
  #cancelGrace: (() => void) | undefined;
  /** Makes the error of every call from the end on; `undefined` until then. */
  #end: (() => RemoteConnectorError) | undefined;

  /** Starts the process. Rejects with `spawn_failed` (`not_sent`). */
  static async open(config: LegacyStdioConfig): Promise<StdioConnection> {
    const connection = new StdioConnection(config);
    await connection.#start();
    return connection;
  }

  private constructor(config: LegacyStdioConfig) {
    this.#config = config;
    this.#listeners = new ClientListeners(config);
    const { maxLineBytes, process } = config;
    this.#reader = new MessageReader(
      { maxLineBytes, redaction: process.redaction },
      {
        onMessage: (value, bytes) => this.#receive(value, bytes),
        onOverlong: (envelope) => this.#refuseOverlong(envelope),
        onDiagnostic: (diagnostic) => this.report(diagnostic),
      },
    );
    this.#host = {
      lifetimes: new Lifetimes(config.clock),
      now: () => config.clock.now(),
      onSending: (call) => this.#channel.open(call.id, call),
      onSettled: (call) => this.#forget(call),
      onSendFailed: (call, cause) => this.#strand(call, cause),
      cancelRequest: (id) => this.#sendCancelled(id),
      report: (diagnostic) => this.report(diagnostic),
      telemetry: config.telemetry,
      revision: () => (this.#introduction === UNKNOWN ? undefined : this.#introduction.revision),
    };
    const sendResponse = (text: string): void => this.#sendLine(text);
    const onServing = (isServing: boolean): void => holdCalls(this.#calls, isServing);
    const served = { sendResponse, onServing, serverInfo: () => this.#introduction.serverInfo };
    this.#served = new ServerRequests(served, config.answerer);
  }

  async #start(): Promise<void> {
    this.#process = await ChildProcess.start(
      this.#config.process,
      {
        onOutput: (chunk) => this.#reader.push(chunk),
        onOutputEnd: () => this.#onOutputEnd(),
        onExit: (exit) => this.#onExit(exit),
      },
      this.#config.clock,
    );
  }

  get exited(): Promise<ProcessExit> {
    return this.#process?.exited ?? new Promise(() => undefined);
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** The end of the server's stderr until now. */
  stderrTail(): string {
    return this.#process?.stderrTail() ?? "";
  }

  /** What the server said of itself; until it was initialized, one that declares nothing. */
  get introduction(): ServerIntroduction {
    return this.#introduction;
  }

  /** The server was initialized. From now on lines may hold several messages, where the revision allows it. */
  introduce(introduction: ServerIntroduction): void {
    this.#introduction = introduction;
    if (introduction.revision === "2025-03-26") this.#reader.acceptBatches();
  }

  /** Why no call can be made any more; `undefined` while one can. */
  refusal(): RemoteConnectorError | undefined {
    return this.#end?.();
  }

  /** Sends a request. The very promise that is returned carries the delivery verdict. */
  call<T>(spec: CallSpec<T>): Promise<T> {
    const call = new PendingCall<T>(this.#channel.takeId(), spec, this.#host);
    if (!call.begin()) return call.promise;
    this.#calls.add(call);
    if (this.#served.isServing) call.hold();
    if (this.#end === undefined) this.#enqueue(call);
    else call.failWith(this.#end());
    return call.promise;
  }

  /** Sends a notification, or drops it when the server reads nothing. */
  notify(method: string, params?: JsonObject): void {
    this.#sendLine(
      JSON.stringify(params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params }),
    );
  }

  report(diagnostic: Diagnostic): void {
    this.#config.onDiagnostic(diagnostic);
  }

  /**
   * Ends everything: open calls are rejected with `cancelled` at once, the process is ended. Resolves when nothing is left
   * of it. Never rejects.
   */
  async close(): Promise<void> {
    this.#finish(() => {
      const details = { reason: "the client was closed" };
      return new RemoteConnectorError("cancelled", { message: "The client was closed.", details });
    });
    await this.#process?.close();
  }

  #enqueue(call: OpenCall): void {
    const verdict = this.#process?.send(call);
    if (verdict?.kind === "full") {
      const limit = this.#config.process.maxQueuedMessages;
      const message = "Too many messages wait for the server to read; maxQueuedMessages raises the limit.";
      call.fail("limit_exceeded", message, { option: "maxQueuedMessages", limit });
    } else if (verdict?.kind === "broken") {
      this.#strand(call, verdict.cause);
    }
  }

  #forget(call: OpenCall): void {
    this.#calls.delete(call);
    this.#stranded.delete(call);
    this.#channel.close(call.id);
    this.#process?.withdraw(call);
  }

  #receive(value: unknown, bytes: Uint8Array): void {
    if (this.#end !== undefined) return;
    const reception = this.#channel.receive(value);
    switch (reception.kind) {
      case "answer":
        reception.request.onAnswer(reception.answer, bytes, reception.diagnostic);
        return;
      case "progress":
        reception.request.onProgress(reception.progress);
        return;
      case "notification":
        this.#deliver(reception.notification);
        return;
      case "server_request":
        this.#touchAll();
        this.#served.receive(reception);
        return;
      case "ignored":
        if (reception.diagnostic?.kind === "not_a_message") this.#reader.skipStray(reception.diagnostic.message);
        else if (reception.diagnostic !== undefined) this.report(reception.diagnostic);
    }
  }

  #deliver(notification: Notification): void {
    this.#touchAll();
    if (notification.method === "notifications/cancelled") {
      this.#served.cancel(notification.params);
      return;
    }
    // A copy: a handler may make calls, which this notification came too early for.
    for (const call of Array.from(this.#calls)) call.onNotification(notification);
    this.#listeners.notification(notification);
  }

  /** A message that belongs to no call tells of each that the server is not dead. */
  #touchAll(): void {
    for (const call of this.#calls) call.touch();
  }

  #refuseOverlong(envelope: Envelope): void {
    const limit = this.#config.maxLineBytes;
    const call = envelope.hasMethod ? undefined : this.#channel.forfeit(envelope.id);
    const message = "A line of the server is too long; maxLineBytes raises the limit.";
    if (call === undefined) this.#reader.skipStray(message);
    else call.fail("limit_exceeded", message, { option: "maxLineBytes", limit });
  }

  #sendCancelled(requestId: number): void {
    this.notify("notifications/cancelled", { requestId, reason: "The answer is no longer needed." });
  }

  #sendLine(text: string): void {
    if (this.#end !== undefined) return;
    const verdict = this.#process?.send({ take: () => text, failed: ignore });
    if (verdict?.kind !== "full") return;
    const message = "A message to the server was dropped: too many wait for it to read (maxQueuedMessages).";
    this.report({ kind: "server_request", message });
  }

  #strand(call: OpenCall, cause: Error): void {
    this.#stranded.set(call, cause);
    this.#cancelGrace ??= this.#config.clock.schedule(EXIT_GRACE_MS, () => {
      this.#cancelGrace = undefined;
      for (const [stranded, reason] of this.#stranded) stranded.failWith(this.#broken("its stdin is closed", reason));
    });
  }

  #onOutputEnd(): void {
    this.#reader.end();
    if (this.#end !== undefined) return;
    this.#cancelGrace?.();
    this.#cancelGrace = this.#config.clock.schedule(EXIT_GRACE_MS, () => {
      // It lives on without a way to answer.
      this.#finish(() => this.#broken("its stdout is closed"));
      void this.#process?.close();
    });
  }

  #onExit(exit: ProcessExit): void {
    this.#finish(() => processExited(exit));
  }

  #finish(end: () => RemoteConnectorError): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#cancelGrace?.();
    this.#cancelGrace = undefined;
    this.#served.cancelAll();
    for (const call of this.#calls) call.failWith(end());
  }

  #broken(reason: string, cause?: Error): RemoteConnectorError<"connection_broken"> {
    const origin = this.#config.process.command;
    const message = `The connection to the server process broke: ${reason}.`;
    return new RemoteConnectorError("connection_broken", { message, details: { origin, reason }, cause });
  }
}

const UNKNOWN: ServerIntroduction = {
  revision: "2024-11-05",
  capabilities: {},
  serverInfo: undefined,
  instructions: undefined,
};

/** What is said of calls that a process didn't live to answer. */
function processExited(exit: ProcessExit): RemoteConnectorError<"process_exited"> {
  const { exitCode, signal, stderrTail } = exit;
  const how = signal === undefined ? `exited with code ${String(exitCode ?? "unknown")}` : `was ended by ${signal}`;
  const details = { exitCode, signal, stderrTail };
  return new RemoteConnectorError("process_exited", { message: `The server process ${how}.`, details });
}

function ignore(): void {
  // There is nobody left to tell.
}
