import { readConnectorState } from "./connector-states.js";
import type { StatusRow } from "./status-report.js";

/**
 * What a person has to do before a message can be written that uses a connector:
 *
 * - `available`: nothing. It works, or will by itself; a call wakes it and waits for it;
 * - `auth_required`: authorize it, or sign in;
 * - `setup_required`: install it, enable it, give what its definition refers to, or look at why it failed;
 * - `unsupported`: nothing helps, as long as host and connector are what they are.
 */
export type ComposerStatus = "unsupported" | "setup_required" | "available" | "auth_required";

/** Failures of what host and server can, not of the moment. */
const UNSUPPORTED: ReadonlySet<string> = new Set(["invalid_release", "unsupported", "unsupported_version"]);

/** What a person left undone: a secret or variable that there is not, a program that can't be started. */
const UNDONE: ReadonlySet<string> = new Set(["spawn_failed", "unresolved_reference"]);

/** What a composer shows of a connector of any kind. Pure. A state that this version doesn't know counts as `offline`. */
export function composerStatusOf({ state, reason }: Pick<StatusRow, "state" | "reason">): ComposerStatus {
  const isUnsupported = reason !== undefined && UNSUPPORTED.has(reason);
  const isUndone = reason !== undefined && UNDONE.has(reason);
  switch (readConnectorState(state)) {
    case "ready":
    case "degraded":
      return "available";
    case "authorization_required":
      return "auth_required";
    case "starting":
    case "offline":
      return isUnsupported ? "unsupported" : isUndone ? "setup_required" : "available";
    case "not_installed":
    case "disabled":
    case "failed":
      return isUnsupported ? "unsupported" : "setup_required";
  }
}
