import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Chance } from "./chance.js";
import type { KillPoint } from "./kill-points.js";

/** Longer than a commit takes, in microseconds. */
const LONGEST_US = 600;

/** Waits for the word, then for so many microseconds, and ends the process, whatever its main thread is doing. */
const PROGRAM = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { word, waitUs } = workerData;
  parentPort.postMessage("ready");
  Atomics.wait(word, 0, 0);
  const until = process.hrtime.bigint() + BigInt(waitUs) * 1000n;
  while (process.hrtime.bigint() < until);
  process.kill(process.pid, "SIGKILL");
`;

/** Ends its own process as a crash would: nothing is flushed, nothing is closed. */
export class Undertaker {
  readonly #word = new Int32Array(new SharedArrayBuffer(4));
  readonly #chance: Chance;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** Gets ready to end the process while its main thread commits. */
  async wait(): Promise<void> {
    const workerData = { word: this.#word, waitUs: this.#chance.below(LONGEST_US) };
    const worker = new Worker(PROGRAM, { eval: true, workerData });
    worker.unref();
    await once(worker, "message");
  }

  /** Ends the process, now or, for `commit`, from the thread that waits. */
  end(point: KillPoint): void {
    if (point !== "commit") {
      process.kill(process.pid, "SIGKILL");
      return;
    }
    Atomics.store(this.#word, 0, 1);
    Atomics.notify(this.#word, 0);
  }
}
