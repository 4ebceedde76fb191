import { isRemoteConnectorError } from "../../errors.js";
import type { AuthorizationRefusal, Authorizer } from "../../transport/index.js";

/** Servers of which it is remembered; as many as can be registered, unless somebody raised that. */
const MAX_PLACES = 1_024;

/**
 * The scopes that servers asked for last when nobody could be asked, so that whoever signs in to them is asked for these too. In this
 * process alone: a server that still wants them says so again. Source: 2026-07-28, Authorization, Scope Selection Strategy.
 */
export class WantedScopes {
  readonly #scopes = new Map<string, readonly string[]>();

  of(endpoint: string, account: string): readonly string[] {
    return this.#scopes.get(keyOf(endpoint, account)) ?? [];
  }

  /** Somebody signed in, or out. */
  forget(endpoint: string, account: string): void {
    this.#scopes.delete(keyOf(endpoint, account));
  }

  /** The same authorizer, whose demands are remembered. */
  watch(endpoint: string, account: string, { authorize, onAnswered, onRefused }: Authorizer): Authorizer {
    return {
      authorize,
      onAnswered,
      onRefused: async (refusal: AuthorizationRefusal) => {
        try {
          return (await onRefused?.(refusal)) ?? false;
        } catch (error) {
          if (isRemoteConnectorError(error, "sign_in_required")) this.#note(endpoint, account, error.details.scopes);
          throw error;
        }
      },
    };
  }

  #note(endpoint: string, account: string, scopes: readonly string[]): void {
    const key = keyOf(endpoint, account);
    this.#scopes.delete(key);
    const [oldest] = this.#scopes.keys();
    if (oldest !== undefined && this.#scopes.size >= MAX_PLACES) this.#scopes.delete(oldest);
    this.#scopes.set(key, scopes);
  }
}

function keyOf(endpoint: string, account: string): string {
  return JSON.stringify([endpoint, account]);
}
