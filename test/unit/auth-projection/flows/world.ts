import {
  AuthorizationFlows,
  type AuthorizationFlowsOptions,
  type AuthorizationSession,
  type FlowConvergence,
  type FlowRow,
  type FlowSessions,
  type KnownSession,
  LoginGuard,
  type ProjectionTx,
  Readiness,
  type RouteOutcome,
  type SessionRequest,
  type Snapshot,
  SnapshotSync,
} from "../../../../src/auth-projection/index.js";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { AccountStore } from "../account-store.js";
import { entry, snapshot } from "../bodies.js";
import { flowRow } from "../../../support/flow-row.js";

export const PAGE = "https://provider.example/authorize?code=person-code";

export function session(members: Partial<AuthorizationSession> = {}): AuthorizationSession {
  return {
    sessionId: "s-1",
    status: "awaiting_user",
    nextAction: { type: "redirect", url: PAGE },
    connectionId: undefined,
    errorCode: undefined,
    ...members,
  };
}

export const succeeded = (connectionId = "c-1"): AuthorizationSession =>
  session({ status: "succeeded", nextAction: undefined, connectionId });

export const wantsSecret = (): AuthorizationSession => session({ nextAction: { type: "submit_secret" } });

export function refusal(status: number, controlCode?: string, retryable?: boolean): RemoteConnectorError {
  return new RemoteConnectorError("control_plane_error", {
    message: "no",
    delivery: status >= 500 ? "unknown" : "answered",
    details: { status, controlCode, controlMessage: undefined, retryable },
  });
}

export function broken(delivery: "not_sent" | "unknown" = "unknown"): RemoteConnectorError {
  const details = { origin: "https://control.example", reason: "reset" };
  return delivery === "unknown"
    ? new RemoteConnectorError("connection_broken", { message: "broken", delivery, details })
    : new RemoteConnectorError("connect_failed", { message: "refused", delivery, details });
}

/** What a request is answered with: a value, a failure, or nothing until it is aborted. */
type Answer<T> = T | Error | "hangs";

/** A control plane whose every answer is said by the test, and which remembers what it was asked. */
class ScriptedSessions implements FlowSessions {
  readonly asked: string[] = [];
  readonly begun: SessionRequest[] = [];
  /** Copies, since the bytes that are given are wiped. */
  readonly secrets: string[] = [];
  /** The bytes themselves. */
  readonly given: Uint8Array[] = [];
  /** Said once each, in order, before the standing answers below. */
  readonly next = {
    begin: new Array<Answer<AuthorizationSession>>(),
    complete: new Array<Answer<AuthorizationSession>>(),
    observe: new Array<Answer<AuthorizationSession>>(),
    end: new Array<Answer<undefined>>(),
    disconnect: new Array<Answer<undefined>>(),
  };
  onBegin: Answer<AuthorizationSession> = session();
  onComplete: Answer<AuthorizationSession> = succeeded();
  onObserve: Answer<AuthorizationSession> = session({ nextAction: undefined });

  begin(request: SessionRequest, signal: AbortSignal): Promise<AuthorizationSession> {
    this.begun.push(request);
    return this.#answer("begin", request.clientRequestId, this.next.begin.shift() ?? this.onBegin, signal);
  }

  async complete(known: KnownSession, secret: Uint8Array, signal: AbortSignal): Promise<AuthorizationSession> {
    const { sessionId } = known;
    this.given.push(secret);
    this.secrets.push(new TextDecoder().decode(secret));
    const answer = this.next.complete.shift() ?? this.onComplete;
    return { ...(await this.#answer("complete", sessionId, answer, signal)), sessionId };
  }

  async observe({ sessionId }: KnownSession, signal: AbortSignal): Promise<AuthorizationSession> {
    const answer = this.next.observe.shift() ?? this.onObserve;
    return { ...(await this.#answer("observe", sessionId, answer, signal)), sessionId };
  }

  async end(sessionId: string, signal: AbortSignal): Promise<void> {
    await this.#answer("end", sessionId, this.next.end.shift(), signal);
  }

  async disconnect(connectorKey: string, signal: AbortSignal): Promise<void> {
    await this.#answer("disconnect", connectorKey, this.next.disconnect.shift(), signal);
  }

  /** Fails the request that hangs. */
  fail: (error: Error) => void = () => undefined;

  count(method: keyof FlowSessions): number {
    return this.asked.filter((one) => one.startsWith(`${method} `)).length;
  }

  #answer<T>(method: keyof FlowSessions, about: string, answer: Answer<T>, signal: AbortSignal): Promise<T> {
    this.asked.push(`${method} ${about}`);
    return new Promise((resolve, reject) => {
      if (signal.aborted) reject(signal.reason);
      else if (answer instanceof Error) reject(answer);
      else if (answer === "hangs") {
        this.fail = reject;
        signal.addEventListener("abort", () => reject(signal.reason));
      } else resolve(answer);
    });
  }
}

/** Routes that converge when the test says so. */
class ScriptedRoutes implements FlowConvergence {
  readonly waiting: { readonly what: string; readonly settle: (outcome: RouteOutcome) => void }[] = [];
  readonly signals: AbortSignal[] = [];
  /** Answered at once when set. */
  standing: RouteOutcome | Error | undefined = { reached: true, reason: undefined };
  /** What is said when the time is over. */
  lastWord: RouteOutcome | undefined;

  published(connectorKey: string, connectionId: string, signal: AbortSignal): Promise<RouteOutcome> {
    return this.#wait(`published ${connectorKey} ${connectionId}`, signal);
  }

  withdrawn(connectorKey: string, signal: AbortSignal): Promise<RouteOutcome> {
    return this.#wait(`withdrawn ${connectorKey}`, signal);
  }

  #wait(what: string, signal: AbortSignal): Promise<RouteOutcome> {
    this.signals.push(signal);
    const { standing } = this;
    if (standing instanceof Error) return Promise.reject(standing);
    return new Promise((resolve) => {
      this.waiting.push({ what, settle: resolve });
      signal.addEventListener("abort", () => {
        if (this.lastWord !== undefined) resolve(this.lastWord);
      });
      if (standing !== undefined) resolve(standing);
    });
  }
}

/** One account at one control plane, with a real sync and a real store under a clock that is stepped. */
export class World {
  readonly clock = new FakeClock();
  /** How far the wall of the flows is set forwards. Timers don't follow it. */
  wallAheadMs = 0;
  readonly store = new AccountStore();
  readonly sessions = new ScriptedSessions();
  readonly routes = new ScriptedRoutes();
  readonly logins = new LoginGuard({ authorize: () => ({}) });
  readonly changes: FlowRow[] = [];
  readonly troubles: unknown[] = [];
  /** The body of the next snapshots, or when it comes. */
  shown: Snapshot | Error | Promise<Snapshot> = snapshot(1);
  fetches = 0;
  #revision = 1;
  #requests = 0;
  #sync: SnapshotSync<ProjectionTx> | undefined;
  #flows: AuthorizationFlows<ProjectionTx> | undefined;

  get flows(): AuthorizationFlows<ProjectionTx> {
    return this.#flows ?? this.login();
  }

  /** Signs the account in, with what a host makes for a login. */
  login(options: Partial<AuthorizationFlowsOptions<ProjectionTx>> = {}): AuthorizationFlows<ProjectionTx> {
    const { clock, logins, store } = this;
    const login = logins.signIn("acc");
    const base = { login, logins, store, clock, random: () => 0.5 };
    this.#sync = new SnapshotSync<ProjectionTx>({
      ...base,
      readiness: new Readiness(),
      scopeEpoch: `e-${String(login.generation)}`,
      source: {
        fetch: async () => {
          this.fetches += 1;
          if (this.shown instanceof Error) throw this.shown;
          return this.shown;
        },
      },
      onChanged: () => undefined,
      onEvent: (event) => {
        if (event.kind === "applied" || event.kind === "confirmed") this.#flows?.synchronized(event);
      },
    });
    this.#flows = new AuthorizationFlows<ProjectionTx>({
      ...base,
      clock: {
        now: () => clock.now() + this.wallAheadMs,
        schedule: (delayMs, run) => clock.schedule(delayMs, run),
      },
      sessions: this.sessions,
      sync: this.#sync,
      convergence: this.routes,
      onChange: (row) => this.changes.push(row),
      onTrouble: (error) => this.troubles.push(error),
      mintRequestId: () => `r-${String((this.#requests += 1))}`,
      ...options,
    });
    return this.#flows;
  }

  /** Something says that authorizations changed. */
  hint(): void {
    this.#sync?.wake();
  }

  signOut(): void {
    this.logins.signOut();
    this.#flows = undefined;
  }

  /** From the next fetch on, the connector is connected with this connection. */
  show(connectionId: string, connectionVersion = 1, connectorKey = "github"): void {
    this.#revision += 1;
    this.shown = snapshot(this.#revision, [entry(connectorKey, { connectionId, connectionVersion })]);
  }

  /** From the next fetch on, nothing is connected. */
  showNothing(): void {
    this.#revision += 1;
    this.shown = snapshot(this.#revision);
  }

  async row(clientRequestId = "r-1"): Promise<FlowRow | undefined> {
    return this.store.read((tx) => tx.flows.get("acc", clientRequestId));
  }

  /** A row that an earlier process left. */
  async leave(members: Partial<FlowRow>): Promise<void> {
    const now = this.clock.now();
    const row = flowRow({ clientRequestId: "left", createdAt: now, updatedAt: now, ...members });
    await this.store.write((tx) => tx.flows.put(row));
  }

  async close(): Promise<void> {
    await this.#flows?.close();
    await this.#sync?.close();
  }
}

/** What became of a promise so far. */
export function track<T>(promise: Promise<T>): { value: T | undefined; error: unknown; readonly promise: Promise<T> } {
  const tracked: { value: T | undefined; error: unknown; readonly promise: Promise<T> } = {
    value: undefined,
    error: undefined,
    promise,
  };
  promise.then(
    (value) => (tracked.value = value),
    (error: unknown) => (tracked.error = error),
  );
  return tracked;
}
