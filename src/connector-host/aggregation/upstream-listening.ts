import type { Clock } from "../../transport/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { ListKind } from "../local-server/index.js";
import type { Route, RouteTable } from "../routes/index.js";
import { chooseStreams, type StreamCandidate } from "./choose-streams.js";
import { LIST_FLAGS, type ListFilter, wantedNews } from "./declared-lists.js";
import type { ConnectorTraits } from "./ports.js";
import { UpstreamStream } from "./upstream-stream.js";

export interface UpstreamListeningOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly routes: RouteTable<RemoteMcpClient>;
  readonly traitsOf: (connectorKey: string) => ConnectorTraits;
  /** Whether an agent listens that reaches the scope. */
  readonly isListenedFor: (scope: string) => boolean;
  /** A stream is open, or open again: what was listed before may be old. */
  readonly onOpen: (route: Route<RemoteMcpClient>) => void;
  readonly onChanged: (route: Route<RemoteMcpClient>, kind: ListKind) => void;
}

/** What is known of a route as somebody to listen to. */
interface Listened {
  /** `undefined`: it has nothing to tell. */
  filter: ListFilter | undefined;
  stream: UpstreamStream | undefined;
  calledAt: number | undefined;
  /** When it was called the time before. */
  calledBeforeAt: number | undefined;
}

interface Candidate extends StreamCandidate {
  readonly route: Route<RemoteMcpClient>;
  readonly listened: Listened;
}

const STREAMS_PER_ORIGIN = 16;
/** What happens within that time is answered by one look. */
const GATHER_MS = 20;
/** A call of a route without a stream has them chosen anew, but no more often than that. */
const CALLS_LOOK_MS = 10_000;
/** Two calls within that time are worth a stream: it spares each later one the list of its connector. */
const CALLED_MS = 300_000;

/**
 * Listens to the servers behind routes: while an agent listens that reaches them, and for those that are called again and again with
 * contracts that would be read anew each time. Of each origin it holds 16 streams at most.
 */
export class UpstreamListening {
  readonly #options: UpstreamListeningOptions;
  readonly #known = new WeakMap<Route<RemoteMcpClient>, Listened>();
  /** The routes with a stream. */
  readonly #open = new Set<Route<RemoteMcpClient>>();
  #stopLook: (() => void) | undefined;
  #stopExpiry: (() => void) | undefined;
  #lookedForCallsAt = -Infinity;
  #isClosed = false;

  constructor(options: UpstreamListeningOptions) {
    this.#options = options;
  }

  /** Streams that are held, whether they are open at the moment or not. */
  get size(): number {
    return this.#open.size;
  }

  /** Whether the route's server would tell at once if the list changed. */
  covers(route: Route<RemoteMcpClient>, kind: ListKind): boolean {
    return this.#known.get(route)?.stream?.acknowledged?.[LIST_FLAGS[kind]] === true;
  }

  /** A tool of the route is called. */
  onCall(route: Route<RemoteMcpClient>): void {
    const listened = this.#listened(route);
    if (listened.filter === undefined) return;
    const now = this.#options.clock.now();
    listened.calledBeforeAt = listened.calledAt;
    listened.calledAt = now;
    const isWanted = listened.stream === undefined && this.#isCalled(route, listened, now);
    if (!isWanted || now - this.#lookedForCallsAt < CALLS_LOOK_MS) return;
    this.#lookedForCallsAt = now;
    this.look();
  }

  /** Somebody began or ceased to listen, or other routes are published: chooses the streams anew, soon. */
  look(): void {
    if (this.#isClosed || this.#stopLook !== undefined) return;
    this.#stopLook = this.#options.clock.schedule(GATHER_MS, () => {
      this.#stopLook = undefined;
      this.#choose();
    });
  }

  /** Ends all streams, for good. */
  close(): void {
    this.#isClosed = true;
    this.#stopLook?.();
    this.#stopExpiry?.();
    for (const route of this.#open) this.#end(route);
  }

  #choose(): void {
    const { clock, routes } = this.#options;
    const now = clock.now();
    const listenedFor = new Map<string, boolean>();
    const isListenedFor = (scope: string): boolean => {
      const known = listenedFor.get(scope) ?? this.#options.isListenedFor(scope);
      listenedFor.set(scope, known);
      return known;
    };
    const candidates = routes.list().flatMap((route) => this.#candidate(route, now, isListenedFor) ?? []);
    const chosen = chooseStreams(candidates, STREAMS_PER_ORIGIN);
    const wanted = new Set(Array.from(chosen, ({ route }) => route));
    for (const route of this.#open) if (!wanted.has(route)) this.#end(route);
    for (const { route, listened } of chosen) this.#begin(route, listened);
    this.#stopExpiry?.();
    // Those that are held for their calls alone are looked at again when the calls have ceased.
    this.#stopExpiry = wanted.size === 0 ? undefined : clock.schedule(CALLED_MS, () => this.look());
  }

  #candidate(
    route: Route<RemoteMcpClient>,
    now: number,
    isListenedFor: (scope: string) => boolean,
  ): Candidate | undefined {
    const listened = this.#listened(route);
    if (listened.filter === undefined) return undefined;
    const isWanted = isListenedFor(route.scope) || this.#isCalled(route, listened, now);
    if (!isWanted) return undefined;
    const { connectorKey } = route;
    const { calledAt, stream } = listened;
    const origin = this.#originOf(route);
    return { connectorKey, origin, calledAt, isOpen: stream !== undefined, route, listened };
  }

  #isCalled({ connectorKey }: Route<RemoteMcpClient>, { calledBeforeAt }: Listened, now: number): boolean {
    if (calledBeforeAt === undefined || now - calledBeforeAt > CALLED_MS) return false;
    return this.#options.traitsOf(connectorKey).contracts === "reread";
  }

  #originOf({ client, connectorKey, scope }: Route<RemoteMcpClient>): string | undefined {
    // A legacy session brings its news on the stream that it has.
    if (client.era === "legacy") return undefined;
    return this.#options.traitsOf(connectorKey).origin ?? scope;
  }

  #begin(route: Route<RemoteMcpClient>, listened: Listened): void {
    if (listened.stream !== undefined || listened.filter === undefined) return;
    const { clock, random, onOpen, onChanged } = this.#options;
    this.#open.add(route);
    listened.stream = new UpstreamStream({
      client: route.client,
      filter: listened.filter,
      clock,
      random,
      onOpen: () => onOpen(route),
      onChanged: (kind) => onChanged(route, kind),
      onGone: () => {
        listened.filter = undefined;
        this.look();
      },
    });
  }

  #end(route: Route<RemoteMcpClient>): void {
    this.#open.delete(route);
    const listened = this.#listened(route);
    listened.stream?.close();
    listened.stream = undefined;
  }

  #listened(route: Route<RemoteMcpClient>): Listened {
    let listened = this.#known.get(route);
    if (listened === undefined) {
      const { capabilities } = this.#options.traitsOf(route.connectorKey);
      const era = route.client.era ?? "modern";
      const filter = wantedNews({ capabilities, declared: route.discovered?.capabilities, era });
      listened = { filter, stream: undefined, calledAt: undefined, calledBeforeAt: undefined };
      this.#known.set(route, listened);
    }
    return listened;
  }
}
