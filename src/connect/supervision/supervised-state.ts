import type { RemoteConnectorError } from "../../errors.js";

/** What is known of a supervised server. */
export type SupervisedState =
  /** It was switched off, or closed. */
  | { readonly kind: "disabled" }
  /** Its process is being started, initialized, or asked for its tools for the first time. However long that takes. */
  | { readonly kind: "starting" }
  /** It runs, and has so many tools: at least one. */
  | { readonly kind: "ready"; readonly tools: number }
  /** It runs and can be called, but has no tools, or its last list failed, with `error`. It is not restarted for that. */
  | { readonly kind: "degraded"; readonly reason: "empty_list" }
  | { readonly kind: "degraded"; readonly reason: "list_failed"; readonly error: RemoteConnectorError }
  /**
   * Its process ended, or could not be started. `next`: a restart within the budget; a try long after, since the budget is
   * used up; or nothing. `delayMs` is counted from the moment of the end.
   */
  | {
      readonly kind: "offline";
      readonly error: RemoteConnectorError;
      readonly next: "restart" | "probe" | "none";
      readonly delayMs: number | undefined;
    };

/** Whether two states say the same. */
export function isSameState(a: SupervisedState, b: SupervisedState): boolean {
  if (a.kind === "ready" && b.kind === "ready") return a.tools === b.tools;
  // Errors are made for one occasion.
  if (a.kind === "degraded" && b.kind === "degraded") return errorOf(a) === errorOf(b) && a.reason === b.reason;
  if (a.kind === "offline" && b.kind === "offline") return errorOf(a) === errorOf(b) && a.next === b.next;
  return a.kind === b.kind;
}

function errorOf(state: SupervisedState): RemoteConnectorError | undefined {
  return "error" in state ? state.error : undefined;
}
