import {
  connect,
  type ConnectHttpOptions,
  connectOpener,
  type McpClient,
  type ServerOpening,
} from "../../connect/index.js";
import { RemoteConnectorError } from "../../errors.js";
import { LEGACY_REVISIONS, MODERN_REVISIONS, type Revision } from "../../protocol/index.js";
import { LIFECYCLE_TIMEOUT_MS } from "../../transport/index.js";
import { DeadlineSignal } from "./deadline-signal.js";
import type { DeviceConnector, RegisteredConnector } from "./device-connector.js";
import { CallAsks, ConnectionLeases, type DeviceLeases, offeredCapabilities, SingleLease } from "./leases/index.js";
import {
  type RegistrationFactoryConfig,
  type RegistrationFactoryOptions,
  resolveRegistrationFactoryOptions,
} from "./registration-factory-options.js";
import type { ManagedStdioConnector, ProtocolPreference, Registration } from "../registration/index.js";
import type { OpenedConnector } from "./server-holder.js";
import { ValueResolver } from "./value-resolver.js";

/** Any revision. A program is met with `initialize` first, so that a slow one is not taken for an old one, and ended. */
const OF_PROGRAMS: readonly Revision[] = [...LEGACY_REVISIONS, ...MODERN_REVISIONS];

/**
 * Reaches the connectors of the device over `connect`: registered servers over HTTP, managed programs over stdio, of any era.
 *
 * References are resolved anew each time. A client declares no capability, unless its connector is opened for what a server may ask of
 * agents: then there are leases, by which the agent of a call is asked.
 */
export class RegistrationFactory {
  readonly #config: RegistrationFactoryConfig;

  /** Throws `invalid_options`. */
  constructor(options: RegistrationFactoryOptions) {
    this.#config = resolveRegistrationFactoryOptions(options);
  }

  /**
   * Opens a connector's server; its owner closes the client. `exited` tells of the end of a program, and of the stream of
   * HTTP+SSE; of other servers it stays open.
   *
   * Rejects, when nothing of it is left, with `unresolved_reference` (`not_sent`), with `timeout` of `readyTimeoutMs` for a program
   * and of `lifecycleTimeoutMs` for a server, with the signal's reason, and with what `connect` rejects with.
   */
  open(connector: DeviceConnector, opening: ServerOpening): Promise<OpenedConnector> {
    return this.#within(connector, opening.signal, (signal) =>
      connector.kind === "registration"
        ? this.#reach(connector, opening, signal)
        : this.#start(connector.connector, { ...opening, signal }),
    );
  }

  /** `open`: its signal fires with the outer one, and when the time for it is over. */
  async #within<T>(
    connector: DeviceConnector,
    outer: AbortSignal,
    open: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { option, limitMs } = this.#deadlineOf(connector);
    const tooLate = (): RemoteConnectorError => notReady(connector.key, option, limitMs);
    const deadline = new DeadlineSignal(outer, this.#config.clock, limitMs, tooLate);
    try {
      return await open(deadline.signal);
    } finally {
      deadline.release();
    }
  }

  #deadlineOf(connector: DeviceConnector): { readonly option: string; readonly limitMs: number } {
    if (connector.kind === "stdio") {
      return { option: "readyTimeoutMs", limitMs: connector.connector.deadlines.readyTimeoutMs };
    }
    const { lifecycleTimeoutMs = this.#config.http.lifecycleTimeoutMs } = connector.registration.deadlines;
    return { option: "lifecycleTimeoutMs", limitMs: lifecycleTimeoutMs ?? LIFECYCLE_TIMEOUT_MS };
  }

  /** `signal`: ends the reaching; that of the opening ends what follows. */
  async #reach(connector: RegisteredConnector, opening: ServerOpening, signal: AbortSignal): Promise<OpenedConnector> {
    const options = await this.#optionsOf(connector.registration, signal);
    const client = await connect({ ...options, signal });
    const leases = this.#leasesOf(connector, client, options, opening.signal);
    return { client, exited: endOfStream(client, opening.signal), leases };
  }

  #leasesOf(
    connector: RegisteredConnector,
    plain: McpClient,
    options: ConnectHttpOptions,
    over: AbortSignal,
  ): DeviceLeases | undefined {
    const offered = offeredCapabilities(connector.registration.capabilities);
    if (Object.keys(offered).length === 0) return undefined;
    const { clock, maxLeasedConnections, maxWaitingLeases } = this.#config;
    return new ConnectionLeases({
      plain,
      offered,
      maxLeasedConnections,
      maxWaitingLeases,
      clock,
      open: (relay, revision, outer) =>
        this.#within(connector, outer, async (signal) => {
          // As the plain one was opened, but that it is known what the server speaks.
          const client = await connect({
            ...options,
            revisions: [revision],
            eraMemory: undefined,
            legacy: { relay },
            signal,
          });
          return { client, exited: endOfStream(client, over) };
        }),
    });
  }

  async #optionsOf(registration: Registration, signal: AbortSignal): Promise<ConnectHttpOptions> {
    const { http, clientInfo, clock, eraMemory, authorize, allowInsecureHttp, onDiagnostic } = this.#config;
    const { id, slug, settings, deadlines } = registration;
    const values = new ValueResolver(slug, this.#config, signal);
    const headers = present(await values.table("headers", settings.headers));
    return {
      ...http,
      connectTimeoutMs: deadlines.connectTimeoutMs ?? http.connectTimeoutMs,
      idleTimeoutMs: deadlines.idleTimeoutMs ?? http.idleTimeoutMs,
      totalTimeoutMs: deadlines.totalTimeoutMs ?? http.totalTimeoutMs,
      // The signal is the deadline.
      lifecycleTimeoutMs: Infinity,
      endpoint: settings.endpoint,
      headers,
      authorize: authorize(registration),
      allowInsecureHttp,
      clientInfo,
      clock,
      ...spokenBy(settings.protocol),
      eraMemory,
      authorizationContext: id,
      onDiagnostic: (diagnostic) => onDiagnostic(slug, diagnostic),
      // The host tries again by itself, with pauses that outlive its restarts.
      maxReadRetries: 0,
    };
  }

  async #start(program: ManagedStdioConnector, opening: ServerOpening): Promise<OpenedConnector> {
    const { stdio, clientInfo, clock, eraMemory, onDiagnostic } = this.#config;
    const { key, command, cwd, deadlines } = program;
    const values = new ValueResolver(key, this.#config, opening.signal);
    const args: string[] = [];
    for (const [index, arg] of program.args.entries()) args.push(await values.text(`args.${String(index)}`, arg));
    const env = await values.table("env", program.env);
    const offered = offeredCapabilities(program.capabilities);
    const asks = Object.keys(offered).length === 0 ? undefined : new CallAsks(offered);
    const open = connectOpener({
      ...stdio,
      command,
      args,
      cwd,
      env,
      secrets: values.secrets,
      clientInfo,
      clock,
      revisions: OF_PROGRAMS,
      eraMemory,
      onDiagnostic: (diagnostic) => onDiagnostic(key, diagnostic),
      // One that was modern and is not any more must be found out before it is given up.
      modern: { probeTimeoutMs: deadlines.readyTimeoutMs / 2, maxReadRetries: 0 },
      legacy: { relay: asks?.relay },
    });
    const opened = await open(opening);
    const { maxWaitingLeases } = this.#config;
    const leases = asks && new SingleLease({ client: opened.client, asks, maxWaitingLeases });
    return { ...opened, leases };
  }
}

/** What of MCP `connect` is to speak. */
function spokenBy(preference: ProtocolPreference): Pick<ConnectHttpOptions, "legacyTransport" | "revisions"> {
  if (preference === "auto") return {};
  if (preference === "modern") return { revisions: MODERN_REVISIONS };
  if (preference === "legacy") return { revisions: LEGACY_REVISIONS };
  if (preference === "sse") return { revisions: LEGACY_REVISIONS, legacyTransport: "sse" };
  return { revisions: [preference] };
}

/** Only the session of HTTP+SSE ends by itself, and breaks a subscription then. What becomes of another era is no end. */
async function endOfStream(client: McpClient, signal: AbortSignal): Promise<RemoteConnectorError> {
  if (client.era === "legacy") {
    const end = await client.listen({}, { signal }).closed;
    if (end.kind === "broken" && client.era === "legacy") return end.error;
  }
  return new Promise(() => undefined);
}

function present(texts: Record<string, string | undefined>): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (const [name, text] of Object.entries(texts)) if (text !== undefined) headers[name] = text;
  return headers;
}

function notReady(key: string, option: string, limitMs: number): RemoteConnectorError<"timeout"> {
  return new RemoteConnectorError("timeout", {
    message: `The server of ${key} was not ready within ${String(limitMs)} ms (${option}).`,
    delivery: "unknown",
    details: { phase: "total", option, limitMs },
  });
}
