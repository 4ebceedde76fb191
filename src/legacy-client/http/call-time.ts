import type { Delivery, DeliveryEvidence, RemoteConnectorError } from "../../errors.js";
import type { Clock, LifetimeLimits } from "../../transport/index.js";
import type { CallSpec } from "../connection.js";
import { totalTimeout } from "./call-failures.js";

/** The deadlines of one call, over all its exchanges and the waits between them. */
export class CallTime {
  readonly #clock: Clock;
  readonly #spec: Pick<CallSpec<unknown>, "limits" | "totalTimeoutMs" | "totalOption">;
  readonly #startedAt: number;
  #hasBegun = false;

  constructor(clock: Clock, spec: Pick<CallSpec<unknown>, "limits" | "totalTimeoutMs" | "totalOption">) {
    this.#clock = clock;
    this.#spec = spec;
    this.#startedAt = clock.now();
  }

  /** What the next exchange, or the next wait, has of them; `undefined` when the total one has passed. */
  left(): LifetimeLimits | undefined {
    const { limits } = this.#spec;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      return limits;
    }
    const elapsedMs = this.#elapsedMs();
    if (elapsedMs >= limits.totalTimeoutMs) return undefined;
    return { ...limits, totalTimeoutMs: limits.totalTimeoutMs - elapsedMs };
  }

  /** Whether the call may still run after a pause. */
  outlasts(delayMs: number): boolean {
    return this.#elapsedMs() + delayMs < this.#spec.limits.totalTimeoutMs;
  }

  /** The error of the total deadline: the caller knows the whole, not what the last exchange had of it. */
  passed(delivery: Delivery, evidence: DeliveryEvidence): RemoteConnectorError<"timeout"> {
    const { limits, totalTimeoutMs = limits.totalTimeoutMs, totalOption } = this.#spec;
    return totalTimeout(totalTimeoutMs, totalOption, delivery, evidence);
  }

  #elapsedMs(): number {
    return this.#clock.now() - this.#startedAt;
  }
}
