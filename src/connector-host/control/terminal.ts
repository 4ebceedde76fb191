import { closeSync, openSync, writeSync } from "node:fs";
import { isatty, ReadStream } from "node:tty";

/** The terminal that a process was started from, whatever its streams are. */
export interface Terminal {
  write(text: string): void;
  /** The next line that is typed, without its end; `undefined` when the terminal is gone, and once the signal fires. */
  readLine(signal: AbortSignal): Promise<string | undefined>;
  close(): void;
}

/** Characters of a line beyond which it is none that was asked for. */
const MAX_LINE = 256;

/** Where a terminal is opened for reading and for writing, on a platform as `process.platform` names it. Pure. */
export function terminalPaths(platform: string): { readonly input: string; readonly output: string } {
  if (platform === "win32") return { input: "\\\\.\\CONIN$", output: "\\\\.\\CONOUT$" };
  return { input: "/dev/tty", output: "/dev/tty" };
}

/**
 * Opens the controlling terminal; `undefined` where there is none. It is not the standard input: what is piped into the program
 * answers nothing.
 */
export function openTerminal(): Terminal | undefined {
  const { input, output } = terminalPaths(process.platform);
  let inputFd: number | undefined;
  try {
    inputFd = openSync(input, "r+");
    if (!isatty(inputFd)) throw new Error("It is no terminal.");
    const outputFd = openSync(output, "r+");
    return new OpenTerminal(new ReadStream(inputFd), outputFd);
  } catch {
    if (inputFd !== undefined) closeSync(inputFd);
    return undefined;
  }
}

class OpenTerminal implements Terminal {
  readonly #input: ReadStream;
  readonly #outputFd: number;
  #isClosed = false;

  constructor(input: ReadStream, outputFd: number) {
    this.#input = input;
    this.#outputFd = outputFd;
    // Also before and after a line is read: a terminal that goes must not end the process.
    input.on("error", ignore);
  }

  write(text: string): void {
    writeSync(this.#outputFd, text);
  }

  readLine(signal: AbortSignal): Promise<string | undefined> {
    const input = this.#input;
    return new Promise((resolve) => {
      let typed = "";
      const finish = (line: string | undefined): void => {
        input.off("data", onData).off("end", onEnd).off("close", onEnd).pause();
        signal.removeEventListener("abort", onEnd);
        resolve(line);
      };
      const onData = (chunk: Buffer): void => {
        typed += chunk.toString("utf8");
        const end = typed.search(/[\r\n]/);
        if (end !== -1) finish(typed.slice(0, end));
        else if (typed.length > MAX_LINE) finish(typed.slice(0, MAX_LINE));
      };
      const onEnd = (): void => finish(undefined);
      if (signal.aborted) {
        resolve(undefined);
        return;
      }
      signal.addEventListener("abort", onEnd);
      input.on("data", onData).on("end", onEnd).on("close", onEnd);
    });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#outputFd);
    this.#input.destroy();
  }
}

function ignore(): void {}
