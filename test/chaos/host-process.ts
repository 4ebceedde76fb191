import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Command, CommandMessage, HostOrder, Reply, ReplyMessage } from "./orders.js";

const KEPT_STDERR = 4_000;

/** How a host process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The end of what it said on its standard error. */
  readonly stderr: string;
}

/** A host in a process of its own. */
export class HostProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (reply: Reply | undefined) => void>();
  #ids = 0;
  #stderr = "";
  /** Resolves when it has ended, however that came. */
  readonly exited: Promise<Exit>;
  #exit: Exit | undefined;

  constructor(program: string, order: HostOrder) {
    this.#child = fork(program, [JSON.stringify(order)], { stdio: ["ignore", "ignore", "pipe", "ipc"], execArgv: [] });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-KEPT_STDERR);
    });
    this.#child.on("message", (message: ReplyMessage) => this.#receive(message));
    // A channel that breaks is a process that ends.
    this.#child.on("error", () => undefined);
    this.exited = this.#end();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** `undefined` while it lives. */
  get exit(): Exit | undefined {
    return this.#exit;
  }

  /** Resolves with `true` when it is ready for commands, and with `false` when it has ended instead. */
  async ready(): Promise<boolean> {
    return (await this.#reply(0)) !== undefined;
  }

  /** Resolves with the answer; with `undefined` when the process has ended before. */
  send(command: Command): Promise<Reply | undefined> {
    this.#ids += 1;
    const message: CommandMessage = { id: this.#ids, command };
    const reply = this.#reply(message.id);
    if (this.#child.connected) this.#child.send(message, () => undefined);
    return reply;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #reply(id: number): Promise<Reply | undefined> {
    if (this.#exit !== undefined) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  #receive({ id, reply }: ReplyMessage): void {
    this.#waiting.get(id)?.(reply);
    this.#waiting.delete(id);
  }

  async #end(): Promise<Exit> {
    const [code, signal]: [number | null, NodeJS.Signals | null] = await ended(this.#child);
    const exit = { code, signal, stderr: this.#stderr };
    this.#exit = exit;
    for (const resolve of this.#waiting.values()) resolve(undefined);
    this.#waiting.clear();
    return exit;
  }
}

/** The exit code and the signal, when all of its output was read. */
async function ended(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  await once(child, "close");
  return [child.exitCode, child.signalCode];
}
