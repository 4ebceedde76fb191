import type { ToolContract } from "../../protocol/index.js";
import type { SchemaCheck } from "../../protocol/json-schema/index.js";
import type { Clock } from "../../transport/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import { buildNameTable, type NamespaceTable } from "../naming/index.js";
import type { Route, RouteTable } from "../routes/index.js";
import { ListBudgets } from "./list-budgets.js";
import { nativeToolsIn, type NativeTool } from "./native-tools.js";
import { nameListing, type RouteListing } from "./route-listing.js";
import { type Listed, SharedWalks, type WalkReader } from "./shared-walks.js";

export interface RouteListingsOptions {
  readonly clock: Clock;
  readonly namespaces: NamespaceTable;
  /** How long a list waits for one connector that was not late before, in milliseconds. */
  readonly listBudgetMs: number;
  readonly checkSchema?: SchemaCheck | undefined;
  /** `walked`: what the listing was made of. It is let go then. */
  readonly onListed: (
    route: Route<RemoteMcpClient>,
    listed: Listed<RouteListing>,
    walked: WalkedTools | undefined,
  ) => void;
  readonly onLateFailure: (route: Route<RemoteMcpClient>, error: unknown) => void;
}

/** How a tool is called. */
export interface CallableTool {
  readonly nativeName: string;
  readonly contract: ToolContract;
  /** Its definition as it was listed, but perhaps for the name, where that was kept. */
  readonly definition?: string | Uint8Array | undefined;
}

/** One who waits for a list for as long as its connector deserves. */
export type ListReader = Pick<WalkReader, "binding" | "signal">;

/** What a walk brought, as the server wrote it. */
export interface WalkedTools {
  readonly native: readonly NativeTool[];
  readonly ttlMs: number | undefined;
}

/** How long a walk may take, whoever waits for it; no budget is longer. */
const WALK_TIMEOUT_MS = 30_000;

/** What routes list of tools, live, and how long that takes. */
export class RouteListings {
  readonly #options: RouteListingsOptions;
  readonly #budgets = new ListBudgets();
  readonly #walks: SharedWalks<RouteListing>;
  /** What has just been walked, until it was told. */
  readonly #walked = new WeakMap<RouteListing, WalkedTools>();
  readonly #activated = new WeakMap<Route<RemoteMcpClient>, ReadonlyMap<string, CallableTool>>();

  constructor(options: RouteListingsOptions) {
    this.#options = options;
    const { clock, listBudgetMs, onListed, onLateFailure } = options;
    this.#walks = new SharedWalks<RouteListing>({
      clock,
      read: (route, signal) => this.#read(route, signal),
      onListed: (route, listed) => {
        this.#budgets.note(route.connectorKey, listed.tookMs, listBudgetMs);
        onListed(route, listed, this.#walked.get(listed.listing));
        // It is as much again as the listing.
        this.#walked.delete(listed.listing);
      },
      onLateFailure,
    });
  }

  /** What was last listed; `undefined` before the first walk ended. */
  newest(route: Route<RemoteMcpClient>): RouteListing | undefined {
    return this.#walks.newest(route);
  }

  /** What was last listed, if nothing says that it changed since. */
  valid(route: Route<RemoteMcpClient>): RouteListing | undefined {
    return this.#walks.valid(route);
  }

  /** The tools of the last list, or of the route's activation before the first, by exposed name. */
  last(route: Route<RemoteMcpClient>): ReadonlyMap<string, CallableTool> {
    return this.newest(route)?.tools ?? this.#activatedWith(route);
  }

  /** As {@link last}, if nothing says that it changed since. */
  lastValid(route: Route<RemoteMcpClient>): ReadonlyMap<string, CallableTool> | undefined {
    return this.valid(route)?.tools ?? (this.#walks.isUntouched(route) ? this.#activatedWith(route) : undefined);
  }

  /** Whether something says that the list changed since it was read last. */
  isOutdated(route: Route<RemoteMcpClient>): boolean {
    return this.#walks.isOutdated(route);
  }

  invalidate(route: Route<RemoteMcpClient>): void {
    this.#walks.invalidate(route);
  }

  /** What the route lists now, within its budget. Rejects with `timeout`, the signal's reason, and what the client rejects with. */
  list(route: Route<RemoteMcpClient>, reader: ListReader): Promise<RouteListing> {
    const limitMs = this.#budgets.of(route.connectorKey, this.#options.listBudgetMs, this.#walks.isSilent(route));
    return this.#walks.list(route, { ...reader, limitMs, option: "listBudgetMs" });
  }

  /** As {@link list}, as long as a walk takes. */
  listPatiently(route: Route<RemoteMcpClient>, signal: AbortSignal): Promise<RouteListing> {
    return this.#walks.list(route, { signal, limitMs: 2 * WALK_TIMEOUT_MS, option: "totalTimeoutMs" });
  }

  #activatedWith(route: Route<RemoteMcpClient>): ReadonlyMap<string, CallableTool> {
    let tools = this.#activated.get(route);
    if (tools === undefined) {
      const { connectorKey } = route;
      const native = Array.from(route.tools, ([nativeName, { contract, definition }]) => {
        return { connectorKey, nativeName, contract, definition };
      });
      tools = buildNameTable(this.#options.namespaces, native).entries;
      this.#activated.set(route, tools);
    }
    return tools;
  }

  async #read(route: Route<RemoteMcpClient>, signal: AbortSignal): Promise<RouteListing> {
    const listed = await route.client.listAllTools({ signal, totalTimeoutMs: WALK_TIMEOUT_MS, definitions: true });
    const { connectorKey } = route;
    const { native, leftOut } = nativeToolsIn(connectorKey, listed, this.#options.checkSchema);
    const listing = nameListing(this.#options.namespaces, connectorKey, native, leftOut);
    const before = this.newest(route);
    // One that says the same is kept as it is, so that nothing is held twice.
    const isSame = before?.digest === listing.digest && !hasFaults(before) && !hasFaults(listing);
    const kept = isSame ? before : listing;
    this.#walked.set(kept, { native, ttlMs: listed.ttlMs });
    return kept;
  }
}

function hasFaults({ diagnostics }: RouteListing): boolean {
  return diagnostics.length > 0;
}

/** The route that replaced this one, if one did. */
export function successorOf(
  route: Route<RemoteMcpClient>,
  routes: RouteTable<RemoteMcpClient>,
): Route<RemoteMcpClient> | undefined {
  if (route.state !== "superseded") return undefined;
  const current = routes.current(route.connectorKey);
  return current?.scope === route.scope && current !== route ? current : undefined;
}
