import type { ServerResponse } from "node:http";
import type { JsonObject, RequestId } from "../../../protocol/index.js";
import { type LogLevel, notificationLine } from "../../../serving/index.js";
import type { QuestionStream } from "../agent-question.js";
import type { LegacyHttpRevision } from "../classify-surface.js";
import type { ExchangeSession, ResumableStream } from "../exchange.js";
import type { LegacySession } from "../legacy-methods.js";
import type { Listener, Listeners, ListKind } from "../listeners.js";
import type { LocalServerConfig } from "../options.js";
import type { AgentInput, Binding } from "../ports.js";
import { ResourceWatches } from "../resource-watches.js";
import { CallStreams } from "./call-streams.js";
import { parseEventId } from "./event-id.js";
import { EventStream } from "./event-stream.js";
import type { KeptStreams } from "./kept-streams.js";
import { SessionAsks } from "./session-asks.js";

export interface SessionOptions {
  /** The secret that an agent names it by. */
  readonly id: string;
  /** What its event ids begin with. */
  readonly tag: string;
  readonly binding: Binding;
  readonly revision: LegacyHttpRevision;
  /** What its agent declared that it can be asked, in the newest form; `undefined`: nothing. */
  readonly askable: JsonObject | undefined;
  readonly config: LocalServerConfig;
  readonly kept: KeptStreams;
  readonly listeners: Listeners;
  /** Told when it has something to do from now on, once a second. */
  readonly onActive: () => void;
}

/** What came of a GET. */
export type ListenVerdict = "opened" | "unknown_event" | "too_many";

/** The one revision in which events without a message are allowed, so that a stream can be resumed from its beginning. */
const PRIMING_REVISION = "2025-11-25";
/** How long a request may take before its answer becomes a stream that can be resumed. */
const STREAM_AFTER_MS = 1_000;
/** The number of the stream that agents listen on. Those of requests count from 1. */
const LISTENING = 0;

/**
 * What is remembered of one agent of a legacy revision: its log level, the resources it watches, what it is asked over the streams of
 * its requests, the stream on which it listens, and the streams of its requests, all of which can be resumed.
 *
 * Source: 2025-11-25, Transports, Session Management.
 */
export class Session implements ExchangeSession, LegacySession, Listener {
  readonly id: string;
  readonly binding: Binding;
  readonly revision: LegacyHttpRevision;
  readonly lists: ReadonlySet<ListKind>;
  readonly streamAfterMs: number | undefined;
  /** What its agent is asked; `undefined` when it can't be. */
  readonly asks: SessionAsks | undefined;
  /** When a request of it, or its stream, began or ended last. */
  lastUsedAt: number;
  readonly #options: SessionOptions;
  readonly #watches: ResourceWatches;
  readonly #listening: EventStream;
  readonly #calls: CallStreams;
  #logLevel: LogLevel | undefined;
  /** Set while it is told of changes: from when it first listened until it was away for too long. */
  #stopListening: (() => void) | undefined;
  #hasListened = false;

  constructor(options: SessionOptions) {
    const { config, binding, revision } = options;
    const { directory, clock } = config;
    this.#options = options;
    this.id = options.id;
    this.binding = binding;
    this.revision = revision;
    this.lists = new Set<ListKind>([
      "tools",
      ...(directory.prompts === undefined ? [] : ["prompts" as const]),
      ...(directory.resources === undefined ? [] : ["resources" as const]),
    ]);
    this.streamAfterMs = revision === PRIMING_REVISION ? STREAM_AFTER_MS : undefined;
    this.lastUsedAt = clock.now();
    const { maxPendingAsks, maxResourceSubscriptions, subscribeTimeoutMs } = config;
    const { askable, tag } = options;
    this.asks = askable && new SessionAsks({ tag, revision, capabilities: askable, maxPendingAsks });
    this.#watches = new ResourceWatches({
      binding,
      resources: directory.resources,
      clock,
      maxResourceSubscriptions,
      subscribeTimeoutMs,
      onUpdated: (uri) => this.#tellUpdated(uri),
    });
    this.#listening = this.#createStream(LISTENING);
    const { kept, onActive } = options;
    const create = this.#createStream.bind(this);
    this.#calls = new CallStreams({ config, kept, create, onKept: onActive });
  }

  get logLevel(): LogLevel | undefined {
    return this.#logLevel;
  }

  /** Whether an agent is connected to its listening stream. */
  get isListening(): boolean {
    return this.#listening.isAttached;
  }

  touch(): void {
    this.lastUsedAt = this.#options.config.clock.now();
  }

  setLogLevel(level: LogLevel): void {
    this.#logLevel = level;
  }

  subscribe(uri: string, connectorKey: string | undefined): Promise<void> {
    return this.#watches.add(uri, connectorKey);
  }

  unsubscribe(uri: string): void {
    this.#watches.remove(uri);
  }

  /** Sends a notification to whoever listens, now or when it comes back. */
  notify(method: string, params: JsonObject): void {
    this.#listening.send(notificationLine(method, params));
  }

  openStream(requestId: RequestId, response: ServerResponse): ResumableStream | undefined {
    return this.#calls.open(requestId, response);
  }

  inputOver(stream: QuestionStream): AgentInput | undefined {
    return this.asks?.inputOver(stream);
  }

  /**
   * Answers a GET: with the listening stream, or, with the id of an event, with what comes after it on the stream that it was
   * sent on. A listening agent that missed something that is gone is told that everything it listens for changed; a request
   * whose answer is gone is answered with an error.
   *
   * Writes nothing for an id of no event of this session that is still known, nor when `maxSubscriptions` listen already.
   */
  listen(response: ServerResponse, lastEventId: string | undefined): ListenVerdict {
    // An empty id is what a reader has that saw none. Source: HTML Standard, Server-sent events.
    if (lastEventId === undefined || lastEventId === "") return this.#listen(response, undefined);
    const place = parseEventId(lastEventId);
    if (place === undefined || place.tag !== this.#options.tag) return "unknown_event";
    const { stream, position } = place;
    if (stream !== LISTENING) return this.#calls.resume(response, stream, position) ? "opened" : "unknown_event";
    return this.#listening.hasReached(position) ? this.#listen(response, position) : "unknown_event";
  }

  /** Does what is due at `now`; says whether there will be more to do. */
  tick(now: number): boolean {
    const { keepAliveMs, resumeWindowMs } = this.#options.config;
    if (now - this.#listening.detachedAt >= resumeWindowMs) this.#stopBeingTold();
    this.#listening.keepAlive(now - keepAliveMs);
    return this.#stopListening !== undefined;
  }

  /** Ends it. Requests that run still get their answers, over the connections that they have. */
  end(): void {
    this.#stopBeingTold();
    this.#watches.clear();
    this.#listening.end();
    this.#listening.forget();
    this.#calls.end();
  }

  #listen(response: ServerResponse, position: number | undefined): ListenVerdict {
    const { listeners, config, onActive } = this.#options;
    const isNew = this.#stopListening === undefined;
    if (isNew && listeners.countOf(this.binding) >= config.maxSubscriptions) return "too_many";
    const wasAway = this.#hasListened && isNew;
    const missed = wasAway || !this.#listening.isWholeAfter(position);
    this.#hasListened = true;
    this.#stopListening ??= listeners.add(this);
    this.#listening.attach(response, position);
    onActive();
    if (missed) this.#tellEverything();
    return "opened";
  }

  #tellEverything(): void {
    for (const kind of this.lists) this.notify(`notifications/${kind}/list_changed`, {});
    for (const uri of this.#watches.uris) this.#tellUpdated(uri);
  }

  #stopBeingTold(): void {
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  #tellUpdated(uri: string): void {
    this.notify("notifications/resources/updated", { uri });
  }

  #createStream(stream: number, onEnd?: (stream: EventStream) => void): EventStream {
    const { tag, config } = this.#options;
    const { clock, maxBufferedBytes, maxStreamEvents, maxStreamBytes, streamRetryMs } = config;
    return new EventStream(
      { tag, stream },
      {
        clock,
        limits: { maxEvents: maxStreamEvents, maxBytes: maxStreamBytes },
        maxBufferedBytes,
        retryMs: this.revision === PRIMING_REVISION ? streamRetryMs : undefined,
        onEnd,
      },
    );
  }
}
