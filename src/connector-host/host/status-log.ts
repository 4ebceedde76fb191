import { reportStatus } from "../status/index.js";
import type { HostLogger } from "./host-logger.js";
import type { StatusChange } from "./status-feed.js";

/** Changes that come at once and have lines of their own. */
const MAX_LINES = 20;

/**
 * Writes a line for each change of what a connector is at, as people see it elsewhere too. Of more than 20 at once, a sign-out of
 * many connectors, those have one that people should hear of first, and the last line says how many others there are.
 */
export class StatusLog {
  readonly #logger: HostLogger;
  #waiting: StatusChange[] = [];

  constructor(logger: HostLogger) {
    this.#logger = logger;
  }

  note(change: StatusChange): void {
    this.#waiting.push(change);
    if (this.#waiting.length === 1) queueMicrotask(() => this.#write());
  }

  #write(): void {
    const changes = this.#waiting;
    this.#waiting = [];
    const now = changes.at(-1)?.at ?? 0;
    const rows = changes.map(({ status }) => status);
    const { connectors, lines, more } = reportStatus(rows, { now, maxConnectors: MAX_LINES });
    for (const { line, ...fields } of connectors)
      this.#logger.info("A connector's status changed.", { line, ...fields });
    if (more > 0) this.#logger.info("The status of more connectors changed.", { line: lines.at(-1), more });
  }
}
