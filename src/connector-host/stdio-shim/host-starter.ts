import { connect } from "node:net";
import type { Clock } from "../../transport/index.js";
import { QUEUE_FULL } from "./host-request.js";

export interface HostStarterOptions {
  readonly socketPath: string;
  readonly start: (() => void | Promise<void>) | undefined;
  readonly startTimeoutMs: number;
  readonly clock: Clock;
}

const LOOK_MS = 50;

/** What starting the host came to. `reason` is for people. */
export type StartOutcome = { readonly kind: "ready" } | { readonly kind: "failed"; readonly reason: string };

/** Has the host started when there is none. All who need it meanwhile wait for the same start. */
export class HostStarter {
  readonly #options: HostStarterOptions;
  #starting: Promise<StartOutcome> | undefined;
  #isClosed = false;

  constructor(options: HostStarterOptions) {
    this.#options = options;
  }

  /** Whether there is a way to start one. */
  get canStart(): boolean {
    return this.#options.start !== undefined && !this.#isClosed;
  }

  /** Starts the host and waits until it listens, at most `startTimeoutMs` in all. Never rejects. */
  start(): Promise<StartOutcome> {
    this.#starting ??= this.#run().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** Starts nothing any more; whoever waits is told at the next look. */
  close(): void {
    this.#isClosed = true;
  }

  async #run(): Promise<StartOutcome> {
    const { start, startTimeoutMs, clock } = this.#options;
    const endsAt = clock.now() + startTimeoutMs;
    const begun = { failure: undefined as string | undefined };
    // Not awaited: a start that runs as long as the host does is one too.
    Promise.resolve()
      .then(() => start?.())
      .catch((error: unknown) => {
        begun.failure = error instanceof Error ? error.message : "the start failed";
      });
    for (;;) {
      if (await this.#listens()) return { kind: "ready" };
      if (begun.failure !== undefined) return { kind: "failed", reason: begun.failure };
      if (this.#isClosed || clock.now() >= endsAt) {
        return { kind: "failed", reason: `it did not listen within ${String(startTimeoutMs)} ms (startTimeoutMs)` };
      }
      await new Promise<void>((resolve) => void clock.schedule(LOOK_MS, resolve));
    }
  }

  #listens(): Promise<boolean> {
    return new Promise((resolve) => {
      const probe = connect(this.#options.socketPath);
      probe.once("connect", () => {
        probe.destroy();
        resolve(true);
      });
      probe.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === QUEUE_FULL));
    });
  }
}
