import { deliveryOf, isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { RawJson, type ToolContract } from "../../protocol/index.js";
import { changeMembers } from "../../serving/index.js";
import type { Clock } from "../../transport/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type {
  Binding,
  OmittedConnector,
  ResolvedTool,
  ToolAnswer,
  ToolCall,
  ToolDirectory,
  ToolListing,
} from "../local-server/index.js";
import { buildNameTable, findNativeName, type NamespaceTable } from "../naming/index.js";
import { type AdmissionRefusal, createAdmitter, type Route, type RouteTable } from "../routes/index.js";
import { joinSignals } from "./join-signals.js";
import { type ListedTool, RouteListings } from "./route-listings.js";
import { within } from "./within.js";

/** What the directory asks of the host. */
export interface Reach {
  /** The scope that a binding reaches; `undefined` when its login has ended, or when it never had one. */
  scopeOf(binding: Binding): string | undefined;
  /** Connectors of the scope that should run and have no route, with what they are at. */
  missing(scope: string): Promise<readonly MissingConnector[]>;
  /** Has a connector tried now, since a call needs it. */
  wake(scope: string, connectorKey: string): void;
  /** Told of every failure that a connector's gateway answered a list or a call with. */
  onFailure(scope: string, connectorKey: string, error: unknown): void;
}

export interface MissingConnector {
  readonly connectorKey: string;
  /** A word for what it is at, such as `starting` or `offline`. */
  readonly state: string;
  /** Epoch milliseconds. */
  readonly nextAttemptAt: number | undefined;
}

export interface AggregatedDirectoryOptions {
  readonly routes: RouteTable<RemoteMcpClient>;
  readonly namespaces: NamespaceTable;
  readonly reach: Reach;
  readonly clock: Clock;
  /** How long a list waits for one connector, in milliseconds. */
  readonly listBudgetMs: number;
  /** How long a call waits for a connector that has no route yet, in milliseconds. */
  readonly wakeBudgetMs: number;
  /** Whether a call is made with the contract as it is listed now, or as it was listed last. */
  readonly contracts: "reread" | "last_list";
}

/** A tool, and the route that it was found on. */
interface FoundTool extends ResolvedTool {
  readonly route: Route<RemoteMcpClient>;
  readonly nativeName: string;
  readonly contract: ToolContract;
}

interface NamedTool {
  readonly connectorKey: string;
  readonly nativeName: string;
  readonly tool: ListedTool;
}

/** The tools of all published routes as one list, and each call to the one connector that owns its name. */
export class AggregatedDirectory implements ToolDirectory {
  readonly #options: AggregatedDirectoryOptions;
  readonly #listings = new RouteListings();

  constructor(options: AggregatedDirectoryOptions) {
    this.#options = options;
  }

  /**
   * Every route is listed live and at once, each within its own budget; one that fails or is late is left out and named.
   * Sorted by name. Rejects, with the first failure, only when every route failed.
   */
  async list(binding: Binding, signal: AbortSignal): Promise<ToolListing> {
    const { reach, clock, listBudgetMs, namespaces } = this.#options;
    const scope = reach.scopeOf(binding);
    if (scope === undefined) return { tools: [], omitted: [] };
    const routes = this.#routesOf(scope);
    const budget = { clock, limitMs: listBudgetMs, option: "listBudgetMs", signal };
    const listed = await Promise.allSettled(routes.map((route) => within(this.#listings.list(route), budget)));
    signal.throwIfAborted();
    const named: NamedTool[] = [];
    const omitted: OmittedConnector[] = [];
    for (const [index, outcome] of listed.entries()) {
      const connectorKey = routes[index]?.connectorKey ?? "";
      if (outcome.status === "fulfilled") {
        for (const [nativeName, tool] of outcome.value) named.push({ connectorKey, nativeName, tool });
      } else {
        reach.onFailure(scope, connectorKey, outcome.reason);
        omitted.push({ connectorKey, reason: reasonOf(outcome.reason) });
      }
    }
    const failure = listed.find((outcome) => outcome.status === "rejected");
    if (failure !== undefined && omitted.length === routes.length) throw failure.reason;
    for (const { connectorKey, state } of await reach.missing(scope)) omitted.push({ connectorKey, reason: state });
    const { entries } = buildNameTable(namespaces, named);
    const tools = Array.from(entries, ([name, { tool }]) => ({ name, definition: renamed(tool.definition, name) }));
    return { tools, omitted };
  }

  /** Rejects with `unknown_tool`, with `route_unavailable` when its connector did not come in time, or with a list's failure. */
  async resolve(binding: Binding, exposedName: string, signal: AbortSignal): Promise<FoundTool> {
    const { reach, namespaces, contracts } = this.#options;
    const scope = reach.scopeOf(binding);
    const place = namespaces.locate(exposedName);
    if (scope === undefined || place === undefined) throw unknownTool(exposedName);
    const route = await this.#routeFor(scope, place.connectorKey, exposedName, signal);
    const known = contracts === "last_list" ? this.#listings.newest(route) : undefined;
    const found = known && this.#find(route, known, exposedName);
    if (found !== undefined) return found;
    const listed = this.#find(route, await this.#relist(scope, route, signal), exposedName);
    if (listed === undefined) throw unknownTool(exposedName);
    return listed;
  }

  /** A call that was still waiting when its route was replaced goes to the successor, once: nothing of it was sent. */
  async call(binding: Binding, resolved: ResolvedTool, call: ToolCall): Promise<ToolAnswer> {
    if (!isFoundTool(resolved)) throw unknownTool("");
    try {
      return await this.#callOver(resolved.route, binding, resolved, call);
    } catch (error) {
      const { scope, connectorKey } = resolved.route;
      const successor = wasSuperseded(error) ? this.#currentOf(scope, connectorKey) : undefined;
      if (successor === undefined) throw error;
      return await this.#callOver(successor, binding, resolved, call);
    }
  }

  async #callOver(
    route: Route<RemoteMcpClient>,
    binding: Binding,
    { nativeName, contract }: FoundTool,
    call: ToolCall,
  ): Promise<ToolAnswer> {
    const { reach, routes, clock } = this.#options;
    const { argumentsText, meta, logLevel, onProgress, onNotification } = call;
    const leave = route.enter();
    const joined = joinSignals(call.signal, route.signal);
    const answer = route.client.callTool(
      { name: nativeName, arguments: argumentsText === undefined ? undefined : new RawJson(argumentsText) },
      {
        detail: true,
        contract,
        admit: createAdmitter(routes, route),
        signal: joined.signal,
        totalTimeoutMs: Math.max(1, call.deadline - clock.now()),
        meta,
        logLevel,
        onProgress,
        onNotification,
      },
    );
    try {
      const { result, raw } = await answer;
      const type = result["resultType"];
      return { raw, era: "modern", resultType: typeof type === "string" ? type : undefined };
    } catch (error) {
      const scope = reach.scopeOf(binding);
      if (scope !== undefined) reach.onFailure(scope, route.connectorKey, error);
      throw error === route.signal.reason ? withdrawn(route.connectorKey, answer) : error;
    } finally {
      joined.release();
      leave();
    }
  }

  #routesOf(scope: string): readonly Route<RemoteMcpClient>[] {
    return this.#options.routes.list().filter((route) => route.scope === scope);
  }

  #currentOf(scope: string, connectorKey: string): Route<RemoteMcpClient> | undefined {
    const route = this.#options.routes.current(connectorKey);
    return route?.scope === scope ? route : undefined;
  }

  /** The connector's route; one that should be there and is not is waited for. */
  async #routeFor(
    scope: string,
    connectorKey: string,
    exposedName: string,
    signal: AbortSignal,
  ): Promise<Route<RemoteMcpClient>> {
    const { reach, routes, clock, wakeBudgetMs } = this.#options;
    const current = this.#currentOf(scope, connectorKey);
    if (current !== undefined) return current;
    const isMissing = async () => (await reach.missing(scope)).find((missing) => missing.connectorKey === connectorKey);
    if ((await isMissing()) === undefined) throw unknownTool(exposedName);
    let stop = ignore;
    const published = new Promise<Route<RemoteMcpClient>>((resolve) => {
      const look = (): void => {
        const route = this.#currentOf(scope, connectorKey);
        if (route !== undefined) resolve(route);
      };
      stop = routes.onPublication(look);
      look();
    });
    try {
      reach.wake(scope, connectorKey);
      return await within(published, { clock, limitMs: wakeBudgetMs, option: "wakeBudgetMs", signal });
    } catch (error) {
      if (!isRemoteConnectorError(error, "timeout")) throw error;
      throw unavailable(connectorKey, await isMissing());
    } finally {
      stop();
    }
  }

  async #relist(scope: string, route: Route<RemoteMcpClient>, signal: AbortSignal) {
    const { reach, clock } = this.#options;
    try {
      const budget = { clock, limitMs: LONGEST_LIST_MS, option: "totalTimeoutMs", signal };
      return await within(this.#listings.list(route), budget);
    } catch (error) {
      if (!signal.aborted) reach.onFailure(scope, route.connectorKey, error);
      throw error;
    }
  }

  #find(
    route: Route<RemoteMcpClient>,
    listing: ReadonlyMap<string, ListedTool>,
    exposedName: string,
  ): FoundTool | undefined {
    const verdict = findNativeName(this.#options.namespaces, exposedName, listing.keys());
    if (verdict.kind !== "found") return undefined;
    const tool = listing.get(verdict.nativeName);
    return tool && { route, nativeName: verdict.nativeName, contract: tool.contract };
  }
}

/** The client's own deadline of a walk; waiting longer would wait for nothing. */
const LONGEST_LIST_MS = 120_000;

function wasSuperseded(error: unknown): boolean {
  const refusal: AdmissionRefusal = "route_superseded";
  return isRemoteConnectorError(error, "not_admitted") && error.details.reason === refusal;
}

function isFoundTool(tool: ResolvedTool): tool is FoundTool {
  return "route" in tool && "nativeName" in tool;
}

/** A definition under another name; every other byte is its server's. */
function renamed(definition: Uint8Array, name: string): string {
  return Buffer.from(changeMembers(definition, { name: JSON.stringify(name) })).toString("utf8");
}

/** A word of ours: what a server wrote into an error is no reading for models. */
function reasonOf(error: unknown): string {
  if (isRemoteConnectorError(error, "peer_error")) return `peer_error ${String(error.details.rpcCode)}`;
  return isRemoteConnectorError(error) ? error.code : "internal_error";
}

function unknownTool(tool: string): RemoteConnectorError<"unknown_tool"> {
  return new RemoteConnectorError("unknown_tool", { message: "No tool in reach has this name.", details: { tool } });
}

/** One reason ends all calls of a route; how far this one got, only its own promise tells. */
function withdrawn(connectorKey: string, answer: Promise<unknown>): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: `The route of ${connectorKey} was withdrawn during the call.`,
    delivery: deliveryOf(answer) ?? "unknown",
    details: { reason: "route_withdrawn" },
  });
}

function unavailable(connectorKey: string, missing: MissingConnector | undefined) {
  const state = missing?.state ?? "offline";
  return new RemoteConnectorError("route_unavailable", {
    message: `The connector ${connectorKey} is ${state}.`,
    details: { connectorKey, state, nextAttemptAt: missing?.nextAttemptAt },
  });
}

function ignore(): void {}
