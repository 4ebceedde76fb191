import { RemoteConnectorError } from "../../../errors.js";
import { durationOption } from "../../../options.js";
import { createBearer, type HeaderFields, matchBearer } from "../../../serving/index.js";
import { Lifetimes } from "../../../transport/index.js";
import { Lease, type LeaseEnd } from "./lease.js";
import { type GrantedLease, leaseConnectors, type LeaseRequest } from "./lease-terms.js";
import type { RelayServerConfig } from "./relay-server-options.js";

/** The leases that are good. */
export class Leases {
  readonly #config: RelayServerConfig;
  readonly #lifetimes: Lifetimes;
  readonly #leases = new Map<string, Lease>();
  #granted = 0;
  #isClosed = false;

  constructor(config: RelayServerConfig) {
    this.#config = config;
    this.#lifetimes = new Lifetimes(config.clock);
  }

  get size(): number {
    return this.#leases.size;
  }

  /** Requests under way, of all of them. */
  get requests(): number {
    let count = 0;
    for (const lease of this.#leases.values()) count += lease.size;
    return count;
  }

  /** See `RelayServer.grant`. */
  grant(request: LeaseRequest): GrantedLease {
    const { clock, leaseLifetimeMs, logger, logins, maxLeases } = this.#config;
    if (this.#isClosed) throw relayClosed();
    const lifetimeMs = durationOption("lifetimeMs", request.lifetimeMs, leaseLifetimeMs);
    const connectors = leaseConnectors(request.connectors);
    const { accountId } = request;
    const loginGeneration = logins.loginGeneration(accountId);
    if (loginGeneration === undefined) throw signedOut();
    if (this.#leases.size >= maxLeases) throw tooMany(maxLeases);
    const { token, hash } = createBearer();
    this.#granted += 1;
    const lease = new Lease(
      String(this.#granted),
      { accountId, loginGeneration, connectors },
      {
        hash,
        clock,
        lifetimes: this.#lifetimes,
        loginSignal: logins.loginSignal(accountId, loginGeneration),
        forget: ({ id, ended }) => {
          this.#leases.delete(id);
          logger.info("A lease ended.", { leaseId: id, reason: ended });
        },
      },
    );
    this.#leases.set(lease.id, lease);
    lease.last(lifetimeMs);
    logger.info("A lease was granted.", { leaseId: lease.id, connectorKeys: [...connectors.keys()], lifetimeMs });
    return { leaseId: lease.id, bearer: token };
  }

  renew(leaseId: string, lifetimeMs: number | undefined): boolean {
    const lasting = durationOption("lifetimeMs", lifetimeMs, this.#config.leaseLifetimeMs);
    const lease = this.#leases.get(leaseId);
    lease?.last(lasting);
    return lease !== undefined && lease.ended === undefined;
  }

  revoke(leaseId: string): boolean {
    const lease = this.#leases.get(leaseId);
    lease?.end("revoked");
    return lease !== undefined;
  }

  endAll(end: LeaseEnd): void {
    for (const lease of this.#leases.values()) lease.end(end);
  }

  /** The lease of a request's bearer. */
  match(headers: HeaderFields): Lease | undefined {
    const known = [...this.#leases.values()].map((lease) => ({ hash: lease.hash, value: lease }));
    const lease = matchBearer(headers, known);
    return lease?.isGood() === true ? lease : undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.endAll("closing");
  }
}

function relayClosed(): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: "The relay is closed.",
    details: { reason: "relay_closed" },
  });
}

function signedOut(): RemoteConnectorError<"account_not_ready"> {
  return new RemoteConnectorError("account_not_ready", {
    message: "The account of the lease is signed out.",
    details: {},
  });
}

function tooMany(limit: number): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message: `There are ${String(limit)} leases already (maxLeases).`,
    details: { option: "maxLeases", limit },
  });
}
