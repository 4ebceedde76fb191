import { choiceOption } from "../options.js";
import {
  type DetailedResult,
  type Diagnostic,
  type JsonObject,
  type MirroredHeader,
  refuseArgument,
  type WithDetail,
} from "../protocol/index.js";
import { type Deadlines, LIFECYCLE_TIMEOUT_MS, resolveDeadlines, Settlement } from "../transport/index.js";
import {
  type CallOptions,
  checkCallOptions,
  checkNotifyOptions,
  listenerOf,
  type NotifyOptions,
} from "./call-options.js";
import { type CallContext, type CallOutcome, type CallPlan, rawResultOf } from "./call-plan.js";
import { CallWatch, OpenWaits } from "./call-watch.js";
import type { Channel, ChannelPorts } from "./channel.js";
import type { ModernClientConfig } from "./client-options.js";
import { ModernCall } from "./modern-call.js";
import { ModernNotice } from "./modern-notice.js";
import { ResponseCache } from "./response-cache.js";
import { TaskNews } from "./task-news.js";
import { type OutgoingRequest, prepareNotice, prepareRequest, readInput } from "./request-message.js";

/** Makes of a call's outcome what its caller gets. May throw a `RemoteConnectorError`. */
export type Shape<T> = (result: JsonObject, outcome: CallOutcome) => T;

export type DetailableOptions = CallOptions & Partial<WithDetail>;

interface CallExtras {
  /** Whether the deadlines are those of discovery and of lists. */
  readonly isSoonOver?: boolean;
  readonly refine?: CallPlan<unknown>["refine"];
}

/** Starts the requests of one client. */
export class RequestStarter {
  readonly config: ModernClientConfig;
  readonly channel: Channel;
  /** What is heard of tasks. */
  readonly news = new TaskNews();
  readonly #context: CallContext;
  readonly #waits = new OpenWaits();
  #lastId = 0;

  constructor(config: ModernClientConfig, open: (ports: ChannelPorts) => Channel) {
    this.config = config;
    const cache = config.cache === undefined ? undefined : new ResponseCache(config.cache);
    const nextId = (): number => this.nextId();
    const { news } = this;
    this.channel = open({
      nextId,
      heed: (method, params) => {
        cache?.heed(method, params);
        news.heed(method, params);
      },
    });
    const { channel } = this;
    this.#context = {
      config,
      channel,
      clock: config.clock,
      lifetimes: channel.lifetimes,
      waits: this.#waits,
      cache,
      nextId,
    };
  }

  /** The next request id: unique for the client's life, from 1. */
  nextId(): number {
    return (this.#lastId += 1);
  }

  /** Ends everything with `cancelled`. Idempotent. */
  close(): Promise<void> {
    // First the channel, so that whoever is told of an end can begin nothing more.
    const closing = this.channel.close();
    this.#waits.close();
    return closing;
  }

  start<T>(plan: CallPlan<T>): Promise<T> {
    return new ModernCall(this.#context, plan).start().promise;
  }

  /** The watch over a call that takes more requests than one. */
  watch(deadlines: Deadlines, signal: AbortSignal | undefined): CallWatch {
    return new CallWatch(this.#context, deadlines, signal);
  }

  /**
   * A request without mirrored arguments, checked. What can't be sent is refused by the promise, which knows its verdict, and so
   * is what `params` throws.
   */
  call(
    method: string,
    params: JsonObject | (() => JsonObject),
    options: DetailableOptions,
    shape: Shape<unknown>,
    { isSoonOver = false, refine }: CallExtras = {},
  ): Promise<unknown> {
    try {
      checkCallOptions(options);
      const request = prepareRequest(method, typeof params === "function" ? params() : params, options.meta);
      return this.start({
        request,
        options,
        deadlines: isSoonOver ? this.lifecycleDeadlines(options) : this.deadlines(options),
        refine,
        mirrored: NO_HEADERS,
        ...inputOf<unknown>(options, shapeOf(identity, options), request),
        shape: shapeOf(shape, options),
      });
    } catch (error) {
      return rejected(error, options);
    }
  }

  /** A notification. What can't be sent is refused by the promise, which knows its verdict. */
  notify(method: string, params: JsonObject | undefined, options: NotifyOptions): Promise<void> {
    try {
      checkNotifyOptions(options);
      const notice = prepareNotice(method, params, options.meta);
      return new ModernNotice(this.#context, notice, this.lifecycleDeadlines(options), options).start().promise;
    } catch (error) {
      return rejected(error, options);
    }
  }

  /** A request of a kind that is over soon: discovery, and pages of lists. */
  callSoonOver(
    method: string,
    params: JsonObject,
    options: DetailableOptions,
    shape: Shape<unknown>,
  ): Promise<unknown> {
    return this.call(method, params, options, shape, { isSoonOver: true });
  }

  deadlines(options: CallOptions): Deadlines {
    return resolveDeadlines(options, this.config.deadlines);
  }

  lifecycleDeadlines(options: CallOptions): Deadlines {
    const { deadlines } = this.config;
    const totalTimeoutMs = Math.min(deadlines.totalTimeoutMs, LIFECYCLE_TIMEOUT_MS);
    return resolveDeadlines(options, { ...deadlines, totalTimeoutMs });
  }

  report(diagnostics: readonly Diagnostic[], outcome: CallOutcome): void {
    for (const diagnostic of diagnostics) {
      outcome.diagnostics.push(diagnostic);
      this.config.onDiagnostic(diagnostic);
    }
  }
}

export const NO_HEADERS: readonly MirroredHeader[] = [];

export function identity(result: JsonObject): JsonObject {
  return result;
}

/** The bare result, or with all that is known of it when the caller asks. */
export function shapeOf<T>(shape: Shape<T>, { detail }: Partial<WithDetail>): CallPlan<T | DetailedResult<T>>["shape"] {
  return detail === true ? detailed(shape) : (outcome) => shape(outcome.result, outcome);
}

/** The result with all that is known of it. */
export function detailed<T>(shape: Shape<T>): (outcome: CallOutcome) => DetailedResult<T> {
  return (outcome) => ({
    result: shape(outcome.result, outcome),
    raw: rawResultOf(outcome),
    diagnostics: outcome.diagnostics,
    delivery: "answered",
  });
}

/** What a call says of input: what its request carries, and who answers when the server asks for more. */
export function inputOf<T>(
  options: CallOptions,
  shape: CallPlan<T>["shape"],
  request?: OutgoingRequest,
): Pick<CallPlan<T>, "input" | "shapeAsks"> {
  const given = readInput(options.inputResponses, options.requestState);
  const carried = request?.input;
  if (given !== undefined && carried !== undefined)
    refuseArgument("params", "must not carry input that the options carry");
  const isReturned = choiceOption("input", options.input, ["handlers", "return"]) === "return";
  return { input: given ?? carried, shapeAsks: isReturned ? shape : undefined };
}

export function rejected(error: unknown, options: Pick<CallOptions, "onSettled">): Promise<never> {
  const settlement = new Settlement<never>(listenerOf(options));
  settlement.abort(error, "not_sent");
  return settlement.promise;
}
