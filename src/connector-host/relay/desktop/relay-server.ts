import { type HttpListener, listen } from "../../../serving/index.js";
import type { RelayAddress } from "../guest/index.js";
import type { GrantedLease, LeaseRequest } from "./lease-terms.js";
import { Leases } from "./leases.js";
import { RelayEndpoint } from "./relay-endpoint.js";
import { type RelayServerOptions, resolveRelayServerOptions } from "./relay-server-options.js";

/** The desktop half of the relay: makes the requests of its guests, in the names of the accounts of their leases. */
export interface RelayServer {
  /** Where a guest's `RelayFactory` finds it, seen from this machine. */
  readonly address: RelayAddress;
  /** What there is now. */
  readonly counts: { readonly leases: number; readonly requests: number };
  /**
   * Gives a guest a lease on connectors of an account that is signed in. Hand the bearer to the guest, and to nobody else.
   *
   * Throws `account_not_ready` when the account is signed out, `limit_exceeded` at `maxLeases`, `invalid_argument` and
   * `invalid_header` for what can't be leased, `cancelled` after `close`.
   */
  grant(request: LeaseRequest): GrantedLease;
  /** Makes a lease good for so long from now; `leaseLifetimeMs` when left out. Whether there is such a lease. */
  renew(leaseId: string, lifetimeMs?: number): boolean;
  /**
   * Ends a lease. When this returns, its bearer is refused, and its requests have ended: with `not_sent` where nothing had left,
   * else `unknown`. Whether there was such a lease.
   */
  revoke(leaseId: string): boolean;
  /** Ends all leases. */
  revokeAll(): void;
  /** Ends all leases, stops listening, and drops all connections. Bounded, and may be called again. */
  close(): Promise<void>;
}

/**
 * Starts the desktop half: one listener, with no lease. A lease ends with its time, its login, or `revoke`.
 *
 * Rejects with `invalid_options`, `invalid_url`, `invalid_header`, and `listen_failed` when the address can't be listened on.
 */
export async function createRelayServer(options: RelayServerOptions): Promise<RelayServer> {
  const config = resolveRelayServerOptions(options);
  const leases = new Leases(config);
  const endpoint = new RelayEndpoint(config, leases);
  const onFault = (error: unknown): void => config.logger.error("A fault in the relay.", { error });
  let listener: HttpListener;
  try {
    listener = await listen((request, response) => endpoint.handle(request, response), { ...config.listen, onFault });
  } catch (error) {
    await endpoint.destroy();
    throw error;
  }
  let closing: Promise<unknown> | undefined;
  return {
    address: "socketPath" in config.listen ? { socketPath: config.listen.socketPath } : { url: listener.origin },
    get counts() {
      return { leases: leases.size, requests: leases.requests };
    },
    grant: (request) => leases.grant(request),
    renew: (leaseId, lifetimeMs) => leases.renew(leaseId, lifetimeMs),
    revoke: (leaseId) => leases.revoke(leaseId),
    revokeAll: () => leases.endAll("revoked"),
    async close() {
      closing ??= shutDown();
      await closing;
    },
  };

  function shutDown(): Promise<unknown> {
    leases.close();
    return Promise.all([listener.close(), endpoint.destroy()]);
  }
}
