/** A logger of four levels. Messages are constant; what varies is in the fields. Never given a secret. */
export interface HostLogger {
  debug(message: string, fields: Readonly<Record<string, unknown>>): void;
  info(message: string, fields: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  error(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** Says nothing. */
export const silentLogger: HostLogger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {}
