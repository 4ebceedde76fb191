import type { RemoteConnectorError } from "../../errors.js";
import {
  type Diagnostic,
  type DiagnosticKind,
  isJsonObject,
  MessageChannel,
  type Notification,
  plainText,
} from "../../protocol/index.js";
import type { Clock, ProcessConfig } from "../../transport/index.js";
import type { ChildProcess, Envelope, MessageReader, ProcessExit } from "../../transport/process/index.js";
import { subscriptionIdIn } from "../subscription-id.js";
import { lineTooLong, pipeBroken, processExited, queueFull } from "./process-errors.js";
import type { StdioMessage } from "./stdio-message.js";
import { StdioRequest } from "./stdio-request.js";

/** A pipe that breaks is mostly the first sign of an exit, which says more; so long is it waited for. */
const EXIT_GRACE_MS = 250;

/** Who is told of one process. */
export interface ServerProcessEvents {
  /** Of every notification, once. */
  onNotification(method: string, params: unknown): void;
  onDiagnostic(diagnostic: Diagnostic): void;
  /** It serves no more: its messages were failed with the same error. Called once. */
  onEnd(process: ServerProcess, error: RemoteConnectorError): void;
}

/**
 * One life of the server: its process, the messages that it was given, and what each of its lines means for them.
 *
 * It is never answered, whatever it asks. Lines are handled in their order, each to its end. Source: 2026-07-28, stdio.
 */
export class ServerProcess {
  readonly #command: ProcessConfig;
  readonly #clock: Clock;
  readonly #events: ServerProcessEvents;
  readonly #channel = new MessageChannel<StdioRequest>();
  /** Messages that are not over, those that wait to be written included. */
  readonly #messages = new Set<StdioMessage>();
  readonly #reported = new Set<DiagnosticKind>();
  #child: ChildProcess | undefined;
  #reader: MessageReader | undefined;
  #cancelGrace: (() => void) | undefined;
  #pipeIsBroken = false;
  #end: RemoteConnectorError | undefined;

  /** Starts the process. Rejects with `spawn_failed` (`not_sent`). */
  static async open(command: ProcessConfig, clock: Clock, events: ServerProcessEvents): Promise<ServerProcess> {
    const server = new ServerProcess(command, clock, events);
    await server.#start();
    return server;
  }

  private constructor(command: ProcessConfig, clock: Clock, events: ServerProcessEvents) {
    this.#command = command;
    this.#clock = clock;
    this.#events = events;
  }

  async #start(): Promise<void> {
    // Loaded when the first process is started: who only speaks HTTP never pays for it.
    const { ChildProcess, MessageReader, Redaction } = await import("../../transport/process/index.js");
    const { secrets, maxLineBytes, ...settings } = this.#command;
    const redaction = new Redaction(secrets);
    const reader = new MessageReader(
      { maxLineBytes, redaction },
      {
        onMessage: (value, bytes) => this.#receive(value, bytes),
        onOverlong: (envelope) => this.#refuseOverlong(envelope),
        onDiagnostic: (diagnostic) => this.#events.onDiagnostic(diagnostic),
      },
    );
    this.#reader = reader;
    this.#child = await ChildProcess.start(
      { ...settings, redaction },
      {
        onOutput: (chunk) => reader.push(chunk),
        onOutputEnd: () => this.#onOutputEnd(),
        onExit: (exit) => this.#onExit(exit),
      },
      this.#clock,
    );
  }

  /** Whether it can be given messages: neither of its pipes is known to be broken. */
  get isUsable(): boolean {
    return this.#end === undefined && !this.#pipeIsBroken;
  }

  /** What ended it; `undefined` while nothing did. */
  get ended(): RemoteConnectorError | undefined {
    return this.#end;
  }

  /** The end of the server's stderr until now. */
  stderrTail(): string {
    return this.#child?.stderrTail() ?? "";
  }

  /** Writes a message, now or when those before it were taken. False when it can't be given any. */
  send(message: StdioMessage): boolean {
    if (!this.isUsable) return false;
    this.#messages.add(message);
    const verdict = this.#child?.send(message);
    if (verdict?.kind === "full") message.failWith(queueFull(this.#command.maxQueuedMessages));
    if (verdict?.kind !== "broken") return true;
    this.#messages.delete(message);
    this.#pipeIsBroken = true;
    this.#awaitExit(verdict.cause);
    return false;
  }

  /** Has a message that it can't be given fail with what ends it. */
  strand(message: StdioMessage): void {
    if (this.#end === undefined) this.#messages.add(message);
    else message.failWith(this.#end);
  }

  onSending(message: StdioMessage): void {
    if (message instanceof StdioRequest) this.#channel.open(message.id, message);
  }

  /** The message whose writing failed waits with the others for the exit that explains it. */
  onSendFailed(cause: Error): void {
    this.#pipeIsBroken = true;
    this.#awaitExit(cause);
  }

  /** The message is over. `tell`: the server hears that nobody waits for its answer. */
  forget(message: StdioMessage, tell: boolean): void {
    if (!this.#messages.delete(message)) return;
    this.#child?.withdraw(message);
    if (!(message instanceof StdioRequest)) return;
    this.#channel.close(message.id);
    if (tell) this.#sendCancelled(message.id);
  }

  /** Ends the process. Resolves when nothing of it is left. Never rejects; may be called again. */
  async close(): Promise<void> {
    await this.#child?.close();
  }

  #receive(value: unknown, bytes: Uint8Array): void {
    if (this.#end !== undefined) return;
    const reception = this.#channel.receive(value);
    switch (reception.kind) {
      case "answer":
        reception.request.onAnswer(reception.answer, bytes, reception.diagnostic !== undefined);
        return;
      case "progress": {
        const { request, notification } = reception;
        request.touch();
        request.onNotification(notification.method, notification.params, bytes.length);
        return;
      }
      case "notification":
        this.#deliver(reception.notification, bytes.length);
        return;
      case "server_request":
        this.#touchAll();
        this.#report({
          kind: "server_request",
          message: "The server sent a request, which this revision does not allow.",
          subject: plainText(reception.method, 128),
        });
        return;
      case "ignored":
        if (reception.diagnostic?.kind === "not_a_message") this.#reader?.skipStray(reception.diagnostic.message);
        else if (reception.diagnostic !== undefined) this.#report(reception.diagnostic);
    }
  }

  /** To the subscription that it names; one that names none can belong to any call. */
  #deliver({ method, params }: Notification, size: number): void {
    this.#events.onNotification(method, params);
    const members = isJsonObject(params) ? params : {};
    const named = method === "notifications/cancelled" ? members["requestId"] : subscriptionIdIn(members);
    if (named !== undefined || method === "notifications/cancelled") {
      const request = this.#channel.find(named);
      // A server cancels nothing but subscriptions.
      if (request?.isLong !== true) return;
      request.touch();
      request.onNotification(method, params, size);
      return;
    }
    this.#touchAll();
    // A copy: a handler may make calls, which this notification came too early for.
    for (const message of Array.from(this.#messages)) {
      if (message instanceof StdioRequest && !message.isLong) message.onNotification(method, params, size);
    }
  }

  /** A message that belongs to no call tells of each that the server is not dead. */
  #touchAll(): void {
    for (const message of this.#messages) message.touch();
  }

  #refuseOverlong({ id, hasMethod }: Envelope): void {
    const error = lineTooLong(this.#command.maxLineBytes);
    const request = hasMethod ? undefined : this.#channel.forfeit(id);
    if (request === undefined) this.#reader?.skipStray("A line of the server is too long (maxLineBytes).");
    else request.failWith(error);
  }

  #sendCancelled(requestId: number): void {
    if (!this.isUsable) return;
    const params = { requestId, reason: "The answer is no longer needed." };
    const line = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    const verdict = this.#child?.send({ take: () => line, failed: ignore });
    if (verdict?.kind !== "full") return;
    const message = "The server was not told of a request that was given up: it does not read (maxQueuedMessages).";
    this.#report({ kind: "message_dropped", message });
  }

  #onOutputEnd(): void {
    this.#reader?.end();
    this.#pipeIsBroken = true;
    this.#awaitExit();
  }

  /** What explains a broken pipe is the exit, which mostly follows. One that does not follow is brought about. */
  #awaitExit(cause?: Error): void {
    if (this.#end !== undefined) return;
    this.#cancelGrace ??= this.#clock.schedule(EXIT_GRACE_MS, () => {
      this.#finish(pipeBroken(this.#command.command, "its end of a pipe is closed", cause));
      void this.#child?.close();
    });
  }

  #onExit(exit: ProcessExit): void {
    this.#finish(processExited(exit));
  }

  #finish(error: RemoteConnectorError): void {
    if (this.#end !== undefined) return;
    this.#end = error;
    this.#cancelGrace?.();
    for (const message of Array.from(this.#messages)) message.failWith(error);
    this.#events.onEnd(this, error);
  }

  /** Once of each kind: a server that does it does it often. */
  #report(diagnostic: Diagnostic): void {
    if (this.#reported.has(diagnostic.kind)) return;
    this.#reported.add(diagnostic.kind);
    this.#events.onDiagnostic(diagnostic);
  }
}

function ignore(): void {
  // There is nobody left to tell.
}
