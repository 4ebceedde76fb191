import { type PublicationChange, PublishedRoutes, type PublicationListener } from "./published-routes.js";
import type { Retirement } from "./retirement.js";
import { RetiringRoutes } from "./retiring-routes.js";
import type { Route, RouteClient } from "./route.js";
import type { CommitRefusal, CommitResult, RemoveResult, RouteTableCounts } from "./route-table-results.js";
import { resolveRouteTableOptions, type RouteTableConfig, type RouteTableOptions } from "./route-table-options.js";
import { ScopeFences } from "./scope-fences.js";
import { StagedRoutes } from "./staged-routes.js";

/**
 * How a fence treats the calls in flight.
 *
 * - `revoke`: what the route stands for has ended (disabled, signed out, another connection). They are aborted at once.
 * - `supersede`: same login and connection, only newer. They may finish within the drain limit.
 */
export type FenceKind = "revoke" | "supersede";

interface Withdrawn<Client extends RouteClient> {
  readonly published: readonly Route<Client>[];
  readonly retiring: readonly Retirement<Client>[];
  readonly staged?: readonly Route<Client>[] | undefined;
}

/**
 * Which connector is served by which route.
 *
 * Every change that readers, calls or fences can notice happens synchronously, before a method returns; what is awaited
 * is cleanup only, and takes at most one attempt to close. Methods may be called in any order and side by side. A failed
 * cleanup is debt that is worked off later; it never touches the published route.
 *
 * Routes belong to scopes, and a scope must be open to publish in it. Every route that is handed to `commit` belongs to
 * the table from then on, a refused one included: the table closes its client.
 */
export class RouteTable<Client extends RouteClient = RouteClient> {
  readonly #config: RouteTableConfig;
  readonly #scopes = new ScopeFences();
  readonly #published: PublishedRoutes<Client>;
  readonly #retiring: RetiringRoutes<Client>;
  readonly #staged = new StagedRoutes<Client>();
  /** Every route that came in, so that none is closed twice. */
  readonly #taken = new WeakSet<Route<Client>>();
  #isClosed = false;
  #closing: Promise<{ readonly abandoned: number }> | undefined;

  /** Throws `invalid_options`. */
  constructor(options: RouteTableOptions = {}) {
    this.#config = resolveRouteTableOptions(options);
    this.#retiring = new RetiringRoutes(this.#config);
    this.#published = new PublishedRoutes((cause) => {
      this.#config.onDiagnostic({ kind: "listener_failed", message: "A publication listener threw.", cause });
    });
  }

  /**
   * Opens a scope under an epoch. Whatever the scope has under another epoch is revoked first. Nothing happens when it is
   * open under this one.
   */
  openScope(scope: string, epoch: string): void {
    if (this.#scopes.epochOf(scope) === epoch) return;
    this.#revokeScope(scope, "its scope began another epoch");
    this.#scopes.open(scope, epoch);
  }

  /** Revokes everything of a scope and shuts it, in one step. Its epoch never comes back: `openScope` begins another. */
  fenceAll(scope: string): void {
    this.#revokeScope(scope, "its scope was shut");
    this.#staged.forget(scope);
    this.#scopes.shut(scope);
  }

  /**
   * Closes the gate of an open scope: everything of it that is published or retires is revoked, at once, and what is committed from
   * now on is staged. Answers what was published: its generations can be committed again. Nothing happens at a closed gate.
   */
  closeGate(scope: string): readonly Route<Client>[] {
    if (this.#staged.isClosed(scope)) return [];
    const published = this.#published.list().filter((route) => route.scope === scope);
    this.#revokeScope(scope, "the gate of its scope was closed");
    this.#staged.close(scope);
    return published;
  }

  /** Opens the gate of a scope: what is staged is published, in one step for readers. Answers what of it was. */
  openGate(scope: string): readonly Route<Client>[] {
    const changes: PublicationChange<Client>[] = [];
    const refused: Route<Client>[] = [];
    for (const route of this.#staged.open(scope)) {
      if (this.#refusal(route, this.#published.get(route.connectorKey)) === undefined) changes.push(this.#put(route));
      else refused.push(route);
    }
    this.#withdraw({ published: [], retiring: [], staged: refused }, "revoke", "it is not wanted any more");
    this.#published.announce(changes);
    return changes.flatMap(({ current }) => current ?? []);
  }

  /** The connectors of a scope that wait for its gate to open, sorted in code units. */
  stagedKeys(scope: string): readonly string[] {
    return this.#staged.keys(scope);
  }

  /** Whether this generation of a connector waits for its scope's gate to open. */
  isStaged(scope: string, connectorKey: string, generation: number): boolean {
    return this.#staged.get(scope, connectorKey)?.generation === generation;
  }

  /** Waits until all withdrawn routes of a scope are closed, at most `timeoutMs`. Answers how many are not; nothing else is done. */
  async drained(scope: string, timeoutMs: number): Promise<number> {
    const retiring = this.#retiring.all(scope);
    await new Promise<void>((resolve) => {
      const stop = this.#config.clock.schedule(timeoutMs, resolve);
      void Promise.all(retiring.map((retirement) => retirement.tried)).then(() => {
        stop();
        resolve();
      });
    });
    return this.#retiring.all(scope).length;
  }

  /**
   * Publishes a route in the place of the connector's present one, which is superseded, then closed when its calls have
   * left. Readers see the old route or the new one, never neither. A generation may be committed again as long as it is
   * not fenced; the route that is published already is simply confirmed.
   */
  async commit(next: Route<Client>): Promise<CommitResult> {
    const { connectorKey } = next;
    const published = this.#published.get(connectorKey);
    if (published === next) return { published: true, cleanupPending: this.#owes(connectorKey) };
    const refusal = this.#refusal(next, published);
    if (refusal !== undefined) return this.#refuse(next, refusal);
    if (this.#staged.isClosed(next.scope)) return this.#stage(next);
    const change = this.#put(next);
    const retirement = change.previous && this.#retiring.find(change.previous);
    this.#published.announce([change]);
    if (retirement !== undefined && !retirement.isDraining) await retirement.tried;
    return { published: true, cleanupPending: this.#owes(connectorKey) };
  }

  /**
   * Fences a connector and takes its route away, if its generation is at or behind `generation`. Without a route the fence
   * advances all the same. An older generation than the published one changes nothing, and neither does a
   * `releaseDigest` other than that of the published route.
   */
  async remove(scope: string, connectorKey: string, generation: number, releaseDigest?: string): Promise<RemoveResult> {
    const route = this.#of(scope, connectorKey);
    const isSpared =
      route !== undefined &&
      (route.generation > generation || (releaseDigest !== undefined && route.releaseDigest !== releaseDigest));
    if (isSpared) return { removed: false, cleanupPending: this.#owes(connectorKey) };
    this.fence(scope, connectorKey, generation, "revoke");
    await Promise.all(this.#retiring.of(connectorKey, { scope, generation }).map((retirement) => retirement.tried));
    return { removed: route !== undefined, cleanupPending: this.#owes(connectorKey) };
  }

  /**
   * Takes away exactly this route, whose client is gone: published or retiring, nothing else of its connector is touched.
   * Its generation can be committed again, an older one can't. Answers whether readers saw it.
   */
  retireExact(route: Route<Client>): { readonly wasPublished: boolean } {
    const reason = "its client is gone";
    const wasPublished = this.isCurrent(route);
    if (wasPublished) this.#scopes.raise(route.scope, route.connectorKey, route.generation - 1);
    const retirement = this.#retiring.find(route);
    const staged = this.#staged.takeExact(route);
    this.#withdraw(
      { published: [route], retiring: retirement === undefined ? [] : [retirement], staged },
      "revoke",
      reason,
    );
    return { wasPublished };
  }

  /**
   * Ends every generation of a connector up to and including `generation`: none of them can be committed any more, one that
   * is published is taken away, and what retires of them is revoked too if `kind` says so. Synchronous.
   *
   * A route that is about to be replaced is not fenced ahead: `commit` supersedes it in the same step.
   */
  fence(scope: string, connectorKey: string, generation: number, kind: FenceKind = "revoke"): void {
    this.#scopes.raise(scope, connectorKey, generation);
    const reason = "its generation was fenced";
    const route = this.#of(scope, connectorKey);
    const published = route !== undefined && route.generation <= generation ? [route] : [];
    const retiring = kind === "revoke" ? this.#retiring.of(connectorKey, { scope, generation }) : [];
    const staged = this.#staged.take(scope, connectorKey, generation);
    this.#withdraw({ published, retiring, staged }, kind, reason);
  }

  /** The epoch that the scope is open under; `undefined` while it is shut. */
  epochOf(scope: string): string | undefined {
    return this.#scopes.epochOf(scope);
  }

  /** The highest fenced generation of a connector in the scope's epoch. */
  fenceOf(scope: string, connectorKey: string): number | undefined {
    return this.#scopes.fenceOf(scope, connectorKey);
  }

  /** Drops a connector's fence: nothing older can come any more, since its lane is idle and it has no row. */
  forgetFence(scope: string, connectorKey: string): void {
    this.#scopes.forget(scope, connectorKey);
  }

  /** The published route of a connector. */
  current(connectorKey: string): Route<Client> | undefined {
    return this.#published.get(connectorKey);
  }

  isCurrent(route: Route<Client>): boolean {
    return this.#published.get(route.connectorKey) === route;
  }

  /** Whether this generation of a connector is the published one. */
  holds(scope: string, connectorKey: string, generation: number): boolean {
    return this.#of(scope, connectorKey)?.generation === generation;
  }

  /** All published routes, sorted by key in code units. The array never changes afterwards. */
  list(): readonly Route<Client>[] {
    return this.#published.list();
  }

  /** Tells `listener` of every change until the returned function is called. */
  onPublication(listener: PublicationListener<Client>): () => void {
    return this.#published.listen(listener);
  }

  get counts(): RouteTableCounts {
    return {
      published: this.#published.size,
      retiring: this.#retiring.size,
      staged: this.#staged.size,
      scopes: this.#scopes.scopeCount,
      fences: this.#scopes.fenceCount,
    };
  }

  /**
   * Revokes everything, at once, and waits at most `timeoutMs` until it is closed. What is not by then is given up:
   * `abandoned` counts it. Idempotent, with the first deadline. Nothing can be committed any more.
   */
  close(timeoutMs: number): Promise<{ readonly abandoned: number }> {
    this.#closing ??= this.#shutDown(timeoutMs);
    return this.#closing;
  }

  async #shutDown(timeoutMs: number): Promise<{ readonly abandoned: number }> {
    this.#isClosed = true;
    const reason = "the table is closed";
    const staged = this.#staged.all();
    this.#withdraw({ published: this.#published.list(), retiring: this.#retiring.all(), staged }, "revoke", reason);
    return { abandoned: await this.#retiring.drainWithin(timeoutMs) };
  }

  #revokeScope(scope: string, reason: string): void {
    const published = this.#published.list().filter((route) => route.scope === scope);
    const staged = this.#staged.takeAll(scope);
    this.#withdraw({ published, retiring: this.#retiring.all(scope), staged }, "revoke", reason);
  }

  /** Takes routes away from readers, all of them before anything else is seen to happen, then ends them. */
  #withdraw(routes: Withdrawn<Client>, kind: FenceKind, reason: string): void {
    const changes = routes.published.flatMap((route) => this.#published.take(route) ?? []);
    for (const retirement of routes.retiring) retirement.revoke(reason);
    for (const route of routes.staged ?? []) {
      route.revoke(reason);
      this.#retiring.add(route);
    }
    for (const { previous } of changes) {
      if (kind === "revoke") previous?.revoke(reason);
      else previous?.supersede();
      if (previous !== undefined) this.#retiring.add(previous);
    }
    this.#published.announce(changes);
  }

  /** Publishes a route. Readers see it; nobody is told yet. */
  #put(next: Route<Client>): PublicationChange<Client> {
    this.#taken.add(next);
    const change = this.#published.put(next);
    const { previous } = change;
    previous?.supersede();
    if (previous !== undefined) this.#retiring.add(previous);
    return change;
  }

  async #stage(next: Route<Client>): Promise<CommitResult> {
    this.#taken.add(next);
    const previous = this.#staged.put(next);
    if (previous !== undefined) {
      this.#withdraw({ published: [], retiring: [], staged: [previous] }, "revoke", "a newer one is staged");
    }
    return { published: false, refusal: "staged", cleanupPending: this.#owes(next.connectorKey) };
  }

  #of(scope: string, connectorKey: string): Route<Client> | undefined {
    const route = this.#published.get(connectorKey);
    return route?.scope === scope ? route : undefined;
  }

  #owes(connectorKey: string): boolean {
    return this.#retiring.countOf(connectorKey) > 0;
  }

  #refusal(next: Route<Client>, published: Route<Client> | undefined): CommitRefusal | undefined {
    if (this.#isClosed) return "table_closed";
    if (next.state !== "open") return "not_open";
    if (this.#scopes.epochOf(next.scope) !== next.scopeEpoch) return "stale_epoch";
    if (this.#scopes.isFenced(next.scope, next.connectorKey, next.generation)) return "fenced";
    const staged = this.#staged.get(next.scope, next.connectorKey);
    if (staged !== undefined && next.generation < staged.generation) return "older_generation";
    if (!this.#config.mayPublish(next)) return "not_wanted";
    if (published === undefined) return undefined;
    if (published.scope !== next.scope) return "key_in_use";
    return next.generation < published.generation ? "older_generation" : undefined;
  }

  async #refuse(next: Route<Client>, refusal: CommitRefusal): Promise<CommitResult> {
    if (!this.#taken.has(next)) {
      this.#taken.add(next);
      next.revoke(`it was refused, ${refusal}`);
      const retirement = this.#retiring.add(next);
      await retirement.tried;
      // Nothing is tried again once the table is closed.
      if (this.#isClosed) retirement.abandon("the table is closed");
    }
    return { published: false, refusal, cleanupPending: this.#owes(next.connectorKey) };
  }
}
