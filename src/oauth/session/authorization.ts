import { isRemoteConnectorError } from "../../errors.js";
import { chooseIssuer } from "../discovery/index.js";
import type { GrantRecord } from "../grant-record.js";
import type { AuthorizationChallenge, ProtectedResource } from "../protected-resource.js";
import {
  type AuthorizationPlan,
  type AuthorizationWish,
  NO_CHALLENGE,
  planAuthorization,
} from "./authorization-plan.js";
import { visitWithBrowser } from "./code-visit.js";
import { stillNames } from "./endpoint-discovery.js";
import type { StoredGrant } from "./grant-shelf.js";
import { giveBack } from "./refresh-request.js";
import { coversScopes, splitScopes, uniteScopes } from "../scope-set.js";
import { authorizeService } from "./service-grant.js";
import { cancelled, signInTimeout } from "./session-failures.js";
import type { SessionParts } from "./session-parts.js";
import { waitFor } from "./waiting.js";

/** Why an authorization is made. */
export interface AuthorizationCause extends AuthorizationWish {
  /** The access token that will not do: another one that is stored is adopted instead. `undefined`: there was none. */
  readonly refusedToken: string | undefined;
  /** A person asked for it: nothing is adopted, and what was refused before counts no more. */
  readonly isExplicit: boolean;
  /** How many authorization requests may be made for it, at least one. Default: as many as it takes, which is two at most. */
  readonly most?: number | undefined;
}

/** What came of an authorization. */
export interface Obtained {
  readonly grant: StoredGrant;
  /** How many authorization requests were made for it; 0: another process had made them. */
  readonly requests: number;
}

interface Flight {
  readonly ended: Promise<StoredGrant>;
  readonly abort: AbortController;
  readonly cause: AuthorizationCause;
  waiters: number;
  /** How often an authorization server was asked, or a person was shown where to go. */
  requests: number;
}

/**
 * Makes new authorizations for one account at one endpoint, one at a time: whoever needs one while a person is being asked waits for the
 * same answer. It goes on when those who wait have left, unless a sign-in began it that was given up by everybody.
 */
export class Authorization {
  readonly #parts: SessionParts;
  readonly #onUseless: () => void;
  #flight: Flight | undefined;
  /** Counts the sign-outs: what was authorized before one is not stored after it. */
  #signOuts = 0;

  /** `onUseless`: told when a person was asked and nothing came of it. */
  constructor(parts: SessionParts, onUseless: () => void) {
    this.#parts = parts;
    this.#onUseless = onUseless;
  }

  /**
   * What is stored afterwards. Rejects as `visitWithBrowser` and `serviceToken` do, with `timeout` (`signInTimeoutMs`), with `cancelled`, or
   * with the signal's reason, which ends the waiting.
   */
  async obtain(cause: AuthorizationCause, signal: AbortSignal | undefined): Promise<Obtained> {
    signal?.throwIfAborted();
    let flight = this.#flight;
    while (flight !== undefined && !isForAll(flight, cause)) {
      await waitFor(
        flight.ended.catch(() => undefined),
        signal,
      );
      flight = this.#flight === flight ? undefined : this.#flight;
    }
    flight ??= this.#begin(cause);
    flight.waiters += 1;
    try {
      const grant = await waitFor(flight.ended, signal);
      return { grant, requests: flight.requests };
    } finally {
      flight.waiters -= 1;
      if (flight.waiters === 0 && flight.cause.isExplicit) flight.abort.abort(cancelled("nobody waits for it"));
    }
  }

  /** What is under way, if it asks for less than somebody wants who would otherwise join it: what comes of it is to be looked at first. */
  forLess(wish: AuthorizationWish, requested: readonly string[]): Promise<StoredGrant> | undefined {
    const flight = this.#flight;
    if (flight === undefined || flight.abort.signal.aborted) return undefined;
    const asked = [...requested, ...this.#parts.config.scopes, ...scopesOf(flight.cause)];
    return coversScopes(asked, scopesOf(wish)) ? undefined : flight.ended;
  }

  /** Whether one is under way. */
  get isBusy(): boolean {
    return this.#flight !== undefined;
  }

  /** A number that is another one after each sign-out. */
  get signOuts(): number {
    return this.#signOuts;
  }

  /** Ends what is under way, and sees to it that nothing of it is stored. Nobody is left alone because of it. */
  signOut(): void {
    this.#signOuts += 1;
    if (this.#flight === undefined) return;
    this.#flight.requests = 0;
    this.#flight.abort.abort(cancelled("signed out"));
  }

  /** Resolves when what is under way has ended. Never rejects. */
  async finish(): Promise<void> {
    await this.#flight?.ended.catch(() => undefined);
  }

  #begin(cause: AuthorizationCause): Flight {
    const abort = new AbortController();
    const asked = (): void => {
      flight.requests += 1;
    };
    const ended = this.#run(cause, abort, asked).finally(() => {
      if (this.#flight === flight) this.#flight = undefined;
    });
    const flight: Flight = { ended, abort, cause, waiters: 0, requests: 0 };
    // Everybody may have left when it fails.
    ended.catch(() => {
      if (flight.requests > 0) this.#onUseless();
    });
    this.#flight = flight;
    return flight;
  }

  async #run(cause: AuthorizationCause, abort: AbortController, asked: () => void): Promise<StoredGrant> {
    const { closed, config } = this.#parts;
    const limitMs = config.signInTimeoutMs;
    const stop = config.clock.schedule(limitMs, () => abort.abort(signInTimeout(limitMs)));
    const signal = AbortSignal.any([closed, abort.signal]);
    try {
      return (await this.#adopted(cause)) ?? (await this.#authorize(cause, signal, asked));
    } catch (error) {
      if (!signal.aborted) {
        const adopted = await this.#adopted(cause).catch(() => undefined);
        if (adopted !== undefined) return adopted;
      }
      throw error;
    } finally {
      stop();
    }
  }

  /** What another process got meanwhile. */
  async #adopted({ isExplicit, refusedToken }: AuthorizationCause): Promise<StoredGrant | undefined> {
    if (isExplicit) return undefined;
    const grant = await this.#parts.memory.look();
    const tokens = grant?.record.tokens;
    return tokens === undefined || tokens.accessToken === refusedToken ? undefined : grant;
  }

  async #authorize(cause: AuthorizationCause, signal: AbortSignal, asked: () => void): Promise<StoredGrant> {
    const { grant } = this.#parts.config;
    const { challenge, isExplicit } = cause;
    const signOuts = this.#signOuts;
    // Of a token that merely expires, nothing says that its server has another authorization server now.
    const plan = await waitFor(this.plan(cause, { cached: challenge === NO_CHALLENGE && !isExplicit }), signal);
    if (grant !== undefined) asked();
    const made =
      grant === undefined
        ? await this.#visit(plan, cause, signal, asked)
        : await authorizeService(plan, grant, this.#parts, signal);
    signal.throwIfAborted();
    return this.keep(isExplicit ? { ...made, refusedScopes: [] } : made, signOuts);
  }

  /**
   * Stores what was authorized just now, in place of whatever is there. `signOuts` was read before: when there was a sign-out since, it is
   * given back, and this rejects with `cancelled`.
   */
  async keep(made: GrantRecord, signOuts: number): Promise<StoredGrant> {
    const { config, memory, shelf, tell } = this.#parts;
    if (signOuts === this.#signOuts) {
      const grant = await shelf.replace(made);
      if (signOuts === this.#signOuts) {
        memory.take(grant);
        const { issuer, requestedScopes, tokens } = grant.record;
        if (config.grant === undefined) tell({ kind: "signed_in", issuer, scopes: tokens?.scopes ?? requestedScopes });
        tell({ kind: "token_issued", issuer, expiresAt: tokens?.expiresAt });
        return grant;
      }
      await shelf.removeOnly(grant.generation);
      memory.forget(grant.generation);
    }
    await giveBack(made, this.#parts);
    throw cancelled("signed out");
  }

  #visit(
    plan: AuthorizationPlan,
    { most }: AuthorizationCause,
    signal: AbortSignal,
    asked: () => void,
  ): Promise<GrantRecord> {
    const { openUrl } = this.#parts.config;
    if (openUrl === false) throw cancelled("nobody can be asked");
    const open = (url: string): void | Promise<void> => {
      asked();
      return openUrl(url);
    };
    return visitWithBrowser(plan, open, this.#parts, { signal, most });
  }

  /**
   * What would be asked for, and where. When the resource has another authorization server than that of the tokens that are stored, those
   * are removed, and with them the registration that they were issued to. Rejects as discovery does.
   */
  async plan(wish: AuthorizationWish, { cached }: { readonly cached: boolean }): Promise<AuthorizationPlan> {
    const { desk, discovery, shelf } = this.#parts;
    const stored = await shelf.read().catch(ignoreDamage);
    const found = await discovery.discover(wish.challenge, stored?.record, {
      cached,
      preRegistered: () => desk.registeredAt(),
      onLeft: (issuer) => this.#leaveIssuer(stored, issuer),
    });
    const { issuer } = found.server.metadata;
    await this.#leaveIssuer(stored, issuer);
    return planAuthorization(found, wish, stored?.record, this.#parts);
  }

  /**
   * Reads the resource's metadata, and says whether it still names the issuer of what is stored; if it does not, that is removed. Metadata that
   * can't be read say nothing against the issuer: tokens of it can go nowhere else. Rejects with `oauth_invalid` for what breaks a rule.
   */
  async lookAtIssuer(challenge: AuthorizationChallenge): Promise<"unchanged" | "changed"> {
    const { closed, desk, discovery, memory } = this.#parts;
    let resource: ProtectedResource;
    try {
      resource = await discovery.look(challenge);
    } catch (error) {
      closed.throwIfAborted();
      if (isRemoteConnectorError(error, "oauth_invalid")) throw error;
      return "unchanged";
    }
    const { grant } = memory.last;
    if (grant === undefined || stillNames(resource, grant.record.issuer)) return "unchanged";
    const preRegistered = await desk.registeredAt();
    await this.#leaveIssuer(grant, chooseIssuer(resource, { withTokens: [], preRegistered }));
    return "changed";
  }

  /** Removes what is stored of another issuer than this one, unless that took its place by now. */
  async #leaveIssuer(stored: StoredGrant | undefined, issuer: string): Promise<void> {
    if (stored === undefined || stored.record.issuer === issuer) return;
    const { desk, memory, shelf, tell } = this.#parts;
    await desk.forget(stored.record.client);
    const isRemoved = await shelf.removeOnly(stored.generation);
    memory.forget(stored.generation);
    if (isRemoved) tell({ kind: "issuer_changed", issuer });
  }
}

/** Whether a flight does for somebody who needs one: a sign-in needs all that it asks for, and what is ending does for nobody. */
function isForAll({ abort, cause }: Flight, wanted: AuthorizationCause): boolean {
  if (abort.signal.aborted) return false;
  return !wanted.isExplicit || coversScopes(cause.scopes, wanted.scopes);
}

function scopesOf({ challenge, scopes }: AuthorizationWish): readonly string[] {
  return uniteScopes(splitScopes(challenge.scope), scopes);
}

/** What can't be read is replaced by what comes of it. */
function ignoreDamage(error: unknown): undefined {
  if (isRemoteConnectorError(error, "oauth_invalid")) return undefined;
  throw error;
}
