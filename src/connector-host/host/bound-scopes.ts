import type { Login } from "../../auth-projection/index.js";
import type { Binding } from "../local-server/index.js";
import { accountScope, DEVICE_SCOPE } from "./account-scope.js";

const NOTHING: readonly string[] = Object.freeze([]);
const DEVICE_ONLY: readonly string[] = Object.freeze([DEVICE_SCOPE]);

/**
 * The scopes that a binding reaches under the present login: that of the device, and that of the login that it was made under, or, of
 * a durable one, of its account. A session whose login has ended reaches nothing any more. Pure.
 */
export function reachedScopes({ login, durable }: Binding, current: Login | undefined): readonly string[] {
  if (durable !== undefined) {
    const { accountId } = durable;
    return accountId !== undefined && accountId === current?.accountId ? scopesOf(accountId) : DEVICE_ONLY;
  }
  if (login === undefined) return DEVICE_ONLY;
  const isCurrent = login.accountId === current?.accountId && login.generation === current.generation;
  return isCurrent ? scopesOf(login.accountId) : NOTHING;
}

/** The scopes whose changes a binding is told of: those that it reaches, and those that it reached until now. Pure. */
export function followedScopes({ login, durable }: Binding): readonly string[] {
  const accountId = durable === undefined ? login?.accountId : durable.accountId;
  return accountId === undefined ? DEVICE_ONLY : scopesOf(accountId);
}

function scopesOf(accountId: string): readonly string[] {
  return [accountScope(accountId), DEVICE_SCOPE];
}
