import type { Clock } from "../../transport/index.js";
import type { PreparedVisit } from "./code-visit.js";

/** More people at a time who were shown a URL and did not come back are no use: whoever was first is forgotten. */
const MAX_PENDING = 64;

/** A sign-in of which a URL was handed out, and whose browser somebody else receives. It holds secrets. */
export interface PendingSignIn {
  readonly endpoint: string;
  readonly account: string;
  readonly visit: PreparedVisit;
  /** Whether it was begun by somebody who wants to sign in, and not by a request that was refused. */
  readonly isStarted: boolean;
  /** When it ends, by the clock. */
  readonly dueAt: number;
}

/** The sign-ins that wait for their browsers, by `state`: a bounded number of them, each for a bounded time and to be taken once. */
export class PendingSignIns {
  readonly #clock: Clock;
  readonly #lifeMs: number;
  /** In the order in which they were added. */
  readonly #byState = new Map<string, PendingSignIn>();
  /** Those that nobody may end any more. One that was only forgotten is none of them: whoever began it may end it still. */
  readonly #ended = new WeakSet<PendingSignIn>();

  constructor(clock: Clock, lifeMs: number) {
    this.#clock = clock;
    this.#lifeMs = lifeMs;
  }

  get size(): number {
    return this.#byState.size;
  }

  /** When there are too many, the first one goes; one of a request that was refused before one that was begun by a person. */
  add(pending: Omit<PendingSignIn, "dueAt">): PendingSignIn {
    this.#dropOver();
    const added = { ...pending, dueAt: this.#clock.now() + this.#lifeMs };
    this.#byState.set(pending.visit.pending.state, added);
    if (this.#byState.size > MAX_PENDING) {
      const entries = [...this.#byState].slice(0, -1);
      const [state] = entries.find(([, { isStarted }]) => !isStarted) ?? entries[0] ?? [];
      if (state !== undefined) this.#byState.delete(state);
    }
    return added;
  }

  /** One of a request that was refused, which asks for the same and has at least half of its time left: its URL will do again. */
  findDemanded(
    endpoint: string,
    account: string,
    visit: Pick<PreparedVisit, "client" | "plan">,
  ): PendingSignIn | undefined {
    const aim = aimOf(visit);
    return [...this.#byState.values()].find(
      (each) =>
        !each.isStarted &&
        each.endpoint === endpoint &&
        each.account === account &&
        each.dueAt - this.#clock.now() >= this.#lifeMs / 2 &&
        aimOf(each.visit) === aim,
    );
  }

  /** The one of a `state`; `undefined`: there is none, or none any more. */
  find(state: string): PendingSignIn | undefined {
    this.#dropOver();
    return this.#byState.get(state);
  }

  /** It is over from now on. False: it was before. */
  end(pending: PendingSignIn): boolean {
    this.#byState.delete(pending.visit.pending.state);
    const isFirst = !this.#ended.has(pending);
    this.#ended.add(pending);
    return isFirst;
  }

  /** Forgets all. */
  clear(): void {
    this.#byState.clear();
  }

  #dropOver(): void {
    for (const [state, { dueAt }] of this.#byState) {
      if (dueAt <= this.#clock.now()) this.#byState.delete(state);
    }
  }
}

/** What is asked for, of whom, and by whom. */
function aimOf({ client, plan }: Pick<PreparedVisit, "client" | "plan">): string {
  const { bindsTokens, resource, scopes, server } = plan;
  return JSON.stringify([server.metadata, resource, scopes, bindsTokens, client.clientId, client.redirectUris]);
}
