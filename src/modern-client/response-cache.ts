import { classifyMessage, isJsonObject, type JsonObject, parseJson } from "../protocol/index.js";

/** What a cache of responses may hold, and whose they are. */
export interface ResponseCacheOptions {
  /** Results kept. Default 1,000. */
  readonly maxEntries?: number | undefined;
  /** Bytes of results kept. Default 16 MiB. */
  readonly maxBytes?: number | undefined;
  /**
   * Names the authorization context of the moment: an account, a token's digest. Private results are given only to the
   * context that they were given to. Without it a client that authorizes its requests keeps public results alone.
   */
  readonly context?: (() => string) | undefined;
}

export interface ResponseCacheConfig {
  readonly maxEntries: number;
  readonly maxBytes: number;
  /** `undefined`: private results are not kept. */
  readonly context: (() => string) | undefined;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
}

/** A message that holds a result: a body's bytes, or an event's data. */
type Message = Uint8Array | string;

export interface KeptResult {
  readonly result: JsonObject;
  readonly message: Message;
}

interface Entry {
  readonly message: Message;
  readonly freshUntil: number;
}

/** Where a response will go when it comes. */
export interface CachePlace {
  readonly key: string;
  readonly context: string | undefined;
  /** How often something was dropped when the request was made: what was asked for before a change may be of before it. */
  readonly epoch: number;
}

const CACHEABLE: ReadonlySet<string> = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);

/** What a notification says to have changed. */
const CHANGES: ReadonlyMap<string, readonly string[]> = new Map([
  ["notifications/tools/list_changed", ["tools/list"]],
  ["notifications/prompts/list_changed", ["prompts/list"]],
  ["notifications/resources/list_changed", ["resources/list", "resources/templates/list"]],
  ["notifications/resources/updated", ["resources/read"]],
]);

/**
 * Results as long as their server calls them fresh. Page by page; nothing is fetched ahead of time, and nothing stale is given.
 *
 * Source: 2026-07-28, Caching.
 */
export class ResponseCache {
  readonly #config: ResponseCacheConfig;
  /** From the one that was used longest ago. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  #epoch = 0;

  constructor(config: ResponseCacheConfig) {
    this.#config = config;
  }

  /** The place of a request's response; `undefined` for methods whose results are never kept. */
  placeOf(method: string, paramsJson: string): CachePlace | undefined {
    if (!CACHEABLE.has(method)) return undefined;
    return { key: `${method}\n${paramsJson}`, context: this.#config.context?.(), epoch: this.#epoch };
  }

  /** A fresh result for the place, read anew from its message: whoever gets it may change it. */
  find({ key, context }: CachePlace): KeptResult | undefined {
    const message =
      (context === undefined ? undefined : this.#find(privately(context, key))) ?? this.#find(publicly(key));
    if (message === undefined) return undefined;
    const text = typeof message === "string" ? message : Buffer.from(message).toString("utf8");
    const read = classifyMessage(parseJson(text));
    return read.kind === "result" ? { result: read.result, message } : undefined;
  }

  /** Keeps a result if its server allows it, and nothing has changed since it was asked for. */
  keep({ key, context, epoch }: CachePlace, result: JsonObject, message: Message): void {
    const { ttlMs, cacheScope } = result;
    if (typeof ttlMs !== "number" || !(ttlMs > 0) || epoch !== this.#epoch) return;
    const isPublic = cacheScope === "public";
    if (!isPublic && context === undefined) return;
    const name = isPublic || context === undefined ? publicly(key) : privately(context, key);
    this.#drop(name);
    const { maxBytes, maxEntries, now } = this.#config;
    if (message.length > maxBytes) return;
    // A body is a view of something larger, which must not be held for its sake.
    this.#entries.set(name, {
      message: typeof message === "string" ? message : message.slice(),
      freshUntil: now() + ttlMs,
    });
    this.#bytes += message.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= maxBytes && this.#entries.size <= maxEntries) break;
      this.#drop(oldest);
    }
  }

  /** Drops what a notification says to have changed. An updated resource takes its sub-resources with it. */
  heed(method: string, params: unknown): void {
    const changed = CHANGES.get(method);
    if (changed === undefined) return;
    this.#epoch += 1;
    const uri = isJsonObject(params) ? params["uri"] : undefined;
    const within = typeof uri === "string" ? JSON.stringify(uri).slice(1, -1) : "";
    for (const name of this.#entries.keys()) {
      const key = name.slice(name.indexOf("\n") + 1);
      const isChanged = changed.some((one) => key.startsWith(`${one}\n`));
      if (isChanged && (method !== "notifications/resources/updated" || key.includes(within))) this.#drop(name);
    }
  }

  clear(): void {
    this.#epoch += 1;
    this.#entries.clear();
    this.#bytes = 0;
  }

  #find(name: string): Message | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    this.#entries.delete(name);
    if (this.#config.now() >= entry.freshUntil) {
      this.#bytes -= entry.message.length;
      return undefined;
    }
    this.#entries.set(name, entry);
    return entry.message;
  }

  #drop(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    this.#entries.delete(name);
    this.#bytes -= entry.message.length;
  }
}

function publicly(key: string): string {
  return `public\n${key}`;
}

function privately(context: string, key: string): string {
  return `private ${JSON.stringify(context)}\n${key}`;
}
