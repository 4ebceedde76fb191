import { countOption, durationOption, refuseOption, refuseUnknownOptions } from "../options.js";
import { type ChildProcessConfig, type EnvironmentVariables, Redaction } from "../transport/process/index.js";
import {
  LEGACY_CLIENT_OPTION_NAMES,
  type LegacyClientConfig,
  type LegacyClientOptions,
  resolveLegacyClientOptions,
} from "./client-options.js";

/**
 * How a {@link LegacyStdioClient} starts its server and speaks to it. Command and arguments are run as they are: they must
 * come from the host's own configuration, never from a remote answer.
 */
export interface LegacyStdioOptions extends LegacyClientOptions {
  /** The program: a path, or a name that is looked for in `PATH`. There is no shell. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** The server's working folder. Default: that of this process. */
  readonly cwd?: string | undefined;
  /** Variables laid over the inherited ones; `undefined` takes one away. Their values are kept out of errors. */
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
  /**
   * Told of the end of a process whose start failed, before `connect` rejects, which does not wait for it after a deadline or
   * an abort. The promise resolves when nothing of the process is left, and never rejects.
   */
  readonly onStartAbandoned?: ((ended: Promise<void>) => void) | undefined;
}

/** {@link LegacyStdioOptions} with nothing left open. */
export interface LegacyStdioConfig extends LegacyClientConfig {
  readonly process: ChildProcessConfig;
  readonly maxLineBytes: number;
  readonly onStartAbandoned: ((ended: Promise<void>) => void) | undefined;
}

const OPTION_NAMES: readonly (keyof LegacyStdioOptions)[] = [
  ...LEGACY_CLIENT_OPTION_NAMES,
  "args",
  "closeGraceMs",
  "command",
  "connectTimeoutMs",
  "cwd",
  "env",
  "idleTimeoutMs",
  "inheritEnvironment",
  "maxLineBytes",
  "maxQueuedMessages",
  "onStartAbandoned",
  "secrets",
  "stderrTailBytes",
  "totalTimeoutMs",
];

const KIB = 1024;

/** Configured values shorter than this are words like `1` and `true`, which would redact half of a text. */
const SECRET_LENGTH = 6;

/** Applies the defaults and checks what can be checked. Throws `invalid_options`. */
export function resolveLegacyStdioOptions(options: LegacyStdioOptions): LegacyStdioConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const { command, args = [], env = {} } = options;
  if (typeof command !== "string" || command === "") refuseOption("command", "must be a program's name or path");
  if (!args.every((argument) => typeof argument === "string")) refuseOption("args", "must be strings");
  const stderrTailBytes = countOption("stderrTailBytes", options.stderrTailBytes, 64 * KIB);
  if (stderrTailBytes === Infinity) refuseOption("stderrTailBytes", "must be finite");
  const configured = Object.values(env).filter((value) => value !== undefined && value.length >= SECRET_LENGTH);
  return {
    ...resolveLegacyClientOptions(options, `stdio:${command}`),
    process: {
      command,
      args,
      cwd: options.cwd,
      env,
      inheritEnvironment: options.inheritEnvironment ?? false,
      redaction: new Redaction([...configured.filter(isString), ...(options.secrets ?? [])]),
      stderrTailBytes,
      maxQueuedMessages: countOption("maxQueuedMessages", options.maxQueuedMessages, 1_000),
      closeGraceMs: durationOption("closeGraceMs", options.closeGraceMs, 2_000),
    },
    maxLineBytes: countOption("maxLineBytes", options.maxLineBytes, 16 * KIB * KIB),
    onStartAbandoned: options.onStartAbandoned,
  };
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}
