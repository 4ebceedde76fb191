import { countOption, durationOption, refuseUnknownOptions } from "../../options.js";

/** How much may wait at legacy servers while agents are asked, and for how long. */
export interface HeldCallLimits {
  /** Requests of one agent session that wait for its answers. Default 8. */
  readonly maxHeldCallsPerBinding?: number | undefined;
  /** Requests of all agents that wait for their answers. Default 256. */
  readonly maxHeldCalls?: number | undefined;
  /** How long a request waits for the agent to go on with it. It is then cancelled at its server. Default 600,000 ms. */
  readonly heldCallTimeoutMs?: number | undefined;
  /** What a server may ask for in one request before anything of it is answered. Default 32; what is beyond is refused. */
  readonly maxWaitingAsks?: number | undefined;
  /** Bytes of all results that came while their agents were being asked, and wait for these to come back. Default 32 MiB. */
  readonly maxHeldResultBytes?: number | undefined;
}

export interface HeldCallConfig {
  readonly maxHeldCallsPerBinding: number;
  readonly maxHeldCalls: number;
  readonly heldCallTimeoutMs: number;
  readonly maxWaitingAsks: number;
  readonly maxHeldResultBytes: number;
}

const OPTION_NAMES: readonly (keyof HeldCallLimits)[] = [
  "heldCallTimeoutMs",
  "maxHeldCalls",
  "maxHeldCallsPerBinding",
  "maxHeldResultBytes",
  "maxWaitingAsks",
];

/** Applies the defaults. Throws `invalid_options`. */
export function resolveHeldCallLimits(limits: HeldCallLimits = {}): HeldCallConfig {
  refuseUnknownOptions(limits, OPTION_NAMES);
  return {
    maxHeldCallsPerBinding: countOption("maxHeldCallsPerBinding", limits.maxHeldCallsPerBinding, 8),
    maxHeldCalls: countOption("maxHeldCalls", limits.maxHeldCalls, 256),
    heldCallTimeoutMs: durationOption("heldCallTimeoutMs", limits.heldCallTimeoutMs, 600_000),
    maxWaitingAsks: countOption("maxWaitingAsks", limits.maxWaitingAsks, 32),
    maxHeldResultBytes: countOption("maxHeldResultBytes", limits.maxHeldResultBytes, 32 * 1024 * 1024),
  };
}
