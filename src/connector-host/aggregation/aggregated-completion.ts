import { type CompletionParams, isJsonObject, type JsonObject, refuseArgument } from "../../protocol/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding, CompletionRequest } from "../local-server/index.js";
import type { Route } from "../routes/index.js";
import type { AggregatedPrompts } from "./aggregated-prompts.js";
import { notFound, type ResourceOwners } from "./resource-owners.js";
import type { AskingCaller } from "./asking-caller.js";
import type { RouteAnswer } from "./route-caller.js";
import type { RouteFinder } from "./route-finder.js";
import { sentAfter } from "./sent-after.js";

export interface AggregatedCompletionParts {
  readonly finder: RouteFinder;
  readonly caller: AskingCaller;
  readonly prompts: AggregatedPrompts;
  readonly owners: ResourceOwners;
}

/** What is completed, as its own server knows it. */
interface NativeCompletion {
  readonly route: Route<RemoteMcpClient>;
  /** Of the prompt, or the template's URI. */
  readonly nativeName: string;
  readonly ref: JsonObject;
  readonly context: CompletionContext | undefined;
}

/** Has the arguments of prompts and templates completed by the servers that have them. */
export class AggregatedCompletion {
  readonly #parts: AggregatedCompletionParts;

  constructor(parts: AggregatedCompletionParts) {
    this.#parts = parts;
  }

  /** Rejects as the reference's own `get` or `read` does. */
  complete(binding: Binding, request: CompletionRequest): Promise<RouteAnswer> {
    const exposedName = request.ref.type === "ref/prompt" ? request.ref.name : request.ref.uri;
    return sentAfter(this.#resolve(binding, request), ({ route, nativeName, ref, context }) =>
      this.#parts.caller.call({
        route,
        request,
        subject: { kind: "completion", nativeName, exposedName, argumentsText: undefined, binding },
        make: (client, options) => client.complete({ ref, argument: request.argument, context }, options),
      }),
    );
  }

  async #resolve(binding: Binding, request: CompletionRequest): Promise<NativeCompletion> {
    const { finder, owners, prompts } = this.#parts;
    const { ref, signal } = request;
    const context = contextOf(request.context);
    if (ref.type === "ref/prompt") {
      const { route, nativeName } = await prompts.find(binding, ref.name, signal);
      return { route, nativeName, ref: { type: ref.type, name: nativeName }, context };
    }
    const { uri } = ref;
    const { scope, connectorKey } = await owners.findTemplate(binding, uri, request);
    const route = await finder.find([scope], connectorKey, signal);
    if (route === undefined) throw notFound(uri, [connectorKey]);
    return { route, nativeName: uri, ref: { type: ref.type, uri }, context };
  }
}

type CompletionContext = NonNullable<CompletionParams["context"]>;

/** Throws `invalid_argument` (`not_sent`) for arguments that are no strings. */
function contextOf(context: JsonObject | undefined): CompletionContext | undefined {
  if (context === undefined || isContext(context)) return context;
  return refuseArgument("context.arguments", "must be an object of strings");
}

function isContext(context: JsonObject): context is JsonObject & CompletionContext {
  const args = context["arguments"];
  return args === undefined || (isJsonObject(args) && Object.values(args).every((value) => typeof value === "string"));
}
