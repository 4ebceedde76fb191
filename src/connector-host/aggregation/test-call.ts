import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { isJsonObject, RawJson, RpcCode } from "../../protocol/index.js";
import type { Clock } from "../../transport/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { UpstreamAnswer } from "../local-server/index.js";
import type { Route } from "../routes/index.js";
import type { AggregatedDirectoryOptions } from "./ports.js";
import type { AskingCaller } from "./asking-caller.js";
import type { RouteFinder } from "./route-finder.js";
import type { CallableTool } from "./route-listings.js";
import type { ToolViews } from "./tool-views.js";

/** A call that a person makes of a connector's tool, to see what it does. */
export interface TestCall {
  readonly connectorKey: string;
  /** The name that its server has for it. */
  readonly nativeName: string;
  /** The text of a JSON object. */
  readonly argumentsText: string;
  readonly signal: AbortSignal;
  /** Ends it as long as it waits for its connector, and nothing was sent. */
  readonly ended: AbortSignal;
  /** How long it may take, the wait for its connector included. */
  readonly timeoutMs: number;
}

/** What a tool answered to a person. */
export interface TestAnswer extends UpstreamAnswer {
  /** Whether the result says of itself that it is an error. */
  readonly isError: boolean;
}

interface Search {
  readonly exposedName: string;
  /** On the clock. */
  readonly deadline: number;
}

interface Found {
  readonly route: Route<RemoteMcpClient>;
  readonly tool: CallableTool;
}

export interface TestCallerParts {
  readonly options: AggregatedDirectoryOptions;
  readonly finder: RouteFinder;
  readonly caller: Pick<AskingCaller, "call">;
  readonly views: ToolViews;
}

/**
 * Makes the calls of people themselves. No permission is asked for or changed, and no approval: whoever may make such a call is
 * decided before. Nobody is asked in the midst of it: a result that asks for input is the result.
 */
export class TestCaller {
  readonly #parts: TestCallerParts;
  readonly #clock: Clock;

  constructor(parts: TestCallerParts) {
    this.#parts = parts;
    this.#clock = parts.options.clock;
  }

  /**
   * Calls the tool of a connector in one of the scopes. What is sent is sent once: neither for other headers, nor over another
   * connection or route.
   *
   * Rejects with `invalid_argument` for arguments that are no JSON object, with `unknown_connector`, `unknown_tool`,
   * `route_unavailable`, with `timeout` (`not_sent`) when its connector took all the time, as {@link AskingCaller.call} does, and with the
   * reasons of the signals.
   */
  async call(scopes: readonly string[], test: TestCall): Promise<TestAnswer> {
    const { caller, options, views } = this.#parts;
    const { connectorKey, nativeName, argumentsText, signal } = test;
    const args = objectOf(argumentsText);
    const deadline = this.#clock.now() + test.timeoutMs;
    const exposedName = options.namespaces.policy.exposedName(connectorKey, nativeName) ?? "";
    const { route, tool } = await this.#findInTime(scopes, test, { exposedName, deadline });
    let sendings = 0;
    try {
      const { raw, era, resultType, result } = await caller.call({
        route,
        subject: { kind: "tool", nativeName, exposedName, argumentsText, binding: undefined },
        request: { meta: {}, logLevel: undefined, signal, deadline },
        repeats: "never",
        make: (client, given) =>
          client.callTool(
            { name: nativeName, arguments: args },
            {
              ...given,
              contract: tool.contract,
              outputCheck: "off",
              input: "return",
              repeats: "never",
              admit() {
                // Whatever a client takes for safe to repeat.
                if (sendings > 0) return "sent_once";
                const refusal = given.admit?.();
                if (refusal === undefined) sendings += 1;
                return refusal;
              },
            },
          ),
      });
      return { raw, era, resultType, isError: result["isError"] === true };
    } catch (error) {
      const isMismatch =
        isRemoteConnectorError(error, "peer_error") && error.details.rpcCode === RpcCode.headerMismatch;
      // The contract is another one: the next call reads it.
      if (isMismatch) views.mayHaveChanged(route);
      throw error;
    }
  }

  /** What comes too late to be called is not: whoever asked has been told that nothing was sent. */
  async #findInTime(scopes: readonly string[], test: TestCall, search: Search): Promise<Found> {
    const { timeoutMs } = test;
    const late = new AbortController();
    const stop = this.#clock.schedule(timeoutMs, () => late.abort(tooLate(timeoutMs)));
    const signal = AbortSignal.any([test.signal, test.ended, late.signal]);
    try {
      const found = await this.#find(scopes, { ...test, signal }, search);
      signal.throwIfAborted();
      return found;
    } finally {
      stop();
    }
  }

  async #find(
    scopes: readonly string[],
    { connectorKey, nativeName, signal }: TestCall,
    { exposedName, deadline }: Search,
  ): Promise<Found> {
    const { finder, views } = this.#parts;
    const route = await finder.find(scopes, connectorKey, signal, deadline);
    if (route === undefined || !views.hasTools(connectorKey)) throw noRoute(connectorKey);
    const tool = views.callable(route, exposedName) ?? (await views.find(route, exposedName, signal));
    if (tool?.nativeName !== nativeName) throw unknownTool(nativeName);
    return { route, tool };
  }
}

/** The arguments, with their own text. Throws `invalid_argument`. */
function objectOf(argumentsText: string): RawJson {
  let value: unknown;
  try {
    value = JSON.parse(argumentsText);
  } catch {
    // The engine's own error can quote the text.
    throw refused("not JSON");
  }
  if (!isJsonObject(value)) throw refused("no JSON object");
  return new RawJson(argumentsText, value);
}

function refused(reason: string): RemoteConnectorError<"invalid_argument"> {
  return new RemoteConnectorError("invalid_argument", {
    message: `The arguments can't be used: ${reason}.`,
    details: { argument: "argumentsText", reason },
  });
}

function tooLate(limitMs: number): RemoteConnectorError<"timeout"> {
  return new RemoteConnectorError("timeout", {
    message: `The connector could not be asked within ${String(limitMs)} ms (timeoutMs).`,
    delivery: "not_sent",
    details: { phase: "total", option: "timeoutMs", limitMs },
  });
}

function noRoute(connectorKey: string): RemoteConnectorError<"route_unavailable"> {
  return new RemoteConnectorError("route_unavailable", {
    message: `The connector ${connectorKey} is switched off, or not opened for tools.`,
    details: { connectorKey, state: "disabled" },
  });
}

function unknownTool(tool: string): RemoteConnectorError<"unknown_tool"> {
  return new RemoteConnectorError("unknown_tool", {
    message: "The connector has no tool of this name.",
    details: { tool },
  });
}
