import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { RawJson, RpcCode, type ToolContract } from "../../protocol/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding, Continuation, ResolvedTool, ToolCall, ToolListing } from "../local-server/index.js";
import type { NamedPlace } from "../naming/index.js";
import type { AdmissionPins, Route } from "../routes/index.js";
import { approvalSubject } from "./approval-subject.js";
import { joinInstructions } from "./join-instructions.js";
import type { AggregatedDirectoryOptions, CallSubject } from "./ports.js";
import type { AskingCaller } from "./asking-caller.js";
import { askingAnswer, sealedAnswer, withInput } from "./asking-answers.js";
import type { RouteAnswer } from "./route-caller.js";
import type { RouteFinder } from "./route-finder.js";
import type { CallableTool } from "./route-listings.js";
import type { ToolViews } from "./tool-views.js";
import type { UpstreamListening } from "./upstream-listening.js";

/** A tool, and the route that it was found on. */
export interface FoundTool extends ResolvedTool {
  readonly route: Route<RemoteMcpClient>;
  readonly nativeName: string;
  readonly exposedName: string;
  readonly contract: ToolContract;
  /** As it was found: see {@link CallableTool}. */
  readonly definition: CallableTool["definition"];
  /** What must still hold when it is called. */
  readonly pins: AdmissionPins | undefined;
  /** `ask`: it is called once that was approved. */
  readonly permission: "allow" | "ask";
}

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
    const isAllowed = resolved.permission === "allow" && !this.#goesOnApproved(call);
    return isAllowed ? this.#make(resolved, call, subject) : this.#makeApproved(binding, resolved, call, subject);
  }

  /** Everything that was checked before somebody was asked is checked again: it may be another by now. */
  async #makeApproved(binding: Binding, tool: FoundTool, call: ToolCall, subject: CallSubject): Promise<RouteAnswer> {
    const { approvals } = this.#parts.options;
    const { route } = tool;
    const { connectorKey } = route;
    if (approvals === undefined) throw approvalRequired(connectorKey);
    const about = approvalSubject(tool);
    const verdict = await approvals.pass({
      subject,
      binding,
      connectorKey,
      connectionId: route.connectionId,
      scopeEpoch: route.scopeEpoch,
      ...about,
      call,
      stillStands: () => this.#stillStands(binding, tool),
    });
    if (verdict.kind === "asks") return askingAnswer(verdict.raw, route);
    const now = await this.#resolveAgain(binding, tool, call);
    const isSame = now.nativeName === tool.nativeName && approvalSubject(now).contractDigest === about.contractDigest;
    if (!isSame || !isSameConnection(now.route, route)) throw notApprovedAnyMore(connectorKey);
    const answer = await this.#make(now, goingOn(call, verdict.continuation), subject);
    if (answer.resultType !== "input_required") return answer;
    // The state of one that waits at its server is bound to this very call already.
    const isHeld = this.#parts.caller.isHeld(goingOn(call, { responses: undefined, state: stateIn(answer) }));
    return isHeld ? answer : sealedAnswer(answer, (state) => verdict.sealState(state));
  }

  /** The tool as it is now. Nothing was sent of its call, so that no failure says otherwise. */
  async #resolveAgain(binding: Binding, tool: FoundTool, { signal, deadline }: ToolCall): Promise<FoundTool> {
    try {
      return await this.resolve(binding, tool.exposedName, signal, deadline);
    } catch (error) {
      const isVerdict = isRemoteConnectorError(error) && error.delivery === "not_sent";
      throw isVerdict ? error : notApprovedAnyMore(tool.route.connectorKey, error);
    }
  }

  #goesOnApproved(call: ToolCall): boolean {
    return call.input?.continuation !== undefined && this.#parts.options.approvals?.goesOn(call) === true;
  }

  /** Whether what is being asked for could still be called: it is reached, over the same connection, and is not off. */
  #stillStands(binding: Binding, { route, nativeName }: FoundTool): boolean {
    const { finder, options } = this.#parts;
    const current = finder.current(options.reach.scopesOf(binding), route.connectorKey);
    const isThere = current !== undefined && isSameConnection(current, route);
    return isThere && this.#permission(route.connectorKey, nativeName) !== "off";
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

/** The connector of a tool that `resolve` gave; `""` for another. */
export function connectorOf(tool: ResolvedTool): string {
  return isFoundTool(tool) ? tool.route.connectorKey : "";
}

function isFoundTool(tool: ResolvedTool): tool is FoundTool {
  return "route" in tool && "nativeName" in tool;
}

/** Whether both go over one connection of one sign-in; a refreshed one is the same. */
function isSameConnection(one: Route<RemoteMcpClient>, other: Route<RemoteMcpClient>): boolean {
  return one.connectionId === other.connectionId && one.scopeEpoch === other.scopeEpoch;
}

/** The call, going on with this and not with what its agent gave. */
function goingOn(call: ToolCall, continuation: Continuation | undefined): ToolCall {
  // Not by a spread of the call: its members are those of a class.
  const { input } = call;
  return withInput(call, input && { capabilities: input.capabilities, ask: input.ask, continuation });
}

function stateIn({ result }: RouteAnswer): string | undefined {
  const state = result["requestState"];
  return typeof state === "string" ? state : undefined;
}

function notApprovedAnyMore(connectorKey: string, cause?: unknown): RemoteConnectorError<"approval_denied"> {
  return new RemoteConnectorError("approval_denied", {
    message: `What was approved of ${connectorKey} is not what would be called now.`,
    details: { connectorKey, reason: "withdrawn" },
    cause,
  });
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
