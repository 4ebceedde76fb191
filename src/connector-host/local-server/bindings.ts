import { RemoteConnectorError } from "../../errors.js";
import { createBearer, type HeaderFields, matchBearer } from "../../serving/index.js";
import type { Clock } from "../../transport/index.js";
import type { Binding, BoundLogin, Invocation } from "./ports.js";

/** For whom a bearer is wanted. */
export interface BindingRequest {
  readonly workspaceId: string;
  readonly agentSessionId: string;
  readonly invocation?: Invocation | undefined;
  /** The sign-in to freeze. Left out: only the connectors of the device are in reach. */
  readonly login?: BoundLogin | undefined;
  /**
   * `agent`: you vouch that the agent shows a person what it is asked, and hands back what that person says. A call that needs an approval is
   * then asked of the agent, where nobody else decides. Anything else: what the agent says approves nothing.
   */
  readonly approvals?: "agent" | undefined;
  /** What the agent is shown otherwise: one of the host's `profiles`. Left out: nothing. */
  readonly profile?: string | undefined;
}

export interface BindingsOptions {
  readonly maxBindings: number;
  readonly bindingIdleMs: number;
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Whether something runs under the binding: then it is not idle, however old its last request is. */
  readonly isBusy: (binding: Binding) => boolean;
  /** Told, synchronously and once, that a binding's bearer is no longer valid. */
  readonly onEnd: (binding: Binding) => void;
}

interface Entry {
  readonly hash: Uint8Array;
  readonly value: Binding;
  readonly session: string;
  lastUsedAt: number;
}

const LONGEST_ID = 256;
const CONTROL = /\p{Cc}/u;

/**
 * The bearers that are valid now, and whom each stands for. One per agent session: binding a session again ends its old
 * bearer. Of a bearer only the hash is kept.
 */
export class Bindings {
  readonly #options: BindingsOptions;
  /** In the order of binding. An entry is in both maps or in neither. */
  readonly #entries = new Map<Binding, Entry>();
  readonly #bySession = new Map<string, Entry>();

  constructor(options: BindingsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * A new bearer for a session. It is shown here and never again.
   *
   * Throws `invalid_argument` for an identifier that is empty, longer than 256 characters or holds control characters, and
   * `limit_exceeded` when `maxBindings` other sessions are bound.
   */
  bind(request: BindingRequest): { readonly binding: Binding; readonly token: string } {
    const binding = freeze(request);
    const session = JSON.stringify([binding.workspaceId, binding.agentSessionId]);
    const replaced = this.#bySession.get(session);
    if (replaced === undefined) this.#makeRoom();
    else this.#end(replaced);
    const { token, hash } = createBearer(this.#options.randomBytes);
    const entry: Entry = { hash, value: binding, session, lastUsedAt: this.#options.clock.now() };
    this.#entries.set(binding, entry);
    this.#bySession.set(session, entry);
    return { binding, token };
  }

  /** Whom the bearer in a request's headers stands for; `undefined` when it stands for nobody. Counts as a use. */
  match(headers: HeaderFields): Binding | undefined {
    const binding = matchBearer(headers, this.#entries.values());
    const entry = binding === undefined ? undefined : this.#entries.get(binding);
    if (entry === undefined) return undefined;
    if (this.#isIdle(entry)) {
      this.#end(entry);
      return undefined;
    }
    entry.lastUsedAt = this.#options.clock.now();
    return entry.value;
  }

  /** Notes that something of the binding ended just now. */
  touch(binding: Binding): void {
    const entry = this.#entries.get(binding);
    if (entry !== undefined) entry.lastUsedAt = this.#options.clock.now();
  }

  /** Ends one bearer. Nothing happens when it has ended already, even if its session has a new one. */
  revoke(binding: Binding): void {
    const entry = this.#entries.get(binding);
    if (entry !== undefined) this.#end(entry);
  }

  revokeAll(): void {
    for (const entry of this.#entries.values()) this.#end(entry);
  }

  #makeRoom(): void {
    const { maxBindings } = this.#options;
    if (this.#entries.size < maxBindings) return;
    for (const entry of this.#entries.values()) if (this.#isIdle(entry)) this.#end(entry);
    if (this.#entries.size < maxBindings) return;
    throw new RemoteConnectorError("limit_exceeded", {
      message: `${String(maxBindings)} agent sessions are bound; revoke one, or raise maxBindings.`,
      details: { option: "maxBindings", limit: maxBindings },
    });
  }

  #isIdle(entry: Entry): boolean {
    const idleMs = this.#options.clock.now() - entry.lastUsedAt;
    return idleMs >= this.#options.bindingIdleMs && !this.#options.isBusy(entry.value);
  }

  #end(entry: Entry): void {
    this.#entries.delete(entry.value);
    this.#bySession.delete(entry.session);
    this.#options.onEnd(entry.value);
  }
}

function freeze(request: BindingRequest): Binding {
  const workspaceId = identifier("workspaceId", request.workspaceId);
  const agentSessionId = identifier("agentSessionId", request.agentSessionId);
  const { invocation, login, approvals, profile } = request;
  if (invocation !== undefined) identifier("invocation.id", invocation.id);
  if (profile !== undefined) identifier("profile", profile);
  return Object.freeze({
    workspaceId,
    agentSessionId,
    invocation: invocation && Object.freeze({ id: invocation.id, generation: invocation.generation }),
    login: login && Object.freeze({ accountId: login.accountId, generation: login.generation }),
    ...(approvals === "agent" && { approvals }),
    ...(profile !== undefined && { profile }),
  });
}

function identifier(argument: string, value: string): string {
  // A host can give anything.
  const isText = typeof value === "string" && value !== "";
  if (isText && value.length <= LONGEST_ID && !CONTROL.test(value)) return value;
  const reason = `must have 1 to ${String(LONGEST_ID)} characters and no control characters`;
  throw new RemoteConnectorError("invalid_argument", {
    message: `${argument} ${reason}.`,
    details: { argument, reason },
  });
}
