/** What a message is about. Values are plain: text, numbers, lists, objects, errors. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A logger of four levels. Messages are constant; what varies is in the fields. Never given a secret. */
export interface Logger {
  debug(message: string, fields: LogFields): void;
  info(message: string, fields: LogFields): void;
  warn(message: string, fields: LogFields): void;
  error(message: string, fields: LogFields): void;
}

/** A logger that takes the fields first, as pino and its children do. */
export interface FieldsFirstLogger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** Says nothing. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** pino, or a logger of its kind, as a {@link Logger}. Given one directly, pino would leave the fields out. */
export function pinoLogger(pino: FieldsFirstLogger): Logger {
  return {
    debug: (message, fields) => pino.debug(fields, message),
    info: (message, fields) => pino.info(fields, message),
    warn: (message, fields) => pino.warn(fields, message),
    error: (message, fields) => pino.error(fields, message),
  };
}

/**
 * A logger that can't do harm: what it throws is nobody's trouble, and numbers beyond JSON's reach come as text, since most
 * loggers write JSON.
 */
export function carefulLogger(logger: Logger): Logger {
  const say =
    (level: keyof Logger) =>
    (message: string, fields: LogFields): void => {
      try {
        logger[level](message, plain(fields));
      } catch {
        // Saying so would take a logger.
      }
    };
  return { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") };
}

function plain(fields: LogFields): LogFields {
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === "bigint" ? String(value) : value,
  ]);
  return Object.fromEntries(entries);
}

function ignore(): void {}
