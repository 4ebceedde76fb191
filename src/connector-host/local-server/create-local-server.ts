import { RemoteConnectorError } from "../../errors.js";
import { listen } from "../../serving/index.js";
import { AgentEndpoint, ENDPOINT_PATH } from "./agent-endpoint.js";
import { type BindingRequest, Bindings } from "./bindings.js";
import { Exchanges } from "./exchanges.js";
import { LegacySurface } from "./legacy-surface.js";
import { ModernSurface } from "./modern-surface.js";
import { type LocalServerOptions, resolveLocalServerOptions } from "./options.js";
import type { Binding } from "./ports.js";
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
  /** Ends every bearer. */
  revokeAll(): void;
  /** Tells agents that listen, of bindings for which `concerns` holds (all when left out), to read their list again. */
  notifyToolsChanged(concerns?: (binding: Binding) => boolean): void;
  /**
   * Stops accepting, aborts what runs, lets it be answered within `closeTimeoutMs`, and cuts what is left. Idempotent; never
   * rejects.
   */
  close(): Promise<void>;
}

/**
 * Starts the local server on 127.0.0.1.
 *
 * Rejects with `invalid_options`, and with `listen_failed` when the port is taken or may not be used.
 */
export async function createLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  const config = resolveLocalServerOptions(options);
  const exchanges = new Exchanges({
    clock: config.clock,
    keepAliveMs: config.keepAliveMs,
    maxBufferedBytes: config.maxBufferedBytes,
    onDone: (binding) => bindings.touch(binding),
  });
  const bindings = new Bindings({
    maxBindings: config.maxBindings,
    bindingIdleMs: config.bindingIdleMs,
    clock: config.clock,
    randomBytes: config.randomBytes,
    isBusy: (binding) => exchanges.isBusy(binding),
    onEnd: (binding) => exchanges.endOf(binding, "binding_ended"),
  });
  const subscriptions = new Subscriptions(config);
  const modern = new ModernSurface(config, subscriptions);
  const legacy = new LegacySurface(config, exchanges);
  const endpoint = new AgentEndpoint({ config, bindings, exchanges, modern, legacy });
  const listener = await listen((request, response) => endpoint.handle(request, response), {
    port: config.port,
    headersTimeoutMs: config.headersTimeoutMs,
    requestTimeoutMs: config.requestTimeoutMs,
    closeTimeoutMs: config.closeTimeoutMs,
    onFault: config.onFault,
  });
  const url = `${listener.origin}${ENDPOINT_PATH}`;
  let closing: Promise<void> | undefined;

  async function shutDown(): Promise<void> {
    endpoint.close();
    const closed = listener.close();
    exchanges.endAll("server_closing");
    bindings.revokeAll();
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
    notifyToolsChanged: (concerns = everyBinding) => subscriptions.notifyToolsChanged(concerns),
    close: () => (closing ??= shutDown()),
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
