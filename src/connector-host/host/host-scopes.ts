import type { Login } from "../../auth-projection/index.js";
import { accountScope, DEVICE_SCOPE } from "./account-scope.js";
import { noControlPlane } from "./control-plane.js";
import { noAccount } from "./host-errors.js";
import type { HostParts } from "./host-parts.js";
import { startSession } from "./start-session.js";

/** What of a host is published for whom: the scope of its device, and that of the account that is signed in. */
export class HostScopes {
  readonly #parts: HostParts;
  /** Ends the agents of a sign-in. */
  readonly #revokeAgents: () => void;
  readonly #endings = new Set<Promise<void>>();

  constructor(parts: HostParts, revokeAgents: () => void) {
    this.#parts = parts;
    this.#revokeAgents = revokeAgents;
  }

  /** The endings of sessions that are over. */
  get endings(): ReadonlySet<Promise<void>> {
    return this.#endings;
  }

  /** The scope of the device lasts from the start to the end, whoever is signed in. */
  beginDevice(): void {
    const { controller, gates, routes } = this.#parts;
    routes.openScope(DEVICE_SCOPE, controller.activateScope(DEVICE_SCOPE));
    gates.begin(DEVICE_SCOPE);
  }

  /** Signs an account in, after signing the one before out. Throws `invalid_argument` and `invalid_options`. */
  signIn(accountId: string): Login {
    if (accountId === "") throw noAccount();
    if (this.#parts.config.controlPlane === undefined) throw noControlPlane();
    this.signOut();
    const { logins, memory, controller, gates, routes } = this.#parts;
    const login = logins.signIn(accountId);
    const scope = accountScope(accountId);
    memory.switchLogin(login.generation);
    const scopeEpoch = controller.activateScope(scope);
    routes.openScope(scope, scopeEpoch);
    gates.begin(scope);
    try {
      this.#parts.session = startSession(this.#parts, login, scopeEpoch);
    } catch (error) {
      this.#endLogin(scope);
      throw error;
    }
    // Durable bindings of the account act under another sign-in from now on.
    this.#parts.approvals.recheck();
    return login;
  }

  /** Takes everything of the account away before it returns. */
  signOut(): void {
    const { session } = this.#parts;
    if (session === undefined) return;
    this.#parts.session = undefined;
    this.#endLogin(session.scope);
    const ending = session.close().finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
  }

  /** Nothing is published any more, and everybody who asked is told why. */
  fenceAll(): void {
    const { approvals, controller, gates, routes, status } = this.#parts;
    status.beginClosing();
    approvals.close();
    this.signOut();
    controller.shutScope(DEVICE_SCOPE);
    routes.fenceAll(DEVICE_SCOPE);
    gates.end(DEVICE_SCOPE);
    status.feed.close();
  }

  /** The flag first, so that no request gets credentials any more; then the work; then what it had published. */
  #endLogin(scope: string): void {
    const { approvals, logins, controller, gates, routes, news, memory } = this.#parts;
    logins.signOut();
    controller.shutScope(scope);
    routes.fenceAll(scope);
    gates.end(scope);
    news.clear();
    memory.switchLogin(undefined);
    this.#revokeAgents();
    approvals.recheck();
  }
}
