import type { RouteToken, RunOutcome } from "../../reconcile/index.js";
import type { ToolListDiagnostic } from "../activation/index.js";

/** Where secrets are kept. Asked at each start of a server, for one reference after the other. */
export interface SecretSource {
  /** The secret of this name; `undefined` when there is none. */
  read(name: string): string | undefined | PromiseLike<string | undefined>;
}

/** The host's environment. Asked at each start of a server. */
export interface EnvironmentSource {
  /** The variable of this name; `undefined` when it is not set. */
  read(name: string): string | undefined;
}

/** What convergence is told of servers that are held outside its lanes: two methods of `Controller`. Neither throws. */
export interface DeviceControl {
  report(token: RouteToken, outcome: RunOutcome): void;
  exited(token: RouteToken, error?: unknown): void;
}

/** Something that happened to a connector of the device. `message` is for people; decide by `kind`. */
export interface DeviceIncident {
  readonly kind:
    /** What of its tools was left out or tolerated is in `diagnostics`. */
    | "tools_left_out"
    /** A living server gave no list of tools, or an empty one: its connector is degraded. */
    | "list_failed"
    /** The folder of its skills can't be used: it is published without them. */
    | "skills_left_out"
    /** Calls and then a question were left unanswered: the server is given up, and reached anew. */
    | "given_up"
    /** What was left of a server could not be closed. */
    | "close_failed";
  readonly connectorKey: string;
  readonly message: string;
  readonly diagnostics?: readonly ToolListDiagnostic[] | undefined;
  /** What was caught. */
  readonly error?: unknown;
}
