import fc from "fast-check";
import { expect, it } from "vitest";
import {
  AuthorizationFlows,
  type AuthorizationSession,
  type FlowRow,
  type FlowSessions,
  LoginGuard,
  type ProjectionTx,
  Readiness,
  type SessionStatus,
  SnapshotSync,
} from "../../../../src/auth-projection/index.js";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import { FakeClock, settle } from "../../../support/fake-clock.js";
import { AccountStore } from "../account-store.js";
import { entry, snapshot } from "../bodies.js";
import { broken, refusal } from "./world.js";

/** What happens to a request at the control plane, or on the way. */
type Fate = "works" | "not_sent" | "lost_before" | "lost_after" | "busy" | "hangs";

interface Held {
  readonly sessionId: string;
  readonly connectorKey: string;
  status: SessionStatus;
  readonly wantsSecret: boolean;
  connectionId: string | undefined;
  /** Of the connection, as it was granted. */
  connectionVersion: number;
}

/** A control plane with sessions of its own, on a way where requests and answers are lost as the test has it. */
class Plane implements FlowSessions {
  readonly sessions = new Map<string, Held>();
  readonly connections = new Map<string, { readonly connectionId: string; readonly connectionVersion: number }>();
  readonly fates: Fate[] = [];
  /** Secrets that arrived, by session. */
  readonly arrived = new Map<string, number>();
  readonly problems: string[] = [];
  revision = 1;
  #count = 0;

  async begin(
    { connectorKey, clientRequestId, replaces, hasSecret }: Parameters<FlowSessions["begin"]>[0],
    signal: AbortSignal,
  ) {
    return this.#ask(signal, () => {
      const known = this.sessions.get(clientRequestId);
      if (known !== undefined) return shown(known);
      for (const other of this.#open(connectorKey)) {
        if (!replaces) throw refusal(409, "in_progress", false);
        other.status = "canceled";
      }
      this.#count += 1;
      const sessionId = `s-${String(this.#count)}`;
      const held: Held = {
        sessionId,
        connectorKey,
        status: "awaiting_user",
        wantsSecret: hasSecret || this.#count % 3 === 0,
        connectionId: undefined,
        connectionVersion: 0,
      };
      this.sessions.set(clientRequestId, held);
      return shown(held);
    });
  }

  async complete({ sessionId }: { sessionId: string }, secret: Uint8Array, signal: AbortSignal) {
    if (secret.every((byte) => byte === 0)) this.problems.push("a secret was sent that is wiped");
    return this.#ask(signal, () => {
      const held = this.#find(sessionId);
      this.arrived.set(sessionId, (this.arrived.get(sessionId) ?? 0) + 1);
      if (held.status === "awaiting_user") this.#succeed(held);
      return shown(held);
    });
  }

  async observe({ sessionId }: { sessionId: string }, signal: AbortSignal) {
    return this.#ask(signal, () => shown(this.#find(sessionId)));
  }

  async end(sessionId: string, signal: AbortSignal): Promise<void> {
    await this.#ask(signal, () => {
      const held = this.#find(sessionId);
      if (held.status === "awaiting_user") held.status = "canceled";
    });
  }

  async disconnect(connectorKey: string, signal: AbortSignal): Promise<void> {
    await this.#ask(signal, () => {
      this.connections.delete(connectorKey);
      this.revision += 1;
    });
  }

  /** A person does what they are asked to, or declines. */
  answer(connectorKey: string, approves: boolean): void {
    for (const held of this.#open(connectorKey)) {
      if (approves) this.#succeed(held);
      else held.status = "failed";
    }
  }

  #succeed(held: Held): void {
    const before = this.connections.get(held.connectorKey);
    // Granted anew is a connection as often as it is a new one.
    const connectionId = before !== undefined && this.revision % 2 === 0 ? before.connectionId : `c-${held.sessionId}`;
    const connectionVersion = (before?.connectionVersion ?? 0) + 1;
    Object.assign(held, { status: "succeeded", connectionId, connectionVersion });
    this.connections.set(held.connectorKey, { connectionId, connectionVersion });
    this.revision += 1;
  }

  #open(connectorKey: string): Held[] {
    return [...this.sessions.values()].filter(
      (held) => held.connectorKey === connectorKey && held.status === "awaiting_user",
    );
  }

  #find(sessionId: string): Held {
    const held = [...this.sessions.values()].find((one) => one.sessionId === sessionId);
    if (held === undefined) throw refusal(404, "unknown_session", false);
    return held;
  }

  #ask<T>(signal: AbortSignal, act: () => T): Promise<T> {
    const fate = this.fates.shift() ?? "works";
    return new Promise((resolve, reject) => {
      if (signal.aborted) reject(signal.reason);
      else if (fate === "not_sent") reject(broken("not_sent"));
      else if (fate === "lost_before") reject(broken());
      else if (fate === "busy") reject(refusal(429));
      else if (fate === "hangs") signal.addEventListener("abort", () => reject(signal.reason));
      else {
        try {
          const answer = act();
          if (fate === "lost_after") reject(broken());
          else resolve(answer);
        } catch (error) {
          reject(error instanceof Error ? error : new Error("odd"));
        }
      }
    });
  }
}

function shown({ sessionId, status, wantsSecret, connectionId }: Held): AuthorizationSession {
  const url = "https://provider.example/authorize";
  const action = wantsSecret ? ({ type: "submit_secret" } as const) : ({ type: "redirect", url } as const);
  const isOpen = status === "awaiting_user";
  return { sessionId, status, connectionId, nextAction: isOpen ? action : undefined, errorCode: undefined };
}

/** One process after the other, on one store, under one clock. */
class Story {
  readonly clock = new FakeClock();
  readonly store = new AccountStore();
  readonly plane = new Plane();
  readonly results: Promise<unknown>[] = [];
  readonly problems: string[] = [];
  readonly #logins = new LoginGuard({ authorize: () => ({}) });
  #requests = 0;
  #sync: SnapshotSync<ProjectionTx> | undefined;
  #flows: AuthorizationFlows<ProjectionTx> | undefined;

  login(): void {
    const { clock, store, plane } = this;
    const login = this.#logins.signIn("acc");
    const base = { login, logins: this.#logins, store, clock, random: () => 0.5 };
    const sync = new SnapshotSync<ProjectionTx>({
      ...base,
      readiness: new Readiness(),
      scopeEpoch: `e-${String(login.generation)}`,
      source: {
        fetch: async () =>
          snapshot(
            plane.revision,
            [...plane.connections].map(([key, connection]) => entry(key, connection)),
          ),
      },
      onChanged: () => undefined,
      onEvent: (event) => {
        if (event.kind === "applied" || event.kind === "confirmed") flows.synchronized(event);
      },
    });
    const flows: AuthorizationFlows<ProjectionTx> = new AuthorizationFlows<ProjectionTx>({
      ...base,
      sync,
      sessions: plane,
      convergence: {
        published: async (key, connectionId) => {
          await this.#compareVersions(key, connectionId);
          return { reached: true, reason: undefined };
        },
        withdrawn: async () => ({ reached: true, reason: undefined }),
      },
      onChange: (row) => this.#watch(row),
      mintRequestId: () => `r-${String((this.#requests += 1)).padStart(3, "0")}`,
    });
    this.#sync = sync;
    this.#flows = flows;
  }

  act(what: Step): void {
    const { kind, key } = what;
    const flows = this.#flows;
    if (flows === undefined) return;
    if (kind === "start" || kind === "replace" || kind === "secret") {
      const secret = kind === "secret" ? new TextEncoder().encode("key") : undefined;
      const starting = flows.start(key, { connectorVersion: "1.0.0", replace: kind === "replace", secret });
      this.#keep(starting.then(({ result }) => result));
    } else if (kind === "submit") this.#keep(flows.submitSecret(key, new TextEncoder().encode("key")));
    else if (kind === "cancel") this.#keep(flows.cancel(key));
    else if (kind === "disconnect") this.#keep(flows.disconnect(key));
    else if (kind === "approve" || kind === "decline") this.plane.answer(key, kind === "approve");
    else if (kind === "hint") this.#sync?.wake();
    else if (kind === "relogin") this.#relogin();
  }

  rows(): Promise<readonly FlowRow[]> {
    return this.store.read((tx) => tx.flows.list("acc"));
  }

  async close(): Promise<void> {
    await this.#flows?.close();
    await this.#sync?.close();
  }

  #relogin(): void {
    this.#logins.signOut();
    this.login();
  }

  #keep(promise: Promise<unknown>): void {
    this.results.push(
      promise.catch((error: unknown) => {
        if (!isRemoteConnectorError(error)) this.problems.push(`rejected with ${String(error)}`);
        if (isRemoteConnectorError(error, "internal_error")) this.problems.push("an internal error");
      }),
    );
  }

  /** What a flow is done with is shown in the version that its session was granted, or a later one. */
  async #compareVersions(connectorKey: string, connectionId: string): Promise<void> {
    const present = await this.store.read((tx) => tx.projections.get("acc", connectorKey));
    if (present?.connectionId !== connectionId) return;
    for (const row of await this.rows()) {
      if (row.state !== "connected" || row.connectorKey !== connectorKey || row.connectionId !== connectionId) continue;
      const { connectionVersion } = this.plane.sessions.get(row.clientRequestId) ?? { connectionVersion: 0 };
      if (present.connectionVersion < BigInt(connectionVersion))
        this.problems.push("an older version passes for a result");
    }
  }

  #watch(row: FlowRow): void {
    if (JSON.stringify(row).includes("provider.example")) this.problems.push("a page is in a row");
    if (row.state === "connected" && row.connectionId === row.priorConnectionId && row.sessionId === undefined) {
      this.problems.push("a connection that was there before is a result");
    }
  }
}

type Step = {
  readonly kind:
    | "start"
    | "replace"
    | "secret"
    | "submit"
    | "cancel"
    | "disconnect"
    | "approve"
    | "decline"
    | "hint"
    | "relogin"
    | "nothing";
  readonly key: string;
  readonly passMs: number;
  readonly fate: Fate;
};

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom<Step["kind"]>(
    "start",
    "start",
    "replace",
    "secret",
    "submit",
    "cancel",
    "disconnect",
    "approve",
    "approve",
    "decline",
    "hint",
    "relogin",
    "nothing",
  ),
  key: fc.constantFrom("github", "github", "linear"),
  passMs: fc.constantFrom(0, 0, 1, 500, 2_000, 5_000, 40_000, 700_000),
  fate: fc.constantFrom<Fate>("works", "works", "works", "not_sent", "lost_before", "lost_after", "busy", "hangs"),
});

const isOpen = ({ state }: FlowRow): boolean =>
  state === "starting" || state === "waiting" || state === "authorized" || state === "cancelling";

it("P-10, P-11, P-12: whatever comes in whatever order: flows end, one at a time, and no secret is given twice", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const story = new Story();
      story.login();
      for (const one of steps) {
        if (one.fate !== "works") story.plane.fates.push(one.fate);
        story.act(one);
        if (one.passMs === 0) await settle();
        else await story.clock.advance(one.passMs);
        // Rows that are open, of one connector, are one that ends and one that takes its place at most.
        const open = (await story.rows()).filter(isOpen);
        for (const key of ["github", "linear"]) {
          const lane = open.filter(({ connectorKey }) => connectorKey === key);
          expect(lane.filter(({ state }) => state !== "cancelling").length).toBeLessThanOrEqual(1);
        }
      }
      // Requests that hang are given up by their client; from here on everything works.
      story.plane.fates.length = 0;
      story.act({ kind: "relogin", key: "", passMs: 0, fate: "works" });
      await story.clock.advance(25 * 60_000);
      expect((await story.rows()).filter(isOpen)).toEqual([]);
      await Promise.all(story.results);
      for (const [sessionId, count] of story.plane.arrived) expect([sessionId, count]).toEqual([sessionId, 1]);
      expect([...story.problems, ...story.plane.problems]).toEqual([]);
      await story.close();
      expect(story.clock.pending).toBe(0);
    }),
    { numRuns: 60, interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false },
  );
}, 60_000);
