import { RemoteConnectorError } from "../../../errors.js";
import type { JsonObject } from "../../../protocol/index.js";
import type { LegacyHttpRevision } from "../classify-surface.js";
import type { Listeners } from "../listeners.js";
import type { LocalServerConfig } from "../options.js";
import type { Binding } from "../ports.js";
import { KeptStreams } from "./kept-streams.js";
import { Session } from "./session.js";

export interface SessionsParts {
  readonly config: LocalServerConfig;
  readonly listeners: Listeners;
  /** Whether a request of the session is under way. */
  readonly isRunning: (session: Session) => boolean;
  /** Told, synchronously and once, that a session is over. */
  readonly onEnd: (session: Session) => void;
}

const ID_BYTES = 32;
const TAG_BYTES = 6;
const TICK_MS = 1_000;

/**
 * The sessions that are open now. One timer serves them all: every second while one of them listens or can be resumed,
 * otherwise when the first may be idle for too long; none without a session.
 */
export class Sessions {
  readonly #parts: SessionsParts;
  readonly #kept: KeptStreams;
  readonly #byId = new Map<string, Session>();
  #timer: { readonly dueAt: number; readonly cancel: () => void } | undefined;
  #closed = false;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    const { maxKeptBytes: maxBytes, resumeWindowMs: keepMs } = parts.config;
    this.#kept = new KeptStreams({ maxBytes, keepMs });
  }

  get size(): number {
    return this.#byId.size;
  }

  /**
   * Opens a session for whoever holds the binding's bearer, and can be asked what `askable` declares. When `maxSessions` are open, an idle one ends: of the binding that has
   * the most, the one that was idle for the longest time. Throws `limit_exceeded` when none is idle.
   */
  create(binding: Binding, revision: LegacyHttpRevision, askable?: JsonObject): Session {
    const { config, listeners } = this.#parts;
    this.#makeRoom();
    const session = new Session({
      id: this.#random(ID_BYTES),
      tag: this.#random(TAG_BYTES),
      binding,
      revision,
      askable,
      config,
      kept: this.#kept,
      listeners,
      onActive: () => this.#schedule(TICK_MS),
    });
    this.#byId.set(session.id, session);
    this.#schedule(config.sessionIdleMs);
    return session;
  }

  /** The binding's session with an id; `undefined` when it has none. Counts as a use. */
  find(id: string, binding: Binding): Session | undefined {
    const session = this.#byId.get(id);
    if (session === undefined || session.binding !== binding) return undefined;
    if (this.#isExpired(session)) {
      this.end(session);
      return undefined;
    }
    session.touch();
    return session;
  }

  /** Ends one. Nothing happens when it has ended already. */
  end(session: Session): void {
    if (!this.#byId.delete(session.id)) return;
    this.#parts.onEnd(session);
    session.end();
    if (this.#byId.size === 0) this.#stop();
  }

  /** Ends those of a binding. */
  endOf(binding: Binding): void {
    for (const session of this.#byId.values()) if (session.binding === binding) this.end(session);
  }

  /** Whether an agent listens under the binding. */
  isBusy(binding: Binding): boolean {
    for (const session of this.#byId.values()) if (session.binding === binding && session.isListening) return true;
    return false;
  }

  /** Ends all, and the timer for good. */
  close(): void {
    this.#closed = true;
    for (const session of this.#byId.values()) this.end(session);
    this.#stop();
  }

  #random(size: number): string {
    return Buffer.from(this.#parts.config.randomBytes(size)).toString("base64url");
  }

  #makeRoom(): void {
    const { maxSessions: limit } = this.#parts.config;
    if (this.#byId.size < limit) return;
    const counts = new Map<Binding, number>();
    for (const { binding } of this.#byId.values()) counts.set(binding, (counts.get(binding) ?? 0) + 1);
    // An agent that begins sessions again and again must not take those of the others.
    const [first] = [...this.#byId.values()]
      .filter((session) => !this.#isBusy(session))
      .toSorted((a, b) => (counts.get(b.binding) ?? 0) - (counts.get(a.binding) ?? 0) || a.lastUsedAt - b.lastUsedAt);
    if (first === undefined) throw allBusy(limit);
    this.end(first);
  }

  #isBusy(session: Session): boolean {
    return session.isListening || this.#parts.isRunning(session);
  }

  #isExpired(session: Session): boolean {
    const { clock, sessionIdleMs } = this.#parts.config;
    return clock.now() - session.lastUsedAt >= sessionIdleMs && !this.#isBusy(session);
  }

  /** Has the timer fire in `delayMs` at the latest. */
  #schedule(delayMs: number): void {
    const { clock } = this.#parts.config;
    const dueAt = clock.now() + delayMs;
    if (this.#closed || dueAt === Infinity || (this.#timer !== undefined && this.#timer.dueAt <= dueAt)) return;
    this.#timer?.cancel();
    this.#timer = { dueAt, cancel: clock.schedule(delayMs, () => this.#tick()) };
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #tick(): void {
    this.#timer = undefined;
    const { clock, sessionIdleMs } = this.#parts.config;
    const now = clock.now();
    this.#kept.sweep(now);
    let delayMs = this.#kept.size > 0 ? TICK_MS : Infinity;
    for (const session of this.#byId.values()) {
      if (this.#isExpired(session)) {
        this.end(session);
        continue;
      }
      const idleInMs = Math.max(TICK_MS, session.lastUsedAt + sessionIdleMs - now);
      delayMs = Math.min(delayMs, session.tick(now) ? TICK_MS : idleInMs);
    }
    this.#schedule(delayMs);
  }
}

function allBusy(limit: number): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message: `${String(limit)} sessions are busy; end one, or raise maxSessions.`,
    details: { option: "maxSessions", limit },
  });
}
