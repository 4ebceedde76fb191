import { countOption, durationOption, refuseOption } from "../options.js";
import type { ChildProcessConfig, EnvironmentVariables } from "./process/index.js";

/**
 * How a server that is a child process is started and spoken to. Command and arguments are run as they are: they must come
 * from the host's own configuration, never from a remote answer.
 */
export interface ProcessOptions {
  /** The program: a path, or a name that is looked for in `PATH`. There is no shell. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** The server's working folder. Default: that of this process. */
  readonly cwd?: string | undefined;
  /** Variables laid over the inherited ones; `undefined` takes one away. Those of six characters and more are kept out of errors. */
  readonly env?: EnvironmentVariables | undefined;
  /** Hand on the whole environment of this process, secrets included. Default false: only what programs need to run. */
  readonly inheritEnvironment?: boolean | undefined;
  /** Further values that must not appear in errors, such as a token among the arguments. */
  readonly secrets?: readonly string[] | undefined;
  /** How long each polite step of closing may take. Default 2,000. */
  readonly closeGraceMs?: number | undefined;
  /** The longest line of the server, in bytes. Default 16 MiB. */
  readonly maxLineBytes?: number | undefined;
  /** Messages that may wait for a server that doesn't read. Default 1,000. */
  readonly maxQueuedMessages?: number | undefined;
  /** How much of the end of stderr is kept, in bytes. Default 64 KiB. */
  readonly stderrTailBytes?: number | undefined;
}

/** {@link ProcessOptions} with nothing left open. */
export interface ProcessConfig extends Omit<ChildProcessConfig, "redaction"> {
  /** What must not appear in errors. */
  readonly secrets: readonly string[];
  readonly maxLineBytes: number;
}

/** The names of {@link ProcessOptions}, for the check of unknown ones. */
export const PROCESS_OPTION_NAMES: readonly (keyof ProcessOptions)[] = [
  "args",
  "closeGraceMs",
  "command",
  "cwd",
  "env",
  "inheritEnvironment",
  "maxLineBytes",
  "maxQueuedMessages",
  "secrets",
  "stderrTailBytes",
];

const KIB = 1024;

/** Configured values shorter than this are words like `1` and `true`, which would redact half of a text. */
const SECRET_LENGTH = 6;

/** Applies the defaults and checks what can be checked. Throws `invalid_options`. */
export function resolveProcessOptions(options: ProcessOptions): ProcessConfig {
  const { command, args = [], cwd, env = {}, secrets = [], inheritEnvironment = false } = options;
  if (typeof command !== "string" || command === "") refuseOption("command", "must be a program's name or path");
  if (!isListOfStrings(args)) refuseOption("args", "must be strings");
  if (!isListOfStrings(secrets)) refuseOption("secrets", "must be strings");
  if (cwd !== undefined && typeof cwd !== "string") refuseOption("cwd", "must be a path");
  if (typeof env !== "object" || env === null) refuseOption("env", "must be an object");
  if (typeof inheritEnvironment !== "boolean") refuseOption("inheritEnvironment", "must be true or false");
  const stderrTailBytes = countOption("stderrTailBytes", options.stderrTailBytes, 64 * KIB);
  if (stderrTailBytes === Infinity) refuseOption("stderrTailBytes", "must be finite");
  const configured: string[] = [];
  for (const value of Object.values(env)) {
    if (value !== undefined && typeof value !== "string") refuseOption("env", "must hold strings");
    if (value !== undefined && value.length >= SECRET_LENGTH) configured.push(value);
  }
  return {
    command,
    args,
    cwd,
    env,
    inheritEnvironment,
    secrets: [...configured, ...secrets],
    stderrTailBytes,
    maxLineBytes: countOption("maxLineBytes", options.maxLineBytes, 16 * KIB * KIB),
    maxQueuedMessages: countOption("maxQueuedMessages", options.maxQueuedMessages, 1_000),
    closeGraceMs: durationOption("closeGraceMs", options.closeGraceMs, 2_000),
  };
}

function isListOfStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
