import { randomUUID } from "node:crypto";
import {
  type AccountAuthorizations,
  type AuthorizationChange,
  type AuthorizationState,
  type ChangeOutcome,
  decideChange,
} from "./authorization-state.js";

const NOTHING: AccountAuthorizations = { revision: 1n, connections: new Map() };

/** Authorizations in memory, with an epoch of their own: they are gone with the process. */
export function createMemoryState(randomId: () => string = randomUUID): AuthorizationState {
  const accounts = new Map<string, AccountAuthorizations>();

  function apply(accountId: string, connectorId: string, change: AuthorizationChange): ChangeOutcome {
    const before = accounts.get(accountId) ?? NOTHING;
    const current = before.connections.get(connectorId);
    const connection = decideChange(current, change, () => `connection-${randomId()}`);
    if (connection === undefined) return { revision: before.revision, changed: false, connection: current };
    const revision = before.revision + 1n;
    accounts.set(accountId, { revision, connections: new Map([...before.connections, [connectorId, connection]]) });
    return { revision, changed: true, connection };
  }

  return {
    epoch: randomId(),
    read: (accountId) => Promise.resolve(accounts.get(accountId) ?? NOTHING),
    change: (accountId, connectorId, change) => Promise.resolve(apply(accountId, connectorId, change)),
  };
}
