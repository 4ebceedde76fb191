/** What a scope is made of. Source: RFC 6749, Access Token Scope. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Whether a text is a scope by its characters. Pure. */
export function isScope(value: unknown): value is string {
  return typeof value === "string" && SCOPE.test(value);
}

/** The scopes of a `scope` value, each once, in its order, without what is none by its characters. Pure. */
export function splitScopes(scope: string | undefined): readonly string[] {
  return uniteScopes((scope ?? "").split(" ").filter(isScope));
}

/** All scopes of some lists, each once, in the order in which they are met first. Pure. */
export function uniteScopes(...lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())];
}

/** Whether every one of `scopes` is among `held`. Pure. */
export function coversScopes(held: readonly string[], scopes: readonly string[]): boolean {
  return scopes.every((scope) => held.includes(scope));
}
