import { isRemoteConnectorError } from "../../errors.js";

/** How a gateway says that the account has to authorize a connector, as an obstacle. */
export type AuthorizationDemanded = "authorization_required" | "reauthorization_required";

/** A failure that was met, and is not in the store yet. `since`: epoch milliseconds. */
export type UnsettledFault =
  | { readonly kind: "demanded"; readonly reason: AuthorizationDemanded; readonly since: number }
  /** A server is gone. `reason` is a code. */
  | { readonly kind: "lost"; readonly reason: string; readonly since: number };

export interface UnsettledFaultsOptions {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Told of every change, synchronously. Must not throw. */
  readonly onChange: (connectorKey: string) => void;
}

/**
 * What requests and servers have just shown of connectors, until it is written down: so that nobody who is told of a failure reads a
 * status that knows nothing of it. In memory; the last one of each connector.
 */
export class UnsettledFaults {
  readonly #options: UnsettledFaultsOptions;
  readonly #faults = new Map<string, UnsettledFault>();

  constructor(options: UnsettledFaultsOptions) {
    this.#options = options;
  }

  of(connectorKey: string): UnsettledFault | undefined {
    return this.#faults.get(connectorKey);
  }

  /** A gateway demands an authorization. The returned function says that it was written down, or does not count. */
  demanded(connectorKey: string, reason: AuthorizationDemanded): () => void {
    const fault = this.#note(connectorKey, { kind: "demanded", reason, since: this.#options.now() });
    return () => {
      if (this.#faults.get(connectorKey) === fault) this.#forget(connectorKey);
    };
  }

  /** A server is gone, for this error. Nothing is noted when there is none. */
  lost(connectorKey: string, error: unknown): void {
    if (error === undefined) return;
    const reason = isRemoteConnectorError(error) ? error.code : "unexpected";
    this.#note(connectorKey, { kind: "lost", reason, since: this.#options.now() });
  }

  /** What became of a connector was written down: its loss is no news any more. */
  settleLoss(connectorKey: string): void {
    if (this.#faults.get(connectorKey)?.kind === "lost") this.#forget(connectorKey);
  }

  /** The scope of these connectors has ended, and what was learnt in it. */
  clear(connectorKeys: Iterable<string>): void {
    for (const key of connectorKeys) if (this.#faults.has(key)) this.#forget(key);
  }

  #note(connectorKey: string, fault: UnsettledFault): UnsettledFault {
    this.#faults.set(connectorKey, fault);
    this.#options.onChange(connectorKey);
    return fault;
  }

  #forget(connectorKey: string): void {
    this.#faults.delete(connectorKey);
    this.#options.onChange(connectorKey);
  }
}
