import { createHash } from "node:crypto";
import type { Clock } from "../../transport/index.js";
import { advanceSession, type AuthorizationSession, isOver, newSession, type SessionEvent } from "./session.js";

export interface SessionBookOptions {
  readonly clock: Clock;
  readonly random: (size: number) => Uint8Array;
  /** How long a session may take. */
  readonly sessionMs: number;
  /** How long one that is over is kept. */
  readonly keepMs: number;
  /** The most sessions at a time. */
  readonly maxSessions: number;
}

/** What an account asks for when it begins a session. */
export interface SessionRequest {
  readonly accountId: string;
  readonly connectorId: string;
  readonly connectorVersion: string;
  readonly clientRequestId: string;
  /** Cancels a session of the account and connector that is not over. */
  readonly replacesActive: boolean;
}

/** What came of it. */
export type SessionStart =
  | { readonly kind: "begun"; readonly session: AuthorizationSession }
  /** The same was asked for before. */
  | { readonly kind: "known"; readonly session: AuthorizationSession }
  /** The `clientRequestId` was used for another connector or version. */
  | { readonly kind: "conflict" }
  | { readonly kind: "in_progress" }
  | { readonly kind: "full" };

/** What belongs to a redirect: how its answer is recognized, and what the code is exchanged with. */
export interface RedirectAttempt {
  readonly state: string;
  readonly codeVerifier: string;
}

interface Entry {
  session: AuthorizationSession;
  /** Present while the account is at the authorization server. */
  attempt: { readonly stateHash: string; readonly codeVerifier: string } | undefined;
}

/**
 * The authorization sessions of all accounts, in memory. One that is not over holds its account and connector, one that is
 * over is kept for a while; time is looked at whenever the book is used, so that no timer is needed.
 */
export class SessionBook {
  readonly #options: SessionBookOptions;
  /** In the order in which they began. */
  readonly #entries = new Map<string, Entry>();

  constructor(options: SessionBookOptions) {
    this.#options = options;
  }

  /** Begins a session, or finds the one that was begun with the same `clientRequestId`. */
  begin(request: SessionRequest): SessionStart {
    this.#sweep();
    const { accountId, clientRequestId, connectorId, connectorVersion, replacesActive } = request;
    const own = this.#sessions().filter((session) => session.accountId === accountId);
    const known = own.find((session) => session.clientRequestId === clientRequestId);
    if (known !== undefined) {
      const isSame = known.connectorId === connectorId && known.connectorVersion === connectorVersion;
      return isSame ? { kind: "known", session: known } : { kind: "conflict" };
    }
    for (const session of own) {
      if (session.connectorId !== connectorId || isOver(session)) continue;
      if (!replacesActive || this.apply(session.sessionId, { kind: "cancel" }) === undefined) {
        return { kind: "in_progress" };
      }
    }
    if (!this.#makeRoom(accountId)) return { kind: "full" };
    const sessionId = `session-${Buffer.from(this.#options.random(18)).toString("base64url")}`;
    const session = newSession(request, sessionId, this.#options.clock.now());
    this.#entries.set(sessionId, { session, attempt: undefined });
    return { kind: "begun", session };
  }

  /** A session of this account; those of others are not there. */
  find(accountId: string, sessionId: string): AuthorizationSession | undefined {
    this.#sweep();
    const session = this.#entries.get(sessionId)?.session;
    return session?.accountId === accountId ? session : undefined;
  }

  /** Sessions of the account and connector that are not over. There is at most one. */
  active(accountId: string, connectorId: string): AuthorizationSession | undefined {
    return this.list().find(
      (session) => session.accountId === accountId && session.connectorId === connectorId && !isOver(session),
    );
  }

  /** All of them, in the order in which they began. */
  list(): readonly AuthorizationSession[] {
    this.#sweep();
    return this.#sessions();
  }

  /** The session after the event, or `undefined` when the event does not apply or there is no such session. */
  apply(sessionId: string, event: SessionEvent, attempt?: RedirectAttempt): AuthorizationSession | undefined {
    this.#sweep();
    const entry = this.#entries.get(sessionId);
    return entry === undefined ? undefined : advance(entry, event, this.#options.clock.now(), attempt);
  }

  /**
   * The session whose redirect an answer belongs to, which is now `PROCESSING`. A state works once, for the connector whose
   * answer it is, and not for a `visitor` who is known to be another account.
   */
  takeState(
    state: string,
    connectorId: string,
    visitor?: string,
  ): { readonly session: AuthorizationSession; readonly codeVerifier: string } | undefined {
    this.#sweep();
    const stateHash = hashOf(state);
    for (const [sessionId, { attempt, session: waiting }] of this.#entries) {
      if (attempt?.stateHash !== stateHash) continue;
      if (connectorId !== waiting.connectorId) return undefined;
      if (visitor !== undefined && visitor !== waiting.accountId) return undefined;
      const session = this.apply(sessionId, { kind: "take" });
      return session === undefined ? undefined : { session, codeVerifier: attempt.codeVerifier };
    }
    return undefined;
  }

  /** Forgets a session that could not be begun: whoever asks again begins anew. False when it is over by now, and stays. */
  drop(sessionId: string): boolean {
    const entry = this.#entries.get(sessionId);
    return entry !== undefined && !isOver(entry.session) && this.#entries.delete(sessionId);
  }

  /** Forgets one that is over, of the account itself if there is one: nobody pushes out what others come back for. */
  #makeRoom(accountId: string): boolean {
    if (this.#entries.size < this.#options.maxSessions) return true;
    const ended = this.#sessions().filter(isOver);
    const oldest = ended.find((session) => session.accountId === accountId) ?? ended[0];
    return oldest !== undefined && this.#entries.delete(oldest.sessionId);
  }

  #sweep(): void {
    const { clock, keepMs, sessionMs } = this.#options;
    const now = clock.now();
    for (const [sessionId, entry] of this.#entries) {
      const { begunAtMs, endedAtMs } = entry.session;
      if (now - begunAtMs >= sessionMs) advance(entry, { kind: "expire" }, now);
      if (endedAtMs !== undefined && now - endedAtMs >= keepMs) this.#entries.delete(sessionId);
    }
  }

  #sessions(): readonly AuthorizationSession[] {
    return [...this.#entries.values()].map(({ session }) => session);
  }
}

function advance(
  entry: Entry,
  event: SessionEvent,
  nowMs: number,
  attempt?: RedirectAttempt,
): AuthorizationSession | undefined {
  const next = advanceSession(entry.session, event, nowMs);
  if (next === undefined) return undefined;
  entry.session = next;
  if (attempt !== undefined) entry.attempt = { stateHash: hashOf(attempt.state), codeVerifier: attempt.codeVerifier };
  if (next.status !== "AWAITING_USER") entry.attempt = undefined;
  return next;
}

/** Looked up by hash, so that the time that a look-up takes says nothing about a state. */
function hashOf(state: string): string {
  return createHash("sha256").update(state, "utf8").digest("base64");
}
