import type { RemoteMcpClient } from "../factories/index.js";
import type { Route } from "../routes/index.js";
import type { Reach } from "./ports.js";
import type { RouteListing } from "./route-listing.js";

/** Tells the host what lists leave out: once per change, and not once per list. */
export class ListReports {
  readonly #reach: Pick<Reach, "onNameDiagnostics" | "onOmission">;
  /** What was last told of a connector's names, as text. Those of which there is nothing to tell are not in it. */
  readonly #names = new Map<string, string>();
  readonly #omissions = new WeakMap<Route<RemoteMcpClient>, string>();

  constructor(reach: Pick<Reach, "onNameDiagnostics" | "onOmission">) {
    this.#reach = reach;
  }

  /** The route's connector was listed. `omission`: why the list has no room for it. */
  onListed(route: Route<RemoteMcpClient>, { diagnostics }: RouteListing, omission: string | undefined): void {
    this.#noteOmission(route, omission);
    const { connectorKey } = route;
    const before = this.#names.get(connectorKey);
    if (diagnostics.length === 0 && before === undefined) return;
    const text = JSON.stringify(diagnostics);
    if (text === before) return;
    if (diagnostics.length === 0) this.#names.delete(connectorKey);
    else this.#names.set(connectorKey, text);
    this.#reach.onNameDiagnostics?.(connectorKey, diagnostics);
  }

  /** A list leaves the route's connector out. */
  onOmitted(route: Route<RemoteMcpClient>, reason: string): void {
    this.#noteOmission(route, reason);
  }

  /** The connector has no route any more: what was told of its names is forgotten. */
  forget(connectorKey: string): void {
    this.#names.delete(connectorKey);
  }

  #noteOmission(route: Route<RemoteMcpClient>, reason: string | undefined): void {
    if (this.#omissions.get(route) === reason) return;
    if (reason === undefined) this.#omissions.delete(route);
    else this.#omissions.set(route, reason);
    this.#reach.onOmission?.(route, reason);
  }
}
