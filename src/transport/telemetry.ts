import { choiceOption, refuseOption } from "../options.js";
import type { Diagnostic } from "../protocol/index.js";
import type { Clock } from "./clock.js";
import type { ExchangeResult, ExchangeSubject, TraceContext } from "./exchange-facts.js";
import { carefulLogger, type Logger } from "./logger.js";
import { type ExchangeSpan, openTelemetry, type SpanParent, SpanSource } from "./open-telemetry.js";

/** Who is told of a client's exchanges, beside the channels of `node:diagnostics_channel`. */
export interface TelemetryOptions {
  /**
   * Whether exchanges become spans, and requests carry their trace context, where `@opentelemetry/api` can be found and a
   * provider is registered: `auto` (default) or `off`.
   */
  readonly tracing?: "auto" | "off" | undefined;
  /** Told of the end of each exchange (`debug`), and of everything tolerated (`warn`). `pinoLogger` makes one of pino. Default: nobody. */
  readonly logger?: Logger | undefined;
}

export interface TelemetryConfig {
  readonly tracing: "auto" | "off";
  /** Never throws. */
  readonly logger: Logger | undefined;
}

/** The names of {@link TelemetryOptions}, for the check of unknown ones. */
export const TELEMETRY_OPTION_NAMES: readonly (keyof TelemetryOptions)[] = ["logger", "tracing"];

/** Applies the defaults. Throws `invalid_options`. */
export function resolveTelemetryOptions({ tracing, logger }: TelemetryOptions): TelemetryConfig {
  if (logger !== undefined && !isLogger(logger)) refuseOption("logger", "must have debug, info, warn and error");
  return {
    tracing: choiceOption("tracing", tracing, ["auto", "off"]),
    logger: logger === undefined ? undefined : carefulLogger(logger),
  };
}

/** Tells of the exchanges of one client: spans, and lines of its logger. Nothing here throws. */
export class Telemetry {
  readonly #spans: SpanSource | undefined;
  readonly #log: ExchangeLog | undefined;

  /** @param origin the server's: of http, or a child process's. */
  constructor({ tracing, logger }: TelemetryConfig, origin: string, clock: Clock) {
    this.#spans = tracing === "off" ? undefined : new SpanSource(openTelemetry, origin);
    this.#log = logger === undefined ? undefined : { logger, origin, clock };
  }

  /** To be called where the caller calls: later, other contexts are active. `undefined` when nobody listens. */
  call(): CallTelemetry | undefined {
    const parent = this.#spans?.parent();
    return parent === undefined && this.#log === undefined ? undefined : new ToldCall(parent, this.#log);
  }

  /** Tells of something tolerated. */
  note({ kind, message, subject, path }: Diagnostic): void {
    this.#log?.logger.warn("A peer's deviation was tolerated.", {
      serverOrigin: this.#log.origin,
      kind,
      diagnostic: message,
      subject,
      path,
    });
  }
}

/** Tells of the exchanges of one call. */
export interface CallTelemetry {
  begin(subject: ExchangeSubject): ExchangeTelemetry;
}

/** Tells of one exchange. */
export interface ExchangeTelemetry {
  /** What the request is to carry in `_meta`. */
  readonly carried: TraceContext | undefined;
  /** Only the first end counts. */
  end(result: ExchangeResult): void;
}

interface ExchangeLog {
  readonly logger: Logger;
  readonly origin: string;
  readonly clock: Clock;
}

// The classes stay here: their declarations would lead those who have no OpenTelemetry to its types.

class ToldCall implements CallTelemetry {
  readonly #parent: SpanParent | undefined;
  readonly #log: ExchangeLog | undefined;

  constructor(parent: SpanParent | undefined, log: ExchangeLog | undefined) {
    this.#parent = parent;
    this.#log = log;
  }

  begin(subject: ExchangeSubject): ExchangeTelemetry {
    return new ToldExchange(subject, this.#parent?.begin(subject), this.#log);
  }
}

class ToldExchange implements ExchangeTelemetry {
  readonly #subject: ExchangeSubject;
  readonly #span: ExchangeSpan | undefined;
  readonly #log: ExchangeLog | undefined;
  readonly #startedAt: number;
  #ended = false;

  constructor(subject: ExchangeSubject, span: ExchangeSpan | undefined, log: ExchangeLog | undefined) {
    this.#subject = subject;
    this.#span = span;
    this.#log = log;
    this.#startedAt = log?.clock.now() ?? 0;
  }

  get carried(): TraceContext | undefined {
    return this.#span?.carried;
  }

  end(result: ExchangeResult): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#span?.end(result);
    if (this.#log === undefined) return;
    const { logger, origin, clock } = this.#log;
    const { method, id, attempt } = this.#subject;
    logger.debug("An exchange ended.", {
      serverOrigin: origin,
      method,
      requestId: id,
      attempt,
      ...result,
      elapsedMs: Math.round(clock.now() - this.#startedAt),
    });
  }
}

function isLogger(value: object | null): boolean {
  const levels: readonly (keyof Logger)[] = ["debug", "info", "warn", "error"];
  return (
    typeof value === "object" &&
    value !== null &&
    levels.every((level) => typeof Reflect.get(value, level) === "function")
  );
}
