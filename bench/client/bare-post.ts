import { createParser } from "eventsource-parser";
import { Agent, type Dispatcher, request } from "undici";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** The result of a call as far as the rows look at it. */
export interface BareResult {
  readonly content?: unknown;
  readonly structuredContent?: { readonly items?: readonly { readonly id: number }[] };
  readonly supportedVersions?: readonly string[];
  readonly tools?: readonly { readonly name: string }[];
}

interface BareMessage {
  readonly method?: string;
  readonly params?: { readonly progress?: number };
  readonly result?: BareResult;
}

type Params = Readonly<Record<string, unknown>>;

/** The same POSTs with `undici.request` and nothing else. */
export class BarePost {
  readonly #url: string;
  readonly #dispatcher = new Agent();
  readonly #further: Readonly<Record<string, string>>;
  readonly #headers = new Map<string, Readonly<Record<string, string>>>();
  #id = 0;

  constructor(url: string, further: Readonly<Record<string, string>> = {}) {
    this.#url = url;
    this.#further = further;
  }

  /** `asksForProgress` has the request's id as its progress token. */
  send(method: string, params: Params, asksForProgress = false): Promise<Dispatcher.ResponseData> {
    this.#id += 1;
    const _meta = asksForProgress ? { ...META, progressToken: this.#id } : META;
    const body = JSON.stringify({ jsonrpc: "2.0", id: this.#id, method, params: { ...params, _meta } });
    const headers = this.#headersOf(method, params["name"]);
    return request(this.#url, { method: "POST", headers, body, dispatcher: this.#dispatcher });
  }

  /** A call whose answer is JSON. */
  async json(method: string, params: Params): Promise<BareResult> {
    const answer = await this.send(method, params);
    const message: BareMessage = JSON.parse(await answer.body.text());
    return message.result ?? {};
  }

  /** A call whose answer is a stream; `onProgress` gets the progress of each notification. */
  async stream(params: Params, onProgress: (progress: number) => void): Promise<BareResult> {
    const answer = await this.send("tools/call", params, true);
    const decoder = new TextDecoder();
    let result: BareResult | undefined;
    const parser = createParser({
      onEvent: ({ data }) => {
        const message: BareMessage = JSON.parse(data);
        if (message.method !== undefined) onProgress(message.params?.progress ?? 0);
        else result = message.result;
      },
    });
    return new Promise((resolve, reject) => {
      answer.body.on("data", (chunk: Buffer) => parser.feed(decoder.decode(chunk, { stream: true })));
      answer.body.on("end", () => resolve(result ?? {}));
      answer.body.on("error", reject);
    });
  }

  /** Made once for each method and name. */
  #headersOf(method: string, name: unknown): Readonly<Record<string, string>> {
    const key = typeof name === "string" ? `${method} ${name}` : method;
    const known = this.#headers.get(key);
    if (known !== undefined) return known;
    const made = {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": method,
      ...(typeof name === "string" ? { "Mcp-Name": name } : {}),
      ...this.#further,
    };
    this.#headers.set(key, made);
    return made;
  }

  close(): Promise<void> {
    return this.#dispatcher.close();
  }
}
