import type { ServerMetadata } from "../authorization-server.js";
import type { ProtectedResource } from "../protected-resource.js";
import { isScope, splitScopes } from "../scope-set.js";

/** What the scopes of an authorization request are chosen by. */
export interface ScopeGrounds {
  /** The challenge's `scope` as it came; `undefined`: it named none. */
  readonly challenged: string | undefined;
  readonly resource: ProtectedResource;
  readonly server: ServerMetadata;
  /** All that were asked for before: a new token must not lose what an older one had. */
  readonly requestedBefore: readonly string[];
  /** What the application wants beside them. */
  readonly extra: readonly string[];
}

const OFFLINE = "offline_access";

/**
 * The scopes to ask for, each once; empty: the parameter is left out.
 *
 * Those that were requested before come first, then the challenge's, or, where it names none, all that the resource publishes, then
 * the application's own. To these, if there are any, `offline_access` is added where the authorization server lists it. What is no
 * scope by its characters is dropped. Pure.
 *
 * Source: 2026-07-28, Authorization, Scope Selection Strategy, Refresh Tokens, Step-Up Authorization Flow.
 */
export function selectScopes({
  challenged,
  resource,
  server,
  requestedBefore,
  extra,
}: ScopeGrounds): readonly string[] {
  const demanded = splitScopes(challenged);
  const named = demanded.length > 0 ? demanded : (resource.scopesSupported ?? []);
  const scopes = new Set([...requestedBefore, ...named, ...extra].filter(isScope));
  if (scopes.size > 0 && server.scopes_supported?.includes(OFFLINE) === true) scopes.add(OFFLINE);
  return [...scopes];
}
