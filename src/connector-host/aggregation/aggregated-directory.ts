import type {
  Binding,
  CompletionRequest,
  ListKind,
  PromptDirectory,
  ResolvedTool,
  ResourceDirectory,
  ToolCall,
  ToolDirectory,
  ToolListing,
  UpstreamAnswer,
} from "../local-server/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Route } from "../routes/index.js";
import { AggregatedEntries } from "./aggregated-entries.js";
import { AggregatedTools, connectorOf, type FoundTool } from "./aggregated-tools.js";
import type { ListeningAgents } from "./list-news.js";
import type { AggregatedDirectoryOptions, ConnectorTraits } from "./ports.js";
import { AskingCaller } from "./asking-caller.js";
import { RouteCaller } from "./route-caller.js";
import { RouteFinder } from "./route-finder.js";
import { ToolViews } from "./tool-views.js";
import { UpstreamListening } from "./upstream-listening.js";

/** What all connectors in reach have, as one directory, and each request to the one connector that it is for. */
export class AggregatedDirectory implements ToolDirectory {
  readonly #options: AggregatedDirectoryOptions;
  readonly #views: ToolViews;
  readonly #upstream: UpstreamListening;
  readonly #tools: AggregatedTools;
  readonly #entries: AggregatedEntries;
  readonly #ends: (() => void)[] = [];
  #agents: ListeningAgents | undefined;

  constructor(options: AggregatedDirectoryOptions) {
    this.#options = options;
    const { clock, contracts, random, reach, routes } = options;
    const unknown: ConnectorTraits = { capabilities: ["tools"], listing: "live", contracts };
    const traitsOf = (connectorKey: string): ConnectorTraits => reach.describe?.(connectorKey) ?? unknown;
    const finder = new RouteFinder(options);
    const caller = new AskingCaller(new RouteCaller(options));
    const isCovered = (route: Route<RemoteMcpClient>): boolean => this.#upstream.covers(route, "tools");
    this.#views = new ToolViews({ ...options, traitsOf, isCovered });
    this.#upstream = new UpstreamListening({
      clock,
      random,
      routes,
      traitsOf,
      isListenedFor: (scope) => this.#isListenedFor(scope),
      onOpen: (route) => this.#onOpen(route),
      onChanged: (route, kind) => this.#onChanged(route, kind),
    });
    this.#tools = new AggregatedTools({ options, finder, caller, views: this.#views, upstream: this.#upstream });
    this.#entries = new AggregatedEntries(options, finder, caller);
    const stop = routes.onPublication((changes) => {
      this.#views.onPublication(changes);
      this.#entries.onPublication(changes);
      this.#upstream.look();
    });
    this.#ends.push(stop);
  }

  list(binding: Binding, signal: AbortSignal): Promise<ToolListing> {
    return this.#tools.list(binding, signal);
  }

  known(binding: Binding, exposedName: string): FoundTool | undefined {
    return this.#tools.known(binding, exposedName);
  }

  /** Rejects as {@link AggregatedTools.resolve} does. */
  resolve(binding: Binding, exposedName: string, signal: AbortSignal): Promise<FoundTool> {
    return this.#tools.resolve(binding, exposedName, signal);
  }

  call(binding: Binding, resolved: ResolvedTool, call: ToolCall): Promise<UpstreamAnswer> {
    return this.#entries.noting(binding, this.#tools.call(binding, resolved, call), connectorOf(resolved));
  }

  get prompts(): PromptDirectory {
    return this.#entries.prompts;
  }

  get resources(): ResourceDirectory {
    return this.#entries.resources;
  }

  complete(binding: Binding, request: CompletionRequest): Promise<UpstreamAnswer> {
    return this.#entries.complete(binding, request);
  }

  instructions(binding: Binding): string | undefined {
    return this.#tools.instructions(binding);
  }

  /** From now on these agents are told of changes of what they see, and servers are listened to while they listen. Once. */
  listenFor(agents: ListeningAgents): void {
    this.#agents = agents;
    this.#views.listenFor(agents);
    this.#entries.listenFor(agents);
    this.#ends.push(agents.onChange(() => this.#upstream.look()));
    this.#upstream.look();
  }

  /** Tools of the connector came into lists, or went out of them, by what may be done with them: agents are told that see a difference. */
  onPermissionChange(connectorKey: string): void {
    this.#views.onPermissionChange(connectorKey);
  }

  /** Drops the catalog of a connector, or all: its settings are others, or it is no more. */
  invalidate(connectorKey?: string): void {
    this.#views.invalidate(connectorKey);
  }

  /** Ends what it holds open. Idempotent. */
  close(): void {
    for (const end of this.#ends.splice(0)) end();
    this.#views.close();
    this.#entries.close();
    this.#upstream.close();
  }

  #isListenedFor(scope: string): boolean {
    const agents = this.#agents;
    return agents !== undefined && KINDS.some((kind) => this.#reaches(agents.bindings(kind), scope));
  }

  #reaches(bindings: ReadonlySet<Binding>, scope: string): boolean {
    for (const binding of bindings) if (this.#options.reach.scopesOf(binding).includes(scope)) return true;
    return false;
  }

  /** What a server has told before its stream was open is not known. */
  #onOpen(route: Route<RemoteMcpClient>): void {
    this.#views.mayHaveChanged(route);
    this.#entries.mayHaveChanged(route);
  }

  #onChanged(route: Route<RemoteMcpClient>, kind: ListKind): void {
    if (kind === "tools") this.#views.hasChanged(route);
    else this.#entries.hasChanged(route, kind);
  }
}

const KINDS: readonly ListKind[] = ["tools", "prompts", "resources"];
