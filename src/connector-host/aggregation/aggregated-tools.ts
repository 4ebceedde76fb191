import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { RawJson, RpcCode } from "../../protocol/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding, ResolvedTool, ToolCall, ToolListing } from "../local-server/index.js";
import type { NamedPlace } from "../naming/index.js";
import type { Route } from "../routes/index.js";
import { approvalRequired, ApprovedCalls } from "./approved-calls.js";
import { type FoundTool, isFoundTool } from "./found-tool.js";
import { joinInstructions } from "./join-instructions.js";
import type { AggregatedDirectoryOptions, CallSubject } from "./ports.js";
import type { AskingCaller } from "./asking-caller.js";
import type { RouteAnswer } from "./route-caller.js";
import type { RouteFinder } from "./route-finder.js";
import type { CallableTool } from "./route-listings.js";
import type { ToolViews } from "./tool-views.js";
import type { UpstreamListening } from "./upstream-listening.js";

export interface AggregatedToolsParts {
  readonly options: AggregatedDirectoryOptions;
  readonly finder: RouteFinder;
  readonly caller: AskingCaller;
  readonly views: ToolViews;
  readonly upstream: UpstreamListening;
}

/** What is looked for, and for how long. */
interface ToolSearch {
  readonly connectorKey: string;
  readonly exposedName: string;
  readonly signal: AbortSignal;
  /** When the call must have ended, on the clock. */
  readonly deadline: number | undefined;
}

/** The tools of all published routes as one list, and each call to the one connector that owns its name. */
export class AggregatedTools {
  readonly #parts: AggregatedToolsParts;
  readonly #approved: ApprovedCalls;

  constructor(parts: AggregatedToolsParts) {
    this.#parts = parts;
    this.#approved = new ApprovedCalls({
      approvals: parts.options.approvals,
      resolve: (binding, exposedName, signal, deadline) => this.resolve(binding, exposedName, signal, deadline),
      routeOf: (binding, tool) => this.#routeOf(binding, tool),
      make: (tool, call, subject) => this.#make(tool, call, subject),
      isHeld: (call) => parts.caller.isHeld(call),
    });
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
    return this.#refusal(binding, connectorKey, tool.nativeName) === undefined
      ? this.#found(route, exposedName, tool)
      : undefined;
  }

  /**
   * Rejects (`not_sent`) with `unknown_tool`, with `not_permitted` and `approval_required`, with `route_unavailable` when its connector did
   * not come in time, or with a list's failure. Where it can be told, what is not permitted is refused before a server is asked.
   */
  resolve(binding: Binding, exposedName: string, signal: AbortSignal, deadline?: number): Promise<FoundTool> {
    const { finder, options, views } = this.#parts;
    const place = options.namespaces.locate(exposedName);
    if (place === undefined || !views.hasTools(place.connectorKey)) return Promise.reject(unknownTool(exposedName));
    const scopes = options.reach.scopesOf(binding);
    const route = finder.current(scopes, place.connectorKey);
    const known = route && views.callable(route, exposedName);
    const refusal =
      known === undefined
        ? this.#refusalByName(binding, place, exposedName, route)
        : this.#refusal(binding, place.connectorKey, known.nativeName);
    if (refusal !== undefined) return Promise.reject(refusal);
    if (route !== undefined && known !== undefined) return Promise.resolve(this.#found(route, exposedName, known));
    return this.#search(binding, { connectorKey: place.connectorKey, exposedName, signal, deadline });
  }

  /**
   * `resolved` is what `resolve` gave. Rejects as {@link AskingCaller.call} does, and, before anything is sent, as {@link ApprovalGate.pass}
   * does for a tool whose calls need an approval.
   */
  async call(binding: Binding, resolved: ResolvedTool, call: ToolCall): Promise<RouteAnswer> {
    if (!isFoundTool(resolved)) throw unknownTool("");
    const subject: CallSubject = {
      kind: "tool",
      nativeName: resolved.nativeName,
      exposedName: resolved.exposedName,
      argumentsText: call.argumentsText,
      binding,
    };
    // A request that waits at its server was decided on when it was made; whether this goes on with it, the caller judges.
    if (this.#parts.caller.isHeld(call)) return this.#make(resolved, call, subject);
    // What was approved goes on as such, also when it would need no approval by now.
    const isAllowed = resolved.permission === "allow" && !this.#approved.goesOn(call);
    return isAllowed ? this.#make(resolved, call, subject) : this.#approved.call(binding, resolved, call, subject);
  }

  #routeOf(binding: Binding, { route, nativeName }: FoundTool): Route<RemoteMcpClient> | undefined {
    const { finder, options } = this.#parts;
    const { connectorKey } = route;
    if (this.#permission(connectorKey, nativeName) === "off") return undefined;
    return finder.current(options.reach.scopesOf(binding), connectorKey);
  }

  async #make(tool: FoundTool, call: ToolCall, subject: CallSubject): Promise<RouteAnswer> {
    const { caller, upstream, views } = this.#parts;
    const { nativeName, contract, pins, route } = tool;
    const { argumentsText } = call;
    const args = argumentsText === undefined ? undefined : new RawJson(argumentsText, call.args);
    upstream.onCall(route);
    let sendings = 0;
    try {
      const answer = await caller.call({
        route,
        request: call,
        subject,
        pins,
        make(client, options) {
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
              capabilities: options.capabilities,
              input: options.input,
              inputResponses: options.inputResponses,
              requestState: options.requestState,
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

  /** Why a tool may not be called now, by its own name. Annotations of its server never count. */
  #refusal(binding: Binding, connectorKey: string, nativeName: string): RemoteConnectorError | undefined {
    const permission = this.#permission(connectorKey, nativeName);
    if (permission === "allow") return undefined;
    if (permission === "off") return notPermitted(connectorKey);
    return this.#parts.options.approvals?.isOpenTo(binding) === true ? undefined : approvalRequired(connectorKey);
  }

  #permission(connectorKey: string, nativeName: string): "off" | "ask" | "allow" {
    const { access } = this.#parts.options.reach;
    return access === undefined ? "allow" : access.ofTool(connectorKey, nativeName);
  }

  /** Why whatever has this exposed name may not be called, as far as that can be told without asking its server. */
  #refusalByName(
    binding: Binding,
    { connectorKey, rest }: NamedPlace,
    exposedName: string,
    route: Route<RemoteMcpClient> | undefined,
  ): RemoteConnectorError | undefined {
    const { options, views } = this.#parts;
    const { access } = options.reach;
    if (access === undefined) return undefined;
    const listed = route && views.nativeName(route, exposedName);
    if (listed !== undefined) return this.#refusal(binding, connectorKey, listed);
    const isNative = options.namespaces.policy.exposedName(connectorKey, rest) === exposedName;
    if (isNative) return this.#refusal(binding, connectorKey, rest);
    return access.mayHoldTools(connectorKey) ? undefined : notPermitted(connectorKey);
  }

  /** What was permitted before its server was asked may be refused by now. */
  #permitted(binding: Binding, route: Route<RemoteMcpClient>, exposedName: string, tool: CallableTool): FoundTool {
    const refusal = this.#refusal(binding, route.connectorKey, tool.nativeName);
    if (refusal !== undefined) throw refusal;
    return this.#found(route, exposedName, tool);
  }

  #found(route: Route<RemoteMcpClient>, exposedName: string, tool: CallableTool): FoundTool {
    const { nativeName, contract, definition } = tool;
    const { connectorKey } = route;
    const permission = this.#permission(connectorKey, nativeName) === "allow" ? "allow" : "ask";
    const pins = this.#parts.options.reach.access?.pins(connectorKey);
    return { route, nativeName, exposedName, contract, definition, pins, permission };
  }

  async #search(binding: Binding, { connectorKey, exposedName, signal, deadline }: ToolSearch): Promise<FoundTool> {
    const { finder, options, views } = this.#parts;
    const route = await finder.find(options.reach.scopesOf(binding), connectorKey, signal, deadline);
    if (route === undefined) throw unknownTool(exposedName);
    const tool = views.callable(route, exposedName) ?? (await views.find(route, exposedName, signal));
    if (tool === undefined) throw unknownTool(exposedName);
    return this.#permitted(binding, route, exposedName, tool);
  }
}

function notPermitted(connectorKey: string): RemoteConnectorError<"not_permitted"> {
  const message = `The tool of ${connectorKey} is switched off for agents.`;
  return new RemoteConnectorError("not_permitted", { message, details: { connectorKey } });
}

function unknownTool(tool: string): RemoteConnectorError<"unknown_tool"> {
  return new RemoteConnectorError("unknown_tool", { message: "No tool in reach has this name.", details: { tool } });
}
