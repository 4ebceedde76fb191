import type { RemoteConnectorError } from "../../errors.js";
import type { Diagnostic, JsonObject } from "../../protocol/index.js";
import { closedError, type HttpEndpoint, type LifetimeLimits } from "../../transport/index.js";
import type { CallSpec } from "../connection.js";
import type { ServerIntroduction } from "../initialize.js";
import { readResult } from "../read-answer.js";
import { openSession } from "./handshake.js";
import type { LegacyHttpConfig } from "./options.js";
import { deleteSession } from "./post-message.js";
import type { RequestScope, Session } from "./session.js";
import type { BoundCall } from "./session-call-ports.js";
import { SessionSetup, type SetupRequest } from "./session-setup.js";

/** What the keeping of sessions needs of its connection. */
export interface SessionKeeperHost {
  readonly config: LegacyHttpConfig;
  readonly isClosed: boolean;
  /** Where messages go that must not wait for calls. */
  sideEndpoint(): HttpEndpoint;
  call<T>(spec: CallSpec<T>, bound: BoundCall): Promise<T>;
  /** The session is lost: nothing of it counts any more. */
  onLost(): void;
  /** A later session is there; calls still wait for it. */
  onReplaced(session: Session): void;
  report(diagnostic: Diagnostic): void;
}

/** How long the end of a session may take. */
const DELETE_LIMITS: LifetimeLimits = { connectTimeoutMs: 3_000, idleTimeoutMs: 3_000, totalTimeoutMs: 3_000 };

/**
 * Keeps the one session that calls use. One that the server doesn't know any more is replaced by one handshake, however many
 * calls were refused, and set up like the one before.
 *
 * Source: 2025-11-25, Transports, Session Management.
 */
export class SessionKeeper {
  readonly #host: SessionKeeperHost;
  readonly #setup = new SessionSetup();
  #session: Session | undefined;
  /** Opened by the server, and not ready for calls yet. */
  #opening: RequestScope | undefined;
  #renewal: Promise<Session> | undefined;
  #generation = 0;

  constructor(host: SessionKeeperHost) {
    this.#host = host;
  }

  /** The last session that was ready for calls; it may be lost. */
  get last(): Session | undefined {
    return this.#session;
  }

  /** Where messages of ours belong now, before it is ready for calls, too. */
  get newest(): RequestScope | undefined {
    return this.#opening ?? this.#session;
  }

  /** Opens the first session. Rejects as a handshake does; `onSent` is told whose delivery verdict is the rejection's. */
  async open(
    endpoint: HttpEndpoint,
    signal: AbortSignal | undefined,
    onSent: (sent: Promise<unknown>) => void,
  ): Promise<Session> {
    this.#generation += 1;
    const session = await openSession({
      config: this.#host.config,
      endpoint,
      generation: this.#generation,
      signal,
      call: (spec, bound) => this.#host.call(spec, bound),
      onOpened: (opened) => {
        // Of the one before nothing came.
        this.#abandon(endpoint);
        this.#opening = opened;
      },
      onSent,
    });
    this.#opening = undefined;
    this.#session = session;
    return session;
  }

  /** The session to use; a promise while there is none. */
  use(): Session | Promise<Session> {
    const session = this.#session;
    if (this.#renewal === undefined && session !== undefined && !session.isLost) return session;
    return this.renew(session?.generation ?? 0);
  }

  /** The session after the one of this generation, which the server doesn't know any more. */
  renew(generation: number): Session | Promise<Session> {
    if (this.#renewal !== undefined) return this.#renewal;
    const session = this.#session;
    // A refusal that comes late is one of a session that was replaced.
    if (session !== undefined && session.generation !== generation && !session.isLost) return session;
    if (this.#host.isClosed) return refused(closedError());
    if (session !== undefined) session.isLost = true;
    const renewal = this.#renew().finally(() => {
      this.#renewal = undefined;
    });
    // Those who wait for it may all have left by then.
    renewal.catch(ignore);
    this.#renewal = renewal;
    return renewal;
  }

  /** A request succeeded: what it set up belongs to the session. */
  remember(method: string, params: JsonObject | undefined): void {
    this.#setup.remember(method, params);
  }

  /** Ends the session on the server. Never rejects. */
  async end(): Promise<void> {
    const scope = this.#opening ?? (this.#session?.isLost === true ? undefined : this.#session);
    if (scope?.id === undefined) return;
    await deleteSession(this.#host.sideEndpoint(), scope, DELETE_LIMITS);
  }

  async #renew(): Promise<Session> {
    const before = this.#session?.introduction;
    this.#host.onLost();
    const endpoint = this.#host.sideEndpoint();
    const session = await this.open(endpoint, undefined, ignore).catch((error: unknown) => {
      this.#abandon(endpoint);
      throw error;
    });
    if (before !== undefined) this.#reportRenewal(before, session.introduction);
    this.#host.onReplaced(session);
    await Promise.all(this.#setup.requests().map((request) => this.#restore(session, endpoint, request)));
    return session;
  }

  /** A session that the server opened and that came to nothing is ended. */
  #abandon(endpoint: HttpEndpoint): void {
    const opened = this.#opening;
    if (this.#host.isClosed) return;
    this.#opening = undefined;
    if (opened?.id !== undefined) void deleteSession(endpoint, opened, DELETE_LIMITS);
  }

  async #restore(scope: Session, endpoint: HttpEndpoint, { method, params }: SetupRequest): Promise<void> {
    const spec = {
      method,
      params,
      meta: undefined,
      cancellable: true,
      limits: this.#host.config.lifecycleDeadlines,
      totalOption: "lifecycleTimeoutMs",
      read: readResult,
    };
    try {
      await this.#host.call(spec, { scope, endpoint });
    } catch {
      const message = `What ${method} had set up could not be set up again in a new session.`;
      this.#host.report({ kind: "not_restored", message, subject: method });
    }
  }

  #reportRenewal(before: ServerIntroduction, now: ServerIntroduction): void {
    this.#host.report({ kind: "session_replaced", message: "The server lost its session; a new one was opened." });
    for (const subject of ["revision", "capabilities"] as const) {
      if (JSON.stringify(before[subject]) === JSON.stringify(now[subject])) continue;
      const message = `The server's ${subject} changed from one session to the next.`;
      this.#host.report({ kind: "introduction_changed", message, subject });
    }
  }
}

/** A rejection that nobody has to hear. */
function refused(reason: RemoteConnectorError): Promise<never> {
  const rejected = Promise.reject(reason);
  rejected.catch(ignore);
  return rejected;
}

function ignore(): void {
  // There is nobody who wants to know.
}
