import { deliveryOf, isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { type CallToolResult, type DetailedResult, RawJson, type ToolContract } from "../../protocol/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type {
  Binding,
  ResolvedTool,
  UpstreamAnswer,
  ToolCall,
  ToolDirectory,
  ToolListing,
} from "../local-server/index.js";
import { findNativeName } from "../naming/index.js";
import { createAdmitter, type Route } from "../routes/index.js";
import { joinSignals } from "./join-signals.js";
import type { AggregatedDirectoryOptions, MissingConnector } from "./ports.js";
import { type ListedTool, RouteListings, successorOf } from "./route-listings.js";
import { ToolLister } from "./tool-lister.js";
import { within } from "./within.js";

/** A tool, and the route that it was found on. */
interface FoundTool extends ResolvedTool {
  readonly route: Route<RemoteMcpClient>;
  readonly nativeName: string;
  readonly contract: ToolContract;
}

/** The tools of all published routes as one list, and each call to the one connector that owns its name. */
export class AggregatedDirectory implements ToolDirectory {
  readonly #options: AggregatedDirectoryOptions;
  readonly #listings: RouteListings;
  readonly #lister: ToolLister;

  constructor(options: AggregatedDirectoryOptions) {
    this.#options = options;
    this.#listings = new RouteListings(options.clock);
    this.#lister = new ToolLister(options, this.#listings);
  }

  list(binding: Binding, signal: AbortSignal): Promise<ToolListing> {
    return this.#lister.list(binding, signal);
  }

  /** Rejects with `unknown_tool`, with `route_unavailable` when its connector did not come in time, or with a list's failure. */
  async resolve(binding: Binding, exposedName: string, signal: AbortSignal): Promise<FoundTool> {
    const { reach, namespaces, contracts } = this.#options;
    const scopes = reach.scopesOf(binding);
    const place = namespaces.locate(exposedName);
    if (place === undefined) throw unknownTool(exposedName);
    const route = await this.#routeFor(scopes, place.connectorKey, exposedName, signal);
    const known = contracts === "last_list" ? this.#listings.newest(route) : undefined;
    const found = known && this.#find(route, known, exposedName);
    if (found !== undefined) return found;
    const listed = this.#find(route, await this.#relist(route, signal), exposedName);
    if (listed === undefined) throw unknownTool(exposedName);
    return listed;
  }

  /** A call of which nothing was sent when its route was replaced goes to the successor, once. */
  async call(_binding: Binding, resolved: ResolvedTool, call: ToolCall): Promise<UpstreamAnswer> {
    if (!isFoundTool(resolved)) throw unknownTool("");
    const { scope, connectorKey } = resolved.route;
    const route = resolved.route.state === "open" ? undefined : this.#currentOf([scope], connectorKey);
    try {
      return await this.#callOver(route ?? resolved.route, resolved, call);
    } catch (error) {
      const successor = successorOf(route ?? resolved.route, this.#options.routes);
      const wasSent = !isRemoteConnectorError(error) || error.delivery !== "not_sent";
      if (successor === undefined || wasSent || call.signal.aborted) throw error;
      return await this.#callOver(successor, resolved, call);
    }
  }

  async #callOver(
    route: Route<RemoteMcpClient>,
    { nativeName, contract }: FoundTool,
    call: ToolCall,
  ): Promise<UpstreamAnswer> {
    const { reach, routes, clock } = this.#options;
    const { argumentsText, meta, logLevel, onProgress, onNotification } = call;
    const leave = route.enter();
    const joined = joinSignals(call.signal, route.signal);
    let answer: Promise<DetailedResult<CallToolResult>> | undefined;
    try {
      answer = route.client.callTool(
        { name: nativeName, arguments: argumentsText === undefined ? undefined : new RawJson(argumentsText) },
        {
          detail: true,
          // Whoever called the tool judges its output: it travels on as it came.
          outputCheck: "off",
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
      const { result, raw } = await answer;
      const type = result["resultType"];
      return { raw, era: route.client.era ?? "modern", resultType: typeof type === "string" ? type : undefined };
    } catch (error) {
      reach.onFailure(route, error);
      throw error === route.signal.reason ? withdrawn(route.connectorKey, answer) : error;
    } finally {
      joined.release();
      leave();
    }
  }

  #currentOf(scopes: readonly string[], connectorKey: string): Route<RemoteMcpClient> | undefined {
    const route = this.#options.routes.current(connectorKey);
    return route !== undefined && scopes.includes(route.scope) ? route : undefined;
  }

  /** The connector's route; one that should be there and is not is waited for. */
  async #routeFor(
    scopes: readonly string[],
    connectorKey: string,
    exposedName: string,
    signal: AbortSignal,
  ): Promise<Route<RemoteMcpClient>> {
    const { reach, routes, clock, wakeBudgetMs } = this.#options;
    const current = this.#currentOf(scopes, connectorKey);
    if (current !== undefined) return current;
    const isMissing = async () =>
      (await reach.missing(scopes)).find((missing) => missing.connectorKey === connectorKey);
    if ((await isMissing()) === undefined) throw unknownTool(exposedName);
    let stop = ignore;
    const published = new Promise<Route<RemoteMcpClient>>((resolve) => {
      const look = (): void => {
        const route = this.#currentOf(scopes, connectorKey);
        if (route !== undefined) resolve(route);
      };
      stop = routes.onPublication(look);
      look();
    });
    try {
      reach.wake(scopes, connectorKey);
      return await within(published, { clock, limitMs: wakeBudgetMs, option: "wakeBudgetMs", signal });
    } catch (error) {
      if (!isRemoteConnectorError(error, "timeout")) throw error;
      throw unavailable(connectorKey, await isMissing());
    } finally {
      stop();
    }
  }

  async #relist(route: Route<RemoteMcpClient>, signal: AbortSignal) {
    try {
      return await this.#listings.list(route, { limitMs: LONGEST_LIST_MS, option: "totalTimeoutMs", signal });
    } catch (error) {
      if (!signal.aborted) this.#options.reach.onFailure(route, error);
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

/** A walk ends by itself before that. */
const LONGEST_LIST_MS = 60_000;

function isFoundTool(tool: ResolvedTool): tool is FoundTool {
  return "route" in tool && "nativeName" in tool;
}

function unknownTool(tool: string): RemoteConnectorError<"unknown_tool"> {
  return new RemoteConnectorError("unknown_tool", { message: "No tool in reach has this name.", details: { tool } });
}

/** One reason ends all calls of a route; how far this one got, only its own promise tells. */
function withdrawn(connectorKey: string, answer: Promise<unknown> | undefined) {
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
