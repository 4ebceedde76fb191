import type { FlowRow, ProjectionTx } from "../ports.js";
import { between, doubled } from "../backoff.js";
import { decideFlow, FLOW_LIFETIME_MS, type FlowNews, isFinished } from "./decide-flow.js";
import { FlowOutcome } from "./flow-outcome.js";
import { FlowRecord } from "./flow-record.js";
import { FlowRequests } from "./flow-requests.js";
import type { FlowsConfig } from "./flows-options.js";
import { Pace } from "./pace.js";
import type { HeldSecret } from "./secret.js";
import { type AuthorizationSession, isOpen } from "./session.js";

/** Why a flow is given up from here. */
export type CancelReason = "cancelled" | "replaced" | "disconnected";

/** What stands in a connector's lane: a flow or a disconnect. Whoever comes after it asks it to leave, and waits. */
export interface LaneHolder {
  /** `undefined` for a disconnect. */
  readonly clientRequestId: string | undefined;
  /** Asks it to leave for a reason. Resolves when it has; does not reject. That can take what its last requests take. */
  makeRoom(reason: CancelReason): Promise<void>;
}

/** How a run begins. */
export interface FlowRunOptions<Tx extends ProjectionTx> {
  readonly config: FlowsConfig<Tx>;
  /** The row to go on with, or the one to write first. */
  readonly row: FlowRow;
  readonly isResumed: boolean;
  readonly secret: HeldSecret | undefined;
  /** Who has to leave first. */
  readonly predecessor: LaneHolder | undefined;
}

/**
 * One flow of one login, from its row to its end: it asks, looks, and writes down what comes of it. It goes on by itself, and
 * ends with the login, which leaves its row to be resumed.
 */
export class FlowRun<Tx extends ProjectionTx> implements LaneHolder {
  readonly outcome: FlowOutcome;
  /** When its row is over, or it was stopped. Never rejects. */
  readonly ended: Promise<void>;
  /** When its outcome is there, too. Never rejects. */
  readonly settled: Promise<void>;
  readonly #config: FlowsConfig<Tx>;
  readonly #pace: Pace;
  readonly #record: FlowRecord<Tx>;
  readonly #requests: FlowRequests;
  /** Aborts the request that runs. */
  #request = new AbortController();
  #row: FlowRow;
  #wanted: CancelReason | undefined;
  /** Somebody waits for it to leave. */
  #isHurried = false;
  #isStopped = false;
  #isOverdue = false;
  #wakes = 0;
  #cancelDeadline: () => void = () => undefined;

  constructor({ config, row, isResumed, secret, predecessor }: FlowRunOptions<Tx>) {
    const { clock, random, sessions } = config;
    this.#config = config;
    this.#row = row;
    this.#record = new FlowRecord(config, isResumed);
    this.#pace = new Pace(clock);
    this.outcome = new FlowOutcome(clock);
    this.#requests = new FlowRequests({ sessions, pace: this.#pace, clock, random, isResumed });
    // Who gave the secret hears of it by the outcome.
    if (secret !== undefined) this.#requests.hold(secret).catch(ignore);
    this.ended = this.#run(predecessor);
    this.settled = this.ended.then(() => this.#converge());
  }

  get row(): FlowRow {
    return this.#row;
  }

  get clientRequestId(): string {
    return this.#row.clientRequestId;
  }

  /** Whether it waits for a secret, and none was given. */
  get wantsSecret(): boolean {
    const { state, nextAction } = this.#row;
    return state === "waiting" && nextAction === "submit_secret" && !this.#requests.hasSecretUnderWay;
  }

  /** Resolves when the control plane took the secret; rejects when it did not. */
  submit(secret: HeldSecret): Promise<void> {
    const submitted = this.#requests.hold(secret);
    this.#pace.hurry();
    return submitted;
  }

  /** The account was fetched, under this number if it was counted: its rows may show what is waited for. */
  look(syncSeq: number | undefined): void {
    this.#record.fetched(syncSeq);
    this.#pace.nudge();
  }

  makeRoom(reason: CancelReason): Promise<void> {
    this.#isHurried = true;
    this.cancel(reason);
    // What is left is the end of its session, which is tried once more, now.
    if (this.#row.state === "cancelling") this.#pace.hurry();
    return this.ended;
  }

  /** Gives the flow up. What runs is interrupted. A connection that was granted stays; a cancellation comes too late then. */
  cancel(reason: CancelReason): void {
    if (this.#wanted === undefined || reason !== "cancelled") this.#wanted = reason;
    // The end of its session is what is wanted.
    if (this.#row.state !== "cancelling") this.#request.abort(new Error("The flow was cancelled."));
    this.#pace.nudge();
    if (!this.#record.isWritten) this.#record.hurry();
  }

  /** Ends the work on it, and leaves its row as it is. */
  stop(error: unknown): void {
    this.#isStopped = true;
    this.outcome.leave(error);
    this.#requests.end(error);
    this.#request.abort(error);
    this.#cancelDeadline();
    this.#pace.nudge();
    this.#record.stop();
  }

  async #run(predecessor: LaneHolder | undefined): Promise<void> {
    await predecessor?.makeRoom("replaced");
    try {
      if (!this.#record.isWritten) await this.#open();
    } catch (error) {
      this.#isStopped = true;
      this.outcome.leave(error);
    }
    this.#limit();
    if (this.#row.state === "authorized") this.outcome.granted(this.#row);
    while (!this.#isStopped && !isFinished(this.#row)) {
      const news = await this.#next();
      if (news !== undefined && !this.#isStopped) await this.#take(news);
    }
    this.#cancelDeadline();
    if (this.#isStopped) return;
    const row = this.#row;
    this.#requests.end(row.state === "connected" ? undefined : this.outcome.failed(row, this.#requests));
    // Whatever it came to at the control plane, the snapshot says.
    if (this.#record.isWritten && row.state !== "connected") this.#config.sync.wake();
  }

  /** The row comes before the first request. Rejects with what the store rejects with. */
  async #open(): Promise<void> {
    await this.#record.ready();
    if (this.#isStopped) return;
    const reason = this.#wanted;
    if (reason === undefined) this.#row = await this.#record.open(this.#row);
    else this.#row = decideFlow(this.#row, { kind: "cancel", reason }, this.#config.clock.now());
  }

  /** What happens next: what was asked for, what the clock or the account's rows say, or what a request brings. */
  async #next(): Promise<FlowNews | undefined> {
    const wanted = this.#wanted;
    this.#wanted = undefined;
    if (wanted !== undefined) return { kind: "cancel", reason: wanted };
    const time: FlowNews = { kind: "time", overdue: this.#isOverdue };
    if (this.#changes(time)) return time;
    const shown = await this.#record.shown(this.#row);
    if (shown !== undefined && this.#changes(shown)) return shown;
    if (!this.#pace.isDue) {
      await this.#pace.wait();
      return undefined;
    }
    return this.#wanted === undefined && !this.#isStopped ? this.#act() : undefined;
  }

  async #act(): Promise<FlowNews | undefined> {
    const row = this.#row;
    const { state, sessionId } = row;
    if (this.#request.signal.aborted) this.#request = new AbortController();
    const { signal } = this.#request;
    if (state === "authorized") {
      this.#wakes += 1;
      const longest = doubled(this.#wakes, 1_000, 60_000);
      this.#pace.later(between(longest / 2, longest, this.#config.random));
      this.#config.sync.wake();
      return undefined;
    }
    if (sessionId === undefined) {
      return this.#requests.begin(row, signal);
    }
    // A successor ends the session by asking for its own; it is not kept waiting for long.
    if (state === "cancelling") return this.#requests.endSession(sessionId, signal, () => this.#isHurried);
    return this.#requests.wait(row, sessionId, signal);
  }

  /** The first answer says what the person has to do. It is kept nowhere. */
  #tell(session: AuthorizationSession): void {
    if (!isOpen(session)) return;
    const { nextAction } = session;
    const isOurs = nextAction?.type === "submit_secret" && this.#requests.holdsSecret;
    this.outcome.begun(this.#row, isOurs ? undefined : nextAction);
    if (nextAction?.type === "redirect") this.#requests.dropSecret();
  }

  #changes(news: FlowNews): boolean {
    return decideFlow(this.#row, news, this.#config.clock.now()) !== this.#row;
  }

  async #take(news: FlowNews): Promise<void> {
    const before = this.#row;
    const next = decideFlow(before, news, this.#config.clock.now());
    if (next === before) return;
    this.#row = next;
    if (next.state !== before.state) {
      this.#requests.reset();
      if (next.state !== "waiting") this.#requests.dropSecret();
      // The session that opens now was just looked at.
      if (before.state !== "starting" || next.state !== "waiting") this.#pace.hurry();
    }
    if (next.state === "authorized" || next.state === "cancelling") this.#limit();
    await this.#record.save(next);
    // Nobody is sent anywhere, or told of a grant, before that is written down, or could not be for a while.
    if (news.kind === "session") this.#tell(news.session);
    if (next.state === "authorized" || next.state === "connected") {
      this.#requests.taken();
      this.outcome.granted(next);
    }
  }

  /** A connection that is shown is all the control plane has to say; now its route may follow. */
  async #converge(): Promise<void> {
    if (!this.#isStopped && this.#row.state === "connected") {
      await this.outcome.converge(this.#row, this.#config.convergence);
    }
  }

  /** A bound that no jump of the wall moves. */
  #limit(): void {
    const { clock } = this.#config;
    const { state, createdAt, updatedAt } = this.#row;
    const age = clock.now() - (state === "authorized" || state === "cancelling" ? updatedAt : createdAt);
    const leftMs = Math.min(FLOW_LIFETIME_MS, Math.max(0, FLOW_LIFETIME_MS - age));
    this.#cancelDeadline();
    this.#isOverdue = false;
    if (this.#isStopped) return;
    this.#cancelDeadline = clock.schedule(leftMs, () => {
      this.#isOverdue = true;
      this.#request.abort(new Error("The flow's time is over."));
      this.#pace.nudge();
    });
  }
}

function ignore(): void {}
