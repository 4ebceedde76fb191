import type { ReadRetryConfig } from "../../protocol/index.js";
import { choiceOption, countOption, durationOption, refuseUnknownOptions } from "../../options.js";
import {
  ENDPOINT_OPTION_NAMES,
  type EndpointConfig,
  type EndpointOptions,
  resolveEndpointOptions,
} from "../../transport/index.js";
import {
  LEGACY_CLIENT_OPTION_NAMES,
  type LegacyClientConfig,
  type LegacyClientOptions,
  resolveLegacyClientOptions,
} from "../client-options.js";
import type { ResumeConfig } from "./plan-resume.js";

/** How a {@link LegacyStreamableHTTPClient} is set up. */
export interface LegacyStreamableHTTPClientOptions extends EndpointOptions, LegacyClientOptions {
  /**
   * Whether a stream is kept open on which the server can speak by itself: `auto` (default) when there is somebody to hear it, which
   * `onNotification`, `handlers` and `relay` are; `always`; `never`.
   */
  readonly listen?: "auto" | "always" | "never" | undefined;
  /** How many attempts in a row to take a stream up again may bring nothing. Default 5; 0 takes none up. */
  readonly maxFruitlessResumes?: number | undefined;
  /** A server that asks for a longer pause before a stream is taken up again is not waited for. Default 300,000. */
  readonly longestRetryMs?: number | undefined;
  /**
   * How often a read (lists, resources, prompts, completion) is made again when its failure may pass. Default 2; 0 leaves it
   * to the caller.
   */
  readonly maxReadRetries?: number | undefined;
  /** Randomness from 0 to 1, for pauses. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Unix time in milliseconds, for a `Retry-After` that is a date. Default `Date.now`. */
  readonly wallNow?: (() => number) | undefined;
}

/** {@link LegacyStreamableHTTPClientOptions} with nothing left open. */
export interface LegacyHttpConfig extends LegacyClientConfig, EndpointConfig {
  readonly listen: "auto" | "always" | "never";
  readonly resume: ResumeConfig;
  readonly readRetries: ReadRetryConfig;
  readonly wallNow: () => number;
}

const OPTION_NAMES: readonly (keyof LegacyStreamableHTTPClientOptions)[] = [
  ...ENDPOINT_OPTION_NAMES,
  ...LEGACY_CLIENT_OPTION_NAMES.filter((name) => name !== "clock"),
  "listen",
  "longestRetryMs",
  "maxFruitlessResumes",
  "maxReadRetries",
  "random",
  "wallNow",
];

/**
 * Applies the defaults and checks what can be checked.
 *
 * Throws `invalid_options`, `invalid_url`, `invalid_header`, `unsupported_by_exchange` (all `not_sent`).
 */
export function resolveLegacyHttpOptions(options: LegacyStreamableHTTPClientOptions): LegacyHttpConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const endpoint = resolveEndpointOptions(options);
  const { random = Math.random, wallNow = Date.now } = options;
  return {
    ...resolveLegacyClientOptions(options, endpoint.url.origin),
    ...endpoint,
    listen: choiceOption("listen", options.listen, ["auto", "always", "never"]),
    resume: {
      maxFruitlessResumes: countOption("maxFruitlessResumes", options.maxFruitlessResumes, 5, 0),
      longestRetryMs: durationOption("longestRetryMs", options.longestRetryMs, 300_000),
      random,
    },
    readRetries: {
      maxReadRetries: countOption("maxReadRetries", options.maxReadRetries, 2, 0),
      random,
      wallNow,
    },
    wallNow,
  };
}
