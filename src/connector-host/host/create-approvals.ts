import type { Login, LoginGuard } from "../../auth-projection/index.js";
import { CallApprovals } from "../approvals/index.js";
import type { ConnectorCatalog } from "../catalog/index.js";
import type { Binding } from "../local-server/index.js";
import type { StateSealer } from "../rounds/index.js";
import { describeEntry } from "./describe-entry.js";
import type { ConnectorHostConfig } from "./host-options.js";

export interface ApprovalParts {
  readonly config: ConnectorHostConfig;
  readonly catalog: ConnectorCatalog;
  readonly logins: LoginGuard;
  readonly sealer: StateSealer;
}

/** Who decides on calls that ask, for a host of these parts. */
export function createApprovals({ config, catalog, logins, sealer }: ApprovalParts): CallApprovals {
  const { approvals, clock, logger, mintId, wallClock } = config;
  return new CallApprovals({
    ...approvals,
    clock,
    wallNow: () => wallClock.now(),
    sealer,
    mintId,
    loginOf: (binding) => loginOf(binding, logins.current),
    nameOf: (connectorKey) => nameOf(catalog, connectorKey),
    onFault: (error) => logger.warn("What decides on calls that ask threw.", { error }),
  });
}

/**
 * The sign-in that a binding acts under: another text for each. That of a session never changes; a durable binding's comes and goes with its
 * account's. Pure.
 */
export function loginOf({ login, durable }: Binding, current: Login | undefined): string {
  if (durable === undefined) return textOf(login);
  const isIts = durable.accountId !== undefined && durable.accountId === current?.accountId;
  return textOf(isIts ? current : undefined);
}

function textOf(login: Login | undefined): string {
  return login === undefined ? "" : JSON.stringify([login.accountId, login.generation]);
}

function nameOf(catalog: ConnectorCatalog, connectorKey: string): string {
  const entry = catalog.get(connectorKey);
  return entry === undefined ? connectorKey : describeEntry(entry).displayName;
}
