import type { Clock } from "../../transport/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding } from "../local-server/index.js";
import type { NamespaceTable } from "../naming/index.js";
import type { Route, RouteTable } from "../routes/index.js";

/** What the directory asks of the host. */
export interface Reach {
  /**
   * The scopes that a binding reaches: that of its account while its login lasts, and that of the device. Empty: nothing any
   * more.
   */
  scopesOf(binding: Binding): readonly string[];
  /** Connectors of the scopes that should run and have no route, with what they are at. */
  missing(scopes: readonly string[]): Promise<readonly MissingConnector[]>;
  /** Has a connector of one of the scopes tried now, since a call needs it. */
  wake(scopes: readonly string[], connectorKey: string): void;
  /** Told of every failure of a list or a call, with the route that it went over. */
  onFailure(route: Route<RemoteMcpClient>, error: unknown): void;
}

export interface MissingConnector {
  readonly connectorKey: string;
  /** A word for what it is at, such as `starting` or `offline`. */
  readonly state: string;
  /** Epoch milliseconds. */
  readonly nextAttemptAt: number | undefined;
}

export interface AggregatedDirectoryOptions {
  readonly routes: RouteTable<RemoteMcpClient>;
  readonly namespaces: NamespaceTable;
  readonly reach: Reach;
  readonly clock: Clock;
  /** How long a list waits for one connector, in milliseconds. */
  readonly listBudgetMs: number;
  /** How long a call waits for a connector that has no route yet, in milliseconds. */
  readonly wakeBudgetMs: number;
  /** Whether a call is made with the contract as it is listed now, or as it was listed last. */
  readonly contracts: "reread" | "last_list";
}
