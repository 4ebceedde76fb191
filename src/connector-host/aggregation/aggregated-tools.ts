import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { RawJson, RpcCode, type ToolContract } from "../../protocol/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding, ResolvedTool, ToolCall, ToolListing } from "../local-server/index.js";
import type { NamedPlace } from "../naming/index.js";
import type { AdmissionPins, Route } from "../routes/index.js";
import { joinInstructions } from "./join-instructions.js";
import type { AggregatedDirectoryOptions } from "./ports.js";
import type { RouteAnswer, RouteCaller } from "./route-caller.js";
import type { RouteFinder } from "./route-finder.js";
import type { CallableTool } from "./route-listings.js";
import type { ToolViews } from "./tool-views.js";
import type { UpstreamListening } from "./upstream-listening.js";

/** A tool, and the route that it was found on. */
export interface FoundTool extends ResolvedTool {
  readonly route: Route<RemoteMcpClient>;
  readonly nativeName: string;
  readonly contract: ToolContract;
  /** What must still hold when it is called. */
  readonly pins: AdmissionPins | undefined;
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

  /** What {@link resolve} would resolve to, if nobody has to be waited for; `undefined` also where it would reject. */
  known(binding: Binding, exposedName: string): FoundTool | undefined {
    const { finder, options, views } = this.#parts;
    const connectorKey = options.namespaces.locate(exposedName)?.connectorKey;
    if (connectorKey === undefined || !views.hasTools(connectorKey)) return undefined;
    const route = finder.current(options.reach.scopesOf(binding), connectorKey);
    const tool = route && views.callable(route, exposedName);
    if (route === undefined || tool === undefined) return undefined;
    return this.#refusal(connectorKey, tool.nativeName) === undefined ? this.#found(route, tool) : undefined;
  }

  /**
   * Rejects (`not_sent`) with `unknown_tool`, with `not_permitted` and `approval_required`, with `route_unavailable` when its connector did
   * not come in time, or with a list's failure. Where it can be told, what is not permitted is refused before a server is asked.
   */
  resolve(binding: Binding, exposedName: string, signal: AbortSignal): Promise<FoundTool> {
    const { finder, options, views } = this.#parts;
    const place = options.namespaces.locate(exposedName);
    if (place === undefined || !views.hasTools(place.connectorKey)) return Promise.reject(unknownTool(exposedName));
    const scopes = options.reach.scopesOf(binding);
    const route = finder.current(scopes, place.connectorKey);
    const known = route && views.callable(route, exposedName);
    const refusal =
      known === undefined
        ? this.#refusalByName(place, exposedName, route)
        : this.#refusal(place.connectorKey, known.nativeName);
    if (refusal !== undefined) return Promise.reject(refusal);
    if (route !== undefined && known !== undefined) return Promise.resolve(this.#found(route, known));
    return this.#search(scopes, place.connectorKey, exposedName, signal);
  }

  /** `resolved` is what `resolve` gave. Rejects as {@link RouteCaller.call} does. */
  async call(resolved: ResolvedTool, call: ToolCall): Promise<RouteAnswer> {
    if (!isFoundTool(resolved)) throw unknownTool("");
    const { caller, upstream, views } = this.#parts;
    const { nativeName, contract, pins, route } = resolved;
    const { argumentsText } = call;
    const args = argumentsText === undefined ? undefined : new RawJson(argumentsText, call.args);
    upstream.onCall(route);
    let sendings = 0;
    try {
      const answer = await caller.call(
        route,
        call,
        (client, options) => {
          const { admit } = options;
          sendings = 0;
          return client.callTool(
            { name: nativeName, arguments: args },
            // Member by member: a spread would be a third of what a call costs here.
            {
              detail: true,
              signal: options.signal,
              totalTimeoutMs: options.totalTimeoutMs,
              meta: options.meta,
              logLevel: options.logLevel,
              onProgress: options.onProgress,
              onNotification: options.onNotification,
              contract,
              // Whoever called the tool judges its output: it travels on as it came.
              outputCheck: "off",
              admit: () => {
                sendings += 1;
                return admit?.();
              },
            },
          );
        },
        pins,
      );
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

  /** Why a tool may not be called now, by its own name. Annotations of its server never count. */
  #refusal(connectorKey: string, nativeName: string): RemoteConnectorError | undefined {
    const { access } = this.#parts.options.reach;
    const permission = access === undefined ? "allow" : access.ofTool(connectorKey, nativeName);
    if (permission === "allow") return undefined;
    return permission === "off" ? notPermitted(connectorKey) : approvalRequired(connectorKey);
  }

  /** Why whatever has this exposed name may not be called, as far as that can be told without asking its server. */
  #refusalByName(
    { connectorKey, rest }: NamedPlace,
    exposedName: string,
    route: Route<RemoteMcpClient> | undefined,
  ): RemoteConnectorError | undefined {
    const { options, views } = this.#parts;
    const { access } = options.reach;
    if (access === undefined) return undefined;
    const listed = route && views.nativeName(route, exposedName);
    if (listed !== undefined) return this.#refusal(connectorKey, listed);
    const isNative = options.namespaces.policy.exposedName(connectorKey, rest) === exposedName;
    if (isNative) return this.#refusal(connectorKey, rest);
    return access.mayHoldTools(connectorKey) ? undefined : notPermitted(connectorKey);
  }

  /** What was permitted before its server was asked may be refused by now. */
  #permitted(route: Route<RemoteMcpClient>, tool: CallableTool): FoundTool {
    const refusal = this.#refusal(route.connectorKey, tool.nativeName);
    if (refusal !== undefined) throw refusal;
    return this.#found(route, tool);
  }

  #found(route: Route<RemoteMcpClient>, { nativeName, contract }: CallableTool): FoundTool {
    return { route, nativeName, contract, pins: this.#parts.options.reach.access?.pins(route.connectorKey) };
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
    const tool = views.callable(route, exposedName) ?? (await views.find(route, exposedName, signal));
    if (tool === undefined) throw unknownTool(exposedName);
    return this.#permitted(route, tool);
  }
}

/** The connector of a tool that `resolve` gave; `""` for another. */
export function connectorOf(tool: ResolvedTool): string {
  return isFoundTool(tool) ? tool.route.connectorKey : "";
}

function isFoundTool(tool: ResolvedTool): tool is FoundTool {
  return "route" in tool && "nativeName" in tool;
}

function notPermitted(connectorKey: string): RemoteConnectorError<"not_permitted"> {
  const message = `The tool of ${connectorKey} is switched off for agents.`;
  return new RemoteConnectorError("not_permitted", { message, details: { connectorKey } });
}

function approvalRequired(connectorKey: string): RemoteConnectorError<"approval_required"> {
  const message = `Each call of this tool of ${connectorKey} needs an approval, and nobody is there to give one.`;
  return new RemoteConnectorError("approval_required", { message, details: { connectorKey } });
}

function unknownTool(tool: string): RemoteConnectorError<"unknown_tool"> {
  return new RemoteConnectorError("unknown_tool", { message: "No tool in reach has this name.", details: { tool } });
}
