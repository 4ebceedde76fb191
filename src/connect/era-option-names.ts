import { refuseUnknownOptions } from "../options.js";

/** Throws `invalid_options` for an option of one era that its clients don't know. The compiler holds the table to the type. */
export function checkEraOptions<O extends object>(
  options: O,
  names: { readonly [Name in keyof Required<O>]: true },
): void {
  refuseUnknownOptions(options, Object.keys(names));
}

/** The names of the options that clients of one era alone know. They are checked though no client of that era may come to be. */
export const MODERN_HTTP = {
  cache: true,
  capabilities: true,
  maxInputRounds: true,
  meta: true,
  tasks: true,
  unknownTools: true,
} as const;

export const LEGACY_HTTP = {
  listen: true,
  longestRetryMs: true,
  maxFruitlessResumes: true,
  relay: true,
} as const;

export const MODERN_STDIO = {
  cache: true,
  capabilities: true,
  firstRestartDelayMs: true,
  longestRestartDelayMs: true,
  maxConcurrentRequests: true,
  maxInputRounds: true,
  maxQueuedRequests: true,
  maxReadRetries: true,
  meta: true,
  probe: true,
  probeTimeoutMs: true,
  random: true,
  restart: true,
  tasks: true,
} as const;

export const LEGACY_STDIO = { onStartAbandoned: true, relay: true } as const;
