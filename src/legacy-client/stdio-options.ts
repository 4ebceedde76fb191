import { refuseUnknownOptions } from "../options.js";
import { PROCESS_OPTION_NAMES, type ProcessOptions, resolveProcessOptions } from "../transport/index.js";
import { type ChildProcessConfig, Redaction } from "../transport/process/index.js";
import {
  LEGACY_CLIENT_OPTION_NAMES,
  type LegacyClientConfig,
  type LegacyClientOptions,
  resolveLegacyClientOptions,
} from "./client-options.js";

/** How a {@link LegacyStdioClient} starts its server and speaks to it. */
export interface LegacyStdioOptions extends LegacyClientOptions, ProcessOptions {
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
  ...PROCESS_OPTION_NAMES,
  "connectTimeoutMs",
  "idleTimeoutMs",
  "onStartAbandoned",
  "totalTimeoutMs",
];

/** Applies the defaults and checks what can be checked. Throws `invalid_options`. */
export function resolveLegacyStdioOptions(options: LegacyStdioOptions): LegacyStdioConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const { secrets, maxLineBytes, ...settings } = resolveProcessOptions(options);
  return {
    ...resolveLegacyClientOptions(options, `stdio:${settings.command}`),
    process: { ...settings, redaction: new Redaction(secrets) },
    maxLineBytes,
    onStartAbandoned: options.onStartAbandoned,
  };
}
