import { countOption, refuseOption, refuseUnknownOptions } from "../options.js";

/** Where a store is. */
export interface SqliteStoreOptions {
  /** Made if it is not there, with its parents, for its owner only. */
  readonly directory: string;
  /** A plain name inside `directory`. `host.db`. */
  readonly fileName?: string | undefined;
  /** The file does not grow beyond this many bytes; what has no room is `store_full`. No limit. */
  readonly maxFileBytes?: number | undefined;
}

/** {@link SqliteStoreOptions} with nothing left open. */
export interface SqliteStoreConfig {
  readonly directory: string;
  readonly fileName: string;
  readonly maxFileBytes: number;
}

/** Fewer would not hold the empty tables. */
const LEAST_FILE_BYTES = 64 * 1024;

/** The options with their defaults. Throws `invalid_options`. */
export function resolveSqliteStoreOptions(options: SqliteStoreOptions): SqliteStoreConfig {
  refuseUnknownOptions(options, ["directory", "fileName", "maxFileBytes"]);
  return resolveFilePlace(options, "host.db");
}

/** Where the file of a store is, of whichever kind. Throws `invalid_options`. */
export function resolveFilePlace(options: SqliteStoreOptions, usualName: string): SqliteStoreConfig {
  const { directory, fileName = usualName } = options;
  if (typeof directory !== "string" || directory === "") return refuseOption("directory", "must be a path");
  if (typeof fileName !== "string" || !/^[\w-][\w.-]*$/.test(fileName))
    return refuseOption("fileName", "must be a plain file name");
  const maxFileBytes = countOption("maxFileBytes", options.maxFileBytes, Infinity, LEAST_FILE_BYTES);
  return { directory, fileName, maxFileBytes };
}
