import { type Delivery, deliveryOf, isRemoteConnectorError } from "../../errors.js";
import { between, doubled, type Random } from "../backoff.js";
import type { WallClock } from "../clock.js";
import type { FlowRow } from "../ports.js";
import { classifyFailure, type FlowFailure, pauseAfter } from "./classify-failure.js";
import { Deferred } from "./deferred.js";
import type { FlowNews } from "./decide-flow.js";
import type { Pace } from "./pace.js";
import type { HeldSecret } from "./secret.js";
import type { AuthorizationSession, FlowSessions } from "./session.js";

/** Between two looks at a session. */
const LOOK_MS = 2_000;
const LONGEST_LOOK_MS = 30_000;
/** A flow that was just asked for gives up when it could not begin for so long: somebody is waiting. */
const PATIENCE_MS = 60_000;
/** A secret whose answer was lost, and which the session still waits for after so long, did not arrive. */
const SECRET_PATIENCE_MS = 30_000;
/** A session that can't be ended ends by itself. */
const END_ATTEMPTS = 4;

export interface FlowRequestsOptions {
  readonly sessions: FlowSessions;
  readonly pace: Pace;
  readonly clock: WallClock;
  readonly random: Random;
  /** The flow began in an earlier login or process: nobody waits for it, and its secret is gone. */
  readonly isResumed: boolean;
}

/** What a flow asks of the control plane, one request at a time, and when the next one is due. */
export class FlowRequests {
  readonly #options: FlowRequestsOptions;
  #secret: HeldSecret | undefined;
  /** Who waits for the secret to be taken. */
  #submission: Deferred<void> | undefined;
  /** When a secret was sent of which no answer came. */
  #lostSince: number | undefined;
  /** Of requests of the present kind, in a row, and the pauses after them. */
  #failures = 0;
  #pausedMs = 0;
  #delivery: Delivery = "not_sent";
  /** What the last lasting failure was. */
  lastError: unknown;

  constructor(options: FlowRequestsOptions) {
    this.#options = options;
  }

  /** What is known of those that may have changed something. An answer settles what was unknown before it. */
  get delivery(): Delivery {
    return this.#delivery;
  }

  get holdsSecret(): boolean {
    return this.#secret !== undefined;
  }

  /** A secret is to be sent, or was sent and what became of it is not known. */
  get hasSecretUnderWay(): boolean {
    return this.holdsSecret || this.#lostSince !== undefined;
  }

  /** Overwrites a secret that nobody wants, or wants any more. */
  dropSecret(): void {
    this.#wipe();
  }

  /** Takes a secret to send. Resolves when it was taken by the control plane; rejects when it was not. */
  hold(secret: HeldSecret): Promise<void> {
    this.#secret = secret;
    this.#submission = new Deferred<void>();
    return this.#submission.promise;
  }

  /** What the secret was given for has come about. */
  taken(): void {
    this.#submission?.resolve();
  }

  /** Nothing more is asked; the secret is overwritten. */
  end(error: unknown): void {
    this.#wipe();
    this.#submission?.reject(error);
  }

  /** The flow has another state: failures so far were of another kind of request. */
  reset(): void {
    this.#failures = 0;
    this.#pausedMs = 0;
  }

  async begin(row: FlowRow, signal: AbortSignal): Promise<FlowNews | undefined> {
    const { connectorKey, connectorVersion, clientRequestId, replaces } = row;
    const { sessions, pace, clock, isResumed } = this.#options;
    const request = { connectorKey, connectorVersion, clientRequestId, replaces, hasSecret: this.holdsSecret };
    try {
      const session = await sessions.begin(request, signal);
      this.#delivery = "answered";
      if (!this.holdsSecret) pace.later(LOOK_MS);
      return this.#news(session);
    } catch (error) {
      this.#noteDelivery(error);
      if (signal.aborted) return undefined;
      const failure = classifyFailure(error);
      const goesOn = isResumed
        ? failure.kind !== "lasting"
        : failure.kind === "passing" && Math.max(clock.now() - row.createdAt, this.#pausedMs) < PATIENCE_MS;
      if (!goesOn) return this.#refused(error, failure);
      this.#retryLater(error);
      return undefined;
    }
  }

  /** Gives the secret if there is one to give, and looks at the session otherwise. */
  wait(row: FlowRow, sessionId: string, signal: AbortSignal): Promise<FlowNews | undefined> {
    const secret = this.#secret;
    return secret === undefined ? this.#look(row, sessionId, signal) : this.#submit(row, sessionId, secret, signal);
  }

  /** `isHasty`: whether one attempt has to do. */
  async endSession(sessionId: string, signal: AbortSignal, isHasty: () => boolean): Promise<FlowNews | undefined> {
    try {
      await this.#options.sessions.end(sessionId, signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      const isLast = isHasty() || this.#failures + 1 >= END_ATTEMPTS;
      if (!isLast && classifyFailure(error).kind === "passing") {
        this.#retryLater(error);
        return undefined;
      }
    }
    return { kind: "ended" };
  }

  async #look(row: FlowRow, sessionId: string, signal: AbortSignal): Promise<FlowNews | undefined> {
    const { sessions, pace, clock } = this.#options;
    try {
      const session = await sessions.observe({ sessionId, connectorVersion: row.connectorVersion }, signal);
      this.#failures = 0;
      pace.later(LOOK_MS);
      if (!isForPerson(session)) this.#arrived();
      return this.#news(session);
    } catch (error) {
      if (signal.aborted) return undefined;
      const failure = classifyFailure(error);
      if (failure.kind === "lasting") return this.#refused(error, failure);
      this.#failures += 1;
      pace.later(pauseAfter(error, doubled(this.#failures, LOOK_MS, LONGEST_LOOK_MS), clock.now()));
      return undefined;
    }
  }

  /**
   * Sends the secret. It is sent again only after it was certainly not sent, or refused for the moment; what became of one whose
   * answer is not known is found out by looking at the session.
   */
  async #submit(
    row: FlowRow,
    sessionId: string,
    secret: HeldSecret,
    signal: AbortSignal,
  ): Promise<FlowNews | undefined> {
    const { sessions, pace, clock } = this.#options;
    try {
      const known = { sessionId, connectorVersion: row.connectorVersion };
      const session = await sessions.complete(known, secret.bytes, signal);
      this.#wipe();
      this.#failures = 0;
      pace.later(LOOK_MS);
      if (isForPerson(session)) this.#lostSince = clock.now();
      else this.#arrived();
      return this.#news(session);
    } catch (error) {
      const failure = classifyFailure(error);
      const delivery = this.#noteDelivery(error);
      if (signal.aborted) {
        this.#wipe();
        return undefined;
      }
      if (failure.kind === "passing" && delivery !== "unknown") {
        this.#retryLater(error);
        return undefined;
      }
      this.#wipe();
      // A success that can't be read was one all the same.
      const isUnread =
        isRemoteConnectorError(error, "invalid_session") || isRemoteConnectorError(error, "limit_exceeded");
      if (delivery === "unknown" || isUnread) {
        this.#lostSince = clock.now();
        return undefined;
      }
      this.#submission?.reject(error);
      return this.#refused(error, failure);
    }
  }

  /** The session is not waiting for the person any more. */
  #arrived(): void {
    this.#delivery = "answered";
    this.#submission?.resolve();
  }

  /** One that was not sent says nothing about those before it. */
  #noteDelivery(error: unknown): Delivery {
    const delivery = deliveryOf(error) ?? "unknown";
    if (delivery !== "not_sent") this.#delivery = delivery;
    return delivery;
  }

  #news(session: AuthorizationSession): FlowNews {
    const { isResumed, clock } = this.#options;
    const lostSince = this.#lostSince;
    const isLate = lostSince !== undefined && clock.now() - lostSince >= SECRET_PATIENCE_MS;
    return { kind: "session", session, secretLost: isResumed || isLate };
  }

  #refused(error: unknown, { reason, errorCode }: FlowFailure): FlowNews {
    this.lastError = error;
    return { kind: "refused", reason, errorCode };
  }

  #retryLater(error: unknown): void {
    const { pace, random, clock } = this.#options;
    this.#failures += 1;
    const longest = doubled(this.#failures, 1_000, 60_000);
    const pauseMs = pauseAfter(error, between(longest / 2, longest, random), clock.now());
    this.#pausedMs += pauseMs;
    pace.later(pauseMs);
  }

  #wipe(): void {
    this.#secret?.wipe();
    this.#secret = undefined;
  }
}

/** Whether a session still waits for the person. */
function isForPerson({ status }: AuthorizationSession): boolean {
  return status === "created" || status === "awaiting_user";
}
