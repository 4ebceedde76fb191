import { chooseRelease, type ProjectionRow } from "../../auth-projection/index.js";
import type { Desired, Plan } from "../../reconcile/index.js";
import type { InstalledConnector } from "./installed-connectors.js";

/** Everything that decides whether an account's connector should run. */
export interface ConnectorFacts {
  readonly connector: InstalledConnector;
  /** A snapshot of the account was applied or confirmed in the scope's present epoch, and nothing newer contradicts it. */
  readonly isReady: boolean;
  /** The control plane refuses the account's credentials at the moment: what runs may go on, nothing new begins. */
  readonly isRefused: boolean;
  /** What the last applied snapshot said, lowered by what was observed since; `undefined` when it said nothing. */
  readonly projection: ProjectionRow | undefined;
}

/** Why a connector should not run now. */
export type Obstacle =
  | "account_not_ready"
  | "authorization_required"
  | "reauthorization_required"
  /** The account's authorization is for another release than the installed one. */
  | "release_mismatch";

/** The connection that a running connector is for, as its identity has it. */
export interface PlannedConnection {
  readonly digest: string;
  /** `null` for a connector that needs none. */
  readonly connectionId: string | null;
  readonly connectionVersion: bigint;
}

/** What stands in the way; `undefined` when nothing does. A connector without authorization only needs its login. */
export function findObstacle({ connector, isReady, projection }: ConnectorFacts): Obstacle | undefined {
  const { release } = connector;
  if (release.authorization.kind === "none") return undefined;
  if (!isReady) return "account_not_ready";
  if (projection === undefined || projection.state === "disconnected") return "authorization_required";
  if (projection.state === "expired") return "reauthorization_required";
  const choice = chooseRelease(projection.connectorVersion, { current: release.version });
  return choice === "current" ? undefined : "release_mismatch";
}

/**
 * What should be. Pure. A new token, scope or default connection gives another identity, and so another generation; while
 * the connection stays the same one, what runs may finish.
 */
export function planConnector(facts: ConnectorFacts, desired: Desired | undefined): Plan {
  const { digest } = facts.connector;
  const mayBegin = !facts.isRefused || desired?.enabled === true;
  const obstacle = findObstacle(facts) ?? (mayBegin ? undefined : "account_not_ready");
  if (obstacle !== undefined) {
    return { enabled: false, identity: JSON.stringify([digest, obstacle]), transition: "revoke" };
  }
  const { connectionId = null, connectionVersion = 0n } = facts.projection ?? {};
  const identity = JSON.stringify([digest, "connected", connectionId, String(connectionVersion)]);
  const before = desired?.enabled === true ? readConnection(desired.identity) : undefined;
  return { enabled: true, identity, transition: before?.connectionId === connectionId ? "supersede" : "revoke" };
}

/** Reads the identity of an enabled plan back; `undefined` for any other text. */
export function readConnection(identity: string): PlannedConnection | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(identity);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 4) return undefined;
  const [digest, state, connectionId, version]: unknown[] = parts;
  const isConnection = connectionId === null || typeof connectionId === "string";
  if (typeof digest !== "string" || state !== "connected" || !isConnection) return undefined;
  if (typeof version !== "string" || !/^\d+$/.test(version)) return undefined;
  return { digest, connectionId, connectionVersion: BigInt(version) };
}
