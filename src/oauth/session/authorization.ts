import { isRemoteConnectorError } from "../../errors.js";
import type { GrantRecord } from "../grant-record.js";
import {
  type AuthorizationPlan,
  type AuthorizationWish,
  NO_CHALLENGE,
  planAuthorization,
} from "./authorization-plan.js";
import { visitWithBrowser } from "./code-visit.js";
import type { StoredGrant } from "./grant-shelf.js";
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
}

interface Flight {
  readonly ended: Promise<StoredGrant>;
  readonly abort: AbortController;
  readonly cause: AuthorizationCause;
  waiters: number;
  /** A person was shown where to go. */
  wasShown: boolean;
}

/**
 * Makes new authorizations for one account at one endpoint, one at a time: whoever needs one while a person is being asked waits for the
 * same answer. It goes on when those who wait have left, unless a sign-in began it that was given up by everybody.
 */
export class Authorization {
  readonly #parts: SessionParts;
  readonly #onUseless: () => void;
  #flight: Flight | undefined;

  /** `onUseless`: told when a person was asked and nothing came of it. */
  constructor(parts: SessionParts, onUseless: () => void) {
    this.#parts = parts;
    this.#onUseless = onUseless;
  }

  /**
   * What is stored afterwards. Rejects as `visitWithBrowser` and `serviceToken` do, with `timeout` (`signInTimeoutMs`), with `cancelled`, or
   * with the signal's reason, which ends the waiting.
   */
  async obtain(cause: AuthorizationCause, signal: AbortSignal | undefined): Promise<StoredGrant> {
    signal?.throwIfAborted();
    let flight = this.#flight;
    while (flight !== undefined && cause.isExplicit && !asksFor(flight.cause, cause)) {
      await waitFor(
        flight.ended.catch(() => undefined),
        signal,
      );
      flight = this.#flight === flight ? undefined : this.#flight;
    }
    flight ??= this.#begin(cause);
    flight.waiters += 1;
    try {
      return await waitFor(flight.ended, signal);
    } finally {
      flight.waiters -= 1;
      if (flight.waiters === 0 && flight.cause.isExplicit) flight.abort.abort(cancelled("nobody waits for it"));
    }
  }

  /** Whether one is under way. */
  get isBusy(): boolean {
    return this.#flight !== undefined;
  }

  /** Ends what is under way. */
  cancel(reason: string): void {
    this.#flight?.abort.abort(cancelled(reason));
  }

  #begin(cause: AuthorizationCause): Flight {
    const abort = new AbortController();
    const shown = (): void => {
      flight.wasShown = true;
    };
    const ended = this.#run(cause, abort, shown).finally(() => {
      if (this.#flight === flight) this.#flight = undefined;
    });
    const flight: Flight = { ended, abort, cause, waiters: 0, wasShown: false };
    // Everybody may have left when it fails.
    ended.catch(() => {
      if (flight.wasShown) this.#onUseless();
    });
    this.#flight = flight;
    return flight;
  }

  async #run(cause: AuthorizationCause, abort: AbortController, shown: () => void): Promise<StoredGrant> {
    const { closed, config } = this.#parts;
    const limitMs = config.signInTimeoutMs;
    const isVisit = config.grant === undefined;
    const stop = isVisit ? config.clock.schedule(limitMs, () => abort.abort(signInTimeout(limitMs))) : undefined;
    const signal = AbortSignal.any([closed, abort.signal]);
    try {
      return (await this.#adopted(cause)) ?? (await this.#authorize(cause, signal, shown));
    } catch (error) {
      if (!signal.aborted) {
        const adopted = await this.#adopted(cause).catch(() => undefined);
        if (adopted !== undefined) return adopted;
      }
      throw error;
    } finally {
      stop?.();
    }
  }

  /** What another process got meanwhile. */
  async #adopted({ isExplicit, refusedToken }: AuthorizationCause): Promise<StoredGrant | undefined> {
    if (isExplicit) return undefined;
    const { memory, shelf } = this.#parts;
    const grant = await shelf.read();
    const tokens = grant?.record.tokens;
    if (grant === undefined || tokens === undefined || tokens.accessToken === refusedToken) return undefined;
    memory.take(grant);
    return grant;
  }

  async #authorize(cause: AuthorizationCause, signal: AbortSignal, shown: () => void): Promise<StoredGrant> {
    const { config } = this.#parts;
    // Of a token that merely expires, nothing says that its server has another authorization server now.
    const plan = await this.plan(cause, { cached: cause.challenge === NO_CHALLENGE && !cause.isExplicit });
    signal.throwIfAborted();
    const made =
      config.grant === undefined
        ? await this.#visit(plan, signal, shown)
        : await authorizeService(plan, config.grant, this.#parts, signal);
    signal.throwIfAborted();
    return this.keep(cause.isExplicit ? { ...made, refusedScopes: [] } : made);
  }

  /** Stores what was authorized just now, in place of whatever is there. */
  async keep(made: GrantRecord): Promise<StoredGrant> {
    const { config, memory, shelf, tell } = this.#parts;
    const grant = await shelf.replace(made);
    memory.take(grant);
    const { issuer, requestedScopes, tokens } = grant.record;
    if (config.grant === undefined) tell({ kind: "signed_in", issuer, scopes: tokens?.scopes ?? requestedScopes });
    tell({ kind: "token_issued", issuer, expiresAt: tokens?.expiresAt });
    return grant;
  }

  #visit(plan: AuthorizationPlan, signal: AbortSignal, shown: () => void): Promise<GrantRecord> {
    const { openUrl } = this.#parts.config;
    if (openUrl === false) throw cancelled("nobody can be asked");
    const open = (url: string): void | Promise<void> => {
      shown();
      return openUrl(url);
    };
    return visitWithBrowser(plan, open, this.#parts, signal);
  }

  /**
   * What would be asked for, and where. When the resource has another authorization server than that of the tokens that are stored, those
   * are removed, and with them the registration that they were issued to. Rejects as discovery does.
   */
  async plan(wish: AuthorizationWish, options: { readonly cached: boolean }): Promise<AuthorizationPlan> {
    const { desk, discovery, memory, shelf, tell } = this.#parts;
    const stored = await shelf.read().catch(ignoreDamage);
    const discovered = await discovery.discover(wish.challenge, stored?.record, options);
    const { issuer } = discovered.server.metadata;
    if (stored !== undefined && stored.record.issuer !== issuer) {
      await desk.forget(stored.record.client);
      await shelf.removeOnly(stored.generation);
      memory.take(await shelf.read().catch(ignoreDamage));
      tell({ kind: "issuer_changed", issuer });
    }
    return planAuthorization(discovered, wish, stored?.record, this.#parts);
  }
}

/** Whether a flight asks for all that somebody wants who could begin one of their own. */
function asksFor(flight: AuthorizationCause, wanted: AuthorizationCause): boolean {
  return wanted.scopes.every((scope) => flight.scopes.includes(scope));
}

/** What can't be read is replaced by what comes of it. */
function ignoreDamage(error: unknown): undefined {
  if (isRemoteConnectorError(error, "oauth_invalid")) return undefined;
  throw error;
}
