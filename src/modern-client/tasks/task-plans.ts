import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { type Diagnostic, RpcCode } from "../../protocol/index.js";
import type { Deadlines } from "../../transport/index.js";
import type { CallOptions } from "../call-options.js";
import type { CallOutcome, CallPlan } from "../call-plan.js";
import { prepareRequest, type RoundInput } from "../request-message.js";
import { NO_HEADERS } from "../request-starter.js";

/** What a request about a task is sent with. */
export interface TaskRequest<T> {
  readonly method: "tasks/get" | "tasks/update" | "tasks/cancel";
  readonly taskId: string;
  readonly options: CallOptions;
  readonly deadlines: Deadlines;
  readonly shape: (outcome: CallOutcome) => T;
  readonly input?: RoundInput | undefined;
}

/** Plans a request about a task. Throws `invalid_argument` (`not_sent`). Source: ext-tasks, Routing Headers. */
export function planTaskRequest<T>({ method, taskId, options, deadlines, shape, input }: TaskRequest<T>): CallPlan<T> {
  return {
    request: prepareRequest(method, { taskId }, options.meta),
    options,
    deadlines,
    mirrored: NO_HEADERS,
    shape,
    shapeTask: shape,
    input,
    refine: (error) => recogniseMissingTask(error, taskId),
  };
}

/** Tells that the server has no task of this id. Pure. Source: ext-tasks, Error Handling. */
function recogniseMissingTask(error: RemoteConnectorError, taskId: string): RemoteConnectorError {
  if (!isRemoteConnectorError(error, "peer_error")) return error;
  const { rpcCode, rpcData, evidence } = error.details;
  if (rpcCode !== RpcCode.invalidParams) return error;
  return new RemoteConnectorError("task_not_found", {
    message: "The server has no task of this id.",
    delivery: "answered",
    details: { taskId, rpcCode, rpcData, evidence },
  });
}

/** A state of a task must come as `complete`; that it came as a creation does no harm. */
export const STATE_AS_CREATION: Diagnostic = {
  kind: "task_result_type",
  message: "The state of a task came with the result type of its creation.",
  subject: "tasks/get",
};
