import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import type { FaultClass } from "../../reconcile/index.js";
import { classifyActivationFault } from "../activation/index.js";
import { needsSignIn } from "./list-server.js";

/**
 * What the end of a server is in the terms of a connector: a refusal that a sign-in can mend, such as HTTP 401, is
 * `authorization_required`, `reauthorize` when the server had let us in before. Every other one stays the object that it is. Pure.
 */
export function explainDeviceFault(connectorKey: string, error: unknown, reauthorize: boolean): unknown {
  if (!needsSignIn(error)) return error;
  return new RemoteConnectorError("authorization_required", {
    message: `The server of ${connectorKey} refuses whoever is not signed in.`,
    delivery: "answered",
    details: { connectorKey, reauthorize },
    cause: error,
  });
}

/**
 * What a failure means for the next try. Pure; `nowMs` is the wall clock in epoch milliseconds.
 *
 * A server that refuses us, and a reference that can't be resolved, count: trying again and again brings nothing, and once they are
 * parked a call or a person still has them tried at once. For the rest see `classifyActivationFault`.
 */
export function classifyDeviceFault(error: unknown, nowMs: number): FaultClass {
  if (isRemoteConnectorError(error, "authorization_required")) return { counts: true };
  const { counts, retryAfterMs } = classifyActivationFault(error, nowMs);
  return { counts, retryAfterMs };
}
