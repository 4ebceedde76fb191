import { setMaxListeners } from "node:events";
import { CloseBound, type CloseOptions, resolveCloseOptions } from "./close-bound.js";
import type { ConnectorHostConfig } from "./host-options.js";
import { hostClosed } from "./host-errors.js";

/** The end of a host: begun once, however often and in whatever form it is asked for, and bounded. */
export class HostEnding {
  readonly #config: Pick<ConnectorHostConfig, "clock" | "closeTimeoutMs" | "logger">;
  /** Ends everything within the bound. Never rejects. */
  readonly #shutDown: (bound: CloseBound) => Promise<void>;
  readonly #ended = new AbortController();
  #closing: Promise<void> | undefined;
  #bound: CloseBound | undefined;

  constructor(
    config: Pick<ConnectorHostConfig, "clock" | "closeTimeoutMs" | "logger">,
    shutDown: (bound: CloseBound) => Promise<void>,
  ) {
    this.#config = config;
    this.#shutDown = shutDown;
    // Every removal that is waited for listens.
    setMaxListeners(0, this.#ended.signal);
  }

  /** Fires when it begins. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  get hasBegun(): boolean {
    return this.#closing !== undefined;
  }

  /** Called again it is the same end; `force` holds for what is left of it. Never rejects; throws `invalid_options`. */
  close(options: CloseOptions): Promise<void> {
    const { force } = resolveCloseOptions(options);
    const { closeTimeoutMs, clock, logger } = this.#config;
    this.#bound ??= new CloseBound(closeTimeoutMs, clock, logger);
    if (force) this.#bound.force();
    if (this.#closing !== undefined) return this.#closing;
    let end = ignore;
    // Listeners hear of the fences while it begins, and may close the host too.
    const closing = new Promise<void>((resolve) => (end = resolve));
    this.#closing = closing;
    this.#ended.abort(hostClosed());
    void this.#shutDown(this.#bound).finally(end);
    return closing;
  }
}

function ignore(): void {}
