import type { RemoteMcpClient } from "../factories/index.js";
import type { Route } from "../routes/index.js";

/** Why lists leave connectors out that have a route. It goes with the route. */
export class ListOmissions {
  readonly #reasons = new WeakMap<Route<RemoteMcpClient>, string>();
  /** Told when lists leave a connector out, or have it again. */
  onChange: (connectorKey: string) => void = () => undefined;

  /** `undefined`: lists have it again. */
  note(route: Route<RemoteMcpClient>, reason: string | undefined): void {
    if (reason === undefined) this.#reasons.delete(route);
    else this.#reasons.set(route, reason);
    this.onChange(route.connectorKey);
  }

  of(route: Route<RemoteMcpClient> | undefined): string | undefined {
    return route && this.#reasons.get(route);
  }
}
