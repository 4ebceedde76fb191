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
  UnmadeRequest,
  UpstreamAnswer,
} from "../local-server/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import { createStateSealer } from "../rounds/index.js";
import type { Route } from "../routes/index.js";
import { AggregatedEntries } from "./aggregated-entries.js";
import { AggregatedTools } from "./aggregated-tools.js";
import { connectorOf, type FoundTool } from "./found-tool.js";
import type { CatalogReading } from "./catalog-views.js";
import type { KnownTools } from "./known-tools.js";
import type { ListeningAgents } from "./list-news.js";
import type { AggregatedDirectoryOptions, ConnectorTraits } from "./ports.js";
import { AskingCaller } from "./asking-caller.js";
import { RouteCaller } from "./route-caller.js";
import { RouteFinder } from "./route-finder.js";
import { type TestAnswer, type TestCall, TestCaller } from "./test-call.js";
import { ToolViews } from "./tool-views.js";
import { UpstreamListening } from "./upstream-listening.js";

/** What all connectors in reach have, as one directory, and each request to the one connector that it is for. */
export class AggregatedDirectory implements ToolDirectory {
  readonly #options: AggregatedDirectoryOptions;
  readonly #views: ToolViews;
  readonly #upstream: UpstreamListening;
  readonly #tools: AggregatedTools;
  readonly #entries: AggregatedEntries;
  readonly #tests: TestCaller;
  readonly #caller: AskingCaller;
  readonly #ends: (() => void)[] = [];
  #agents: ListeningAgents | undefined;

  constructor(options: AggregatedDirectoryOptions) {
    this.#options = options;
    const { clock, contracts, random, reach, routes } = options;
    const unknown: ConnectorTraits = { capabilities: ["tools"], listing: "live", contracts };
    const traitsOf = (connectorKey: string): ConnectorTraits => reach.describe?.(connectorKey) ?? unknown;
    const finder = new RouteFinder(options);
    const { sealer = createStateSealer(), heldCalls, maxInputRounds = MAX_INPUT_ROUNDS } = options;
    const caller = new AskingCaller({
      caller: new RouteCaller(options),
      reach,
      clock,
      sealer,
      heldCalls,
      maxInputRounds,
    });
    this.#caller = caller;
    const isCovered = (route: Route<RemoteMcpClient>): boolean => this.#upstream.covers(route, "tools");
    this.#views = new ToolViews({ ...options, finder, traitsOf, isCovered });
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
    this.#tests = new TestCaller({ options, finder, caller, views: this.#views });
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
  resolve(binding: Binding, exposedName: string, signal: AbortSignal, deadline?: number): Promise<FoundTool> {
    return this.#tools.resolve(binding, exposedName, signal, deadline);
  }

  call(binding: Binding, resolved: ResolvedTool, call: ToolCall): Promise<UpstreamAnswer> {
    return this.#entries.noting(binding, this.#tools.call(binding, resolved, call), connectorOf(resolved));
  }

  unmade(call: ToolCall, error: unknown): UnmadeRequest {
    return this.#caller.unmade(call, error);
  }

  /** A person's own call of a tool, whatever agents may do with it. Rejects as {@link TestCaller.call} does. */
  testCall(scopes: readonly string[], test: TestCall): Promise<TestAnswer> {
    return this.#tests.call(scopes, test);
  }

  /** The tools of a connector as they were listed last, for people; `undefined`: never yet. No server is asked. */
  knownTools(scopes: readonly string[], connectorKey: string): Promise<KnownTools | undefined> {
    return this.#views.known(scopes, connectorKey);
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

  /** What agents see of the connector may be other tools or descriptions, by what people decided: those are told that see a difference. */
  onPermissionChange(connectorKey: string): void {
    this.#views.onPermissionChange(connectorKey);
  }

  /** Drops the catalogs in memory, of a connector or all: what is kept of them is read again. */
  invalidate(connectorKey?: string): void {
    this.#views.invalidate(connectorKey);
  }

  /** The connector is no more, or has other settings: nothing of its catalog is left. */
  forget(connectorKey: string): void {
    this.#views.forget(connectorKey);
  }

  /** The catalog of a connector is out of date: it is read anew, and nobody waits for that. */
  outdate(connectorKey: string): void {
    this.#views.outdate(connectorKey);
  }

  /** The catalog of a connector, for people: from memory, from what is kept, or from its server. Rejects as {@link refreshCatalog} does. */
  readCatalog(scopes: readonly string[], connectorKey: string, signal: AbortSignal): Promise<CatalogReading> {
    return this.#views.readCatalog(scopes, connectorKey, signal);
  }

  /**
   * Reads the catalog of a connector anew. Rejects with what its client rejects with, with `unknown_connector`, with `route_unavailable`
   * when it can't be reached or is paused, and with `cancelled` when its settings are others by then; the old catalog stays then.
   */
  refreshCatalog(scopes: readonly string[], connectorKey: string, signal: AbortSignal): Promise<CatalogReading> {
    return this.#views.refreshCatalog(scopes, connectorKey, signal);
  }

  /** Requests that wait at their servers while their agents are asked. */
  get heldCalls(): number {
    return this.#caller.heldCount;
  }

  /** Ends what waits for an agent session that is over. */
  onBindingEnd(binding: Binding): void {
    this.#options.approvals?.endOf?.(binding);
    this.#caller.endBinding(binding);
  }

  /** Ends what waits for agents, and resolves once that is over at its servers. Nothing can wait any more. */
  settleHeld(): Promise<void> {
    return this.#caller.close();
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

const MAX_INPUT_ROUNDS = 10;
const KINDS: readonly ListKind[] = ["tools", "prompts", "resources"];
