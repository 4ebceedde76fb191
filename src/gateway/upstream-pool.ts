import { setMaxListeners } from "node:events";
import { RemoteConnectorError } from "../errors.js";
import type { Clock } from "../transport/index.js";
import { ContractBook } from "./contract-book.js";
import type { GatewayConnector } from "./options.js";
import type { Upstream } from "./upstream.js";

/** An upstream in use, and what is known of its tools. */
export interface OpenUpstream {
  readonly upstream: Upstream;
  readonly contracts: ContractBook;
  /** Fires when another one serves the next caller. */
  readonly retiring: AbortSignal;
}

/** An upstream that is to be opened. */
export interface UpstreamOpening {
  readonly accountId: string;
  readonly connector: GatewayConnector;
  readonly signal: AbortSignal;
}

export interface UpstreamPoolOptions {
  /**
   * Ends an opening when `signal` fires. One that rejects leaves nothing behind: what it had begun is gone by then.
   */
  readonly open: (request: UpstreamOpening) => Promise<Upstream>;
  readonly clock: Clock;
  /** How long one that nobody uses is kept. */
  readonly idleMs: number;
  /** Told of a failure to close. */
  readonly onFault: (error: unknown) => void;
}

interface Entry {
  readonly accountId: string;
  readonly connectorId: string;
  readonly opening: Promise<OpenUpstream>;
  /** What users wait for: the opening, or its end from our side, at once. */
  readonly opened: Promise<OpenUpstream>;
  /** Aborts the opening when the entry ends. */
  readonly ending: AbortController;
  /** Ends what would go on for as long as its caller likes. */
  readonly retiring: AbortController;
  /** Set once it is open. */
  ready: boolean;
  users: number;
  cancelIdle: (() => void) | undefined;
}

/** A caller's place: taken before its authorization is looked up, and void once the upstream was closed after that. */
export interface UpstreamTicket {
  readonly accountId: string;
  readonly connector: GatewayConnector;
  readonly fence: number;
}

/**
 * The upstreams that are open: one for each account and connector, so that nothing of one account reaches another's.
 *
 * One is opened when it is first needed, however many callers need it at once; it is forgotten, and opened anew by the
 * next caller, when it could not be opened or went away; it is closed when nobody used it for a while.
 */
export class UpstreamPool {
  readonly #options: UpstreamPoolOptions;
  readonly #entries = new Map<string, Entry>();
  /** Those that nobody finds any more, and that are closed with their last request. */
  readonly #retiring = new Set<Entry>();
  readonly #closing = new Set<Promise<void>>();
  /** How often the upstream of a key was closed from outside. */
  readonly #fences = new Map<string, number>();
  #closed = false;

  constructor(options: UpstreamPoolOptions) {
    this.#options = options;
  }

  /** Take this before the authorization is looked up: what is closed in between does not come back through {@link use}. */
  ticket(accountId: string, connector: GatewayConnector): UpstreamTicket {
    return { accountId, connector, fence: this.#fences.get(keyOf(accountId, connector.connectorId)) ?? 0 };
  }

  /**
   * Runs `work` with an account's upstream. A caller that aborts stops waiting; the opening goes on for others. Rejects
   * with `cancelled` when the ticket is void or the pool is closed, and as the opening and `work` do.
   */
  async use<T>(ticket: UpstreamTicket, signal: AbortSignal, work: (open: OpenUpstream) => Promise<T>): Promise<T> {
    const entry = this.#entryOf(ticket);
    entry.users += 1;
    entry.cancelIdle?.();
    try {
      return await work(await abortable(entry.opened, signal));
    } finally {
      entry.users -= 1;
      if (entry.users === 0) this.#onUnused(entry);
    }
  }

  /** Those that are there now. */
  list(): readonly { accountId: string; connectorId: string; state: "opening" | "open"; users: number }[] {
    return [...this.#entries.values()].map(({ accountId, connectorId, ready, users }) => {
      return { accountId, connectorId, state: ready ? "open" : "opening", users };
    });
  }

  /**
   * Closes the upstream of an account, if there is one, and voids the tickets taken so far. Requests that are under way, and
   * those that wait for the opening, end with `cancelled`. Resolves when nothing of it is left; never rejects.
   */
  async close(accountId: string, connectorId: string): Promise<void> {
    const key = keyOf(accountId, connectorId);
    this.#fences.set(key, (this.#fences.get(key) ?? 0) + 1);
    const ended = [...this.#retiring].filter(
      (entry) => entry.accountId === accountId && entry.connectorId === connectorId,
    );
    const entry = this.#entries.get(key);
    if (entry !== undefined) ended.push(entry);
    await Promise.all(ended.map((each) => this.#end(each)));
  }

  /**
   * Lets the next caller open the account's upstream anew. Requests that are under way end as they would have, and with the
   * last of them what they run on.
   */
  retire(accountId: string, connectorId: string): void {
    const entry = this.#entries.get(keyOf(accountId, connectorId));
    if (entry === undefined) return;
    this.#forget(entry);
    this.#retiring.add(entry);
    entry.retiring.abort(closedError());
    if (entry.users === 0) void this.#end(entry);
  }

  /** Closes everything, for good. Resolves when the last child process is gone. */
  async closeAll(): Promise<void> {
    this.#closed = true;
    for (const entry of [...this.#entries.values(), ...this.#retiring]) void this.#end(entry);
    await Promise.all(this.#closing);
  }

  #entryOf({ accountId, connector, fence }: UpstreamTicket): Entry {
    const { connectorId } = connector;
    const key = keyOf(accountId, connectorId);
    if (this.#closed || (this.#fences.get(key) ?? 0) !== fence) throw closedError();
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const ending = new AbortController();
    const retiring = new AbortController();
    // As many listeners as subscriptions, each taken away when its caller leaves: no leak to be warned of.
    setMaxListeners(0, retiring.signal);
    const opening = this.#options
      .open({ accountId, connector, signal: ending.signal })
      .then((upstream) => ({ upstream, contracts: new ContractBook(upstream), retiring: retiring.signal }));
    const opened = abortable(opening, ending.signal);
    const state = { ready: false, users: 0, cancelIdle: undefined };
    const entry: Entry = { accountId, connectorId, opening, opened, ending, retiring, ...state };
    this.#entries.set(key, entry);
    opened.then(
      ({ upstream }) => {
        entry.ready = true;
        void upstream.gone?.then(() => this.#forget(entry));
      },
      () => this.#forget(entry),
    );
    return entry;
  }

  #forget(entry: Entry): void {
    entry.cancelIdle?.();
    const key = keyOf(entry.accountId, entry.connectorId);
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }

  #onUnused(entry: Entry): void {
    if (this.#retiring.has(entry)) void this.#end(entry);
    if (this.#entries.get(keyOf(entry.accountId, entry.connectorId)) !== entry) return;
    entry.cancelIdle = this.#options.clock.schedule(this.#options.idleMs, () => void this.#end(entry));
  }

  #end(entry: Entry): Promise<void> {
    this.#forget(entry);
    this.#retiring.delete(entry);
    entry.ending.abort(closedError());
    const closing = entry.opening
      .then(
        ({ upstream }) => upstream.close(),
        // One that never opened has nothing to close; its callers were told.
        () => undefined,
      )
      .catch(this.#options.onFault)
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
    return closing;
  }
}

function keyOf(accountId: string, connectorId: string): string {
  return JSON.stringify([accountId, connectorId]);
}

function closedError(): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: "The connector's server was closed.",
    details: { reason: "closed" },
  });
}

/** The promise's outcome, or a rejection with the signal's reason, whichever comes first. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
