import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { BoundAgent } from "../../../../src/connector-host/local-server/index.js";
import { ACCEPT_BOTH, post, type RawAnswer } from "./raw-agent.js";

/** One event of a stream, as it was sent. Comments are events without fields. */
export interface RawEvent {
  readonly id?: string;
  readonly retry?: string;
  readonly data?: string;
}

/** The whole events of a text, and what is left of it. */
export function eventsIn(text: string): { readonly events: readonly RawEvent[]; readonly rest: string } {
  const blocks = text.split("\n\n");
  const rest = blocks.pop() ?? "";
  const events = blocks.map((block): RawEvent => {
    const fields = block.split("\n").flatMap((line) => {
      const colon = line.indexOf(":");
      return colon === 0 ? [] : [[line.slice(0, colon), line.slice(colon + 2)]];
    });
    return Object.fromEntries(fields);
  });
  return { events, rest };
}

/** A message, as far as tests look into it. */
export interface AnyMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly level?: unknown; readonly requestId?: unknown };
  readonly result?: unknown;
  readonly error?: unknown;
}

/** The messages of events: those of comments and of priming events are none. */
export function messagesIn(events: readonly RawEvent[]): AnyMessage[] {
  return events.flatMap(({ data }) => {
    if (data === undefined || data === "") return [];
    const message: AnyMessage = JSON.parse(data);
    return [message];
  });
}

/** An open stream that is read event by event. */
export class OpenStream {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<string>;
  #text = "";
  #events: RawEvent[] = [];

  constructor(response: Response) {
    this.response = response;
    const body = response.body ?? new ReadableStream<Uint8Array<ArrayBuffer>>({ start: (each) => each.close() });
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** The next event of any kind; `end` after the last. */
  async next(): Promise<RawEvent | "end"> {
    for (;;) {
      const event = this.#events.shift();
      if (event !== undefined) return event;
      const { value, done } = await this.#reader.read();
      if (done) return "end";
      const { events, rest } = eventsIn(this.#text + value);
      this.#text = rest;
      this.#events.push(...events);
    }
  }

  /** The next message, and the id that it came with; `end` after the last. */
  async message(): Promise<{ readonly id: string | undefined; readonly message: AnyMessage } | "end"> {
    for (;;) {
      const event = await this.next();
      if (event === "end") return event;
      const [message] = messagesIn([event]);
      if (message !== undefined) return { id: event.id, message };
    }
  }
}

/** An agent of a legacy revision that keeps its session, and sends exactly what it is told. */
export class SessionAgent {
  readonly bound: BoundAgent;
  readonly id: string;
  readonly revision: string;

  constructor(bound: BoundAgent, id: string, revision: string) {
    this.bound = bound;
    this.id = id;
    this.revision = revision;
  }

  static async open(bound: BoundAgent, revision = "2025-11-25", capabilities: object = {}): Promise<SessionAgent> {
    const answer = await initialize(bound, revision, ACCEPT_BOTH, capabilities);
    return new SessionAgent(bound, answer.headers.get("mcp-session-id") ?? "none", revision);
  }

  get headers(): Record<string, string> {
    return { "Mcp-Session-Id": this.id, "MCP-Protocol-Version": this.revision };
  }

  post(message: object, headers: Record<string, string | undefined> = {}, init: RequestInit = {}): Promise<RawAnswer> {
    const all = { "Content-Type": "application/json", Accept: ACCEPT_BOTH, ...this.headers, ...headers };
    return post(this.bound, JSON.stringify({ jsonrpc: "2.0", ...message }), all, init);
  }

  /** Sends a request; its response, whether as JSON or as the last event of a stream. */
  async ask(method: string, params: object = {}, id: number | string = 1): Promise<Record<string, unknown>> {
    const answer = await this.post({ id, method, params });
    const isStream = answer.headers.get("content-type") === "text/event-stream";
    const text = isStream ? (eventsIn(answer.text).events.at(-1)?.data ?? "") : answer.text;
    const response: Record<string, unknown> = JSON.parse(text);
    return response;
  }

  /** Sends a message; its answer, with the body still to come. */
  send(message: object, url = this.bound.url, signal?: AbortSignal): Promise<Response> {
    const headers = { ...this.bound.headers, ...this.headers, Accept: ACCEPT_BOTH };
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    return fetch(url, { method: "POST", body, headers, ...(signal === undefined ? {} : { signal }) });
  }

  /** Opens the stream of a request. */
  async open(message: object, signal?: AbortSignal): Promise<OpenStream> {
    return new OpenStream(await this.send(message, this.bound.url, signal));
  }

  /** Listens, from the beginning or after an event. */
  async listen(lastEventId?: string, signal?: AbortSignal): Promise<OpenStream> {
    const resuming = lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId };
    const headers = { ...this.bound.headers, ...this.headers, ...resuming, Accept: "text/event-stream" };
    const init = { headers, ...(signal === undefined ? {} : { signal }) };
    return new OpenStream(await fetch(this.bound.url, init));
  }

  async end(): Promise<number> {
    const headers = { ...this.bound.headers, ...this.headers };
    return (await fetch(this.bound.url, { method: "DELETE", headers })).status;
  }
}

export function initialize(
  bound: BoundAgent,
  protocolVersion = "2025-11-25",
  accept = ACCEPT_BOTH,
  capabilities: object = {},
): Promise<RawAnswer> {
  const params = { protocolVersion, capabilities, clientInfo: { name: "t", version: "1" } };
  const message = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  return post(bound, message, { "Content-Type": "application/json", Accept: accept });
}

export function call(name: string, id: number | string = 1, meta?: object): object {
  return { id, method: "tools/call", params: { name, arguments: {}, ...(meta && { _meta: meta }) } };
}

/** A way to a server that cuts the connection after so many bytes of what comes back. */
export interface CuttingProxy {
  readonly url: string;
  /** What came back since `cutNext`, with the head and the framing of the answer. */
  readonly seen: string;
  /** How often it cut. */
  readonly cuts: number;
  /** From now on counts bytes, and cuts once when there are so many. */
  cutNext(afterBytes: number): void;
}

export async function cuttingProxy(target: string): Promise<CuttingProxy> {
  const { port, pathname } = new URL(target);
  const sockets = new Set<Socket>();
  let limit = Infinity;
  const proxy = {
    url: "",
    seen: "",
    cuts: 0,
    cutNext(afterBytes: number): void {
      limit = afterBytes;
      proxy.seen = "";
    },
  };
  const server = createServer((near) => {
    const far = connect(Number(port), "127.0.0.1");
    for (const each of [near, far]) {
      sockets.add(each);
      each.on("error", () => undefined).on("close", () => sockets.delete(each));
    }
    near.on("close", () => far.destroy());
    far.on("close", () => near.end());
    near.pipe(far, { end: false });
    far.on("data", (chunk: Buffer) => {
      const part = chunk.subarray(0, Math.max(0, limit - proxy.seen.length));
      proxy.seen += part.toString("latin1");
      near.write(part);
      if (proxy.seen.length < limit) return;
      proxy.cuts += 1;
      limit = Infinity;
      far.destroy();
      near.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  proxy.url = `http://127.0.0.1:${String(typeof address === "object" ? (address?.port ?? 0) : 0)}${pathname}`;
  onTestFinished(() => {
    for (const each of sockets) each.destroy();
    server.close();
  });
  return proxy;
}
