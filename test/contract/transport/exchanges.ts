import { createFetchExchange, createUndiciExchange, type Exchange } from "../../../src/transport/index.js";

/** An implementation of the exchange port, for the suites that all of them must pass. */
export interface ExchangeKind {
  readonly name: string;
  readonly create: (endpoint: string) => Exchange;
  /** Idle connections that it may leave open when it is destroyed: those that it shares with the whole process. */
  readonly sharedConnections: number;
}

export const EXCHANGES: readonly ExchangeKind[] = [
  {
    name: "undici",
    create: (endpoint) => createUndiciExchange({ origin: new URL(endpoint).origin, maxConnections: 72 }),
    sharedConnections: 0,
  },
  {
    name: "fetch",
    create: (endpoint) => createFetchExchange({ origin: new URL(endpoint).origin }),
    sharedConnections: 48,
  },
];
