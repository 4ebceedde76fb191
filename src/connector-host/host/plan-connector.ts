import type { ProjectionRow } from "../../auth-projection/index.js";
import type { Desired, Plan } from "../../reconcile/index.js";
import { type DeviceEntry, isActive, newestRelease, type ReleaseEntry } from "../catalog/index.js";
import { parseJson } from "../../protocol/index.js";
import { chooseInstalled } from "./choose-installed.js";

/** Everything that decides whether an account's connector should run. */
export interface AccountFacts {
  readonly entry: ReleaseEntry;
  /** A snapshot of the account was applied or confirmed in the scope's present epoch, and nothing newer contradicts it. */
  readonly isReady: boolean;
  /** The control plane refuses the account's credentials at the moment: what runs may go on, nothing new begins. */
  readonly isRefused: boolean;
  /** What the last applied snapshot said, lowered by what was observed since; `undefined` when it said nothing. */
  readonly projection: ProjectionRow | undefined;
}

/** Everything that decides whether a connector of the device should run. */
export interface DeviceFacts {
  readonly entry: DeviceEntry;
}

export type ConnectorFacts = AccountFacts | DeviceFacts;

const OBSTACLES = [
  "account_not_ready",
  "authorization_required",
  "reauthorization_required",
  /** The account's authorization is for a release that is not installed. */
  "release_mismatch",
  /** Its switch is off. */
  "switched_off",
  /** Its definition is paused. */
  "paused",
  /** It is being uninstalled. */
  "uninstalling",
  /** What is kept of its release can't be read. */
  "invalid_release",
] as const;

/** Why a connector should not run now. */
export type Obstacle = (typeof OBSTACLES)[number];

/** The connection that a running connector is for, as its identity has it. */
export interface PlannedConnection {
  /** Of the release that runs. */
  readonly digest: string;
  /** `null` for a connector that needs none. */
  readonly connectionId: string | null;
  readonly connectionVersion: bigint;
}

/** What stands in the way; `undefined` when nothing does. A connector without authorization only needs its login. */
export function findObstacle(facts: ConnectorFacts): Obstacle | undefined {
  if (!facts.entry.isOn) return "switched_off";
  return isOfAccount(facts) ? findAccountObstacle(facts) : isActive(facts.entry) ? undefined : "paused";
}

/**
 * What should be. Pure. A new release, token, scope or default connection gives another identity, and so another generation; while
 * the connection stays the same one, what runs may finish. Other settings of a connector of the device are another server.
 */
export function planConnector(facts: ConnectorFacts, desired: Desired | undefined): Plan {
  return isOfAccount(facts) ? planForAccount(facts, desired) : planForDevice(facts);
}

/** Reads the identity of an enabled plan of an account's connector back; `undefined` for any other text. */
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

/** What stands in the way by the identity of a plan that is not enabled; `undefined` for any other text. */
export function readObstacle(identity: string): Obstacle | undefined {
  const parts = parseJson(identity);
  if (!Array.isArray(parts) || parts.length !== 2) return undefined;
  return OBSTACLES.find((obstacle) => obstacle === parts[1]);
}

export function isOfAccount(facts: ConnectorFacts): facts is AccountFacts {
  return facts.entry.kind === "release";
}

function findAccountObstacle({ entry, isReady, projection }: AccountFacts): Obstacle | undefined {
  if (entry.isLeaving) return "uninstalling";
  if (newestRelease(entry) === undefined) return "invalid_release";
  const chosen = chooseInstalled(entry, projection);
  if (chosen?.release.authorization.kind === "none") return undefined;
  if (!isReady) return "account_not_ready";
  if (projection === undefined || projection.state === "disconnected") return "authorization_required";
  if (projection.state === "expired") return "reauthorization_required";
  return chosen === undefined ? "release_mismatch" : undefined;
}

function planForAccount(facts: AccountFacts, desired: Desired | undefined): Plan {
  const { entry, projection } = facts;
  const mayBegin = !facts.isRefused || desired?.enabled === true;
  const obstacle = findObstacle(facts) ?? (mayBegin ? undefined : "account_not_ready");
  const chosen = chooseInstalled(entry, projection);
  if (obstacle !== undefined || chosen === undefined) {
    const digest = (chosen ?? newestRelease(entry))?.digest ?? "";
    return { enabled: false, identity: JSON.stringify([digest, obstacle]), transition: "revoke" };
  }
  const { connectionId = null, connectionVersion = 0n } = projection ?? {};
  const identity = JSON.stringify([chosen.digest, "connected", connectionId, String(connectionVersion)]);
  const before = desired?.enabled === true ? readConnection(desired.identity) : undefined;
  return { enabled: true, identity, transition: before?.connectionId === connectionId ? "supersede" : "revoke" };
}

function planForDevice(facts: DeviceFacts): Plan {
  const { digest } = facts.entry.connector;
  const obstacle = findObstacle(facts);
  if (obstacle === undefined) return { enabled: true, identity: digest, transition: "revoke" };
  return { enabled: false, identity: JSON.stringify([digest, obstacle]), transition: "revoke" };
}
