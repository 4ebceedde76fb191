import {
  type Diagnostic,
  type Implementation,
  isJsonObject,
  type JsonObject,
  LIST_WALK_LIMITS,
  type ListWalkLimits,
  validatorLoader,
  type ReadRetryConfig,
} from "../protocol/index.js";
import type { SchemaValidator } from "../protocol/json-schema/index.js";
import { countOption, functionOption, refuseOption } from "../options.js";
import {
  type Clock,
  type Deadlines,
  resolveTelemetryOptions,
  Telemetry,
  TELEMETRY_OPTION_NAMES,
  type TelemetryOptions,
} from "../transport/index.js";
import { capabilitiesOf, checkHandlers, type InputHandlers } from "../protocol/input/index.js";
import type { InputConfig } from "./input/index.js";
import { mergeCapabilities, oddCapability } from "./merge-capabilities.js";
import type { ResponseCacheConfig, ResponseCacheOptions } from "./response-cache.js";
import { composeClientMeta, type ClientMeta } from "./request-meta.js";

/** How a {@link ModernClient} is set up, whatever carries its messages. */
export interface ModernClientOptions extends TelemetryOptions {
  /** Who we say we are, in every request's `_meta`; `false` to say nothing. */
  readonly clientInfo: Implementation | false;
  /** Who answers when a server asks for input. Each handler is declared as a capability. */
  readonly handlers?: InputHandlers | undefined;
  /** Rounds of input that one call may take. Default 10. */
  readonly maxInputRounds?: number | undefined;
  /**
   * How often a read (discovery, lists, resources, prompts, completion, looks at tasks) is made again when its failure may
   * pass. Default 2; 0 leaves it to the caller.
   */
  readonly maxReadRetries?: number | undefined;
  /** Randomness from 0 to 1, for pauses. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Unix time in milliseconds, for a `Retry-After` that is a date. Default `Date.now`. */
  readonly wallNow?: (() => number) | undefined;
  /** Judges by JSON Schemas of the server. Default: `createAdaptiveValidator`, loaded when it is first needed. */
  readonly schemaValidator?: SchemaValidator | undefined;
  /** The capabilities declared with every request beside those that `handlers` stand for. Default `{}`. */
  readonly capabilities?: JsonObject | undefined;
  /**
   * Whether servers may answer `tools/call` with a task, which is then followed to its end; declared with every request as
   * the extension `io.modelcontextprotocol/tasks`. Default false.
   */
  readonly tasks?: boolean | undefined;
  /** Further members of every request's `_meta`. */
  readonly meta?: JsonObject | undefined;
  /** Told of everything tolerated, as it happens. */
  readonly onDiagnostic?: ((diagnostic: Diagnostic) => void) | undefined;
  /** Pages of one list walk. Default 64. */
  readonly maxPages?: number | undefined;
  /** Entries of one list walk. Default 10,000. */
  readonly maxItems?: number | undefined;
  /** Bytes of one list walk. Default 64 MiB. */
  readonly maxListBytes?: number | undefined;
}

export interface ModernClientConfig {
  readonly clock: Clock;
  /** Those of calls that say none. */
  readonly deadlines: Deadlines;
  readonly meta: ClientMeta;
  readonly walk: ListWalkLimits;
  /** Whether `x-mcp-header` means anything; without it no tool is left out for it, and none is listed before its call. */
  readonly honoursHeaders: boolean;
  readonly unknownTools: "list" | "call";
  readonly cache: ResponseCacheConfig | undefined;
  readonly input: InputConfig;
  readonly readRetries: ReadRetryConfig;
  readonly tasks: boolean;
  readonly telemetry: Telemetry;
  /** Never throws. */
  readonly onDiagnostic: (diagnostic: Diagnostic) => void;
}

/** The names of {@link ModernClientOptions}, for the check of unknown ones. */
export const MODERN_OPTION_NAMES: readonly (keyof ModernClientOptions)[] = [
  ...TELEMETRY_OPTION_NAMES,
  "capabilities",
  "clientInfo",
  "handlers",
  "maxInputRounds",
  "maxItems",
  "maxListBytes",
  "maxPages",
  "maxReadRetries",
  "meta",
  "onDiagnostic",
  "random",
  "schemaValidator",
  "tasks",
  "wallNow",
];

/** What each transport settles for itself. */
export type TransportPart = Pick<
  ModernClientConfig,
  "clock" | "deadlines" | "honoursHeaders" | "unknownTools" | "cache"
> &
  Pick<InputConfig, "origin">;

const TASKS_DECLARED: JsonObject = { extensions: { "io.modelcontextprotocol/tasks": {} } };

/** Applies the defaults and checks what can be checked. Throws `invalid_options` (`not_sent`). */
export function resolveModernClientOptions(
  options: ModernClientOptions,
  { origin, ...part }: TransportPart,
): ModernClientConfig {
  const { clientInfo } = options;
  if (clientInfo !== false && (typeof clientInfo?.name !== "string" || typeof clientInfo.version !== "string")) {
    return refuseOption("clientInfo", "must have a name and a version, or be false");
  }
  const { capabilities = {}, handlers = {}, tasks = false } = options;
  if (typeof tasks !== "boolean") refuseOption("tasks", "must be true or false");
  checkHandlers(handlers);
  const odd = isJsonObject(capabilities) ? oddCapability(capabilities) : "";
  if (odd !== undefined) refuseOption("capabilities", "must be an object, and its values too");
  const telemetry = new Telemetry(resolveTelemetryOptions(options), origin, part.clock);
  const onDiagnostic = functionOption("onDiagnostic", options.onDiagnostic, ignore);
  return {
    ...part,
    meta: composeClientMeta({
      clientInfo,
      capabilities: mergeCapabilities({ ...capabilitiesOf(handlers), ...(tasks ? TASKS_DECLARED : {}) }, capabilities),
      further: options.meta ?? {},
    }),
    walk: {
      maxPages: countOption("maxPages", options.maxPages, LIST_WALK_LIMITS.maxPages),
      maxItems: countOption("maxItems", options.maxItems, LIST_WALK_LIMITS.maxItems),
      maxListBytes: countOption("maxListBytes", options.maxListBytes, LIST_WALK_LIMITS.maxListBytes),
    },
    input: {
      handlers,
      loadValidator: validatorLoader(options.schemaValidator),
      maxInputRounds: countOption("maxInputRounds", options.maxInputRounds, 10),
      origin,
    },
    readRetries: {
      maxReadRetries: countOption("maxReadRetries", options.maxReadRetries, 2, 0),
      random: functionOption("random", options.random, Math.random),
      wallNow: functionOption("wallNow", options.wallNow, Date.now),
    },
    tasks,
    telemetry,
    onDiagnostic: carefully((diagnostic) => {
      telemetry.note(diagnostic);
      onDiagnostic(diagnostic);
    }),
  };
}

/** How results are kept. Throws `invalid_options`. */
export function resolveCache(
  given: boolean | ResponseCacheOptions | undefined,
  fallback: ResponseCacheConfig["context"],
  clock: Clock,
): ResponseCacheConfig | undefined {
  if (given === undefined || given === false) return undefined;
  const { context, maxBytes, maxEntries } = given === true ? {} : given;
  return {
    maxEntries: countOption("cache.maxEntries", maxEntries, 1_000),
    maxBytes: countOption("cache.maxBytes", maxBytes, 16 * 1024 * 1024),
    context: context ?? fallback,
    now: () => clock.now(),
  };
}

/** What a listener throws must not become the fate of the calls that it listens to. */
function carefully(listener: (diagnostic: Diagnostic) => void): (diagnostic: Diagnostic) => void {
  return (diagnostic) => {
    try {
      listener(diagnostic);
    } catch {
      // The diagnostic is with its call as well.
    }
  };
}

function ignore(): void {}
