import { deliveryOf } from "../../errors.js";
import { refuseOption } from "../../options.js";
import { type Diagnostic, isJsonObject, type JsonObject, refuseArgument } from "../../protocol/index.js";
import { Settlement } from "../../transport/index.js";
import { type CallOptions, checkCallOptions, type ToolCallOptions } from "../call-options.js";
import type { CallOutcome, CallPlan } from "../call-plan.js";
import { encodeJson } from "../encode-json.js";
import { prepareRequest } from "../request-message.js";
import { type DetailableOptions, identity, rejected, type RequestStarter, shapeOf } from "../request-starter.js";
import type { Task } from "../task-types.js";
import { parseTask } from "./task.js";
import { planTaskRequest, STATE_AS_CREATION, type TaskRequest } from "./task-plans.js";
import { TaskRun } from "./task-run.js";

/** What is needed to find a task again: its id. A whole {@link Task} is one. */
export interface TaskHandle {
  readonly taskId: string;
}

/** A task's handle, and answers to what it asks, by its keys. */
export interface TaskUpdate extends TaskHandle {
  readonly inputResponses: JsonObject;
}

/** A call's first answer, when that is a task. */
class CreatedTask {
  readonly task: Task;
  readonly diagnostics: readonly Diagnostic[];

  constructor({ result, diagnostics }: CallOutcome) {
    this.task = parseTask(result);
    this.diagnostics = diagnostics;
  }
}

/** Starts a call that the server may answer with a task, when the client takes tasks; the promise is that of the result. */
export function startWithTasks<T>(starter: RequestStarter, plan: CallPlan<T>, options: ToolCallOptions): Promise<T> {
  if (!starter.config.tasks) return starter.start(plan);
  const { deadlines, shape } = plan;
  const watch = starter.watch(deadlines, options.signal);
  const settlement = new Settlement<T>(options.onSettled);
  const calling = starter.start<T | CreatedTask>({
    ...plan,
    options: { ...plan.options, onSettled: undefined },
    watch,
    shapeTask: (outcome) => new CreatedTask(outcome),
  });
  calling.then(
    (value) => {
      if (value instanceof CreatedTask) {
        const { task, diagnostics } = value;
        const { taskId } = task;
        new TaskRun({ starter, taskId, options, deadlines, watch, settlement, shape, diagnostics }).follow(task);
      } else settlement.resolve(value);
    },
    (error: unknown) => settlement.abort(error, deliveryOf(calling) ?? "unknown"),
  );
  return settlement.promise;
}

/** The requests about tasks of one client. */
export class TaskCaller {
  readonly #starter: RequestStarter;

  constructor(starter: RequestStarter) {
    this.#starter = starter;
  }

  get(task: TaskHandle, options: DetailableOptions): Promise<unknown> {
    try {
      this.#check(options);
      const taskId = taskIdOf(task);
      const shape = shapeOf((state, outcome) => {
        parseTask(state, taskId);
        if (state["resultType"] === "task") this.#starter.report([STATE_AS_CREATION], outcome);
        return state;
      }, options);
      return this.#request({ method: "tasks/get", taskId, options, shape });
    } catch (error) {
      return rejected(error, options);
    }
  }

  update(update: TaskUpdate, options: CallOptions): Promise<void> {
    try {
      const taskId = taskIdOf(update);
      const { inputResponses } = update;
      if (!isJsonObject(inputResponses)) refuseArgument("inputResponses", "must be an object");
      const input = { responsesJson: encodeJson("inputResponses", inputResponses), state: undefined };
      return this.#request({ method: "tasks/update", taskId, options, shape: ignore, input });
    } catch (error) {
      return rejected(error, options);
    }
  }

  cancel(task: TaskHandle, options: CallOptions): Promise<void> {
    try {
      return this.#request({ method: "tasks/cancel", taskId: taskIdOf(task), options, shape: ignore });
    } catch (error) {
      return rejected(error, options);
    }
  }

  resume(task: TaskHandle, options: ToolCallOptions & DetailableOptions): Promise<unknown> {
    try {
      const taskId = taskIdOf(task);
      this.#check(options);
      // Refuses an id that can't be sent before anything is begun.
      prepareRequest("tasks/get", { taskId }, options.meta);
      const starter = this.#starter;
      const deadlines = starter.deadlines(options);
      const watch = starter.watch(deadlines, options.signal);
      const settlement = new Settlement<unknown>(options.onSettled);
      const shape = shapeOf<unknown>(identity, options);
      new TaskRun({ starter, taskId, options, deadlines, watch, settlement, shape, diagnostics: [] }).resume();
      return settlement.promise;
    } catch (error) {
      return rejected(error, options);
    }
  }

  #request<T>(request: Omit<TaskRequest<T>, "deadlines">): Promise<T> {
    const { options } = request;
    try {
      this.#check(options);
      return this.#starter.start(planTaskRequest({ ...request, deadlines: this.#starter.lifecycleDeadlines(options) }));
    } catch (error) {
      return rejected(error, options);
    }
  }

  #check(options: CallOptions): void {
    checkCallOptions(options);
    if (!this.#starter.config.tasks) refuseOption("tasks", "must be true for a client that asks for tasks");
    for (const name of INPUT_OPTIONS) {
      if (options[name] !== undefined) refuseOption(name, "is for calls; what a task asks is answered by updateTask");
    }
  }
}

/** What would be said in answer to a call's own result. */
const INPUT_OPTIONS = ["inputResponses", "requestState"] as const;

/** Throws `invalid_argument` (`not_sent`) for what names no task. */
function taskIdOf(task: TaskHandle): string {
  if (!isJsonObject(task) || typeof task.taskId !== "string") refuseArgument("task", "must have a taskId");
  return task.taskId;
}

function ignore(): void {}
