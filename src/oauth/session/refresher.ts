import type { GrantRecord } from "../grant-record.js";
import type { LeaseStore } from "../ports.js";
import type { TokenSet } from "../token-set.js";
import type { Clock } from "../../transport/index.js";
import type { AccountMemory } from "./account-memory.js";
import type { GrantShelf, StoredGrant } from "./grant-shelf.js";
import { backoffMs, sleep } from "./waiting.js";
import { workAlone } from "./work-alone.js";

/** What became of a renewal. */
export type Renewal =
  /** There is a token other than the one that was to be replaced. `by`: whose work it is. */
  | { readonly kind: "renewed"; readonly grant: StoredGrant; readonly by: "us" | "others" }
  /** The authorization server refused for good; the tokens are gone. */
  | { readonly kind: "refused"; readonly error: unknown }
  /** Nothing is stored, or nothing that can be refreshed. */
  | { readonly kind: "none" }
  /** It may succeed later: the tokens are kept. */
  | { readonly kind: "failed"; readonly error: unknown };

/** The token that is to be replaced is still the one that is there. */
interface Same {
  readonly kind: "same";
  readonly grant: StoredGrant;
  readonly refreshToken: string;
}

/** How a refresh request fails. `client`: the authorization server does not know the client, or not by this secret. */
export type RefreshFailure = "transient" | "client" | "lasting" | "other";

/** What a {@link Refresher} works with. */
export interface RefresherParts {
  readonly shelf: GrantShelf;
  readonly memory: AccountMemory;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly wallNow: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Longer than one request takes. */
  readonly leaseMs: number;
  /** Whether there is a refresh token, and the client that it was issued to. */
  readonly canRefresh: (record: GrantRecord) => boolean;
  /** Asks the token endpoint once. */
  readonly request: (record: GrantRecord, refreshToken: string) => Promise<TokenSet>;
  readonly classify: (error: unknown) => RefreshFailure;
  /** Forgets the client that the authorization server does not know. False when it was registered by hand, and is kept. */
  readonly forgetClient: (record: GrantRecord) => Promise<boolean>;
  /** Gives tokens up that came too late. */
  readonly discard: (record: GrantRecord, tokens: TokenSet) => void;
  /** Told once of each outcome. */
  readonly ended: (renewal: Renewal) => void;
  readonly signal: AbortSignal;
}

const ATTEMPTS = 3;
const PAUSE_FIRST_MS = 250;
const PAUSE_MOST_MS = 2_000;

/**
 * Refreshes the tokens of one account: one refresh at a time in this process, and one at a time in all processes that share the store.
 *
 * Before it asks, and after every failure, it looks at the store: a token other than the one to be replaced is adopted. A new token is
 * stored before anybody sends it. A process that is killed in the middle keeps others waiting for as long as its lease lasts.
 */
export class Refresher {
  readonly #parts: RefresherParts;
  /** Of the access token that it replaces. */
  #flight: { readonly old: string; readonly ended: Promise<Renewal> } | undefined;

  constructor(parts: RefresherParts) {
    this.#parts = parts;
  }

  /** Whether a refresh is under way in this process. */
  get isBusy(): boolean {
    return this.#flight !== undefined;
  }

  /** Resolves when the refresh that is under way has ended. Never rejects. */
  async finish(): Promise<void> {
    await this.#flight?.ended.catch(() => undefined);
  }

  /**
   * Replaces an access token. Whoever asks while that goes on gets the same outcome, unless it is the very token that is to be
   * replaced, of somebody who began later; it goes on whether somebody waits or not. Rejects as the store does, and with the signal's
   * reason.
   */
  async renew(accessToken: string): Promise<Renewal> {
    for (;;) {
      const flight = (this.#flight ??= this.#begin(accessToken));
      const renewal = await flight.ended;
      if (flight.old === accessToken || renewal.kind !== "renewed") return renewal;
      if (renewal.grant.record.tokens?.accessToken !== accessToken) return renewal;
    }
  }

  #begin(old: string): { readonly old: string; readonly ended: Promise<Renewal> } {
    const ended = this.#run(old)
      .then((renewal) => {
        this.#parts.ended(renewal);
        return renewal;
      })
      .finally(() => (this.#flight = undefined));
    return { old, ended };
  }

  async #run(old: string): Promise<Renewal> {
    const { clock, leaseMs: ttlMs, leases, randomBytes, shelf, signal, wallNow } = this.#parts;
    const early = await this.#seen(old);
    if (early.kind !== "same") return early;
    const name = JSON.stringify(["oauth-refresh", shelf.endpoint, shelf.account]);
    return workAlone<Renewal>({
      name,
      leases,
      clock,
      wallNow,
      randomBytes,
      ttlMs,
      signal,
      seen: async () => otherThanSame(await this.#seen(old)),
      work: () => this.#refresh(old),
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      return { kind: "failed", error };
    });
  }

  /** What the store says: a newer token, nothing to refresh by, or still the old one. */
  async #seen(old: string): Promise<Renewal | Same> {
    const grant = await this.#parts.memory.look();
    const tokens = grant?.record.tokens;
    if (grant === undefined || tokens === undefined) return { kind: "none" };
    if (tokens.accessToken !== old) return { kind: "renewed", grant, by: "others" };
    const { refreshToken } = tokens;
    if (refreshToken === undefined || !this.#parts.canRefresh(grant.record)) return { kind: "none" };
    return { kind: "same", grant, refreshToken };
  }

  async #refresh(old: string): Promise<Renewal> {
    const { clock, randomBytes, signal } = this.#parts;
    for (let attempt = 0; ; attempt += 1) {
      const seen = await this.#seen(old);
      if (seen.kind !== "same") return seen;
      // What is closed begins nothing new.
      signal.throwIfAborted();
      const { grant, refreshToken } = seen;
      const answer = await this.#ask(grant, refreshToken);
      if ("tokens" in answer) return this.#keep(grant, answer.tokens);
      const { error, failure } = answer;
      if (failure === "lasting" || failure === "client") return this.#clear(grant, failure, error);
      if (failure === "other" || attempt + 1 >= ATTEMPTS) return (await this.#newer(old)) ?? { kind: "failed", error };
      await sleep(clock, backoffMs(attempt, PAUSE_FIRST_MS, PAUSE_MOST_MS, randomBytes(1)[0] ?? 0), signal);
    }
  }

  async #ask(
    { record }: StoredGrant,
    refreshToken: string,
  ): Promise<{ readonly tokens: TokenSet } | { readonly failure: RefreshFailure; readonly error: unknown }> {
    try {
      return { tokens: await this.#parts.request(record, refreshToken) };
    } catch (error) {
      this.#parts.signal.throwIfAborted();
      return { failure: this.#parts.classify(error), error };
    }
  }

  /** Only what others made counts after a failure; that nothing is stored any more is for the next who looks. */
  async #newer(old: string): Promise<Renewal | undefined> {
    const seen = await this.#seen(old);
    return seen.kind === "renewed" ? seen : undefined;
  }

  /**
   * Stores what was issued. Somebody who wrote meanwhile, although the lease was ours, is judged by what is there now: no row is a
   * sign-out, which is obeyed. The refresh token that was used, or no tokens, is a record of before the rotation, or one whose refresh
   * token was refused because it had been used for this: the new tokens go on top of it. Other tokens are a new sign-in, or the work
   * of a process that took the lease of this one while it stood still; those were stored last, and their refresh token is one that nobody
   * has used: they are adopted.
   */
  async #keep(from: StoredGrant, issued: TokenSet): Promise<Renewal> {
    const { discard, memory, shelf } = this.#parts;
    const before = from.record.tokens;
    const tokens: TokenSet = {
      ...issued,
      refreshToken: issued.refreshToken ?? before?.refreshToken,
      scopes: issued.scopes ?? before?.scopes,
    };
    for (let on = from; ;) {
      const put = await shelf.write({ ...on.record, tokens, dpopKey: from.record.dpopKey }, on.generation);
      if (put.kind === "written") {
        memory.take(put.grant);
        return { kind: "renewed", grant: put.grant, by: "us" };
      }
      const { current } = put;
      memory.take(current);
      if (current === undefined || !isSameGrant(current.record, from.record)) {
        discard(from.record, tokens);
        return current?.record.tokens === undefined
          ? { kind: "none" }
          : { kind: "renewed", grant: current, by: "others" };
      }
      const there = current.record.tokens;
      if (there !== undefined && there.accessToken !== before?.accessToken) {
        return { kind: "renewed", grant: current, by: "others" };
      }
      on = current;
    }
  }

  /** Clears the tokens of the generation that failed, and of no other. */
  async #clear(from: StoredGrant, failure: "client" | "lasting", error: unknown): Promise<Renewal> {
    const { forgetClient, memory, shelf } = this.#parts;
    const seen = await this.#newer(from.record.tokens?.accessToken ?? "");
    if (seen !== undefined) return seen;
    if (failure === "client" && !(await forgetClient(from.record))) return { kind: "failed", error };
    const put = await shelf.write({ ...from.record, tokens: undefined, dpopKey: undefined }, from.generation);
    if (put.kind === "written") {
      memory.take(put.grant);
      return { kind: "refused", error };
    }
    memory.take(put.current);
    const tokens = put.current?.record.tokens;
    if (put.current === undefined || tokens === undefined) return { kind: "refused", error };
    if (tokens.accessToken !== from.record.tokens?.accessToken) {
      return { kind: "renewed", grant: put.current, by: "others" };
    }
    // The same tokens under another generation: what was refused is refused.
    return this.#clear(put.current, failure, error);
  }
}

function otherThanSame(seen: Renewal | Same): Renewal | undefined {
  return seen.kind === "same" ? undefined : seen;
}

function isSameGrant(a: GrantRecord, b: GrantRecord): boolean {
  return a.issuer === b.issuer && a.client.clientId === b.client.clientId && a.resource === b.resource;
}
