import type { RouteToken, RunOutcome } from "../../reconcile/index.js";
import type { ScopeKind } from "../catalog/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { RouteTable } from "../routes/index.js";
import { kindOfScope } from "./account-scope.js";

export interface PublicationGatesOptions {
  readonly routes: RouteTable<RemoteMcpClient>;
  readonly controller: {
    exited(token: RouteToken): void;
    report(token: RouteToken, outcome: RunOutcome): void;
  };
}

/** What has come of closing a gate. */
export interface GateClosed {
  /** Connections that were not closed within ten seconds. They are no longer used, and are closed later. */
  readonly pending: number;
}

const CLOSE_MS = 10_000;
const LOOK_AGAIN: RunOutcome = { kind: "requeue", afterMs: 0 };

/**
 * Whether anything of the account, and of the device, is published. Behind a closed gate connectors are activated and wait, ready;
 * switching one off takes it away from there too. A gate is one for all logins, and open at first.
 */
export class PublicationGates {
  readonly #options: PublicationGatesOptions;
  readonly #closed = new Set<ScopeKind>();
  /** The scopes that there are. */
  readonly #scopes = new Set<string>();

  constructor(options: PublicationGatesOptions) {
    this.#options = options;
  }

  isOpen(kind: ScopeKind): boolean {
    return !this.#closed.has(kind);
  }

  /** The connectors that are ready behind a closed gate, by key. */
  waiting(kind: ScopeKind): readonly string[] {
    return this.#of(kind).flatMap((scope) => this.#options.routes.stagedKeys(scope));
  }

  /**
   * Closes a gate. When this returns, nothing of its scope is published, and its calls are aborted; the promise only says what is
   * left to be cleaned up. Never rejects.
   */
  async close(kind: ScopeKind): Promise<GateClosed> {
    const { routes } = this.#options;
    this.#closed.add(kind);
    const scopes = this.#of(kind);
    for (const scope of scopes) this.#shut(scope);
    const pending = await Promise.all(scopes.map((scope) => routes.drained(scope, CLOSE_MS)));
    return { pending: pending.reduce((sum, each) => sum + each, 0) };
  }

  /** Opens a gate: what is ready is published at once, in one step for everyone who looks. */
  open(kind: ScopeKind): void {
    const { routes, controller } = this.#options;
    this.#closed.delete(kind);
    for (const scope of this.#of(kind)) {
      for (const { connectorKey: key, generation, scopeEpoch: epoch } of routes.openGate(scope)) {
        // Each is looked at again, and observed. By a report: the run that staged it may still be writing down that it did.
        controller.report({ scope, key, generation, epoch }, LOOK_AGAIN);
      }
    }
  }

  /** A scope has begun. Its gate is what that of its kind is. */
  begin(scope: string): void {
    this.#scopes.add(scope);
    if (this.#closed.has(kindOfScope(scope))) this.#shut(scope);
  }

  /** A scope is over. */
  end(scope: string): void {
    this.#scopes.delete(scope);
  }

  #shut(scope: string): void {
    const { routes, controller } = this.#options;
    for (const { connectorKey: key, generation, scopeEpoch: epoch } of routes.closeGate(scope)) {
      controller.exited({ scope, key, generation, epoch });
    }
  }

  #of(kind: ScopeKind): readonly string[] {
    return [...this.#scopes].filter((scope) => kindOfScope(scope) === kind);
  }
}
