import { RemoteConnectorError } from "../../../../src/errors.js";
import type {
  Binding,
  CompletionRequest,
  EntryListing,
  PromptDirectory,
  PromptRequest,
  ResourceDirectory,
  ResourceRequest,
  ResourceWatch,
  UpstreamAnswer,
} from "../../../../src/connector-host/local-server/index.js";

/** What comes of a request for one prompt, resource or completion. */
export type Serve<R> = (request: R, binding: Binding) => Promise<UpstreamAnswer>;

/** A request that was begun. */
export interface Begun<R> {
  readonly subject: string;
  readonly request: R;
  readonly binding: Binding;
}

export type FixedCompletions = (binding: Binding, request: CompletionRequest) => Promise<UpstreamAnswer>;

/** Prompts that a test lays down. */
export class FixedPrompts implements PromptDirectory {
  readonly #all = new Map<string, Serve<PromptRequest>>();
  listing: EntryListing = { entries: [], omitted: [] };
  readonly begun: Begun<PromptRequest>[] = [];

  add(name: string, serve: Serve<PromptRequest>, definition: object = { name }): this {
    this.#all.set(name, serve);
    this.listing = { ...this.listing, entries: [...this.listing.entries, JSON.stringify(definition)] };
    return this;
  }

  async list(_binding: Binding, signal: AbortSignal): Promise<EntryListing> {
    signal.throwIfAborted();
    return this.listing;
  }

  async get(binding: Binding, subject: string, request: PromptRequest): Promise<UpstreamAnswer> {
    const serve = this.#all.get(subject);
    if (serve === undefined) {
      throw new RemoteConnectorError("unknown_prompt", { message: "No such prompt.", details: { prompt: subject } });
    }
    this.begun.push({ subject, request, binding });
    return serve(request, binding);
  }
}

/** Resources that a test lays down. */
export class FixedResources implements ResourceDirectory {
  readonly #all = new Map<string, Serve<ResourceRequest>>();
  listing: EntryListing = { entries: [], omitted: [] };
  templates: EntryListing = { entries: [], omitted: [] };
  readonly begun: Begun<ResourceRequest>[] = [];
  /** The watches that were begun, with their URIs, in order. */
  readonly watches: { readonly uri: string; readonly watch: ResourceWatch }[] = [];
  /** What comes of watching a URI; one that is not here can be watched at once. */
  readonly onWatch = new Map<string, (watch: ResourceWatch) => Promise<void>>();

  add(uri: string, serve: Serve<ResourceRequest>): this {
    this.#all.set(uri, serve);
    this.listing = { ...this.listing, entries: [...this.listing.entries, JSON.stringify({ uri, name: uri })] };
    return this;
  }

  async list(_binding: Binding, signal: AbortSignal): Promise<EntryListing> {
    signal.throwIfAborted();
    return this.listing;
  }

  async listTemplates(_binding: Binding, signal: AbortSignal): Promise<EntryListing> {
    signal.throwIfAborted();
    return this.templates;
  }

  async read(binding: Binding, subject: string, request: ResourceRequest): Promise<UpstreamAnswer> {
    const serve = this.#all.get(subject);
    if (serve === undefined) throw missing(subject);
    this.begun.push({ subject, request, binding });
    return serve(request, binding);
  }

  async subscribe(_binding: Binding, uri: string, watch: ResourceWatch): Promise<void> {
    if (!this.#all.has(uri)) throw missing(uri);
    this.watches.push({ uri, watch });
    await this.onWatch.get(uri)?.(watch);
  }

  /** Says to all who watch a resource that it changed, whether or not they still want to hear of it. */
  update(uri: string): void {
    for (const each of this.watches) if (each.uri === uri) each.watch.onUpdated();
  }
}

/** Its details show the URI shortened, as errors do. */
function missing(uri: string): RemoteConnectorError<"resource_not_found"> {
  return new RemoteConnectorError("resource_not_found", {
    message: "No connector has this resource.",
    details: { uri: `${uri.slice(0, 4)}…`, rpcCode: -32602, rpcData: undefined },
  });
}
