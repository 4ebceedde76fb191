import {
  type Diagnostic,
  type Implementation,
  isJsonObject,
  type JsonObject,
  LIST_WALK_LIMITS,
  type ListWalkLimits,
  MODERN_REVISION,
} from "../protocol/index.js";
import type { SchemaValidator } from "../protocol/json-schema/index.js";
import { choiceOption, countOption, refuseOption, refuseUnknownOptions } from "../options.js";
import {
  addHeaders,
  type Authorize,
  type HeaderSources,
  parseEndpoint,
  resolveHeaderSources,
  resolveTransportOptions,
  TRANSPORT_OPTION_NAMES,
  type TransportConfig,
  type TransportOptions,
} from "../transport/index.js";
import { capabilitiesOf, checkHandlers, type InputConfig, type InputHandlers } from "./input/index.js";
import { mergeCapabilities, oddCapability } from "./merge-capabilities.js";
import { validatorLoader } from "./output-check.js";
import type { ResponseCacheConfig, ResponseCacheOptions } from "./response-cache.js";
import type { ReadRetryConfig } from "./read-retries.js";
import { composeClientMeta, type ClientMeta } from "./request-meta.js";

/** How a {@link ModernStreamableHTTPClient} is set up. */
export interface ModernStreamableHTTPClientOptions extends TransportOptions {
  /** The MCP endpoint: https, or http on loopback. */
  readonly endpoint: string | URL;
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
  /** Keeps results for as long as the server calls them fresh. Default: nothing is kept. */
  readonly cache?: boolean | ResponseCacheOptions | undefined;
  /** Judges by JSON Schemas of the server. Default: ajv, loaded when it is first needed. */
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
  /**
   * What a call of a tool does whose definition is not known: `list` (default) finds it first, since arguments may have to
   * travel in headers; `call` calls at once, and lists when the server misses them.
   */
  readonly unknownTools?: "list" | "call" | undefined;
  /** Further headers of every request: values, or where to get them. */
  readonly headers?: HeaderSources | undefined;
  /** Gives the headers that authorize a request; called once for each, as late as possible. */
  readonly authorize?: Authorize | undefined;
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
  readonly url: URL;
  readonly transport: TransportConfig;
  readonly authorize: Authorize | undefined;
  readonly meta: ClientMeta;
  /** The headers that every request has, as a flat list. */
  readonly headers: readonly string[];
  readonly walk: ListWalkLimits;
  readonly unknownTools: "list" | "call";
  readonly cache: ResponseCacheConfig | undefined;
  readonly input: InputConfig;
  readonly readRetries: ReadRetryConfig;
  readonly tasks: boolean;
  /** Never throws. */
  readonly onDiagnostic: (diagnostic: Diagnostic) => void;
}

const OPTION_NAMES: readonly (keyof ModernStreamableHTTPClientOptions)[] = [
  ...TRANSPORT_OPTION_NAMES,
  "authorize",
  "cache",
  "capabilities",
  "clientInfo",
  "endpoint",
  "handlers",
  "headers",
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
  "unknownTools",
  "wallNow",
];

const TASKS_DECLARED: JsonObject = { extensions: { "io.modelcontextprotocol/tasks": {} } };

/**
 * Applies the defaults and checks what can be checked.
 *
 * Throws `invalid_options`, `invalid_url`, `invalid_header` (all `not_sent`).
 */
export function resolveModernClientOptions(options: ModernStreamableHTTPClientOptions): ModernClientConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const transport = resolveTransportOptions(options);
  const { clientInfo } = options;
  if (clientInfo !== false && (typeof clientInfo?.name !== "string" || typeof clientInfo.version !== "string")) {
    return refuseOption("clientInfo", "must have a name and a version, or be false");
  }
  const headers = [
    "Content-Type",
    "application/json",
    "Accept",
    "application/json, text/event-stream",
    "MCP-Protocol-Version",
    MODERN_REVISION,
  ];
  const { fixed, authorize } = resolveHeaderSources(options.headers ?? {}, options.authorize);
  addHeaders(headers, fixed);
  const { capabilities = {}, handlers = {}, tasks = false } = options;
  if (typeof tasks !== "boolean") refuseOption("tasks", "must be true or false");
  checkHandlers(handlers);
  const odd = isJsonObject(capabilities) ? oddCapability(capabilities) : "";
  if (odd !== undefined) refuseOption("capabilities", "must be an object, and its values too");
  const url = parseEndpoint(options.endpoint, transport);
  return {
    url,
    transport,
    authorize,
    meta: composeClientMeta({
      clientInfo,
      capabilities: mergeCapabilities({ ...capabilitiesOf(handlers), ...(tasks ? TASKS_DECLARED : {}) }, capabilities),
      further: options.meta ?? {},
    }),
    headers,
    walk: {
      maxPages: countOption("maxPages", options.maxPages, LIST_WALK_LIMITS.maxPages),
      maxItems: countOption("maxItems", options.maxItems, LIST_WALK_LIMITS.maxItems),
      maxListBytes: countOption("maxListBytes", options.maxListBytes, LIST_WALK_LIMITS.maxListBytes),
    },
    cache: resolveCache(options.cache, authorize !== undefined, transport),
    input: {
      handlers,
      loadValidator: validatorLoader(options.schemaValidator),
      maxInputRounds: countOption("maxInputRounds", options.maxInputRounds, 10),
      origin: url.origin,
    },
    unknownTools: choiceOption("unknownTools", options.unknownTools, ["list", "call"]),
    readRetries: {
      maxReadRetries: countOption("maxReadRetries", options.maxReadRetries, 2, 0),
      random: options.random ?? Math.random,
      wallNow: options.wallNow ?? Date.now,
    },
    tasks,
    onDiagnostic: carefully(options.onDiagnostic ?? ignore),
  };
}

function resolveCache(
  given: boolean | ResponseCacheOptions | undefined,
  isAuthorized: boolean,
  { clock }: TransportConfig,
): ResponseCacheConfig | undefined {
  if (given === undefined || given === false) return undefined;
  const { context, maxBytes, maxEntries } = given === true ? {} : given;
  return {
    maxEntries: countOption("cache.maxEntries", maxEntries, 1_000),
    maxBytes: countOption("cache.maxBytes", maxBytes, 16 * 1024 * 1024),
    context: context ?? (isAuthorized ? undefined : () => ""),
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
