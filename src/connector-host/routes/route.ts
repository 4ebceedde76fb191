import { setMaxListeners } from "node:events";
import { RemoteConnectorError } from "../../errors.js";
import { type Linked, OpenList } from "../../open-list.js";
import type { DiscoverResult, Tool, ToolContract } from "../../protocol/index.js";
import type { SkillRoot } from "../skills/index.js";

/** What a table asks of a route's client. Calls are made by whoever knows the client's kind. */
export interface RouteClient {
  /** Gives up everything that the client holds, and ends its calls. Called again after a failure. */
  close(): Promise<void>;
}

/** A tool and the contract that its calls are made with. */
export interface RouteTool {
  readonly tool: Tool;
  readonly contract: ToolContract;
  /** The definition's JSON as its server wrote it, where that was asked for. */
  readonly definition?: Uint8Array | undefined;
}

export interface RouteInit<Client extends RouteClient> {
  readonly connectorKey: string;
  /** Whose route it is: an account, or the device. */
  readonly scope: string;
  /** The epoch of the scope under which it was made. */
  readonly scopeEpoch: string;
  /** From the store's one counter: a greater one is newer, and none is given twice. */
  readonly generation: number;
  /** Digest of the release, or of the settings of a connector without one. */
  readonly releaseDigest: string;
  /** The account's connection that it was activated under; `undefined` for a connector that needs none. */
  readonly connectionId?: string | undefined;
  /** Version of that connection. */
  readonly connectionVersion: bigint;
  readonly client: Client;
  /** By native name, as listed at activation. */
  readonly tools: ReadonlyMap<string, RouteTool>;
  /** How long the server said that this list holds, in milliseconds. */
  readonly toolsTtlMs?: number | undefined;
  /** What the server said of itself at activation: what it offers, and its instructions. */
  readonly discovered?: DiscoverResult | undefined;
  /** Its skills, as its folder held them at activation; `undefined` when it has none. */
  readonly skills?: SkillRoot | undefined;
}

/**
 * What may go over a route. It moves down this list only:
 *
 * - `open`: calls, while a table has it published.
 * - `superseded`: no new calls; those in flight go on.
 * - `revoked`: nothing; calls in flight were aborted.
 */
export type RouteState = "open" | "superseded" | "revoked";

/** Somebody who is told of a revocation. */
interface RevocationWatch extends Linked<RevocationWatch> {
  readonly run: (reason: unknown) => void;
  readonly outlastsDrain: (() => boolean) | undefined;
}

/**
 * A path from local tool names to one connector's client: made by an activation, published and taken away by a
 * `RouteTable`. Its facts never change; its state only falls.
 */
export class Route<Client extends RouteClient = RouteClient> {
  readonly connectorKey: string;
  readonly scope: string;
  readonly scopeEpoch: string;
  readonly generation: number;
  readonly releaseDigest: string;
  readonly connectionId: string | undefined;
  readonly connectionVersion: bigint;
  readonly client: Client;
  readonly tools: ReadonlyMap<string, RouteTool>;
  readonly toolsTtlMs: number | undefined;
  readonly discovered: DiscoverResult | undefined;
  readonly skills: SkillRoot | undefined;
  readonly #revocation = new AbortController();
  /** Those who are told of the revocation without a listener on the signal. */
  readonly #watches = new OpenList<RevocationWatch>();
  /** What waits for the last call to leave. */
  readonly #idleWaiters = new Set<() => void>();
  /** What calls were aborted with when the time to drain had passed. */
  #drainEnd: RemoteConnectorError<"cancelled"> | undefined;
  #state: RouteState = "open";
  #inFlight = 0;

  constructor(init: RouteInit<Client>) {
    this.connectorKey = init.connectorKey;
    this.scope = init.scope;
    this.scopeEpoch = init.scopeEpoch;
    this.generation = init.generation;
    this.releaseDigest = init.releaseDigest;
    this.connectionId = init.connectionId;
    this.connectionVersion = init.connectionVersion;
    this.client = init.client;
    this.tools = init.tools;
    this.toolsTtlMs = init.toolsTtlMs;
    this.discovered = init.discovered;
    this.skills = init.skills;
    // As many listeners as calls in flight, each taken away when its call ends: no leak to be warned of.
    setMaxListeners(0, this.#revocation.signal);
  }

  get state(): RouteState {
    return this.#state;
  }

  /** Aborted with `cancelled` when the route is revoked. Every call over the route must end with it. */
  get signal(): AbortSignal {
    return this.#revocation.signal;
  }

  /**
   * Has `run` called with the reason when the route is revoked, or now when it is, and when the time to drain has passed, unless
   * `outlastsDrain` says then that the call has a limit of its own. The returned function ends that. For calls: a listener on
   * {@link signal} for each of them would be one list of all calls that were ever made, of which nothing is let go before a full
   * collection.
   */
  onRevoked(run: (reason: unknown) => void, outlastsDrain?: () => boolean): () => void {
    const { signal } = this.#revocation;
    if (signal.aborted) {
      run(signal.reason);
      return ignore;
    }
    const watch: RevocationWatch = { run, outlastsDrain, next: undefined, previous: undefined };
    this.#watches.add(watch);
    return () => void this.#watches.delete(watch);
  }

  /** Calls that entered and have not left. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Counts a call in, whatever the state: whether it may be sent is for its admitter to say. The returned function counts
   * it out, once, and must be called however the call ends.
   */
  enter(): () => void {
    this.#inFlight += 1;
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#inFlight -= 1;
      if (this.#inFlight === 0) for (const run of this.#idleWaiters) run();
    };
  }

  /** Ends new calls. */
  supersede(): void {
    if (this.#state === "open") this.#state = "superseded";
  }

  /** Ends new calls, and aborts those in flight: they end with `cancelled` and this reason. Only the first one counts. */
  revoke(reason: string): void {
    if (this.#state === "revoked") return;
    this.#state = "revoked";
    this.#revocation.abort(this.#withdrawn(reason));
    for (const watch of this.#watches.toArray()) {
      this.#watches.delete(watch);
      watch.run(this.#revocation.signal.reason);
    }
  }

  /**
   * Aborts the calls of a superseded route, as {@link revoke} does, but for those that outlast the drain. Answers whether there are any:
   * nothing else of the route changes then.
   */
  endDrain(reason: string): boolean {
    const watches = this.#watches.toArray();
    if (this.#state === "revoked" || !watches.some(outlasts)) return false;
    this.#drainEnd ??= this.#withdrawn(reason);
    for (const watch of watches) {
      if (outlasts(watch)) continue;
      this.#watches.delete(watch);
      watch.run(this.#drainEnd);
    }
    return true;
  }

  /** Whether this is what the route aborts calls with. */
  isEnd(reason: unknown): boolean {
    if (reason === undefined) return false;
    return reason === this.#drainEnd || reason === this.#revocation.signal.reason;
  }

  /** Runs `run` each time the last call leaves. The returned function ends that. */
  onIdle(run: () => void): () => void {
    this.#idleWaiters.add(run);
    return () => {
      this.#idleWaiters.delete(run);
    };
  }

  #withdrawn(reason: string): RemoteConnectorError<"cancelled"> {
    const message = `The route of ${this.connectorKey} was withdrawn: ${reason}.`;
    return new RemoteConnectorError("cancelled", { message, details: { reason } });
  }
}

function outlasts({ outlastsDrain }: RevocationWatch): boolean {
  return outlastsDrain?.() === true;
}

function ignore(): void {}
