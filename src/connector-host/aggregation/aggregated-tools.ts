import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { RawJson, RpcCode, type ToolContract } from "../../protocol/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding, ResolvedTool, ToolCall, ToolListing } from "../local-server/index.js";
import type { Route } from "../routes/index.js";
import { joinInstructions } from "./join-instructions.js";
import type { AggregatedDirectoryOptions } from "./ports.js";
import type { RouteAnswer, RouteCaller } from "./route-caller.js";
import type { RouteFinder } from "./route-finder.js";
import type { ToolViews } from "./tool-views.js";
import type { UpstreamListening } from "./upstream-listening.js";

/** A tool, and the route that it was found on. */
export interface FoundTool extends ResolvedTool {
  readonly route: Route<RemoteMcpClient>;
  readonly nativeName: string;
  readonly contract: ToolContract;
}

export interface AggregatedToolsParts {
  readonly options: AggregatedDirectoryOptions;
  readonly finder: RouteFinder;
  readonly caller: RouteCaller;
  readonly views: ToolViews;
  readonly upstream: UpstreamListening;
}

/** The tools of all published routes as one list, and each call to the one connector that owns its name. */
export class AggregatedTools {
  readonly #parts: AggregatedToolsParts;

  constructor(parts: AggregatedToolsParts) {
    this.#parts = parts;
  }

  list(binding: Binding, signal: AbortSignal): Promise<ToolListing> {
    return this.#parts.views.list(binding, signal);
  }

  /** Rejects with `unknown_tool`, with `route_unavailable` when its connector did not come in time, or with a list's failure. */
  resolve(binding: Binding, exposedName: string, signal: AbortSignal): Promise<FoundTool> {
    const { finder, options } = this.#parts;
    const place = options.namespaces.locate(exposedName);
    if (place === undefined || !this.#parts.views.hasTools(place.connectorKey)) {
      return Promise.reject(unknownTool(exposedName));
    }
    const scopes = options.reach.scopesOf(binding);
    const route = finder.current(scopes, place.connectorKey);
    const known = route && this.#known(route, exposedName);
    return known === undefined ? this.#search(scopes, place.connectorKey, exposedName, signal) : Promise.resolve(known);
  }

  /** `resolved` is what `resolve` gave. Rejects as {@link RouteCaller.call} does. */
  async call(resolved: ResolvedTool, call: ToolCall): Promise<RouteAnswer> {
    if (!isFoundTool(resolved)) throw unknownTool("");
    const { caller, upstream, views } = this.#parts;
    const { nativeName, contract, route } = resolved;
    const { argumentsText } = call;
    const args = argumentsText === undefined ? undefined : new RawJson(argumentsText);
    upstream.onCall(route);
    let sendings = 0;
    try {
      const answer = await caller.call(route, call, (client, options) => {
        const { admit } = options;
        sendings = 0;
        return client.callTool(
          { name: nativeName, arguments: args },
          {
            ...options,
            contract,
            // Whoever called the tool judges its output: it travels on as it came.
            outputCheck: "off",
            admit: () => {
              sendings += 1;
              return admit?.();
            },
          },
        );
      });
      // It was refused for its headers, and made again with others: the contract is not the one that was listed.
      if (sendings > 1) views.mayHaveChanged(answer.route);
      return answer;
    } catch (error) {
      const isMismatch =
        isRemoteConnectorError(error, "peer_error") && error.details.rpcCode === RpcCode.headerMismatch;
      if (isMismatch) views.mayHaveChanged(route);
      throw error;
    }
  }

  /** What the servers in reach tell models, by connector. */
  instructions(binding: Binding): string | undefined {
    const { options, views } = this.#parts;
    return joinInstructions(views.instructions(options.reach.scopesOf(binding)));
  }

  /** A tool that can be called as it was listed last, without asking its server. */
  #known(route: Route<RemoteMcpClient>, exposedName: string): FoundTool | undefined {
    const tool = this.#parts.views.callable(route, exposedName);
    return tool && { route, nativeName: tool.nativeName, contract: tool.contract };
  }

  async #search(
    scopes: readonly string[],
    connectorKey: string,
    exposedName: string,
    signal: AbortSignal,
  ): Promise<FoundTool> {
    const { finder, views } = this.#parts;
    const route = await finder.find(scopes, connectorKey, signal);
    if (route === undefined) throw unknownTool(exposedName);
    const known = this.#known(route, exposedName);
    if (known !== undefined) return known;
    const tool = await views.find(route, exposedName, signal);
    if (tool === undefined) throw unknownTool(exposedName);
    return { route, nativeName: tool.nativeName, contract: tool.contract };
  }
}

/** The connector of a tool that `resolve` gave; `""` for another. */
export function connectorOf(tool: ResolvedTool): string {
  return isFoundTool(tool) ? tool.route.connectorKey : "";
}

function isFoundTool(tool: ResolvedTool): tool is FoundTool {
  return "route" in tool && "nativeName" in tool;
}

function unknownTool(tool: string): RemoteConnectorError<"unknown_tool"> {
  return new RemoteConnectorError("unknown_tool", { message: "No tool in reach has this name.", details: { tool } });
}
