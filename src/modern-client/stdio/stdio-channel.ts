import type { RemoteConnectorError } from "../../errors.js";
import type { Diagnostic } from "../../protocol/index.js";
import { type Clock, closedError, Lifetimes, RequestSlots } from "../../transport/index.js";
import type {
  Channel,
  ChannelCall,
  ChannelMessage,
  ChannelPorts,
  ChannelRequest,
  NoticeOwner,
  RequestOwner,
} from "../channel.js";
import type { ModernClientConfig } from "../client-options.js";
import type { ClientMeta } from "../request-meta.js";
import { type KeeperOwner, ServerKeeper } from "./server-keeper.js";
import type { ServerProcess } from "./server-process.js";
import type { StdioChannelConfig } from "./stdio-options.js";
import type { MessageHost, StdioMessage } from "./stdio-message.js";
import { StdioNotice, StdioRequest } from "./stdio-request.js";

/**
 * The lines to and from a server that is a child process, started for the first message and again for the first after its
 * end: nothing is lost with a process but what it was given.
 *
 * Source: 2026-07-28, stdio.
 */
export class StdioChannel implements Channel, MessageHost, KeeperOwner {
  readonly clock: Clock;
  readonly lifetimes: Lifetimes;
  readonly slots: RequestSlots;
  readonly meta: ClientMeta;
  readonly #client: ModernClientConfig;
  readonly #ports: ChannelPorts;
  readonly #keeper: ServerKeeper;
  /** All that is not over, and the process that each was given to. */
  readonly #messages = new Map<StdioMessage, ServerProcess | undefined>();
  /** Those that have their turn and no process yet. */
  readonly #waiting = new Set<StdioMessage>();
  #closed: Promise<void> | undefined;

  constructor(config: StdioChannelConfig, client: ModernClientConfig, ports: ChannelPorts) {
    this.#client = client;
    this.#ports = ports;
    this.clock = config.clock;
    this.lifetimes = new Lifetimes(config.clock);
    this.slots = new RequestSlots(config);
    this.meta = client.meta;
    this.#keeper = new ServerKeeper(config, this);
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  get isSpent(): boolean {
    return this.isClosed || this.#keeper.isSpent;
  }

  begin(request: ChannelRequest, owner: RequestOwner): ChannelCall {
    return this.#start(new StdioRequest(request, owner, this));
  }

  notify(notice: ChannelMessage, owner: NoticeOwner): ChannelCall {
    return this.#start(new StdioNotice(notice, owner, this));
  }

  close(): Promise<void> {
    if (this.#closed === undefined) {
      this.#closed = this.#keeper.close();
      // The newest first: those that wait must not be given the turns of those that end.
      for (const message of [...this.#messages.keys()].toReversed()) message.failWith(closedError());
    }
    return this.#closed;
  }

  onTurn(message: StdioMessage): void {
    const process = this.#keeper.current;
    if (process !== undefined && this.#give(message, process)) return;
    this.#waiting.add(message);
    this.#keeper.want();
  }

  onSending(message: StdioMessage): void {
    this.#messages.get(message)?.onSending(message);
  }

  onSendFailed(message: StdioMessage, cause: Error): void {
    this.#messages.get(message)?.onSendFailed(cause);
  }

  onEnded(message: StdioMessage, tell: boolean): void {
    const process = this.#messages.get(message);
    this.#messages.delete(message);
    this.#waiting.delete(message);
    process?.forget(message, tell);
  }

  holdup(): RemoteConnectorError | undefined {
    return this.#keeper.holdup;
  }

  nextId(): number {
    return this.#ports.nextId();
  }

  onNotification(method: string, params: unknown): void {
    this.#ports.heed(method, params);
  }

  onDiagnostic(diagnostic: Diagnostic): void {
    this.#client.onDiagnostic(diagnostic);
  }

  isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  onReady(process: ServerProcess): void {
    for (const message of Array.from(this.#waiting)) {
      if (this.#waiting.delete(message) && !this.#give(message, process)) this.#waiting.add(message);
    }
  }

  onUnready(error: RemoteConnectorError): void {
    for (const message of Array.from(this.#waiting)) message.failWith(error);
  }

  #start(message: StdioMessage): StdioMessage {
    this.#messages.set(message, undefined);
    if (this.isClosed) message.failWith(closedError());
    else message.start();
    return message;
  }

  /** False when the process takes no more messages: the next one will. */
  #give(message: StdioMessage, process: ServerProcess): boolean {
    this.#messages.set(message, process);
    if (process.send(message)) return true;
    if (this.#messages.has(message)) this.#messages.set(message, undefined);
    return false;
  }
}
