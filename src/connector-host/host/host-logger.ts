/** What a message is about. Values are plain: text, numbers, lists, objects, errors. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A logger of four levels. Messages are constant; what varies is in the fields. Never given a secret. */
export interface HostLogger {
  debug(message: string, fields: LogFields): void;
  info(message: string, fields: LogFields): void;
  warn(message: string, fields: LogFields): void;
  error(message: string, fields: LogFields): void;
}

type Level = keyof HostLogger;

/** Says nothing. */
export const silentLogger: HostLogger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/**
 * A logger that can't do harm: what it throws is nobody's trouble, and numbers beyond JSON's reach come as text, since most
 * loggers write JSON.
 */
export function carefulLogger(logger: HostLogger): HostLogger {
  const say =
    (level: Level) =>
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
