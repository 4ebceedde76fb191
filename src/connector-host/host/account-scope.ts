const PREFIX = "account:";

/** The scope of everything that belongs to an account: its rows, its routes, its epoch. */
export function accountScope(accountId: string): string {
  return `${PREFIX}${accountId}`;
}

/** The account of a scope; `undefined` for a scope of another kind. */
export function accountOf(scope: string): string | undefined {
  return scope.startsWith(PREFIX) ? scope.slice(PREFIX.length) : undefined;
}
