import type { IncomingMessage, ServerResponse } from "node:http";
import { RemoteConnectorError } from "../../errors.js";
import { listen } from "../../serving/index.js";
import { AgentEndpoint, ENDPOINT_PATH } from "./agent-endpoint.js";
import { type BindingRequest, Bindings } from "./bindings.js";
import { type DurableBinding, type DurableBindingRequest, DurableBindings } from "./durable-bindings.js";
import { Exchanges } from "./exchanges.js";
import { LegacySurface } from "./legacy-surface.js";
import { Listeners, type ListKind } from "./listeners.js";
import { ModernSurface } from "./modern-surface.js";
import { type LocalServerOptions, resolveLocalServerOptions } from "./options.js";
import type { Binding } from "./ports.js";
import { SessionEndpoint, Sessions } from "./sessions/index.js";
import { Subscriptions } from "./subscriptions.js";

/** What an agent is given to reach the server. */
export interface BoundAgent {
  readonly binding: Binding;
  readonly url: string;
  /** The bearer, ready to be sent with every request. It is a secret. */
  readonly headers: { readonly Authorization: string };
  /**
   * Ends this bearer: it is refused from now on, and what runs under it is aborted. Idempotent; does nothing to a bearer that
   * the session got since.
   */
  revoke(): void;
}

/** What an agent of a durable binding is given. */
export type DurableAgent = Omit<BoundAgent, "revoke">;

/** Who uses the local server now. */
export interface AgentCounts {
  /** Agent sessions with a bearer. */
  readonly bindings: number;
  readonly durableBindings: number;
  /** MCP sessions of revisions before 2026-07-28. */
  readonly sessions: number;
  /** Streams on which changes are told. */
  readonly listeners: number;
  /** Requests that are being answered. */
  readonly requests: number;
}

/** The one MCP server of the machine's agents. */
export interface LocalServer {
  /** `http://127.0.0.1:<port>/mcp`. */
  readonly url: string;
  /**
   * Makes a bearer for an agent session, and ends the one that the session had.
   *
   * Throws `invalid_argument` for an unusable identifier, `limit_exceeded` when too many sessions are bound, and `cancelled`
   * after `close`.
   */
  bind(request: BindingRequest): BoundAgent;
  /** Ends the bearer of every session. Those of durable bindings stay. */
  revokeAll(): void;
  /**
   * Makes a bearer for a name, which ends the one that the name had. The new one is good until it is revoked.
   *
   * Rejects with `invalid_argument` for an unusable name or account, with `limit_exceeded` when too many names are bound, with
   * what their store rejects with, and with `cancelled` after `close`.
   */
  bindDurable(request: DurableBindingRequest): Promise<DurableAgent>;
  /** The durable bindings, by name. */
  durableBindings(): readonly DurableBinding[];
  /** Ends a durable binding at once, and what runs under it; whether there was one. Rejects with what the store rejects with. */
  revokeDurable(name: string): Promise<boolean>;
  /**
   * Answers a request of the durable binding `name` that shows no bearer: whoever sent it was let in by other means. It has the
   * meaning that it would have as a line over stdio, so that nothing of it is mirrored in headers.
   */
  answerNamed(name: string, request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Who uses it now. Costs nothing to ask. */
  readonly counts: AgentCounts;
  /** The agents that listen now. */
  readonly listeners: Pick<Listeners, "bindings" | "onChange" | "tell">;
  /** Tells agents that listen, of bindings for which `concerns` holds (all when left out), to read a list again. */
  notifyListChanged(kind: ListKind, concerns?: (binding: Binding) => boolean): void;
  /**
   * Stops accepting, aborts what runs, lets it be answered within `closeTimeoutMs` (that of the options when left out), and cuts
   * what is left. Idempotent; called again, the time that ends first counts. Never rejects.
   */
  close(closeTimeoutMs?: number): Promise<void>;
}

/**
 * Starts the local server on 127.0.0.1.
 *
 * Rejects with `invalid_options`, with `listen_failed` when the port is taken or may not be used, and with what the store of
 * durable bindings rejects with.
 */
export async function createLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  const config = resolveLocalServerOptions(options);
  const exchanges = new Exchanges({
    clock: config.clock,
    keepAliveMs: config.keepAliveMs,
    maxBufferedBytes: config.maxBufferedBytes,
    resumeWindowMs: config.resumeWindowMs,
    onDone: ({ binding, session }) => {
      bindings.touch(binding);
      session?.touch();
    },
  });
  const bindings = new Bindings({
    maxBindings: config.maxBindings,
    bindingIdleMs: config.bindingIdleMs,
    clock: config.clock,
    randomBytes: config.randomBytes,
    isBusy: (binding) => exchanges.isBusy(binding) || sessions.isBusy(binding),
    onEnd: endBinding,
  });
  const durable = await DurableBindings.load({
    rows: config.durableBindings,
    maxDurableBindings: config.maxDurableBindings,
    randomBytes: config.randomBytes,
    onEnd: endBinding,
  });
  const listeners = new Listeners();
  const subscriptions = new Subscriptions(config, listeners);
  const modern = new ModernSurface(config, subscriptions);
  const sessions = new Sessions({
    config,
    listeners,
    isRunning: (session) => exchanges.isRunning(session),
    onEnd: (session) => exchanges.endOfSession(session),
  });
  const legacy = new LegacySurface(config, exchanges, sessions);
  const endpoint = new AgentEndpoint({
    config,
    bindings,
    durable,
    exchanges,
    modern,
    legacy,
    sessions: new SessionEndpoint(config, sessions, (binding) => bindings.touch(binding)),
  });
  const listener = await listen((request, response) => endpoint.handle(request, response), {
    port: config.port,
    headersTimeoutMs: config.headersTimeoutMs,
    requestTimeoutMs: config.requestTimeoutMs,
    closeTimeoutMs: config.closeTimeoutMs,
    onFault: config.onFault,
  });
  const url = `${listener.origin}${ENDPOINT_PATH}`;
  let closing: Promise<void> | undefined;

  function endBinding(binding: Binding): void {
    exchanges.endOf(binding, "binding_ended");
    config.directory.onBindingEnd?.(binding);
    sessions.endOf(binding);
  }

  async function shutDown(closeTimeoutMs: number | undefined): Promise<void> {
    endpoint.close();
    const closed = listener.close(closeTimeoutMs);
    exchanges.endAll("server_closing");
    bindings.revokeAll();
    sessions.close();
    await closed;
    exchanges.close();
  }

  return {
    url,
    bind(request) {
      if (closing !== undefined) throw serverClosed();
      const { binding, token } = bindings.bind(request);
      const headers = { Authorization: `Bearer ${token}` };
      return { binding, url, headers, revoke: () => bindings.revoke(binding) };
    },
    revokeAll: () => bindings.revokeAll(),
    async bindDurable(request) {
      if (closing !== undefined) throw serverClosed();
      const { binding, token } = await durable.bind(request);
      return { binding, url, headers: { Authorization: `Bearer ${token}` } };
    },
    durableBindings: () => durable.list(),
    revokeDurable: (name) => durable.revoke(name),
    answerNamed: (name, request, response) => endpoint.handleNamed(name, request, response),
    get counts() {
      return {
        bindings: bindings.size,
        durableBindings: durable.size,
        sessions: sessions.size,
        listeners: listeners.size,
        requests: exchanges.size,
      };
    },
    listeners,
    notifyListChanged: (kind, concerns = everyBinding) => listeners.tell(kind, concerns),
    close(closeTimeoutMs) {
      if (closing !== undefined && closeTimeoutMs !== undefined) void listener.close(closeTimeoutMs);
      return (closing ??= shutDown(closeTimeoutMs));
    },
  };
}

function everyBinding(): boolean {
  return true;
}

function serverClosed(): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: "The local server is closed.",
    details: { reason: "server_closing" },
  });
}
