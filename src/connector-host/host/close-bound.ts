import { refuseUnknownOptions } from "../../options.js";
import type { Clock } from "../../transport/index.js";
import type { HostLogger } from "./host-logger.js";

/** How a host is closed. */
export interface CloseOptions {
  /** Calls are not waited for: what is left of them is cut at once. Programs are ended and the store is closed all the same. Default false. */
  readonly force?: boolean | undefined;
}

/** Applies the defaults. Throws `invalid_options`. */
export function resolveCloseOptions(options: CloseOptions): { readonly force: boolean } {
  refuseUnknownOptions(options, ["force"]);
  return { force: options.force === true };
}

/** A step of closing, and what of it is waited for, by names for the log. */
export interface CloseStage {
  readonly stage: string;
  readonly parts: Readonly<Record<string, Promise<unknown> | undefined>>;
  /** By when it is over, as a share of the whole. */
  readonly until: number;
  /** It is about calls, which a forced closing does not wait for. */
  readonly isForCalls?: boolean | undefined;
}

/** What a forced closing gives the answers of calls that it has just aborted, to be written. */
const FORCED_ANSWERS_MS = 100;

/** The time that closing may take in all, and what was given up for its sake. */
export class CloseBound {
  readonly #limitMs: number;
  readonly #clock: Clock;
  readonly #logger: HostLogger;
  readonly #startedAt: number;
  #isForced = false;
  /** Shortens the stage that is waited for now, if it is about calls. */
  #shorten: () => void = ignore;

  /** Begins now. */
  constructor(limitMs: number, clock: Clock, logger: HostLogger) {
    this.#limitMs = limitMs;
    this.#clock = clock;
    this.#logger = logger;
    this.#startedAt = clock.now();
  }

  /** Calls are not waited for any more. */
  force(): void {
    this.#isForced = true;
    this.#shorten();
  }

  /** Milliseconds until a share of the whole has passed. */
  leftMs(share: number): number {
    return Math.max(0, this.#startedAt + this.#limitMs * share - this.#clock.now());
  }

  /** Waits until all parts of a stage have ended, or its time has passed. What failed or was given up is logged. Never rejects. */
  async wait({ stage, parts, until, isForCalls = false }: CloseStage): Promise<void> {
    const running = new Set<string>();
    const endings: Promise<void>[] = [];
    for (const [part, ending] of Object.entries(parts)) {
      if (ending === undefined) continue;
      running.add(part);
      const failed = (error: unknown): void =>
        this.#logger.warn("A part of the host could not be closed.", { stage, part, error });
      endings.push(ending.then(ignore, failed).then(() => void running.delete(part)));
    }
    await this.#within(Promise.all(endings), until, isForCalls);
    if (running.size > 0)
      this.#logger.warn("Closing the host goes on without parts of it.", { stage, parts: [...running] });
  }

  async #within(ended: Promise<unknown>, share: number, isForCalls: boolean): Promise<void> {
    const cancels: (() => void)[] = [];
    await new Promise<void>((resolve) => {
      const after = (delayMs: number): void => void cancels.push(this.#clock.schedule(delayMs, resolve));
      void ended.then(() => resolve());
      after(this.leftMs(share));
      this.#shorten = () => {
        if (isForCalls) after(FORCED_ANSWERS_MS);
      };
      if (this.#isForced) this.#shorten();
    });
    this.#shorten = ignore;
    for (const cancel of cancels) cancel();
  }
}

function ignore(): void {}
