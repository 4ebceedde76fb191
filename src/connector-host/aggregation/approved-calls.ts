import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding, Continuation, ToolCall } from "../local-server/index.js";
import type { Route } from "../routes/index.js";
import { approvalSubject } from "./approval-subject.js";
import { askingAnswer, sealedAnswer, withInput } from "./asking-answers.js";
import type { FoundTool } from "./found-tool.js";
import type { ApprovalGate, CallSubject } from "./ports.js";
import type { RouteAnswer } from "./route-caller.js";

export interface ApprovedCallsParts {
  readonly approvals: ApprovalGate | undefined;
  /** The tool that the name leads to now. */
  readonly resolve: (
    binding: Binding,
    exposedName: string,
    signal: AbortSignal,
    deadline?: number,
  ) => Promise<FoundTool>;
  /** The route by which the binding reaches the connector now, of a tool that is not off; `undefined`: it reaches none. */
  readonly routeOf: (binding: Binding, tool: FoundTool) => Route<RemoteMcpClient> | undefined;
  readonly make: (tool: FoundTool, call: ToolCall, subject: CallSubject) => Promise<RouteAnswer>;
  /** Whether a call goes on with one that waits at its server. */
  readonly isHeld: (call: ToolCall) => boolean;
}

/** Calls that are made once somebody has approved them. */
export class ApprovedCalls {
  readonly #parts: ApprovedCallsParts;

  constructor(parts: ApprovedCallsParts) {
    this.#parts = parts;
  }

  /** Whether a call goes on with an approval, so that what the tool's permission is by now does not matter to whether it is looked at. */
  goesOn(call: ToolCall): boolean {
    return call.input?.continuation !== undefined && this.#parts.approvals?.goesOn(call) === true;
  }

  /**
   * Has somebody asked, and makes the call. Everything that was checked before is checked again then: it may be another by now. Rejects as
   * {@link ApprovalGate.pass} does, with `approval_required` where there is none, and as `resolve` and `make` do.
   */
  async call(binding: Binding, tool: FoundTool, call: ToolCall, subject: CallSubject): Promise<RouteAnswer> {
    const { approvals, isHeld, make } = this.#parts;
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
    const pins = { ...now.pins, isApproved: verdict.use };
    const answer = await make({ ...now, pins }, goingOn(call, verdict.continuation), subject);
    if (answer.resultType !== "input_required") return answer;
    // The state of one that waits at its server is bound to this very call already.
    const waits = isHeld(goingOn(call, { responses: undefined, state: stateIn(answer) }));
    return waits ? answer : sealedAnswer(answer, (state) => verdict.sealState(state));
  }

  /** The tool as it is now. Nothing was sent of its call, so that no failure says otherwise. */
  async #resolveAgain(binding: Binding, tool: FoundTool, { signal, deadline }: ToolCall): Promise<FoundTool> {
    try {
      return await this.#parts.resolve(binding, tool.exposedName, signal, deadline);
    } catch (error) {
      const isVerdict = isRemoteConnectorError(error) && error.delivery === "not_sent";
      throw isVerdict ? error : notApprovedAnyMore(tool.route.connectorKey, error);
    }
  }

  /** Whether what is being asked for could still be called: it is reached, over the same connection, and is not off. */
  #stillStands(binding: Binding, tool: FoundTool): boolean {
    const current = this.#parts.routeOf(binding, tool);
    return current !== undefined && isSameConnection(current, tool.route);
  }
}

/** Whether both go over one connection of one sign-in; a refreshed one is the same. */
function isSameConnection(one: Route<RemoteMcpClient>, other: Route<RemoteMcpClient>): boolean {
  return one.connectionId === other.connectionId && one.scopeEpoch === other.scopeEpoch;
}

/** The call, going on with this and not with what its agent gave. */
function goingOn(call: ToolCall, continuation: Continuation | undefined): ToolCall {
  // Not by a spread of the call: its members are those of a class.
  const { input } = call;
  return withInput(call, input && { ...input, continuation });
}

function stateIn({ result }: RouteAnswer): string | undefined {
  const state = result["requestState"];
  return typeof state === "string" ? state : undefined;
}

export function approvalRequired(connectorKey: string): RemoteConnectorError<"approval_required"> {
  const message = `Each call of this tool of ${connectorKey} needs an approval, and nobody is there to give one.`;
  return new RemoteConnectorError("approval_required", { message, details: { connectorKey } });
}

function notApprovedAnyMore(connectorKey: string, cause?: unknown): RemoteConnectorError<"approval_denied"> {
  return new RemoteConnectorError("approval_denied", {
    message: `What was approved of ${connectorKey} is not what would be called now.`,
    details: { connectorKey, reason: "withdrawn" },
    cause,
  });
}
