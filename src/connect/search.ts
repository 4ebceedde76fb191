import { RemoteConnectorError } from "../errors.js";
import type { Notification } from "../protocol/index.js";
import type { ConnectConfig } from "./connect-options.js";
import type { EraSearch } from "./find-era.js";
import type { NotificationFan } from "./notification-fan.js";
import { OpeningOperation } from "./opening-operation.js";

/** The one deadline of everything that it takes to find an era and to open a client, joined with the caller's signal. */
export class Search implements EraSearch {
  readonly #fan: NotificationFan;
  readonly #over = new AbortController();
  readonly #cancelTimer: (() => void) | undefined;
  readonly signal: AbortSignal;
  readonly opening = new OpeningOperation();

  constructor(config: ConnectConfig, fan: NotificationFan, signal: AbortSignal | undefined) {
    const { clock, lifecycleTimeoutMs } = config;
    this.#fan = fan;
    this.signal = signal === undefined ? this.#over.signal : AbortSignal.any([signal, this.#over.signal]);
    if (lifecycleTimeoutMs !== Infinity) {
      this.#cancelTimer = clock.schedule(lifecycleTimeoutMs, () => this.#over.abort(tookTooLong(lifecycleTimeoutMs)));
    }
  }

  readonly onNotification = (notification: Notification): void => this.#fan.tell(notification);

  /** Ends the watch: nothing of it is left on the signal or in a timer. */
  end(): void {
    this.opening.end();
    this.#cancelTimer?.();
  }
}

function tookTooLong(limitMs: number): RemoteConnectorError<"timeout"> {
  return new RemoteConnectorError("timeout", {
    message: `Connecting passed its deadline of ${String(limitMs)} ms (lifecycleTimeoutMs).`,
    delivery: "unknown",
    details: { phase: "total", option: "lifecycleTimeoutMs", limitMs },
  });
}
