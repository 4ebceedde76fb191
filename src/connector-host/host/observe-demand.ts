import type { Observation } from "../../auth-projection/index.js";
import { isRemoteConnectorError } from "../../errors.js";
import { readAuthorizationDemand } from "../activation/index.js";
import type { Release } from "../release/index.js";

/** The connection that a failing request used. */
export interface UsedConnection {
  readonly connectorKey: string;
  /** Of the release that it was for. */
  readonly releaseDigest: string;
  /** `undefined` for a connector that needs none. */
  readonly connectionId: string | undefined;
  readonly connectionVersion: bigint;
}

/**
 * What a failure says of the account's connection, if it is its connector's gateway that says so: `-33001` and a bare HTTP 428
 * that there is none, `-33002` that it has to be made anew. `undefined` for every other failure, for one of our own making, and
 * for a connector that needs no authorization: its gateway is at fault then, not the account. Pure.
 */
export function observeDemand(
  used: Omit<UsedConnection, "releaseDigest">,
  release: Release,
  error: unknown,
): Observation | undefined {
  const demand = readAuthorizationDemand(error);
  if (demand === undefined || release.authorization.kind === "none") return undefined;
  // Nobody was asked: it was read from the rows.
  if (isRemoteConnectorError(error, "authorization_required") && error.delivery === "not_sent") return undefined;
  const { connectorKey, connectionId, connectionVersion } = used;
  return { connectorKey, connectionId, connectionVersion, state: demand.reauthorize ? "expired" : "disconnected" };
}
