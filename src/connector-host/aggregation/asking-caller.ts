import type { JsonObject } from "../../protocol/index.js";
import type { ForwardedRequest } from "../local-server/index.js";
import type { RouteAnswer, RouteCaller, RoutedRequest } from "./route-caller.js";

/** Makes requests over routes, and carries what their servers ask for in the midst of them to the agents that made them. */
export class AskingCaller {
  readonly #caller: RouteCaller;

  constructor(caller: RouteCaller) {
    this.#caller = caller;
  }

  /** Whether a request goes on with one that waits at its server: it was decided on when that was made. */
  isHeld(_request: ForwardedRequest): boolean {
    return false;
  }

  /** Rejects as {@link RouteCaller.call} does. */
  call<T extends JsonObject>(routed: RoutedRequest<T>): Promise<RouteAnswer> {
    return this.#caller.call(routed);
  }
}
