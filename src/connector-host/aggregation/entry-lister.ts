import { createHash } from "node:crypto";
import { isRemoteConnectorError } from "../../errors.js";
import { type Diagnostic, type JsonObject, type ListKind, RpcCode } from "../../protocol/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding, OmittedConnector } from "../local-server/index.js";
import type { Route } from "../routes/index.js";
import { walkEntries, type WalkedEntries } from "./entry-walk.js";
import { fitListings } from "./fit-listings.js";
import type { View } from "./given-views.js";
import { ListBudgets } from "./list-budgets.js";
import { isAdmitted, isOpenFor, type OptInCapability } from "./open-connectors.js";
import type { AggregatedDirectoryOptions, MissingConnector } from "./ports.js";
import { type AskOutcome, omissionReason, RouteAsker } from "./route-asker.js";
import { SharedWalks } from "./shared-walks.js";

/** One kind of list, and what connectors have to be opened for to have it. */
export interface EntryKind<Entry> {
  readonly list: ListKind<Entry>;
  readonly capability: OptInCapability;
}

/** What one connector lists. Immutable. */
export interface EntriesOfRoute extends WalkedEntries {
  /** Of all definitions. */
  readonly bytes: number;
  /** The same for lists that agents can't tell apart; `""` for one of which they are shown nothing. */
  readonly digest: string;
  /** Of everything, what is not shown included. */
  readonly wholeDigest: string;
}

/** A connector's part of a list. */
export interface EntryPart {
  readonly connectorKey: string;
  readonly route: Route<RemoteMcpClient>;
  readonly listing: EntriesOfRoute;
}

/** What all connectors in reach list, sorted by connector. */
export interface ListedByAll {
  readonly parts: readonly EntryPart[];
  /** Parts for which the list had no room. */
  readonly leftOut: readonly EntryPart[];
  readonly omitted: readonly OmittedConnector[];
  readonly view: View;
}

/** How long a walk may take, whoever waits for it; no budget is longer. */
const WALK_TIMEOUT_MS = 30_000;

/** Lists the prompts, resources or templates of the connectors that are opened for them, live. */
export class EntryLister<Entry extends JsonObject> {
  readonly #options: AggregatedDirectoryOptions;
  readonly #kind: EntryKind<Entry>;
  readonly #asker: RouteAsker;
  readonly #budgets = new ListBudgets();
  readonly #walks: SharedWalks<EntriesOfRoute>;
  /** What was last told of each route's list, as JSON. */
  readonly #told = new WeakMap<Route<RemoteMcpClient>, string>();

  /** `onNews`: told when what a route lists is another, or is there for those who gave it up. */
  constructor(
    options: AggregatedDirectoryOptions,
    kind: EntryKind<Entry>,
    onNews: (route: Route<RemoteMcpClient>) => void = nothingToTell,
  ) {
    this.#options = options;
    this.#kind = kind;
    this.#asker = new RouteAsker(options.routes);
    this.#walks = new SharedWalks({
      clock: options.clock,
      read: (route, signal) => this.#read(route, signal),
      onListed: (route, { listing, tookMs, wasMissed, before }) => {
        this.#budgets.note(route.connectorKey, tookMs, options.listBudgetMs);
        const isOther = before !== undefined && before.digest !== listing.digest;
        if (wasMissed || isOther) onNews(route);
      },
      onLateFailure: (route, error) => options.reach.onFailure(route, error),
    });
  }

  /**
   * Every connector within its own budget; one that fails or is late is left out and named. What was withdrawn meanwhile is not
   * there. Rejects, with the first failure, only when every one failed.
   */
  async listAll(binding: Binding, signal: AbortSignal): Promise<ListedByAll> {
    const { reach, routes: table } = this.#options;
    const scopes = reach.scopesOf(binding);
    const routes = table.list().filter((route) => scopes.includes(route.scope) && this.#isOpen(route.connectorKey));
    const outcomes = await this.#asker.askAll(routes, signal, (route, joined) => this.#list(route, binding, joined));
    // What is missing is worth a word, and not the whole list.
    const missing = scopes.length === 0 ? [] : await reach.missing(scopes).catch(nothing);
    signal.throwIfAborted();
    const left = reach.scopesOf(binding);
    if (scopes.some((scope) => !left.includes(scope))) return this.listAll(binding, signal);
    return this.#gather(outcomes, missing);
  }

  /** What one connector lists now, however long a walk takes. Rejects with the list's failure, or the signal's reason. */
  async listOne(route: Route<RemoteMcpClient>, signal: AbortSignal): Promise<EntriesOfRoute> {
    try {
      return await this.#walks.list(route, { signal, limitMs: 2 * WALK_TIMEOUT_MS, option: "totalTimeoutMs" });
    } catch (error) {
      if (!signal.aborted) this.#options.reach.onFailure(route, error);
      throw error;
    }
  }

  /** What one connector listed last; `undefined` before the first walk ended. */
  newest(route: Route<RemoteMcpClient>): EntriesOfRoute | undefined {
    return this.#walks.newest(route);
  }

  /** What one connector listed last, if nothing says that it changed since. */
  valid(route: Route<RemoteMcpClient>): EntriesOfRoute | undefined {
    return this.#walks.valid(route);
  }

  /** The route's list may have changed: no walk is joined that began before. */
  invalidate(route: Route<RemoteMcpClient>): void {
    this.#walks.invalidate(route);
  }

  /** Whether an entry may be shown. */
  admits(connectorKey: string, name: string): boolean {
    return isAdmitted(this.#options.reach, { capability: this.#kind.capability, connectorKey, name });
  }

  #isOpen(connectorKey: string): boolean {
    return isOpenFor(this.#options.reach, connectorKey, this.#kind.capability);
  }

  #list(route: Route<RemoteMcpClient>, binding: Binding, signal: AbortSignal): Promise<EntriesOfRoute> {
    const limitMs = this.#budgets.of(route.connectorKey, this.#options.listBudgetMs, this.#walks.isSilent(route));
    return this.#walks.list(route, { binding, signal, limitMs, option: "listBudgetMs" });
  }

  #gather(outcomes: readonly AskOutcome<EntriesOfRoute>[], missing: readonly MissingConnector[]): ListedByAll {
    const { maxListBytes, reach } = this.#options;
    const parts: EntryPart[] = [];
    const omitted: OmittedConnector[] = [];
    const failures: unknown[] = [];
    for (const outcome of outcomes) {
      const { route } = outcome;
      const { connectorKey } = route;
      if (route.state === "revoked") continue;
      if (outcome.kind === "found") {
        parts.push({ connectorKey, route, listing: outcome.listing });
      } else {
        reach.onFailure(route, outcome.error);
        omitted.push({ connectorKey, reason: omissionReason(outcome.error) });
        failures.push(outcome.error);
      }
    }
    if (failures.length > 0 && parts.length === 0) throw failures[0];
    const { kept, leftOut } = fitListings(parts, maxListBytes);
    for (const { connectorKey } of leftOut) omitted.push({ connectorKey, reason: "list_too_large" });
    for (const { connectorKey, state } of missing) {
      const cameBack = parts.some((part) => part.connectorKey === connectorKey);
      if (!cameBack && this.#isOpen(connectorKey)) omitted.push({ connectorKey, reason: state });
    }
    const view = new Map(parts.map(({ connectorKey, listing }) => [connectorKey, listing.digest]));
    return { parts: [...kept].sort(byKey), leftOut, omitted: omitted.sort(byKey), view };
  }

  async #read(route: Route<RemoteMcpClient>, signal: AbortSignal): Promise<EntriesOfRoute> {
    const { clock } = this.#options;
    try {
      const walked = await walkEntries(route.client, this.#kind.list, { signal, clock, timeoutMs: WALK_TIMEOUT_MS });
      this.#tell(route, walked.diagnostics);
      const listing = entriesOfRoute(walked, (name) => this.admits(route.connectorKey, name));
      const before = this.newest(route);
      // One that says the same is kept as it is, so that nothing is held twice.
      return before?.wholeDigest === listing.wholeDigest ? before : listing;
    } catch (error) {
      // A server that has no such list has nothing to list.
      const hasNone = isRemoteConnectorError(error, "peer_error") && error.details.rpcCode === RpcCode.methodNotFound;
      if (hasNone) return NOTHING;
      throw error;
    }
  }

  #tell(route: Route<RemoteMcpClient>, diagnostics: readonly Diagnostic[]): void {
    const told = this.#told.get(route) ?? "[]";
    const text = JSON.stringify(diagnostics);
    if (told === text) return;
    this.#told.set(route, text);
    this.#options.reach.onEntryDiagnostics?.(route, diagnostics);
  }
}

function entriesOfRoute(
  { definitions, duplicates, diagnostics }: WalkedEntries,
  isShown: (name: string) => boolean = () => true,
): EntriesOfRoute {
  const shown = createHash("sha256");
  const hidden = createHash("sha256");
  let bytes = 0;
  let count = 0;
  // JSON holds no NUL, so that nothing can be moved from one definition to the next.
  for (const [name, definition] of definitions) {
    const mark = duplicates.has(name) ? "\0\0" : "\0";
    bytes += definition.byteLength;
    const isHere = isShown(name);
    if (isHere) count += 1;
    (isHere ? shown : hidden).update(definition).update(mark);
  }
  const digest = count === 0 ? "" : shown.digest("base64url");
  return {
    definitions,
    duplicates,
    diagnostics,
    bytes,
    digest,
    wholeDigest: `${digest} ${hidden.digest("base64url")}`,
  };
}

const NOTHING = entriesOfRoute({ definitions: new Map(), duplicates: new Set(), diagnostics: [] });

function nothingToTell(): void {}

function nothing(): readonly MissingConnector[] {
  return [];
}

function byKey(a: { readonly connectorKey: string }, b: { readonly connectorKey: string }): number {
  return a.connectorKey < b.connectorKey ? -1 : 1;
}
