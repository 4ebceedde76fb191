import type { Writable } from "node:stream";

export interface LineOutputOptions {
  readonly stdout: Writable;
  /** The agent does not read: nothing more should be made for it. */
  readonly onBlocked: () => void;
  readonly onDrained: () => void;
  /** Nobody reads any more. Called once. */
  readonly onGone: () => void;
}

/** The lines that the agent reads: one message each, in the order of the calls. */
export class LineOutput {
  readonly #options: LineOutputOptions;
  #isBlocked = false;
  #isGone = false;

  constructor(options: LineOutputOptions) {
    this.#options = options;
    const { stdout } = options;
    stdout.on("drain", () => this.#drained());
    // A broken pipe is an error of its own; without a listener it would end the process.
    stdout.on("error", () => this.#gone());
    stdout.on("close", () => this.#gone());
  }

  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** Writes one JSON text as a line. */
  write(message: string | Uint8Array): void {
    if (this.#isGone) return;
    const { stdout, onBlocked } = this.#options;
    stdout.cork();
    stdout.write(onOneLine(message));
    const takesMore = stdout.write("\n");
    stdout.uncork();
    if (takesMore || this.#isBlocked) return;
    this.#isBlocked = true;
    onBlocked();
  }

  /** Resolves when everything was taken, or nobody takes anything any more. */
  flushed(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isGone) return resolve();
      this.#options.stdout.once("close", resolve).once("error", () => resolve());
      this.#options.stdout.write("", () => resolve());
    });
  }

  #drained(): void {
    if (!this.#isBlocked) return;
    this.#isBlocked = false;
    this.#options.onDrained();
  }

  #gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#options.onGone();
  }
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** A JSON text without line breaks: they can only stand between its tokens, where a space says the same. */
function onOneLine(message: string | Uint8Array): string | Uint8Array {
  if (typeof message === "string") return message.replaceAll(/[\r\n]/g, " ");
  if (!message.includes(LF) && !message.includes(CR)) return message;
  return message.map((byte) => (byte === LF || byte === CR ? SPACE : byte));
}
