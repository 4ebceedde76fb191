import { deliveryOf, isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { durationOption, refuseOption } from "../../options.js";
import type { CallToolResult, DetailedResult, ToolCall, WithDetail } from "../../protocol/index.js";
import { closedError, type DeadlineOptions, type LifetimeLimits, Settlement } from "../../transport/index.js";
import type { McpClient, McpToolCallOptions } from "../mcp-client.js";
import { isEndOfProcess } from "./end-of-process.js";
import type { Phase } from "./next-state.js";
import type { SupervisedState } from "./supervised-state.js";
import { resolveSupervisionOptions, type SuperviseOptions, type SupervisionConfig } from "./supervision-options.js";
import { type Running, Supervisor } from "./supervisor.js";
import { WaitingCalls, type WaitOutcome } from "./waiting-calls.js";

/** What a call of a supervised server does while the server is not there. */
export interface WaitOptions {
  /** Whether it waits for a server that is starting or about to, within its own deadlines. Default true. */
  readonly waits?: boolean | undefined;
}

/** How {@link SupervisedServer.client} waits. `connectTimeoutMs` and `totalTimeoutMs` both bound it. */
export interface ClientOptions extends WaitOptions, Omit<DeadlineOptions, "idleTimeoutMs"> {
  /** Ends the waiting, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What a call of a supervised server can be told. Waiting for the server counts for both of its deadlines. */
export interface SupervisedCallOptions extends WaitOptions, McpToolCallOptions {}

/** Makes a call on the client of a server that is there. */
export type SupervisedCall<T> = (client: McpClient, options: McpToolCallOptions) => Promise<T>;

/**
 * Keeps a stdio server running. For clients without a host, whose own convergence does this. Throws `invalid_options`.
 *
 * Source: 2025-11-25 and 2026-07-28, Transports, stdio, which leave the process's care to the client.
 */
export function superviseServer(options: SuperviseOptions): SupervisedServer {
  return new SupervisedServer(resolveSupervisionOptions(options));
}

/**
 * A stdio server that is started, listed, and started again after its end.
 *
 * Calls wait for a server that is starting, or about to be started again, within their own deadlines: what ends the waiting is
 * `timeout`, with what holds the server up as its cause, or the signal's reason. They reject at once with `not_ready`
 * when the server is switched off, and with the error of its end, mostly `process_exited`, when no start is planned. With `waits:
 * false` they reject so in place of waiting. A call that finds the budget of restarts used up renews it, and waits for the start.
 * All of that is `not_sent`. What the process had been given when it ended is `unknown`, and is not made again.
 */
export class SupervisedServer {
  readonly #config: SupervisionConfig;
  readonly #supervisor: Supervisor;
  readonly #waiting: WaitingCalls<Running>;
  /** The newest end of a process, until another one can be called. */
  #lastEnd: RemoteConnectorError | undefined;

  constructor(config: SupervisionConfig) {
    this.#config = config;
    this.#waiting = new WaitingCalls(config);
    this.#supervisor = new Supervisor(config, () => this.#settleWaiting());
    if (config.enabled) this.enable();
  }

  get state(): SupervisedState {
    return this.#supervisor.state;
  }

  /** Switches it on, with a fresh budget. Nothing happens to one that is on, or closed. */
  enable(): void {
    this.#supervisor.take({ kind: "enable" });
  }

  /** Switches it off: calls under way reject with `cancelled`. Resolves when nothing is left of its process. */
  disable(): Promise<void> {
    this.#supervisor.take({ kind: "disable" });
    return this.#supervisor.whenLeft();
  }

  /**
   * Ends its process, if there is one, and starts another at once, with a fresh budget. Calls under way reject with `cancelled`.
   * Nothing happens to one that is off.
   */
  restart(): void {
    this.#supervisor.take({ kind: "restart" });
  }

  /** Switches it off for good. Resolves when nothing is left. Never rejects; may be called again. */
  close(): Promise<void> {
    this.#supervisor.take({ kind: "close" });
    return this.#supervisor.whenLeft();
  }

  /**
   * The client of the process that runs now: with the next one there is another. Failures of calls that are made on it are not
   * seen here, as those of {@link use} are.
   */
  client(options: ClientOptions = {}): Promise<McpClient> {
    const settlement = new Settlement<McpClient>();
    this.#whenRunning(options, (outcome) => {
      if (outcome.kind === "refused") settlement.abort(outcome.reason, "not_sent");
      else settlement.resolve(outcome.value.client);
    });
    return settlement.promise;
  }

  /** Calls a tool, as `McpClient.callTool`. */
  callTool(call: ToolCall, options: SupervisedCallOptions & WithDetail): Promise<DetailedResult<CallToolResult>>;
  callTool(call: ToolCall, options?: SupervisedCallOptions): Promise<CallToolResult>;
  callTool(call: ToolCall, options: SupervisedCallOptions & Partial<WithDetail> = {}): Promise<unknown> {
    const { detail, ...rest } = options;
    return this.use<unknown>(
      (client, given) => (detail === true ? client.callTool(call, { ...given, detail }) : client.callTool(call, given)),
      rest,
    );
  }

  /**
   * Makes any call on the client, which has to be given the options that are handed over: what is left of the call's own. One
   * that finds its process gone before anything of it was sent is made once more, on the next process.
   */
  use<T>(make: SupervisedCall<T>, options: SupervisedCallOptions = {}): Promise<T> {
    const settlement = new Settlement<T>(options.onSettled);
    this.#attempt(settlement, { make, options, startedAt: this.#config.clock.now(), isLast: false });
    return settlement.promise;
  }

  #settleWaiting(): void {
    const { phase, running } = this.#supervisor;
    if (phase.kind === "down") this.#lastEnd = phase.error;
    if (running !== undefined) this.#lastEnd = undefined;
    if (running !== undefined) this.#waiting.serve(running);
    else if (phase.kind === "down" && phase.plan.kind !== "restart") this.#waiting.refuse(() => goneError(phase.error));
    else if (phase.kind === "disabled" || phase.kind === "closed") this.#waiting.refuse(() => this.#refusal(phase));
  }

  /** Waits until the server can be called. `done` is called once, perhaps at once. */
  #whenRunning(options: ClientOptions, done: (outcome: WaitOutcome<Running>) => void): void {
    const { phase, running } = this.#supervisor;
    const limits = this.#limitsOf(options);
    if ("reason" in limits) {
      done({ kind: "refused", reason: limits.reason });
    } else if (running !== undefined) {
      done({ kind: "served", value: running });
    } else if (options.waits === false || !isAwaited(phase)) {
      done({ kind: "refused", reason: this.#refusal(phase) });
    } else {
      this.#waiting.add(limits, () => this.#lastEnd, done);
    }
    if (phase.kind === "down") this.#supervisor.take({ kind: "wanted" });
  }

  /** Within what a call waits, or why it can't. */
  #limitsOf(options: ClientOptions): LifetimeLimits | { readonly reason: unknown } {
    const { signal, waits, connectTimeoutMs, totalTimeoutMs } = options;
    if (signal?.aborted === true) return { reason: signal.reason };
    try {
      if (waits !== undefined && typeof waits !== "boolean") refuseOption("waits", "must be true or false");
      return {
        signal,
        connectTimeoutMs: durationOption("connectTimeoutMs", connectTimeoutMs, this.#config.connectTimeoutMs),
        idleTimeoutMs: Infinity,
        totalTimeoutMs: durationOption("totalTimeoutMs", totalTimeoutMs, this.#config.totalTimeoutMs),
      };
    } catch (reason) {
      return { reason };
    }
  }

  /** Why a call that doesn't wait can't be made. */
  #refusal(phase: Phase): RemoteConnectorError {
    if (phase.kind === "closed") return closedError();
    if (phase.kind === "down") return goneError(phase.error);
    const { notReadyText: text } = this.#config;
    const details = { state: phase.kind === "disabled" ? "disabled" : "starting", text } as const;
    return new RemoteConnectorError("not_ready", { message: text, details });
  }

  #attempt<T>(settlement: Settlement<T>, plan: CallPlan<T>): void {
    const { waits, onSettled: _onSettled, ...options } = plan.options;
    this.#whenRunning({ ...options, waits, totalTimeoutMs: this.#timeLeft(plan) }, (outcome) => {
      if (outcome.kind === "refused") {
        settlement.abort(outcome.reason, "not_sent");
        return;
      }
      const { client, reportEnd } = outcome.value;
      const call = callSafely(() => plan.make(client, { ...options, totalTimeoutMs: this.#timeLeft(plan) }));
      call.then(
        (value) => settlement.resolve(value),
        (error: unknown) => {
          const delivery = deliveryOf(call) ?? deliveryOf(error) ?? "unknown";
          const isGone = isRemoteConnectorError(error) && isEndOfProcess(error);
          if (isGone) reportEnd(error);
          if (isGone && delivery === "not_sent" && !plan.isLast) this.#attempt(settlement, { ...plan, isLast: true });
          else settlement.abort(error, delivery);
        },
      );
    });
  }

  /** What is left of the total deadline that the call came with. */
  #timeLeft<T>({ options: { totalTimeoutMs }, startedAt }: CallPlan<T>): number | undefined {
    // What is no duration is refused by whoever reads it.
    if (totalTimeoutMs === undefined || !(totalTimeoutMs > 0)) return totalTimeoutMs;
    return Math.max(1, Math.ceil(totalTimeoutMs - (this.#config.clock.now() - startedAt)));
  }
}

interface CallPlan<T> {
  readonly make: SupervisedCall<T>;
  readonly options: SupervisedCallOptions;
  readonly startedAt: number;
  /** It was made once before. */
  readonly isLast: boolean;
}

/** Whether a server is on its way, or is once a call wants it. */
function isAwaited(phase: Phase): boolean {
  return phase.kind === "opening" || phase.kind === "up" || (phase.kind === "down" && phase.plan.kind !== "none");
}

/** What the end of a process means for a call that was never given to it. */
function goneError(error: RemoteConnectorError): RemoteConnectorError {
  const { code, message, details } = error;
  return new RemoteConnectorError(code, { message, details, cause: error });
}

function callSafely<T>(make: () => Promise<T>): Promise<T> {
  try {
    return make();
  } catch (error) {
    return Promise.reject(error);
  }
}
