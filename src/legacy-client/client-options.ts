import { countOption, durationOption, refuseOption } from "../options.js";
import {
  type Diagnostic,
  type Implementation,
  isLegacyRevision,
  type JsonObject,
  LEGACY_REVISIONS,
  type LegacyRevision,
  LIST_WALK_LIMITS,
  type ListWalkLimits,
  type Notification,
  validatorLoader,
} from "../protocol/index.js";
import {
  capabilitiesOf,
  checkHandlers,
  checkRelay,
  type InputHandlers,
  type InputRelay,
} from "../protocol/input/index.js";
import type { SchemaValidator } from "../protocol/json-schema/index.js";
import {
  CALL_TIMEOUT_MS,
  type Clock,
  type DeadlineOptions,
  type Deadlines,
  LIFECYCLE_TIMEOUT_MS,
  resolveDeadlines,
  resolveTelemetryOptions,
  systemClock,
  Telemetry,
  TELEMETRY_OPTION_NAMES,
  type TelemetryOptions,
} from "../transport/index.js";
import { inputAnswerer } from "./answer-input.js";
import { callHandler } from "./handlers.js";
import { relayAnswerer } from "./relay-input.js";
import type { ServerRequestAnswerer } from "./server-requests.js";

/** What every client of these revisions can be told, whatever its transport. */
export interface LegacyClientOptions extends DeadlineOptions, TelemetryOptions {
  readonly clientInfo: Implementation;
  /** Who answers when the server asks for input. Each handler is declared as a capability, as the revision has it. */
  readonly handlers?: InputHandlers | undefined;
  /**
   * In the place of `handlers`: takes what the server asks for as it comes, and its answers go out as they are given. Its capabilities
   * are declared, as the revision has them.
   */
  readonly relay?: InputRelay | undefined;
  /** Judges the content of forms. Default: `createAdaptiveValidator`, loaded when it is first needed. */
  readonly schemaValidator?: SchemaValidator | undefined;
  /** Revisions that may be spoken, the preferred one first: that one is offered. Default: all legacy ones, newest first. */
  readonly revisions?: readonly LegacyRevision[] | undefined;
  /** Ends the start: it rejects with the signal's reason. Means nothing once the client is there. */
  readonly signal?: AbortSignal | undefined;
  /** For the start, for pings and for lists as a whole. Default 120,000. `totalTimeoutMs` is for the other calls. */
  readonly lifecycleTimeoutMs?: number | undefined;
  /** Pages of one list walk. Default 64. */
  readonly maxPages?: number | undefined;
  /** Entries of one list walk. Default 10,000. */
  readonly maxItems?: number | undefined;
  /** Bytes of one list walk. Default 64 MiB. */
  readonly maxListBytes?: number | undefined;
  /** Told of everything tolerated, as it happens. */
  readonly onDiagnostic?: ((diagnostic: Diagnostic) => void) | undefined;
  /** Told of every notification of the server, progress aside, in order. */
  readonly onNotification?: ((notification: Notification) => unknown) | undefined;
  readonly clock?: Clock | undefined;
}

/** {@link LegacyClientOptions} with nothing left open. */
export interface LegacyClientConfig {
  readonly clientInfo: Implementation;
  /** What is declared, in the form of the newest revision. */
  readonly capabilities: JsonObject;
  /** Answers the server's requests, `ping` aside. */
  readonly answerer: ServerRequestAnswerer | undefined;
  readonly revisions: readonly [LegacyRevision, ...LegacyRevision[]];
  readonly signal: AbortSignal | undefined;
  /** Of `tools/call` and of requests that this client doesn't know. */
  readonly callDeadlines: Deadlines;
  /** Of pings and lists. */
  readonly lifecycleDeadlines: Deadlines;
  readonly walk: ListWalkLimits;
  /** Tells the logger, too. Never throws. */
  readonly onDiagnostic: (diagnostic: Diagnostic) => void;
  readonly onNotification: ((notification: Notification) => unknown) | undefined;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
}

/** The names of {@link LegacyClientOptions} that are not those of deadlines. */
export const LEGACY_CLIENT_OPTION_NAMES = [
  ...TELEMETRY_OPTION_NAMES,
  "clientInfo",
  "clock",
  "handlers",
  "lifecycleTimeoutMs",
  "maxItems",
  "maxListBytes",
  "maxPages",
  "onDiagnostic",
  "onNotification",
  "relay",
  "revisions",
  "schemaValidator",
  "signal",
] as const satisfies readonly (keyof LegacyClientOptions)[];

/**
 * Applies the defaults and checks what can be checked. `origin` says where the server is. Throws `invalid_options`.
 */
export function resolveLegacyClientOptions(options: LegacyClientOptions, origin: string): LegacyClientConfig {
  const { clientInfo, handlers = {}, relay } = options;
  checkHandlers(handlers);
  if (relay !== undefined) {
    checkRelay("relay", relay);
    if (options.handlers !== undefined) refuseOption("relay", "must not be given beside handlers");
  }
  if (typeof clientInfo?.name !== "string" || typeof clientInfo.version !== "string") {
    refuseOption("clientInfo", "must have a name and a version");
  }
  const callDeadlines = resolveDeadlines(options, {
    connectTimeoutMs: 30_000,
    idleTimeoutMs: 60_000,
    totalTimeoutMs: CALL_TIMEOUT_MS,
  });
  const lifecycleTimeoutMs = durationOption("lifecycleTimeoutMs", options.lifecycleTimeoutMs, LIFECYCLE_TIMEOUT_MS);
  const loadValidator = validatorLoader(options.schemaValidator);
  const clock = options.clock ?? systemClock;
  const telemetry = new Telemetry(resolveTelemetryOptions(options), origin, clock);
  const onDiagnostic = (diagnostic: Diagnostic): void => {
    telemetry.note(diagnostic);
    if (options.onDiagnostic !== undefined) callHandler(options.onDiagnostic, diagnostic, ignore);
  };
  return {
    clientInfo,
    capabilities: relay?.capabilities ?? capabilitiesOf(handlers),
    answerer:
      relay === undefined ? inputAnswerer({ handlers, loadValidator, origin, onDiagnostic }) : relayAnswerer(relay),
    revisions: resolveRevisions(options.revisions),
    signal: options.signal,
    callDeadlines,
    lifecycleDeadlines: { ...callDeadlines, totalTimeoutMs: lifecycleTimeoutMs },
    walk: {
      maxPages: countOption("maxPages", options.maxPages, LIST_WALK_LIMITS.maxPages),
      maxItems: countOption("maxItems", options.maxItems, LIST_WALK_LIMITS.maxItems),
      maxListBytes: countOption("maxListBytes", options.maxListBytes, LIST_WALK_LIMITS.maxListBytes),
    },
    onDiagnostic,
    onNotification: options.onNotification,
    telemetry,
    clock,
  };
}

function resolveRevisions(given: readonly LegacyRevision[] = LEGACY_REVISIONS): LegacyClientConfig["revisions"] {
  const [preferred, ...others] = given;
  if (preferred === undefined || !given.every(isLegacyRevision)) {
    return refuseOption("revisions", `must be some of ${LEGACY_REVISIONS.join(", ")}`);
  }
  return [preferred, ...others];
}

function ignore(): void {
  // Whoever can't take a diagnostic can't be told about it either.
}
