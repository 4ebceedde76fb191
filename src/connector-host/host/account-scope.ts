import type { ScopeKind } from "../catalog/index.js";

const PREFIX = "account:";

/** The scope of what needs no account: registered servers and managed programs. */
export const DEVICE_SCOPE = "device";

/** The scope of everything that belongs to an account: its rows, its routes, its epoch. */
export function accountScope(accountId: string): string {
  return `${PREFIX}${accountId}`;
}

/** The kind of a scope. */
export function kindOfScope(scope: string): ScopeKind {
  return scope === DEVICE_SCOPE ? "device" : "account";
}

/** The account of a scope; `undefined` for a scope of another kind. */
export function accountOf(scope: string): string | undefined {
  return scope.startsWith(PREFIX) ? scope.slice(PREFIX.length) : undefined;
}
