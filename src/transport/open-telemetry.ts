import { createRequire } from "node:module";
import { emitWarning } from "node:process";
import type * as Api from "@opentelemetry/api";
import type { Attributes, Context, Span, Tracer } from "@opentelemetry/api";
import { type ExchangeResult, type ExchangeSubject, TRACE_KEYS, type TraceContext } from "./exchange-facts.js";

export type OpenTelemetry = typeof Api;

/** The longest of a value that is carried, in characters: what W3C Baggage allows. */
const MAX_CARRIED = 8_192;

/** Where all copies of `@opentelemetry/api` 1.x in a process keep what is registered, by kind. */
const REGISTRY = Symbol.for("opentelemetry.js.api.1");

/**
 * Finds `@opentelemetry/api` once there is something to find with it: while no provider of tracers is registered, all that the
 * API gives does nothing. Looking the package up in vain costs about 1 ms and loading it 20 ms; looking for the provider,
 * nothing.
 */
export class OpenTelemetryFinder {
  readonly #load: () => OpenTelemetry | undefined;
  #found: OpenTelemetry | undefined;
  #looked = false;

  constructor(load: () => OpenTelemetry | undefined = loadOpenTelemetry) {
    this.#load = load;
  }

  /** The API; `undefined` as long as no provider is registered, and for good when the package can't be had. Never throws. */
  find(): OpenTelemetry | undefined {
    if (!hasProvider()) return undefined;
    if (this.#looked) return this.#found;
    this.#looked = true;
    try {
      this.#found = this.#load();
    } catch {
      // Who registered a provider will miss the spans; but no call fails for it.
      emitWarning("@opentelemetry/api is there and can't be loaded: no spans are made.", "RemoteConnectorWarning");
    }
    return this.#found;
  }
}

/** For all clients of the process. */
export const openTelemetry = new OpenTelemetryFinder();

function hasProvider(): boolean {
  if (!(REGISTRY in globalThis)) return false;
  const registered: unknown = Reflect.get(globalThis, REGISTRY);
  return typeof registered === "object" && registered !== null && "trace" in registered;
}

function loadOpenTelemetry(): OpenTelemetry | undefined {
  const require = createRequire(import.meta.url);
  try {
    require.resolve("@opentelemetry/api");
  } catch {
    return undefined;
  }
  const api: OpenTelemetry = require("@opentelemetry/api");
  return api;
}

/**
 * Makes a span of each exchange. Names and attributes are those of the OpenTelemetry semantic conventions for MCP
 * (client span), beside our own `remote_connector.*`. None holds an argument, a header's value or a query value, nor a text of
 * the server's: it may quote them. Nothing here throws.
 */
export class SpanSource {
  readonly #finder: OpenTelemetryFinder;
  readonly #peer: Attributes;
  #tracer: Tracer | undefined;

  /** @param origin the server's: of http, or a child process's. */
  constructor(finder: OpenTelemetryFinder, origin: string) {
    this.#finder = finder;
    this.#peer = addressOf(origin);
  }

  /** The context that is active now, for what begins later in another. `undefined` while there is no OpenTelemetry. */
  parent(): SpanParent | undefined {
    const api = this.#finder.find();
    if (api === undefined) return undefined;
    try {
      this.#tracer ??= api.trace.getTracer("remote-connector");
      return new SpanParent(api, this.#tracer, api.context.active(), this.#peer);
    } catch {
      return undefined;
    }
  }
}

/** The context in which a call was made. */
export class SpanParent {
  readonly #api: OpenTelemetry;
  readonly #tracer: Tracer;
  readonly #context: Context;
  readonly #peer: Attributes;

  constructor(api: OpenTelemetry, tracer: Tracer, context: Context, peer: Attributes) {
    this.#api = api;
    this.#tracer = tracer;
    this.#context = context;
    this.#peer = peer;
  }

  /** Begins the span of an exchange, a child of the span in whose context the call was made. */
  begin(subject: ExchangeSubject): ExchangeSpan | undefined {
    const { method, name } = subject;
    const target = method === "tools/call" || method === "prompts/get" ? name : undefined;
    try {
      const span = this.#tracer.startSpan(
        target === undefined ? method : `${method} ${target}`,
        { kind: this.#api.SpanKind.CLIENT, attributes: Object.assign(attributesOf(subject), this.#peer) },
        this.#context,
      );
      return new ExchangeSpan(this.#api, span, this.#context);
    } catch {
      return undefined;
    }
  }
}

/** The span of one exchange. */
export class ExchangeSpan {
  /** What is to go with the request; `undefined` when the span belongs to no trace, or nobody propagates. */
  readonly carried: TraceContext | undefined;
  readonly #api: OpenTelemetry;
  readonly #span: Span;

  constructor(api: OpenTelemetry, span: Span, parent: Context) {
    this.#api = api;
    this.#span = span;
    this.carried = carriedBy(api, span, parent);
  }

  end(result: ExchangeResult): void {
    try {
      if (this.#span.isRecording()) {
        this.#span.setAttributes(resultAttributes(result));
        if (result.errorType !== undefined) this.#span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
      }
      this.#span.end();
    } catch {
      // A provider's trouble is not the call's.
    }
  }
}

function addressOf(origin: string): Attributes {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:") return { "network.transport": "pipe" };
  return {
    "network.transport": "tcp",
    "network.protocol.name": "http",
    "server.address": url.hostname.replace(/^\[|\]$/g, ""),
    "server.port": url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port),
  };
}

function attributesOf({ method, name, id, attempt, protocolVersion }: ExchangeSubject): Attributes {
  const attributes: Attributes = {
    "mcp.method.name": method,
    "remote_connector.attempt": attempt,
  };
  if (id !== undefined) attributes["jsonrpc.request.id"] = String(id);
  if (protocolVersion !== undefined) attributes["mcp.protocol.version"] = protocolVersion;
  if (name === undefined) return attributes;
  if (method === "tools/call") {
    attributes["gen_ai.operation.name"] = "execute_tool";
    attributes["gen_ai.tool.name"] = name;
  } else if (method === "prompts/get") {
    attributes["gen_ai.prompt.name"] = name;
  } else if (method.startsWith("resources/")) {
    attributes["mcp.resource.uri"] = shownUri(name);
  }
  return attributes;
}

/** A resource's URI without userinfo, query and fragment, at most 512 characters of it. */
function shownUri(uri: string): string {
  return uri
    .replace(/[?#].*$/s, "")
    .replace(/\/\/[^/]*@/, "//…@")
    .slice(0, 512);
}

function resultAttributes({ delivery, errorType, rpcCode, httpStatus }: ExchangeResult): Attributes {
  const attributes: Attributes = { "remote_connector.delivery": delivery };
  if (errorType !== undefined) attributes["error.type"] = errorType;
  if (rpcCode !== undefined) attributes["rpc.response.status_code"] = String(rpcCode);
  if (httpStatus !== undefined) attributes["http.response.status_code"] = httpStatus;
  return attributes;
}

/** As the application's own propagator says it; what MCP has no key for stays here. */
function carriedBy({ trace, propagation }: OpenTelemetry, span: Span, parent: Context): TraceContext | undefined {
  if (!trace.isSpanContextValid(span.spanContext())) return undefined;
  const carrier: Record<string, unknown> = {};
  try {
    propagation.inject(trace.setSpan(parent, span), carrier);
  } catch {
    return undefined;
  }
  let carried: Record<string, string> | undefined;
  for (const key of TRACE_KEYS) {
    const value = carrier[key];
    if (typeof value === "string" && value !== "" && value.length <= MAX_CARRIED) (carried ??= {})[key] = value;
  }
  return carried;
}
