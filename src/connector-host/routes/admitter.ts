import type { Route, RouteClient } from "./route.js";

/** Why a call may not be sent any more. */
export type AdmissionRefusal =
  | "route_revoked"
  | "route_superseded"
  | "route_not_published"
  | "login_changed"
  | "permission_changed"
  | "contract_changed"
  | "approval_expired";

/** Something that a call was prepared with, and how to read what it is by now. */
export interface Pinned {
  readonly value: string | number | bigint;
  /** Synchronous, must not throw. `undefined`: there is none any more. */
  current(): string | number | bigint | undefined;
}

/** What else must still hold when a call is sent. What is left out is not compared. */
export interface AdmissionPins {
  /** Generation of the login on whose behalf the call is made. */
  readonly login?: Pinned | undefined;
  /** Version of the permissions that allowed it. */
  readonly permission?: Pinned | undefined;
  /** Digest of the contract that its headers were made from. */
  readonly contract?: Pinned | undefined;
  /** Whether the approval by which it is made is good. Asked last, so that one that says so is used. Synchronous, must not throw. */
  readonly isApproved?: (() => boolean) | undefined;
}

/** The part of a route table that admission looks at. */
export interface PublishedView<Client extends RouteClient> {
  isCurrent(route: Route<Client>): boolean;
}

/**
 * Makes the last check of a call: one synchronous function for the transport to run just before the first byte leaves. It
 * answers why the call may not be sent, or `undefined` when it may. Nothing that was awaited before matters to it.
 *
 * `route_superseded` says that a successor is there, or about to be: a call that has not been sent may be made there.
 */
export function createAdmitter<Client extends RouteClient>(
  routes: PublishedView<Client>,
  route: Route<Client>,
  pins: AdmissionPins = {},
): () => AdmissionRefusal | undefined {
  const { login, permission, contract, isApproved } = pins;
  return () => {
    if (route.state === "revoked") return "route_revoked";
    if (route.state === "superseded") return "route_superseded";
    if (!routes.isCurrent(route)) return "route_not_published";
    if (hasChanged(login)) return "login_changed";
    if (hasChanged(permission)) return "permission_changed";
    if (hasChanged(contract)) return "contract_changed";
    return isApproved?.() === false ? "approval_expired" : undefined;
  };
}

function hasChanged(pinned: Pinned | undefined): boolean {
  return pinned !== undefined && pinned.current() !== pinned.value;
}
