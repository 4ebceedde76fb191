import { closedError, type Clock, HttpEndpoint, type TransportConfig } from "../../transport/index.js";

/** Origins whose connections are kept. Those that are in use are never given up for others. */
const MAX_ORIGINS = 8;
/** An origin that was not used for so long is given up when another one is asked for. Its sockets are closed long before. */
const IDLE_MS = 60_000;

interface Origin {
  /** Has the connections. */
  readonly keeper: HttpEndpoint;
  /** What is under way. */
  readonly open: Set<HttpEndpoint>;
  usedAt: number;
}

/** The connections of a requester: one set for each origin, a bounded number of origins. */
export class OriginPool {
  readonly #transport: TransportConfig;
  readonly #clock: Clock;
  /** The one that was used last is the last. */
  readonly #origins = new Map<string, Origin>();
  #closed: Promise<void> | undefined;

  constructor(transport: TransportConfig) {
    this.#transport = transport;
    this.#clock = transport.clock;
  }

  get size(): number {
    return this.#origins.size;
  }

  /**
   * Runs one request against the endpoint of `url`, over the connections of its origin. Rejects with `cancelled` once closed, with
   * `invalid_options` when the environment names a proxy that is none, and as `run` does.
   */
  async use<T>(url: URL, run: (endpoint: HttpEndpoint) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw closedError();
    const origin = this.#take(url);
    // The keeper's path is nobody's: each request has its own.
    const endpoint = new HttpEndpoint(url, { ...this.#transport, exchange: origin.keeper.exchange }, undefined);
    origin.open.add(endpoint);
    try {
      return await run(endpoint);
    } finally {
      origin.open.delete(endpoint);
      origin.usedAt = this.#clock.now();
    }
  }

  /** Ends what is under way with `cancelled`, and drops all connections. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= Promise.all([...this.#origins.values()].map(closeOrigin)).then(() => undefined);
    this.#origins.clear();
    return this.#closed;
  }

  #take(url: URL): Origin {
    const now = this.#clock.now();
    const known = this.#origins.get(url.origin);
    const origin = known ?? {
      keeper: new HttpEndpoint(new URL(url.origin), this.#transport, undefined),
      open: new Set<HttpEndpoint>(),
      usedAt: now,
    };
    this.#origins.delete(url.origin);
    this.#giveUp(now);
    this.#origins.set(url.origin, origin);
    return origin;
  }

  /** Makes room for one more. */
  #giveUp(now: number): void {
    for (const [name, origin] of this.#origins) {
      if (origin.open.size > 0) continue;
      if (this.#origins.size < MAX_ORIGINS && now - origin.usedAt < IDLE_MS) continue;
      this.#origins.delete(name);
      void closeOrigin(origin).catch(() => undefined);
    }
  }
}

async function closeOrigin({ keeper, open }: Origin): Promise<void> {
  await Promise.all([...open, keeper].map((endpoint) => endpoint.close()));
}
