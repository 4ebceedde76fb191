import { type DeliveryEvidence, RemoteConnectorError } from "../../errors.js";
import type { Diagnostic } from "../../protocol/index.js";
import { closedError, type Deadlines, failureOf, type Settlement } from "../../transport/index.js";
import type { CallOptions, ToolCallOptions } from "../call-options.js";
import { type CallOutcome, rawResultOf } from "../call-plan.js";
import type { CallWatch, Waiting } from "../call-watch.js";
import { InputRounds } from "../input/index.js";
import type { RoundInput } from "../request-message.js";
import type { RequestStarter } from "../request-starter.js";
import type { Task } from "../task-types.js";
import { hasExpired, pollDelayMs, SHORTEST_INTERVAL_MS } from "./poll-pace.js";
import { classifyTask, parseTask, unseenRequests } from "./task.js";
import { planTaskRequest, STATE_AS_CREATION, type TaskRequest } from "./task-plans.js";

/** What a run is made of. */
export interface TaskRunPlan<T> {
  readonly starter: RequestStarter;
  readonly taskId: string;
  readonly options: ToolCallOptions;
  readonly deadlines: Deadlines;
  /** The deadline and the signal of the whole call, its first request included. */
  readonly watch: CallWatch;
  readonly settlement: Settlement<T>;
  /** Makes of the task's result what the caller gets. */
  readonly shape: (outcome: CallOutcome) => T;
  /** What was tolerated before. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * A call whose result the server gives later: looks at its task until that ends, and answers what it asks for.
 *
 * One thing is under way at a time, each under the call's signal and total deadline. Whatever ends it, the call itself was
 * answered when the task was made.
 */
export class TaskRun<T> {
  readonly #plan: TaskRunPlan<T>;
  readonly #requestOptions: CallOptions;
  readonly #rounds: InputRounds;
  /** Keys that somebody was asked about. Never cleared: a key stands for one request. */
  readonly #presented = new Set<string>();
  readonly #diagnostics: Diagnostic[];
  readonly #startedAt: number;
  /** When the task was seen created, in Unix milliseconds; `undefined` for one that was resumed. */
  #seenAt: number | undefined;
  #requests = 0;
  #toldOfType = false;
  /** What had been heard of the task when it was last looked at. */
  #heardBefore: number | undefined;

  constructor(plan: TaskRunPlan<T>) {
    this.#plan = plan;
    const { starter, options } = plan;
    const { connectTimeoutMs, idleTimeoutMs, maxReadRetries, capabilities, meta, admit } = options;
    this.#requestOptions = { connectTimeoutMs, idleTimeoutMs, maxReadRetries, capabilities, meta, admit };
    const { input } = starter.config;
    this.#rounds = new InputRounds(options.input === "return" ? { ...input, handlers: {} } : input);
    this.#diagnostics = [...plan.diagnostics];
    this.#startedAt = starter.config.clock.now();
  }

  /** Follows a task that was just created: its id is told first. */
  follow(task: Task): void {
    const { options, starter } = this.#plan;
    const { onTask } = options;
    this.#seenAt = starter.config.readRetries.wallNow();
    if (onTask === undefined) {
      this.#pause(task);
      return;
    }
    const tell = async (): Promise<void> => {
      try {
        await onTask(task);
      } catch {
        this.#note({ kind: "handler_failed", message: "onTask threw.", subject: "onTask" });
      }
    };
    this.#await(tell, () => this.#pause(task));
  }

  /** Takes up a task of which only the id is known. */
  resume(): void {
    this.#look();
  }

  #pause(task: Task): void {
    const { starter, taskId } = this.#plan;
    const { config, news } = starter;
    const { clock, readRetries } = config;
    const heard = news.heardOf(taskId);
    // What was heard while it was looked at may be newer than what was seen.
    const isTold = heard !== undefined && heard === this.#heardBefore;
    const delayMs = pollDelayMs(task.pollIntervalMs, readRetries.random, isTold);
    const begin = (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const beganAt = clock.now();
        let cancel = clock.schedule(delayMs, () => end());
        const forget = news.watch(taskId, () => {
          // News must not make us spin either.
          const leftMs = SHORTEST_INTERVAL_MS - (clock.now() - beganAt);
          cancel();
          if (leftMs > 0) cancel = clock.schedule(leftMs, () => end());
          else end();
        });
        const end = (): void => {
          cancel();
          forget();
          resolve();
        };
        signal.addEventListener("abort", end, { once: true });
      });
    this.#await(begin, () => this.#look());
  }

  #look(): void {
    this.#heardBefore = this.#plan.starter.news.heardOf(this.#plan.taskId);
    const begin = (signal: AbortSignal): Promise<CallOutcome> =>
      this.#request({ method: "tasks/get", shape: (outcome) => outcome }, signal);
    this.#await(begin, (outcome) => this.#observe(outcome));
  }

  #observe(outcome: CallOutcome): void {
    const { starter, taskId, settlement, shape } = this.#plan;
    const state = outcome.result;
    for (const diagnostic of outcome.diagnostics) this.#keep(diagnostic);
    if (state["resultType"] === "task" && !this.#toldOfType) {
      this.#toldOfType = true;
      this.#note(STATE_AS_CREATION);
    }
    const task = parseTask(state, taskId);
    const verdict = classifyTask(task, state);
    if (verdict.kind === "failed") throw verdict.error;
    if (verdict.kind === "completed") {
      // What the call would have returned stands in the state as the state stands in its message.
      const message = rawResultOf(outcome);
      settlement.resolve(shape({ result: verdict.result, message, diagnostics: this.#diagnostics }));
      return;
    }
    if (hasExpired(task, this.#seenAt, starter.config.readRetries.wallNow())) throw taskExpired(task);
    if (verdict.kind === "pending") {
      this.#pause(task);
      return;
    }
    const inputRequests = unseenRequests(verdict.inputRequests, this.#presented);
    const keys = Object.keys(inputRequests);
    const step = keys.length === 0 ? undefined : this.#rounds.next({ inputRequests, _meta: state["_meta"] });
    if (step?.kind !== "ask") {
      this.#pause(task);
      return;
    }
    for (const key of keys) this.#presented.add(key);
    this.#await(step.answer, (input) => this.#update(input, task), { untimed: true });
  }

  #update(input: RoundInput, task: Task): void {
    const begin = (signal: AbortSignal): Promise<void> =>
      this.#request({ method: "tasks/update", shape: ignore, input }, signal);
    this.#await(begin, () => this.#pause(task));
  }

  #request<V>(request: Pick<TaskRequest<V>, "method" | "shape" | "input">, signal?: AbortSignal): Promise<V> {
    const { starter, taskId, deadlines } = this.#plan;
    this.#requests += 1;
    const options = { ...this.#requestOptions, signal };
    // The total deadline is the run's: what waits for the request ends it.
    return starter.start(
      planTaskRequest({ ...request, taskId, options, deadlines: { ...deadlines, totalTimeoutMs: Infinity } }),
    );
  }

  /** Does one thing under the call's signal and total deadline. */
  #await<V>(
    begin: Waiting<V>["begin"],
    onValue: (value: V) => void,
    { untimed = false }: { readonly untimed?: boolean } = {},
  ): void {
    const { watch } = this.#plan;
    const waiting = {
      begin,
      onValue: (value: V) => {
        try {
          onValue(value);
        } catch (error) {
          this.#fail(error);
        }
      },
      onError: (error: unknown) => this.#fail(error),
      onAbort: (reason: unknown) => this.#abort(reason),
      onDeadline: () => this.#fail(watch.totalTimeout("answered", this.#evidence())),
      onClosed: () => this.#fail(closedError()),
    };
    watch.wait(waiting, { untimed });
  }

  #abort(reason: unknown): void {
    const { settlement, options, starter, taskId } = this.#plan;
    settlement.abort(reason, "answered");
    if (options.taskOnAbort === "leave" || starter.channel.isClosed) return;
    const deadlines = starter.lifecycleDeadlines(this.#requestOptions);
    starter
      .start(
        planTaskRequest({ method: "tasks/cancel", taskId, options: this.#requestOptions, deadlines, shape: ignore }),
      )
      // Nobody waits for it any more.
      .catch(ignore);
  }

  /** The call was answered by the task: what became of a look at it changes nothing in that. */
  #fail(error: unknown): void {
    const failure = failureOf(error);
    const evidence = failure.details.evidence ?? this.#evidence();
    this.#plan.settlement.fail(failure.withEvidence("answered", evidence).withTask(this.#plan.taskId));
  }

  #note(diagnostic: Diagnostic): void {
    this.#keep(diagnostic);
    this.#plan.starter.config.onDiagnostic(diagnostic);
  }

  #keep(diagnostic: Diagnostic): void {
    if (this.#diagnostics.length < DIAGNOSTICS_KEPT) this.#diagnostics.push(diagnostic);
  }

  #evidence(): DeliveryEvidence {
    const elapsedMs = this.#plan.starter.config.clock.now() - this.#startedAt;
    return { handedOver: true, headersSeen: true, messages: 0, elapsedMs, attempts: this.#requests };
  }
}

const DIAGNOSTICS_KEPT = 100;

function ignore(): void {}

function taskExpired({ taskId, ttlMs }: Task): RemoteConnectorError<"task_expired"> {
  return new RemoteConnectorError("task_expired", {
    message: "The task was not over when the time had passed for which the server keeps it.",
    delivery: "answered",
    details: { taskId, ttlMs: ttlMs ?? Infinity },
  });
}
