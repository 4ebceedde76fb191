import { isActive } from "../catalog/index.js";
import type { CatalogEntry } from "../catalog/index.js";
import { type ConnectorStatus, describeConnector } from "./connector-status.js";
import type { Obstacle } from "./plan-connector.js";
import { notInstalled } from "./status-feed.js";
import type { UnsettledFault } from "./unsettled-faults.js";

/** What is known of a connector without the store. */
export interface KnownAtOnce {
  readonly connectorKey: string;
  readonly entry: CatalogEntry | undefined;
  readonly isPublished: boolean;
  /** An account is signed in. */
  readonly isSignedIn: boolean;
  /** What it was last planned with that stands in its way. */
  readonly planned: Obstacle | undefined;
  readonly unsettled: UnsettledFault | undefined;
  /** The host is closing: nothing of it comes back. */
  readonly isClosing: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * What a connector is at, as far as it is known at once; `undefined` for one that is published as before. Pure. It says what a reading of the
 * rows is going to say.
 */
export function presumeStatus(known: KnownAtOnce): ConnectorStatus | undefined {
  const { connectorKey, entry, isPublished, unsettled, isClosing, now } = known;
  if (entry === undefined) return notInstalled(connectorKey);
  if (isPublished && unsettled?.kind !== "demanded") return undefined;
  const obstacle = obstacleAtOnce(known, entry);
  const row = describeConnector({ connectorKey, obstacle, convergence: undefined, isPublished: false, unsettled });
  const since = row.since ?? now;
  if (isClosing && obstacle === undefined) return { ...row, state: "offline", reason: "host_closed", since };
  return { ...row, since };
}

function obstacleAtOnce(
  { isSignedIn, planned }: KnownAtOnce,
  entry: CatalogEntry,
): Obstacle | "signed_out" | undefined {
  if (!entry.isOn) return "switched_off";
  if (entry.kind !== "release") return isActive(entry) ? planned : "paused";
  if (!isSignedIn) return "signed_out";
  return entry.isLeaving ? "uninstalling" : planned;
}
