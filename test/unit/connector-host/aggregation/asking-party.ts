import { AskingCaller } from "../../../../src/connector-host/aggregation/asking-caller.js";
import { RouteCaller, type RouteRequestOptions } from "../../../../src/connector-host/aggregation/route-caller.js";
import type { CallSubject, JournalEnd } from "../../../../src/connector-host/aggregation/ports.js";
import type { CallLeaseRequest, RemoteMcpClient } from "../../../../src/connector-host/factories/index.js";
import type { AgentInput, Binding, ForwardedRequest } from "../../../../src/connector-host/local-server/index.js";
import { createStateSealer, type HeldCallLimits } from "../../../../src/connector-host/rounds/index.js";
import { Route, RouteTable } from "../../../../src/connector-host/routes/index.js";
import { type Delivery, recordDelivery } from "../../../../src/errors.js";
import { ModernStreamableHTTPClient } from "../../../../src/modern-client/index.js";
import type { DetailedResult, JsonObject } from "../../../../src/protocol/index.js";
import { FakeClock } from "../../../support/fake-clock.js";

export const FORMS: JsonObject = { elicitation: { form: {} } };
export const FORM = { method: "elicitation/create", params: { message: "Who?", requestedSchema: { type: "object" } } };
const SCOPE = "account:ada";

export function bindingOf(agentSessionId: string): Binding {
  return Object.freeze({ workspaceId: "w", agentSessionId, invocation: undefined, login: undefined });
}

/** One request as it came to a server, which answers when it is told to. */
export interface MadeRequest {
  readonly options: RouteRequestOptions;
  readonly lease: CallLeaseRequest | undefined;
  answer(result: JsonObject): void;
  fail(reason: unknown): void;
}

interface Given {
  readonly input?: AgentInput | undefined;
  readonly binding?: Binding | undefined;
  readonly subject?: Partial<CallSubject>;
  readonly leaving?: AbortController;
  readonly route?: Route<RemoteMcpClient>;
  readonly onProgress?: ForwardedRequest["onProgress"];
}

/** Requests of agents over routes of a real table, to servers that are played. */
export class AskingParty {
  readonly clock = new FakeClock();
  readonly routes = new RouteTable<RemoteMcpClient>({ clock: this.clock, drainTimeoutMs: 60_000 });
  readonly sealer = createStateSealer({ hostId: "host" });
  readonly caller: AskingCaller;
  readonly made: MadeRequest[] = [];
  readonly leases: CallLeaseRequest[] = [];
  readonly ends: JournalEnd[] = [];
  released = 0;
  openedFor: readonly string[] = ["tools", "elicitation"];
  /** Whether connections that are wanted are there at once. */
  hasConnections = true;
  readonly binding = bindingOf("s");
  #generation = 0;

  constructor(limits?: HeldCallLimits) {
    this.routes.openScope(SCOPE, "e");
    const { clock, routes } = this;
    const reach = {
      scopesOf: () => [SCOPE],
      missing: async () => [],
      missingOne: async () => undefined,
      wake: () => undefined,
      onFailure: () => undefined,
      describe: () => ({
        capabilities: this.openedFor,
        listing: "live" as const,
        contracts: "last_list" as const,
      }),
    };
    const journal = {
      begin: async () => ({ admit: () => undefined, end: (end: JournalEnd) => void this.ends.push(end) }),
    };
    this.caller = new AskingCaller({
      caller: new RouteCaller({ clock, reach, routes, journal }),
      reach,
      clock,
      sealer: this.sealer,
      heldCalls: limits,
      maxInputRounds: 3,
    });
  }

  /** Publishes a route to a server of this era; to a legacy one with leases, unless it has none. */
  async publish(
    era: "modern" | "legacy",
    { withLeases = era === "legacy", settings = "d" } = {},
  ): Promise<Route<RemoteMcpClient>> {
    this.#generation += 1;
    const plain = new ModernStreamableHTTPClient({
      endpoint: "http://127.0.0.1:9/mcp",
      clientInfo: { name: "test", version: "1" },
    });
    const leases = withLeases
      ? {
          acquire: async (request: CallLeaseRequest) => {
            this.leases.push(request);
            if (!this.hasConnections) {
              await new Promise((_resolve, reject) => {
                request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true });
              });
            }
            return { client: plain, release: () => void (this.released += 1) };
          },
        }
      : undefined;
    const route = new Route<RemoteMcpClient>({
      connectorKey: "notes",
      scope: SCOPE,
      scopeEpoch: "e",
      generation: this.#generation,
      releaseDigest: settings,
      connectionVersion: 1n,
      client: Object.assign(plain, { era, leases }),
      tools: new Map(),
    });
    await this.routes.commit(route);
    return route;
  }

  /** A request of the agent as the directory makes it. */
  call({ input, binding = this.binding, subject, leaving = new AbortController(), route, onProgress }: Given = {}) {
    const over = route ?? this.routes.current("notes");
    if (over === undefined) throw new Error("no route");
    const request: ForwardedRequest = {
      meta: {},
      logLevel: undefined,
      signal: leaving.signal,
      deadline: this.clock.now() + 30_000,
      onProgress,
      input,
    };
    return this.caller.call({
      route: over,
      request,
      subject: {
        kind: "tool",
        nativeName: "write",
        exposedName: "notes_write",
        argumentsText: '{"a":1}',
        binding,
        ...subject,
      },
      make: (_client, options) => this.#make(options),
    });
  }

  /** What the client of a request that ends by its signal does, with an honest verdict. */
  #make(options: RouteRequestOptions): Promise<DetailedResult<JsonObject>> {
    const refusal = options.admit?.();
    const lease = this.leases.at(-1);
    const answered = new Promise<DetailedResult<JsonObject>>((resolve, reject) => {
      if (refusal !== undefined) return reject(new Error(refusal));
      const end = (reason: unknown, delivery: Delivery): void => {
        recordDelivery(answered, reason, delivery);
        reject(reason);
      };
      options.signal?.addEventListener("abort", () => end(options.signal?.reason, "unknown"), { once: true });
      this.made.push({
        options,
        lease,
        answer: (result) => resolve({ result, raw: bytesOf(result), diagnostics: [], delivery: "answered" }),
        fail: (reason) => end(reason, "answered"),
      });
    });
    return answered;
  }
}

export function bytesOf(result: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(result), "utf8");
}
