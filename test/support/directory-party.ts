import {
  AggregatedDirectory,
  type ConnectorTraits,
  type MissingConnector,
} from "../../src/connector-host/aggregation/index.js";
import type { AggregatedDirectoryOptions, ListDiagnostic } from "../../src/connector-host/aggregation/ports.js";
import type { DescriptionTable } from "../../src/connector-host/aggregation/override-descriptions.js";
import type { RemoteMcpClient } from "../../src/connector-host/factories/index.js";
import { type ListKind, Listeners } from "../../src/connector-host/local-server/listeners.js";
import type { Binding } from "../../src/connector-host/local-server/index.js";
import {
  buildNamespaceTable,
  createInjectiveNaming,
  type NamespaceTable,
} from "../../src/connector-host/naming/index.js";
import { Route, RouteTable } from "../../src/connector-host/routes/index.js";
import type { RouteInit } from "../../src/connector-host/routes/route.js";
import { ModernStreamableHTTPClient } from "../../src/modern-client/index.js";
import { type Clock, systemClock } from "../../src/transport/index.js";
import { expect } from "vitest";
import type { Opened } from "./opened.js";
import { type ConnectorCall, ScriptedGateway, working } from "./scripted-gateway.js";

const SCOPE = "account:ada";

/** An agent's binding that reaches everything. */
export function bindingOf(agentSessionId: string): Binding {
  return Object.freeze({ workspaceId: "w", agentSessionId, invocation: undefined, login: undefined });
}

/** A directory over real routes to scripted servers, without the host that would decide which there are. */
export class DirectoryParty {
  readonly gateway: ScriptedGateway;
  readonly routes = new RouteTable<RemoteMcpClient>();
  readonly listeners = new Listeners();
  readonly directory: AggregatedDirectory;
  readonly traits = new Map<string, ConnectorTraits>();
  readonly binding = bindingOf("s");
  /** What the host says is missing. */
  missing: readonly MissingConnector[] = [];
  /** Keys that were to be woken, in order. */
  readonly woken: string[] = [];
  /** Those who are to be told when what a connector is at changes. */
  readonly watching = new Set<() => void>();
  /** What is said of tools in place of what their server says. */
  described: (key: string, binding: Binding) => readonly DescriptionTable[] = () => [];
  /** What lists left out, as `key reason`. */
  readonly omissions: string[] = [];
  readonly named: { readonly connectorKey: string; readonly diagnostics: readonly ListDiagnostic[] }[] = [];
  readonly #clock: Clock;
  #generation = 0;

  private constructor(gateway: ScriptedGateway, keys: readonly string[], options: Partial<AggregatedDirectoryOptions>) {
    this.gateway = gateway;
    this.#clock = options.clock ?? systemClock;
    this.routes.openScope(SCOPE, "e");
    const namespaces: NamespaceTable = buildNamespaceTable(createInjectiveNaming(), keys);
    this.directory = new AggregatedDirectory({
      routes: this.routes,
      namespaces,
      clock: this.#clock,
      listBudgetMs: 2_000,
      wakeBudgetMs: 2_000,
      contracts: "reread",
      maxListBytes: 1_000_000,
      maxRememberedResources: 1_000,
      maxResourceSubscriptions: 100,
      random: () => 0,
      reach: {
        scopesOf: () => [SCOPE],
        describe: (key) => this.traits.get(key),
        missing: async () => this.missing,
        missingOne: async (_scopes, key) => this.missing.find(({ connectorKey }) => connectorKey === key),
        wake: (_scopes, key) => this.woken.push(key),
        onStatus: (_key, run) => {
          this.watching.add(run);
          return () => this.watching.delete(run);
        },
        onFailure: () => undefined,
        descriptionsOf: (key, binding) => this.described(key, binding),
        onOmission: ({ connectorKey }, reason) => this.omissions.push(`${connectorKey} ${String(reason)}`),
        onNameDiagnostics: (connectorKey, diagnostics) => this.named.push({ connectorKey, diagnostics }),
      },
      ...options,
    });
    this.directory.listenFor(this.listeners);
  }

  static async start(
    opened: Opened,
    keys: readonly string[],
    options: Partial<AggregatedDirectoryOptions> = {},
  ): Promise<DirectoryParty> {
    const gateway = await ScriptedGateway.start();
    opened.push(gateway);
    const party = new DirectoryParty(gateway, keys, options);
    opened.push({ close: () => party.routes.close(500) });
    opened.push(party.directory);
    for (const key of keys) await party.publish(key);
    return party;
  }

  /** Publishes a new route to the connector's server. */
  async publish(key: string, facts: Partial<RouteInit<RemoteMcpClient>> = {}): Promise<Route<RemoteMcpClient>> {
    this.#generation += 1;
    const route = new Route<RemoteMcpClient>({
      connectorKey: key,
      scope: SCOPE,
      scopeEpoch: "e",
      generation: this.#generation,
      releaseDigest: "d",
      connectionVersion: 1n,
      client: new ModernStreamableHTTPClient({
        endpoint: `${this.gateway.url}/v1/connectors/${key}/mcp`,
        clientInfo: { name: "test", version: "1" },
        maxReadRetries: 0,
      }),
      tools: new Map(),
      ...facts,
    });
    await this.routes.commit(route);
    return route;
  }

  /** Takes the connector's route away. */
  async withdraw(key: string): Promise<void> {
    await this.routes.remove(SCOPE, key, this.#generation);
  }

  async list(binding: Binding = this.binding, signal: AbortSignal = new AbortController().signal) {
    const { tools, omitted, stale = [] } = await this.directory.list(binding, signal);
    return {
      names: tools.map(({ name }) => name),
      omitted: Object.fromEntries(omitted.map(({ connectorKey, reason }) => [connectorKey, reason])),
      stale: Object.fromEntries(stale.map(({ connectorKey, reason }) => [connectorKey, reason])),
    };
  }

  /** What is missing is something else now. */
  becomes(...missing: readonly MissingConnector[]): void {
    this.missing = missing;
    for (const run of this.watching) run();
  }

  /** Waits until every route has a catalog: the first list has none read, and waits for none. */
  async listed(): Promise<void> {
    await expect.poll(() => this.list().then(({ omitted }) => omitted), { interval: 5 }).toEqual({});
  }

  /** Resolves and calls a tool, as the local server does. */
  async call(name: string, argumentsText = "{}", binding: Binding = this.binding): Promise<string> {
    const { signal } = new AbortController();
    const tool = await this.directory.resolve(binding, name, signal);
    const deadline = this.#clock.now() + 5_000;
    const { raw } = await this.directory.call(binding, tool, {
      argumentsText,
      meta: {},
      logLevel: undefined,
      signal,
      deadline,
    });
    return Buffer.from(raw).toString("utf8");
  }

  /** Has a binding listen: the methods that it is told of, as they come. */
  listen(binding: Binding = this.binding, kind: ListKind = "tools"): { readonly told: string[]; stop(): void } {
    const told: string[] = [];
    const notify = (method: string): unknown => told.push(method);
    return { told, stop: this.listeners.add({ binding, lists: new Set([kind]), notify }) };
  }

  /** How often connectors were asked for a method. */
  count(method: string, key?: string): number {
    return this.gateway.calls.filter(
      (call) => call.method === method && (key ?? call.connectorKey) === call.connectorKey,
    ).length;
  }
}

/** How connectors of the device are: listed from catalogs, and called by the last list. */
export const OF_DEVICE = { capabilities: ["tools"], listing: "catalog", contracts: "last_list" } as const;
export const LISTS_CHANGED = { supportedVersions: ["2026-07-28"], capabilities: { tools: { listChanged: true } } };
export const TOOLS_CHANGED = "notifications/tools/list_changed";

/** The tools of a list result, with these names. */
export function toolsText(...names: readonly string[]): string {
  const tools = names.map((name) => ({ name, inputSchema: { type: "object" } }));
  return JSON.stringify({ resultType: "complete", tools });
}

/** A server with a list that a test changes, and with subscriptions on which the test speaks. */
export class ChangingConnector {
  names: readonly string[];
  /** The streams that were opened and not ended. */
  readonly streams: ConnectorCall[] = [];
  opened = 0;
  /** What becomes of lists. Left out: they have the names. */
  lists: ((call: ConnectorCall) => void) | undefined;

  constructor(gateway: ScriptedGateway, key: string, ...names: readonly string[]) {
    this.names = names;
    gateway.script(key, (call) => this.#answer(call));
  }

  /** Tells all who listen that the list changed. */
  tell(): void {
    for (const stream of this.streams) say(stream, TOOLS_CHANGED, {});
  }

  /** Cuts the streams. */
  cut(): void {
    for (const { response } of this.streams.splice(0)) response.destroy();
  }

  #answer(call: ConnectorCall): void {
    if (call.method === "tools/list") (this.lists ?? (() => call.result(toolsText(...this.names))))(call);
    else if (call.method !== "subscriptions/listen") working(call);
    else {
      this.opened += 1;
      this.streams.push(call);
      call.response.on("close", () => {
        const at = this.streams.indexOf(call);
        if (at !== -1) this.streams.splice(at, 1);
      });
      call.response.writeHead(200, { "Content-Type": "text/event-stream" });
      say(call, "notifications/subscriptions/acknowledged", { notifications: call.params["notifications"] });
    }
  }
}

function say({ id, response }: ConnectorCall, method: string, params: object): void {
  const _meta = { "io.modelcontextprotocol/subscriptionId": id };
  response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", method, params: { _meta, ...params } })}\n\n`);
}
