import { RemoteConnectorError } from "../../errors.js";
import type { Clock } from "../../transport/index.js";
import type { Line, LineFramer } from "../../transport/process/index.js";
import { agentAddress } from "../agent-socket/index.js";
import { HostLink } from "./host-link.js";
import { HostStarter } from "./host-starter.js";
import { LineOutput } from "./line-output.js";
import { resolveServeStdioOptions, type ServeStdioConfig, type ServeStdioOptions } from "./options.js";
import { Shim } from "./shim.js";

/**
 * Serves an agent that spawned this process, over lines on stdin and stdout, from the host that owns a state directory: the MCP
 * server of the machine's agents, as its durable binding `binding` sees it. No second host is ever made: every request goes to the
 * one that runs, over its agent socket.
 *
 * Both eras are served: revision 2026-07-28, in which each line stands alone, and the handshake with 2024-11-05 to 2025-11-25. What
 * the host leaves without an answer is answered here, with the verdict on it in the error's data; a request that found no host is
 * `not_sent`, one whose host ended is `unknown`. The next request looks for the host anew.
 *
 * Resolves when the agent has closed stdin, or does not read any more, and everything is over. Requests that were read before stdin
 * closed get their answers if those come within `finishTimeoutMs`; subscriptions end at once. What is left is given up, which takes
 * at most `closeTimeoutMs`. Rejects with `invalid_options`, and with `connect_failed` (`path_too_long`) for a state directory
 * in which there can be no socket.
 *
 * Source: 2026-07-28, stdio; 2025-11-25, Transports, stdio.
 */
export async function serveStdio(options: ServeStdioOptions): Promise<void> {
  const config = resolveServeStdioOptions(options);
  const address = agentAddress(config.stateDirectory, process.platform);
  if (address.kind === "too_long") throw pathTooLong(address.path);
  // Loaded here: only programs that read lines pay for it.
  const { LineFramer } = await import("../../transport/process/index.js");
  const framer = new LineFramer({ maxLineBytes: config.maxLineBytes });
  await new StdioService(config, address.path, framer).run();
}

/** Everything between one agent and its host. */
class StdioService {
  readonly #config: ServeStdioConfig;
  readonly #framer: LineFramer;
  readonly #link: HostLink;
  readonly #output: LineOutput;
  readonly #shim: Shim;
  /** Why no lines are taken. */
  readonly #holds = new Set<"handshake" | "output">();
  /** Lines that were read meanwhile. */
  readonly #waiting: Line[] = [];
  #waitingBytes = 0;
  /** The agent has said all that it will say. */
  #isReadToEnd = false;
  /** Nobody reads any more, or nobody waits. */
  #onLeft: () => void = ignore;
  /** Told when every line that was read is taken, and no request is under way. */
  #onIdle: () => void = ignore;

  constructor(config: ServeStdioConfig, socketPath: string, framer: LineFramer) {
    const { binding, clock, maxMessageBytes, maxRequests, start, startTimeoutMs, stdout } = config;
    this.#config = config;
    this.#framer = framer;
    const patienceMs = startTimeoutMs;
    this.#link = new HostLink({ socketPath, binding, maxRequests, maxMessageBytes, patienceMs, clock });
    this.#output = new LineOutput({
      stdout,
      onBlocked: () => {
        this.#link.pause();
        this.#hold("output", true);
      },
      onDrained: () => {
        this.#link.resume();
        this.#hold("output", false);
      },
      onGone: () => this.#onLeft(),
    });
    this.#shim = new Shim({
      config,
      socketPath,
      link: this.#link,
      starter: new HostStarter({ socketPath, start, startTimeoutMs, clock }),
      write: (message) => this.#output.write(message),
      holdInput: (isHeld) => this.#hold("handshake", isHeld),
      onOver: () => this.#lookWhetherIdle(),
    });
  }

  /** Resolves when the agent has left and everything is over. */
  async run(): Promise<void> {
    const { stdin, clock, closeTimeoutMs, finishTimeoutMs, signal } = this.#config;
    const left = new Promise<void>((resolve) => {
      this.#onLeft = resolve;
    });
    const onAbort = (): void => this.#onLeft();
    signal?.addEventListener("abort", onAbort);
    if (signal?.aborted === true) onAbort();
    await Promise.race([left, this.#read()]);
    await within(Promise.race([left, this.#finished()]), clock, finishTimeoutMs);
    signal?.removeEventListener("abort", onAbort);
    // Nobody reads any more: what still comes of the host is only looked at.
    this.#link.resume();
    await within(
      this.#shim.close().then(() => this.#output.flushed()),
      clock,
      closeTimeoutMs,
    );
    await this.#link.close();
    stdin.destroy();
  }

  /** Resolves at the end of what the agent says. When that is no end in good order, nobody waits for anything. */
  #read(): Promise<void> {
    const { stdin } = this.#config;
    return new Promise((resolve) => {
      stdin.on("data", (chunk: Uint8Array) => {
        for (const line of this.#framer.push(chunk)) this.#push(line);
        this.#flow();
      });
      stdin.on("end", () => {
        for (const line of this.#framer.end()) this.#push(line);
        this.#flow();
        resolve();
      });
      const onCut = (): void => {
        if (!stdin.readableEnded) this.#onLeft();
      };
      stdin.on("close", onCut).on("error", onCut);
    });
  }

  #finished(): Promise<void> {
    this.#shim.finish();
    this.#isReadToEnd = true;
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.#lookWhetherIdle();
    });
  }

  #lookWhetherIdle(): void {
    if (this.#waiting.length > 0) return;
    if (this.#isReadToEnd) this.#shim.silence();
    if (!this.#shim.isBusy) this.#onIdle();
  }

  #hold(why: "handshake" | "output", isHeld: boolean): void {
    if (isHeld) {
      this.#holds.add(why);
      return;
    }
    this.#holds.delete(why);
    this.#flow();
  }

  #push(line: Line): void {
    this.#waiting.push(line);
    this.#waitingBytes += sizeOf(line);
  }

  /** Takes lines while it may, and reads on while few wait: what tells that the agent leaves comes behind them. */
  #flow(): void {
    while (this.#holds.size === 0) {
      const line = this.#waiting.shift();
      if (line === undefined) break;
      this.#waitingBytes -= sizeOf(line);
      this.#shim.take(line);
    }
    this.#lookWhetherIdle();
    const { stdin, maxLineBytes } = this.#config;
    if (this.#waiting.length >= MAX_WAITING_LINES || this.#waitingBytes >= maxLineBytes) stdin.pause();
    else if (stdin.isPaused()) stdin.resume();
  }
}

/** Lines that wait, beyond which no more are read. */
const MAX_WAITING_LINES = 256;

function sizeOf(line: Line): number {
  return line.kind === "line" ? line.bytes.byteLength : 0;
}

function within(ended: Promise<void>, clock: Clock, limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.schedule(limitMs, resolve);
    void ended.then(() => {
      cancel();
      return resolve();
    });
  });
}

function pathTooLong(path: string): RemoteConnectorError<"connect_failed"> {
  return new RemoteConnectorError("connect_failed", {
    message: `There can be no socket at ${path}: the path is too long.`,
    details: { origin: path, reason: "path_too_long" },
  });
}

function ignore(): void {}
