import { PassThrough } from "node:stream";
import { serveStdio, type ServeStdioOptions } from "../../../../src/connector-host/stdio-shim/index.js";

/** A JSON-RPC message as an agent reads it. */
export interface Heard {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
}

/** What names the modern revision in a request. */
export const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** An agent that speaks in lines to a shim in this process, and keeps what it hears. */
export class LineAgent {
  readonly stdin = new PassThrough();
  readonly stdout: PassThrough;
  readonly heard: Heard[] = [];
  readonly texts: string[] = [];
  /** Resolves when the shim has ended. */
  readonly ended: Promise<void>;
  #rest = "";
  readonly #waiters = new Set<() => void>();
  readonly #leaving = new AbortController();
  #id = 0;

  constructor(
    options: Pick<ServeStdioOptions, "stateDirectory"> & Partial<ServeStdioOptions>,
    stdout: PassThrough = new PassThrough(),
  ) {
    this.stdout = stdout;
    const { signal } = this.#leaving;
    this.ended = serveStdio({ binding: "desk", signal, ...options, stdin: this.stdin, stdout });
  }

  /** Has the shim end at once. */
  leave(): Promise<void> {
    this.#leaving.abort();
    return this.ended;
  }

  /** Begins to read. */
  listen(): this {
    this.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (this.#rest + text).split("\n");
      this.#rest = lines.pop() ?? "";
      for (const line of lines) {
        this.texts.push(line);
        const message: Heard = JSON.parse(line);
        this.heard.push(message);
      }
      for (const look of this.#waiters) look();
    });
    return this;
  }

  write(message: unknown): void {
    this.stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  }

  notify(method: string, params?: Record<string, unknown>): void {
    this.write({ jsonrpc: "2.0", method, params });
  }

  /** Sends a request, and returns its id. */
  send(method: string, params?: Record<string, unknown>): number {
    this.#id += 1;
    this.write({ jsonrpc: "2.0", id: this.#id, method, params });
    return this.#id;
  }

  /** Sends a request of revision 2026-07-28, and returns its id. */
  sendModern(method: string, params: Record<string, unknown> = {}): number {
    return this.send(method, { ...params, _meta: MODERN_META });
  }

  /** The first message that is like this, now or later. */
  until(isLike: (message: Heard) => boolean): Promise<Heard> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.heard.find(isLike);
        if (found === undefined) return;
        this.#waiters.delete(look);
        resolve(found);
      };
      this.#waiters.add(look);
      look();
    });
  }

  answerTo(id: number | string): Promise<Heard> {
    return this.until((one) => one.id === id && one.method === undefined);
  }

  ask(method: string, params?: Record<string, unknown>): Promise<Heard> {
    return this.answerTo(this.send(method, params));
  }

  askModern(method: string, params?: Record<string, unknown>): Promise<Heard> {
    return this.answerTo(this.sendModern(method, params));
  }

  async initialize(protocolVersion: string, capabilities: object = {}): Promise<Heard> {
    const clientInfo = { name: "line-agent", version: "1" };
    const answer = await this.ask("initialize", { protocolVersion, capabilities, clientInfo });
    this.notify("notifications/initialized");
    return answer;
  }

  /** The verdict in the data of an error. */
  async verdictOn(id: number | string): Promise<unknown> {
    return (await this.answerTo(id)).error?.data?.["sh.tutti/delivery"];
  }
}
