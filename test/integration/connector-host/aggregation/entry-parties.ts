import { onTestFinished } from "vitest";
import { connect, type ConnectHttpOptions, type McpClient } from "../../../../src/connect/index.js";
import { AggregatedDirectory, type MissingConnector } from "../../../../src/connector-host/aggregation/index.js";
import type { RemoteMcpClient } from "../../../../src/connector-host/factories/index.js";
import type { Binding, ForwardedRequest, UpstreamAnswer } from "../../../../src/connector-host/local-server/index.js";
import { buildNamespaceTable, createInjectiveNaming } from "../../../../src/connector-host/naming/index.js";
import { Route, RouteTable } from "../../../../src/connector-host/routes/index.js";
import { type Diagnostic, RawJson } from "../../../../src/protocol/index.js";
import {
  type Answer,
  answerResult,
  type Handler,
  likeLegacyServer,
  likeModernServer,
  type MethodHandler,
  ScriptedServer,
} from "../../../../src/testing/index.js";
import { systemClock } from "../../../../src/transport/index.js";

type DirectoryOptions = ConstructorParameters<typeof AggregatedDirectory>[0];

export const DEVICE = "device";
const EPOCH = "epoch-1";

/** Real routes to real servers, and the directory over them. `opened`: what each connector is opened for. */
export class EntryParty {
  readonly routes = new RouteTable<RemoteMcpClient>();
  readonly directory: AggregatedDirectory;
  readonly failures: unknown[] = [];
  readonly diagnostics: Diagnostic[] = [];
  readonly woken: string[] = [];
  readonly opened: Record<string, readonly string[]>;
  missing: MissingConnector[] = [];
  scopes: readonly string[] = [DEVICE];
  /** What is denied: `key/name`. */
  readonly denied = new Set<string>();
  #generation = 0;

  constructor(opened: Record<string, readonly string[]>, options: Partial<DirectoryOptions> = {}) {
    this.opened = opened;
    this.routes.openScope(DEVICE, EPOCH);
    this.directory = new AggregatedDirectory({
      routes: this.routes,
      namespaces: buildNamespaceTable(createInjectiveNaming(), Object.keys(opened)),
      clock: systemClock,
      listBudgetMs: 5_000,
      wakeBudgetMs: 5_000,
      contracts: "last_list",
      maxListBytes: 1_000_000,
      maxRememberedResources: 1_000,
      maxResourceSubscriptions: 100,
      random: Math.random,
      reach: {
        scopesOf: () => this.scopes,
        describe: (key) => {
          const capabilities = this.opened[key];
          return capabilities && { capabilities, listing: "live", contracts: "last_list" };
        },
        admitsEntry: (key, name) => !this.denied.has(`${key}/${name}`),
        missing: async () => this.missing,
        missingOne: async (_scopes, key) => this.missing.find(({ connectorKey }) => connectorKey === key),
        wake: (_scopes, key) => void this.woken.push(key),
        onFailure: (_route, error) => void this.failures.push(error),
        onEntryDiagnostics: (_route, diagnostics) => void this.diagnostics.push(...diagnostics),
      },
      ...options,
    });
    onTestFinished(async () => {
      this.directory.close();
      await this.routes.close(1_000);
    });
  }

  /** Publishes a route to a server, in the place of the connector's present one. */
  async publish(
    connectorKey: string,
    server: { readonly url: string } | McpClient,
    options: Partial<ConnectHttpOptions> = {},
  ): Promise<Route<RemoteMcpClient>> {
    const client =
      "url" in server
        ? await connect({ endpoint: server.url, clientInfo: { name: "test", version: "1" }, ...options })
        : server;
    this.#generation += 1;
    const route = new Route<RemoteMcpClient>({
      connectorKey,
      scope: DEVICE,
      scopeEpoch: EPOCH,
      generation: this.#generation,
      releaseDigest: "digest",
      connectionVersion: 1n,
      client,
      tools: new Map(),
      discovered: await client.discover(),
    });
    const { published } = await this.routes.commit(route);
    if (!published) throw new Error(`The route of ${connectorKey} was not published.`);
    return route;
  }
}

export function bindingOf(agentSessionId = "agent"): Binding {
  return Object.freeze({ workspaceId: "w", agentSessionId, invocation: undefined, login: undefined });
}

/** What every request of an agent carries, with some of it changed. */
export function requestOf<T extends object>(changes: T): ForwardedRequest & T {
  return {
    meta: {},
    logLevel: undefined,
    signal: new AbortController().signal,
    deadline: systemClock.now() + 10_000,
    ...changes,
  };
}

export function textOf({ raw }: UpstreamAnswer): string {
  return Buffer.from(raw).toString("utf8");
}

/** A result of this very text. */
export function resultOf(text: string): Answer {
  return answerResult(new RawJson(text));
}

/** A method whose result is this very text. */
export function gives(text: string): MethodHandler {
  return () => resultOf(text);
}

export type Methods = Readonly<Record<string, MethodHandler>>;

/** Declared of everything that there is beside tools. */
const CAPABILITIES = {
  tools: {},
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
};

export function modern(methods: Methods): Handler {
  return likeModernServer({ methods, capabilities: CAPABILITIES });
}

export function legacy(methods: Methods): Handler {
  return likeLegacyServer({ methods, capabilities: CAPABILITIES });
}

/** A scripted server that is closed when the test is over. */
export async function serve(handler: Handler): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(handler);
  onTestFinished(() => server.close());
  return server;
}

/** How often a server was asked for something. */
export function timesAsked(server: ScriptedServer, method: string): number {
  return server.requests.filter((request) => request.method === method).length;
}

export const ERAS = [
  { era: "modern", like: modern },
  { era: "legacy", like: legacy },
] as const;
