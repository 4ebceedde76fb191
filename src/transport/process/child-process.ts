import type { ChildProcess as NodeChildProcess } from "node:child_process";
import { RemoteConnectorError } from "../../errors.js";
import type { Clock } from "../clock.js";
import { createChildEnvironment, type EnvironmentVariables } from "./child-environment.js";
import { endGroup, type ProcessGroup, processGroup } from "./process-group.js";
import type { Redaction } from "./redaction.js";
import { TailBuffer } from "./tail-buffer.js";
import { type Outgoing, type QueueVerdict, WriteQueue } from "./write-queue.js";

/** How a child process is started and ended. */
export interface ChildProcessConfig {
  readonly command: string;
  readonly args: readonly string[];
  /** `undefined` for the folder of this process. */
  readonly cwd: string | undefined;
  readonly env: EnvironmentVariables;
  readonly inheritEnvironment: boolean;
  /** What must not appear in the kept end of stderr. */
  readonly redaction: Redaction;
  readonly stderrTailBytes: number;
  readonly maxQueuedMessages: number;
  /** How long each polite step of closing may take before the next, harder one. */
  readonly closeGraceMs: number;
}

/** How a child process ended. */
export interface ProcessExit {
  /** `undefined` when a signal ended it. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  /** The end of its stderr: bounded, without control characters, known secrets taken out. */
  readonly stderrTail: string;
}

/** Who is told of what a child does. The calls come in the order below and never overlap. */
export interface ChildProcessEvents {
  onOutput(chunk: Uint8Array): void;
  /** Its stdout is at its end. Called once, always before `onExit`; the process may live on. */
  onOutputEnd(): void;
  /** It is gone and everything that it wrote was delivered. Called once. */
  onExit(exit: ProcessExit): void;
}

/** After an exit, output is read until it ends, or until two looks this far apart saw nothing new. */
const DRAIN_LOOK_MS = 100;
/** A descendant that keeps writing to the inherited stdout can't hold the exit back longer than this. */
const DRAIN_LOOKS = 20;

/**
 * One child process that is spoken to in lines.
 *
 * It leads a process group of its own, no shell is between, its stderr is always read. Nothing of it throws later: a
 * broken pipe is reported to the line that met it, an exit to `onExit`. It installs no handlers on this process, so a
 * host that dies without `close()` leaves the child to notice the end of its stdin.
 */
export class ChildProcess {
  readonly #child: NodeChildProcess;
  readonly #config: ChildProcessConfig;
  readonly #events: ChildProcessEvents;
  readonly #clock: Clock;
  readonly #stderr: TailBuffer;
  readonly #queue: WriteQueue;
  readonly #exited = deferred<ProcessExit>();
  /** Resolves when the leader is gone, which is before its last output was read. */
  readonly #left = deferred<undefined>();
  readonly #group: ProcessGroup | undefined;
  #state: "running" | "draining" | "ended" = "running";
  #exitCode: number | undefined;
  #signal: string | undefined;
  #outputSince = false;
  #cancelDrain: () => void = nothing;
  #outputEnded = false;
  /** Set when the leader is gone: the rest of its group being ended. */
  #groupEnded: Promise<void> | undefined;
  #closed: Promise<ProcessExit> | undefined;

  /**
   * Starts a process. Resolves when it runs; rejects with `spawn_failed` (`not_sent`) when it can't be started.
   */
  static async start(config: ChildProcessConfig, events: ChildProcessEvents, clock: Clock): Promise<ChildProcess> {
    // Loaded when the first process is started: a host that only speaks HTTP never pays for it.
    const { default: spawn } = await import("cross-spawn");
    const { platform } = process;
    let child: NodeChildProcess;
    try {
      child = spawn(config.command, config.args, {
        cwd: config.cwd,
        env: createChildEnvironment({
          inherited: process.env,
          configured: config.env,
          inheritEnvironment: config.inheritEnvironment,
          platform,
        }),
        stdio: "pipe",
        shell: false,
        // A group of its own, so that all of it can be ended; on Windows this would open a console window instead.
        detached: platform !== "win32",
        windowsHide: true,
      });
    } catch (error) {
      // Not as a cause: Node's message shows the argument that it refuses, which may be a secret.
      throw spawnFailed(config.command, codeOf(error), undefined);
    }
    const started = new ChildProcess(child, config, events, clock);
    await started.#running();
    return started;
  }

  private constructor(child: NodeChildProcess, config: ChildProcessConfig, events: ChildProcessEvents, clock: Clock) {
    this.#child = child;
    this.#config = config;
    this.#events = events;
    this.#clock = clock;
    this.#stderr = new TailBuffer({ capacityBytes: config.stderrTailBytes, redaction: config.redaction });
    this.#queue = new WriteQueue(
      { write: (text, done) => child.stdin?.write(text, done) ?? false },
      { maxQueuedMessages: config.maxQueuedMessages },
    );
    this.#group = child.pid === undefined ? undefined : processGroup(child.pid, process.platform);
    this.#listen();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** How it ended; resolves when `onExit` was called, never rejects. */
  get exited(): Promise<ProcessExit> {
    return this.#exited.promise;
  }

  /** The end of its stderr until now. */
  stderrTail(): string {
    return this.#stderr.text();
  }

  /** Writes a line to its stdin, now or when the lines before it were taken. */
  send(line: Outgoing): QueueVerdict {
    return this.#queue.push(line);
  }

  /** Takes a line back that was not written yet; `false` when it was. */
  withdraw(line: Outgoing): boolean {
    return this.#queue.remove(line);
  }

  /**
   * Ends the process and everything that it started: the end of its stdin, then a request to its group to end, then the
   * end itself, each after `closeGraceMs`. Resolves when nothing of it is left. Never rejects; one run for all callers.
   */
  close(): Promise<ProcessExit> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<ProcessExit> {
    this.#queue.close(new Error("The process is being closed."));
    this.#child.stdin?.end();
    const { closeGraceMs } = this.#config;
    if (!(await this.#within(this.#left.promise, closeGraceMs))) {
      this.#group?.terminate();
      if (!(await this.#within(this.#left.promise, closeGraceMs))) {
        this.#group?.kill();
        // Only a process that hangs in the kernel outlives this; nothing more can be done about it.
        if (!(await this.#within(this.#left.promise, closeGraceMs))) this.#finish();
      }
    }
    await this.#groupEnded;
    return this.exited;
  }

  /** Waits until the process runs, or for the reason why it doesn't. */
  async #running(): Promise<void> {
    const child = this.#child;
    await new Promise<void>((resolve, reject) => {
      const onFailure = (cause: Error): void => {
        this.#state = "ended";
        this.#release();
        // Node puts the arguments, which may hold secrets, on the error.
        Reflect.deleteProperty(cause, "spawnargs");
        reject(spawnFailed(this.#config.command, codeOf(cause), cause));
      };
      child.once("error", onFailure);
      child.once("spawn", () => {
        child.off("error", onFailure);
        resolve();
      });
    });
  }

  #listen(): void {
    const { stdin, stdout, stderr } = this.#child;
    // A failed write is reported through its own callback; without a listener the same error would be thrown.
    stdin?.on("error", (cause) => this.#queue.break(cause));
    stdin?.on("drain", () => this.#queue.drained());
    stdout?.on("error", nothing);
    stdout?.on("data", (chunk: Uint8Array) => {
      this.#outputSince = true;
      if (this.#state !== "ended") this.#events.onOutput(chunk);
    });
    stdout?.on("end", () => this.#endOutput());
    stderr?.on("error", nothing);
    stderr?.on("data", (chunk: Uint8Array) => this.#stderr.push(chunk));
    // Stays: an error event can also come late, when a signal could not be sent or a Windows shim found no program.
    this.#child.on("error", nothing);
    this.#child.on("exit", (code, signal) => this.#onLeft(code, signal));
    this.#child.on("close", (code, signal) => {
      this.#onLeft(code, signal);
      this.#finish();
    });
  }

  /** The leader is gone. What it wrote last may still be in the pipe, and what it started may live on. */
  #onLeft(code: number | null, signal: string | null): void {
    if (this.#state !== "running") return;
    this.#state = "draining";
    this.#exitCode = code ?? undefined;
    this.#signal = signal ?? undefined;
    this.#left.resolve(undefined);
    this.#queue.close(new Error("The process has exited."));
    if (this.#group !== undefined) this.#groupEnded = endGroup(this.#group, this.#config.closeGraceMs, this.#clock);
    this.#drain(DRAIN_LOOKS);
  }

  /** A descendant that inherited stdout keeps it open, so that its end can't be waited for without a bound. */
  #drain(looksLeft: number, quiet = false): void {
    if (this.#state !== "draining") return;
    this.#outputSince = false;
    this.#cancelDrain = this.#clock.schedule(DRAIN_LOOK_MS, () => {
      // Two quiet looks, since the first can come right after this process was busy and before it read anything.
      if (looksLeft === 0 || (quiet && !this.#outputSince)) this.#finish();
      else this.#drain(looksLeft - 1, !this.#outputSince);
    });
  }

  #endOutput(): void {
    if (this.#outputEnded || this.#state === "ended") return;
    this.#outputEnded = true;
    this.#events.onOutputEnd();
  }

  #finish(): void {
    if (this.#state === "ended") return;
    this.#endOutput();
    this.#state = "ended";
    this.#queue.close(new Error("The process has exited."));
    this.#cancelDrain();
    this.#release();
    const exit = { exitCode: this.#exitCode, signal: this.#signal, stderrTail: this.stderrTail() };
    this.#events.onExit(exit);
    this.#exited.resolve(exit);
  }

  /** Lets go of the pipes, which a descendant may hold open on its side. */
  #release(): void {
    this.#child.stdin?.destroy();
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#child.unref();
  }

  #within(event: Promise<unknown>, limitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#clock.schedule(limitMs, () => resolve(false));
      void event.then(() => {
        cancel();
        return resolve(true);
      });
    });
  }
}

function spawnFailed(command: string, reason: string, cause: unknown): RemoteConnectorError<"spawn_failed"> {
  return new RemoteConnectorError("spawn_failed", {
    message: `The command could not be started: ${reason}.`,
    details: { command, reason },
    cause,
  });
}

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : "the process could not be created";
}

function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = nothing;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function nothing(): void {
  // There is nothing to do, and the caller knows why.
}
