import { RemoteConnectorError } from "../errors.js";
import { choiceOption, durationOption, refuseOption } from "../options.js";
import {
  LegacyStdioClient,
  type LegacyStdioOptions,
  type LegacyStreamableHTTPClientOptions,
  type ProcessExit,
} from "../legacy-client/index.js";
import {
  type InputHandlers,
  ModernStdioClient,
  type ModernStdioClientOptions,
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../modern-client/index.js";
import {
  type Diagnostic,
  type Implementation,
  isLegacyRevision,
  isModernRevision,
  LEGACY_REVISIONS,
  MODERN_REVISIONS,
  type Notification,
  type Revision,
} from "../protocol/index.js";
import { checkRelay, type InputRelay } from "../protocol/input/index.js";
import { type Clock, LIFECYCLE_TIMEOUT_MS, parseEndpoint, systemClock } from "../transport/index.js";
import type { EraFactories } from "./era-factories.js";
import { type EraMemory, eraKey } from "./era-memory.js";
import { checkEraOptions, LEGACY_HTTP, LEGACY_STDIO, MODERN_HTTP, MODERN_STDIO } from "./era-option-names.js";
import { openLegacyHttp } from "./open-legacy-http.js";

/** What {@link connect} can be told, whatever carries the messages. */
export interface SharedConnectOptions {
  readonly clientInfo: Implementation;
  /**
   * The revisions that may be spoken, the preferred one first. Default: all. Modern ones alone never send `initialize`; legacy
   * ones alone never probe. With a legacy one first, the probe follows only when `initialize` is refused.
   */
  readonly revisions?: readonly Revision[] | undefined;
  /** Who answers when the server asks for input. */
  readonly handlers?: InputHandlers | undefined;
  /** Ends the connecting: it rejects with the signal's reason. Means nothing once the client is there. */
  readonly signal?: AbortSignal | undefined;
  /** For the probe, the handshake and everything else until the client is there, in milliseconds. Default 120,000. */
  readonly lifecycleTimeoutMs?: number | undefined;
  /** Where eras are remembered. Default: nowhere. */
  readonly eraMemory?: EraMemory | undefined;
  /** In whose name the server is reached: what is remembered for one is not for another. Default `""`. */
  readonly authorizationContext?: string | undefined;
  /** How old a remembered legacy era must be to be checked again in the background, in milliseconds. Default 86,400,000. */
  readonly recheckLegacyAfterMs?: number | undefined;
  /** How long after a check of the era the next one may follow, in milliseconds. Default 60,000. */
  readonly recheckPauseMs?: number | undefined;
  /** Told of every notification of a legacy server, progress aside, in order. Modern ones send what `listen` asks for. */
  readonly onNotification?: ((notification: Notification) => unknown) | undefined;
  /** Told of everything tolerated, as it happens. */
  readonly onDiagnostic?: ((diagnostic: Diagnostic) => void) | undefined;
  /** Unix time in milliseconds. Default `Date.now`. */
  readonly wallNow?: (() => number) | undefined;
}

type Shared = keyof SharedConnectOptions;
type ModernHttp = ModernStreamableHTTPClientOptions;
type LegacyHttp = LegacyStreamableHTTPClientOptions;
type Common<A, B> = Omit<Pick<A, keyof A & keyof B>, Shared>;

/** How a server over HTTP is reached. Options of one era alone stand under its name. */
export interface ConnectHttpOptions extends SharedConnectOptions, Common<ModernHttp, LegacyHttp> {
  /**
   * How a legacy server is spoken to: `auto` (default) over Streamable HTTP, or over HTTP+SSE when it refuses that as one does
   * that knows nothing else; `sse` over HTTP+SSE at once.
   */
  readonly legacyTransport?: "auto" | "sse" | undefined;
  readonly modern?: Partial<Omit<ModernHttp, keyof LegacyHttp | Shared>> | undefined;
  readonly legacy?: Partial<Omit<LegacyHttp, keyof ModernHttp | Shared>> | undefined;
}

/** How a server that is a child process is started. Options of one era alone stand under its name. */
export interface ConnectStdioOptions
  extends SharedConnectOptions, Common<ModernStdioClientOptions, LegacyStdioOptions> {
  /** Told of the end of each process that was ready, once, with the error of what it was given. What it throws is ignored. */
  readonly onProcessEnd?: ((error: RemoteConnectorError) => unknown) | undefined;
  readonly modern?:
    | Partial<Omit<ModernStdioClientOptions, keyof LegacyStdioOptions | Shared | "onProcessEnd">>
    | undefined;
  readonly legacy?: Partial<Omit<LegacyStdioOptions, keyof ModernStdioClientOptions | Shared>> | undefined;
}

export type ConnectOptions = ConnectHttpOptions | ConnectStdioOptions;

/** {@link ConnectOptions} with nothing left open. */
export interface ConnectConfig extends EraFactories {
  readonly accepts: readonly Revision[];
  readonly handlers: InputHandlers;
  /** Who is asked by a legacy server, in the place of handlers. */
  readonly relay: InputRelay | undefined;
  readonly signal: AbortSignal | undefined;
  readonly lifecycleTimeoutMs: number;
  readonly memory: EraMemory | undefined;
  readonly memoryKey: string;
  /** Where the server is. */
  readonly origin: string;
  readonly recheckLegacyAfterMs: number;
  readonly recheckPauseMs: number;
  /** Never throws. */
  readonly onDiagnostic: (diagnostic: Diagnostic) => void;
  readonly onNotification: ((notification: Notification) => unknown) | undefined;
  readonly clock: Clock;
  readonly wallNow: () => number;
}

const DAY_MS = 86_400_000;

/** Applies the defaults and checks what can be checked before a client is made. Throws `invalid_options`, `invalid_url`. */
export function resolveConnectOptions(options: ConnectOptions): ConnectConfig {
  const { revisions: accepts = [...MODERN_REVISIONS, ...LEGACY_REVISIONS] } = options;
  if (accepts.length === 0 || !accepts.every((one) => isModernRevision(one) || isLegacyRevision(one))) {
    refuseOption("revisions", `must be some of ${[...MODERN_REVISIONS, ...LEGACY_REVISIONS].join(", ")}`);
  }
  const { onDiagnostic } = options;
  return {
    ...factoriesOf(options),
    accepts,
    handlers: options.handlers ?? {},
    relay: relayOf(options),
    signal: options.signal,
    lifecycleTimeoutMs: durationOption("lifecycleTimeoutMs", options.lifecycleTimeoutMs, LIFECYCLE_TIMEOUT_MS),
    memory: options.eraMemory,
    recheckLegacyAfterMs: durationOption("recheckLegacyAfterMs", options.recheckLegacyAfterMs, DAY_MS),
    recheckPauseMs: durationOption("recheckPauseMs", options.recheckPauseMs, 60_000),
    onDiagnostic: (diagnostic) => {
      try {
        onDiagnostic?.(diagnostic);
      } catch {
        // Whoever can't take a diagnostic can't be told about it either.
      }
    },
    onNotification: options.onNotification,
    clock: options.clock ?? systemClock,
    wallNow: options.wallNow ?? Date.now,
  };
}

function relayOf({ handlers, legacy }: ConnectOptions): InputRelay | undefined {
  const relay = legacy?.relay;
  if (relay === undefined) return undefined;
  checkRelay("legacy.relay", relay);
  if (handlers !== undefined) refuseOption("legacy.relay", "must not be given beside handlers");
  return relay;
}

function factoriesOf(options: ConnectOptions): EraFactories & Pick<ConnectConfig, "memoryKey" | "origin"> {
  if ("endpoint" in options && "command" in options) refuseOption("command", "must not be given beside endpoint");
  if ("endpoint" in options) return httpFactories(options);
  if ("command" in options) return stdioFactories(options);
  return refuseOption("endpoint", "or command must be given");
}

function httpFactories(options: ConnectHttpOptions): EraFactories & Pick<ConnectConfig, "memoryKey" | "origin"> {
  const { modern = {}, legacy = {}, legacyTransport, ...rest } = options;
  const { relay, ...ofStreamable } = legacy;
  const transport = choiceOption("legacyTransport", legacyTransport, ["auto", "sse"]);
  checkEraOptions(modern, MODERN_HTTP);
  checkEraOptions(legacy, LEGACY_HTTP);
  const { shared, common } = split(rest);
  const { clientInfo, handlers, onDiagnostic, wallNow, lifecycleTimeoutMs, authorizationContext = "" } = shared;
  const { random, maxReadRetries, authorize, ...ofBothTransports } = common;
  const { href, origin } = parseEndpoint(options.endpoint, { allowInsecureHttp: options.allowInsecureHttp ?? false });
  return {
    over: "http",
    origin,
    memoryKey: eraKey(["http", href, authorizationContext]),
    openModern: (opening) =>
      new ModernStreamableHTTPClient({
        ...common,
        ...modern,
        authorize: opening === undefined ? authorize : opening.authorizerOf(authorize),
        clientInfo,
        handlers,
        onDiagnostic,
        wallNow,
      }),
    openLegacy: ({ revisions, signal, onNotification, opening }) =>
      openLegacyHttp({
        transport,
        common: {
          ...ofBothTransports,
          authorize: opening.authorizerOf(authorize),
          clientInfo,
          handlers,
          relay,
          revisions,
          signal,
          lifecycleTimeoutMs,
          onDiagnostic,
          onNotification,
        },
        streamable: { random, maxReadRetries, wallNow, ...ofStreamable },
      }),
  };
}

function stdioFactories(options: ConnectStdioOptions): EraFactories & Pick<ConnectConfig, "memoryKey" | "origin"> {
  const { modern = {}, legacy = {}, onProcessEnd, ...rest } = options;
  checkEraOptions(modern, MODERN_STDIO);
  checkEraOptions(legacy, LEGACY_STDIO);
  const { shared, common } = split(rest);
  const { clientInfo, handlers, onDiagnostic, wallNow, lifecycleTimeoutMs, authorizationContext = "" } = shared;
  const { command, args = [], cwd = "" } = options;
  return {
    over: "stdio",
    origin: `stdio:${command}`,
    memoryKey: eraKey(["stdio", command, ...args, cwd, authorizationContext]),
    openModern: () =>
      new ModernStdioClient({ ...common, ...modern, onProcessEnd, clientInfo, handlers, onDiagnostic, wallNow }),
    openLegacy: ({ revisions, signal, onNotification }) =>
      LegacyStdioClient.connect({
        ...common,
        ...legacy,
        clientInfo,
        handlers,
        revisions,
        signal,
        lifecycleTimeoutMs,
        onDiagnostic,
        onNotification,
      }).then((client) => {
        const ended = client.exited.then(processExited);
        void ended.then(onProcessEnd).catch(ignore);
        return { client, ended };
      }),
  };
}

/** What both eras' clients take as it is, apart from what is meant for {@link connect}. */
function split<O extends SharedConnectOptions>(
  options: O,
): { readonly shared: SharedConnectOptions; readonly common: Omit<O, Shared> } {
  const {
    authorizationContext,
    clientInfo,
    eraMemory: _eraMemory,
    handlers,
    lifecycleTimeoutMs,
    onDiagnostic,
    onNotification: _onNotification,
    recheckLegacyAfterMs: _recheckLegacyAfterMs,
    recheckPauseMs: _recheckPauseMs,
    revisions: _revisions,
    signal: _signal,
    wallNow,
    ...common
  } = options;
  const shared = { authorizationContext, clientInfo, handlers, lifecycleTimeoutMs, onDiagnostic, wallNow };
  return { shared, common };
}

function processExited({ exitCode, signal, stderrTail }: ProcessExit): RemoteConnectorError<"process_exited"> {
  const how = signal === undefined ? `exited with code ${String(exitCode ?? "unknown")}` : `was ended by ${signal}`;
  const details = { exitCode, signal, stderrTail };
  return new RemoteConnectorError("process_exited", { message: `The server process ${how}.`, details });
}

function ignore(): void {
  // It listens, and decides nothing.
}
