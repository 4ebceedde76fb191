import type { FeedEnd } from "./event-feed.js";
import { encodeEventTemplate } from "./event.js";
import type { AnsweredRequest } from "./message.js";
import { type AnswerPlan, type Ending, type Step, toChunk } from "./plan-answer.js";
import type { TestClock } from "./test-clock.js";

/** The connection, as far as an answer needs it. */
export interface Outlet {
  /** `false` when the reader lags behind; `onDrain` is called when it has caught up. */
  write(bytes: Uint8Array): boolean;
  onDrain(run: () => void): void;
}

export interface Performance {
  readonly plan: AnswerPlan;
  readonly request: AnsweredRequest;
  readonly outlet: Outlet;
  readonly clock: TestClock;
  /** Called once, when the last step is done; never after the performance was ended. */
  readonly onEnd: (ending: Ending) => void;
}

/** Does the steps of a plan, one after the other. Returns what ends it, and whatever it waits for. */
export function playPlan(performance: Performance): () => void {
  const player = new Player(performance);
  player.begin();
  return () => player.end();
}

class Player {
  readonly #performance: Performance;
  /** Ends what the current step waits for; nothing when it waits for the reader or for a promise. */
  #stopWaiting: (() => void) | undefined;
  #next = 0;
  #isEnded = false;
  #ending: Ending;

  constructor(performance: Performance) {
    this.#performance = performance;
    this.#ending = performance.plan.ending;
  }

  begin(): void {
    const { plan, onEnd } = this.#performance;
    // Steps that don't wait are done in a loop: a plan can have many.
    while (!this.#isEnded) {
      const step = plan.steps[this.#next];
      this.#next += 1;
      if (step === undefined) {
        this.end();
        onEnd(this.#ending);
        return;
      }
      if (this.#waits(step)) return;
    }
  }

  end(): void {
    this.#isEnded = true;
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
  }

  /** Begins a step; whether it is not done yet. */
  #waits(step: Step): boolean {
    const { outlet } = this.#performance;
    switch (step.kind) {
      case "write":
        if (outlet.write(step.bytes)) return false;
        outlet.onDrain(() => this.begin());
        return true;
      case "pause":
        this.#after(step.ms, () => this.begin());
        return true;
      case "hold": {
        const proceed = (): void => this.begin();
        step.until.then(proceed, proceed);
        return true;
      }
      case "flood":
        this.#flood(step, 0);
        return true;
      case "feed":
        return this.#follow(step);
    }
  }

  #flood(step: Extract<Step, { kind: "flood" }>, sent: number): void {
    const { outlet } = this.#performance;
    if (this.#isEnded) return;
    if (sent + step.piece.length > step.maxBytes) {
      this.begin();
      return;
    }
    const isTaken = outlet.write(step.piece);
    const more = (): void => this.#flood(step, sent + step.piece.length);
    // A timer of zero between two pieces leaves the event loop to those who read.
    if (isTaken) this.#after(step.everyMs, more);
    else outlet.onDrain(more);
  }

  #follow({ feed, isChunked }: Extract<Step, { kind: "feed" }>): boolean {
    const { outlet, request } = this.#performance;
    let isOver = false;
    let isWaiting = false;
    const stop = feed.listen({
      onEvent: (event) => {
        const bytes = Buffer.from(encodeEventTemplate(event, request, "\n"));
        outlet.write(isChunked ? toChunk(bytes) : bytes);
      },
      onEnd: (how) => {
        isOver = true;
        if (how !== "whole") this.#breakOff(how);
        if (isWaiting) this.begin();
      },
    });
    if (isOver) return false;
    isWaiting = true;
    this.#stopWaiting = stop;
    return true;
  }

  /** Leaves out all steps that are left. */
  #breakOff(how: Exclude<FeedEnd, "whole">): void {
    this.#next = this.#performance.plan.steps.length;
    this.#ending = how === "reset" ? "reset" : "fin";
  }

  #after(ms: number, run: () => void): void {
    this.#stopWaiting = this.#performance.clock.schedule(ms, run);
  }
}
