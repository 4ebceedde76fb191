import { isRemoteConnectorError, RemoteConnectorError } from "../errors.js";
import type { DetailedResult, JsonObject, WithDetail } from "../protocol/index.js";
import { Settlement } from "../transport/index.js";
import { type LegacyCallOptions, resolveLegacyCallOptions } from "./call-options.js";
import type { LegacyClientConfig } from "./client-options.js";
import type { LegacyConnection, ReceivedAnswer } from "./connection.js";
import { classifyMethod, emptyList } from "./declared-methods.js";
import { detailed, detailedLocally, readList } from "./read-answer.js";

/** A request, and what callers get of its result. */
export interface LegacyRequest<T> {
  readonly method: string;
  /** May be made late, and throw `invalid_argument` for what can't be sent. */
  readonly params: JsonObject | (() => JsonObject) | undefined;
  /** Throws `invalid_argument` for what can't be sent. */
  readonly check?: (() => void) | undefined;
  /** Makes the value of a result. `received` is missing when no request was needed to know it. May throw. */
  readonly read: (result: JsonObject, received: ReceivedAnswer | undefined) => T;
  /** Tells more of a refusal. */
  readonly refine?: ((error: RemoteConnectorError) => RemoteConnectorError) | undefined;
  /** When the whole of which this is a part must have ended, on the client's clock. */
  readonly endsAt?: number | undefined;
}

/**
 * Sends requests to a server that was initialized: only what it declared, within the deadlines that are meant for the method.
 */
export class RequestSender {
  readonly connection: LegacyConnection;
  readonly config: LegacyClientConfig;

  constructor(connection: LegacyConnection, config: LegacyClientConfig) {
    this.connection = connection;
    this.config = config;
  }

  /** Sends a request. The returned promise itself carries the delivery verdict. */
  send<T>(request: LegacyRequest<T>, options: LegacyCallOptions): Promise<T> {
    try {
      return this.#trySend(request, options);
    } catch (error) {
      return rejected(error, options);
    }
  }

  /** As {@link send}, with what is known about the result if the caller wants to know it. */
  sendDetailed<T>(
    request: LegacyRequest<T>,
    options: LegacyCallOptions & Partial<WithDetail>,
  ): Promise<T | DetailedResult<T>> {
    if (options.detail !== true) return this.send(request, options);
    const read = (result: JsonObject, received: ReceivedAnswer | undefined): DetailedResult<T> => {
      const value = request.read(result, received);
      return received === undefined ? detailedLocally(value) : detailed(value, received);
    };
    return this.send({ ...request, read }, options);
  }

  #trySend<T>(request: LegacyRequest<T>, options: LegacyCallOptions): Promise<T> {
    const { method, read, refine } = request;
    const { callDeadlines, lifecycleDeadlines, clock } = this.config;
    const isShort = method === "ping" || emptyList(method) !== undefined;
    const call = resolveLegacyCallOptions(options, isShort ? lifecycleDeadlines : callDeadlines);
    request.check?.();
    const params = typeof request.params === "function" ? request.params() : request.params;
    if (call.signal?.aborted === true) return rejected(call.signal.reason, options);
    const refusal = this.connection.refusal();
    if (refusal !== undefined) throw refusal;
    const { capabilities, revision } = this.connection.introduction;
    const verdict = classifyMethod(method, capabilities, revision);
    if (verdict.kind === "undeclared") throw unsupported(verdict.feature);
    if (verdict.kind === "empty_list") return resolved(read(verdict.result, undefined), options);
    const remainingMs = request.endsAt === undefined ? Infinity : Math.max(0, request.endsAt - clock.now());
    return this.connection.call({
      method,
      params,
      meta: call.meta,
      cancellable: true,
      // Member by member: an object that is spread and then added to is slow to make, and slow to read ever after.
      limits: {
        connectTimeoutMs: call.connectTimeoutMs,
        idleTimeoutMs: call.idleTimeoutMs,
        totalTimeoutMs: Math.min(call.totalTimeoutMs, remainingMs),
        signal: call.signal,
      },
      totalTimeoutMs: call.totalTimeoutMs,
      totalOption: isShort && options.totalTimeoutMs === undefined ? "lifecycleTimeoutMs" : "totalTimeoutMs",
      isSentOnce: call.isSentOnce,
      admit: call.admit,
      onProgress: call.onProgress,
      onNotification: call.onNotification,
      onSettled: call.onSettled,
      read:
        refine === undefined
          ? (received) => read(readList(method, received), received)
          : (received) =>
              read(
                refined(() => readList(method, received), refine),
                received,
              ),
    });
  }
}

function resolved<T>(value: T, { onSettled }: LegacyCallOptions): Promise<T> {
  const settlement = new Settlement<T>(onSettled);
  settlement.resolve(value);
  return settlement.promise;
}

function rejected(reason: unknown, { onSettled }: LegacyCallOptions): Promise<never> {
  const settlement = new Settlement<never>(typeof onSettled === "function" ? onSettled : undefined);
  settlement.abort(reason, "not_sent");
  return settlement.promise;
}

function refined<T>(read: () => T, refine: (error: RemoteConnectorError) => RemoteConnectorError): T {
  try {
    return read();
  } catch (error) {
    throw isRemoteConnectorError(error) ? refine(error) : error;
  }
}

function unsupported(feature: string): RemoteConnectorError<"unsupported"> {
  return new RemoteConnectorError("unsupported", {
    message: `The server does not declare ${feature}.`,
    details: { feature },
  });
}
