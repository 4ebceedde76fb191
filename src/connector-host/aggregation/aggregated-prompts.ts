import { RemoteConnectorError } from "../../errors.js";
import { type Prompt, RawJson } from "../../protocol/index.js";
import { changeMembers } from "../../serving/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding, EntryListing, PromptDirectory, PromptRequest, UnmadeRequest } from "../local-server/index.js";
import { buildNameTable, findNativeName, type ToolIdentity } from "../naming/index.js";
import type { Route } from "../routes/index.js";
import type { EntriesOfRoute, EntryLister, ListedByAll } from "./entry-lister.js";
import { isOpenFor } from "./open-connectors.js";
import type { AggregatedDirectoryOptions } from "./ports.js";
import type { AskingCaller } from "./asking-caller.js";
import type { RouteAnswer } from "./route-caller.js";
import type { RouteFinder } from "./route-finder.js";
import { sentAfter } from "./sent-after.js";

/** A prompt by its own name, and the route of its connector. */
export interface FoundPrompt {
  readonly route: Route<RemoteMcpClient>;
  readonly nativeName: string;
  readonly exposedName: string;
}

interface NamablePrompt extends ToolIdentity {
  readonly definition: Uint8Array;
}

export interface AggregatedPromptsParts {
  readonly options: AggregatedDirectoryOptions;
  readonly finder: RouteFinder;
  readonly caller: AskingCaller;
  readonly lister: EntryLister<Prompt>;
  /** A binding asks for its list. The returned function is told what it is given. */
  readonly giving: (binding: Binding) => (listed: ListedByAll) => void;
  /** Told of every result. */
  readonly onResult: (binding: Binding, answer: RouteAnswer) => void;
}

/** The prompts of all published routes that are opened for them, named as tools are. */
export class AggregatedPrompts implements PromptDirectory {
  readonly #parts: AggregatedPromptsParts;

  constructor(parts: AggregatedPromptsParts) {
    this.#parts = parts;
  }

  /** Sorted by name. A name that a server gave to several prompts is not there. */
  async list(binding: Binding, signal: AbortSignal): Promise<EntryListing> {
    const { lister, options } = this.#parts;
    const give = this.#parts.giving(binding);
    const listed = await lister.listAll(binding, signal);
    give(listed);
    const { parts, omitted } = listed;
    const named = parts.flatMap(({ connectorKey, listing }) => this.#namable(connectorKey, listing));
    const { entries } = buildNameTable(options.namespaces, named);
    return { entries: Array.from(entries, ([name, { definition }]) => renamed(definition, name)), omitted };
  }

  get(binding: Binding, exposedName: string, request: PromptRequest): Promise<RouteAnswer> {
    const finding = this.find(binding, exposedName, request.signal);
    const unmade = (error: unknown): UnmadeRequest => this.#parts.caller.unmade(request, error);
    return sentAfter(finding, (found) => this.#getFrom(binding, found, request), unmade);
  }

  async #getFrom(
    binding: Binding,
    { route, nativeName, exposedName }: FoundPrompt,
    request: PromptRequest,
  ): Promise<RouteAnswer> {
    const { argumentsText } = request;
    const params = {
      name: nativeName,
      arguments: argumentsText === undefined ? undefined : new RawJson(argumentsText),
    };
    const answer = await this.#parts.caller.call({
      route,
      request,
      subject: { kind: "prompt", nativeName, exposedName, argumentsText, binding },
      make: (client, options) => client.getPrompt(params, options),
    });
    this.#parts.onResult(binding, answer);
    return answer;
  }

  /**
   * The prompt behind an exposed name: one that its connector listed last, or lists now. Rejects with `unknown_prompt`, with
   * `not_permitted`, with `route_unavailable` when its connector did not come in time, or with a list's failure.
   */
  async find(binding: Binding, exposedName: string, signal: AbortSignal): Promise<FoundPrompt> {
    const { options, finder, lister } = this.#parts;
    const { reach, namespaces } = options;
    const connectorKey = namespaces.locate(exposedName)?.connectorKey;
    if (connectorKey === undefined || !isOpenFor(reach, connectorKey, "prompts")) throw unknownPrompt(exposedName);
    const route = await finder.find(reach.scopesOf(binding), connectorKey, signal);
    if (route === undefined) throw unknownPrompt(exposedName);
    const nativeName =
      this.#nativeName(exposedName, lister.newest(route)) ??
      this.#nativeName(exposedName, await lister.listOne(route, signal));
    if (nativeName === undefined) throw unknownPrompt(exposedName);
    if (!lister.admits(connectorKey, nativeName)) throw notPermitted(connectorKey);
    return { route, nativeName, exposedName };
  }

  #namable(connectorKey: string, { definitions, duplicates }: EntriesOfRoute): readonly NamablePrompt[] {
    const prompts: NamablePrompt[] = [];
    for (const [nativeName, definition] of definitions) {
      const isShown = !duplicates.has(nativeName) && this.#parts.lister.admits(connectorKey, nativeName);
      if (isShown) prompts.push({ connectorKey, nativeName, definition });
    }
    return prompts;
  }

  #nativeName(exposedName: string, listing: EntriesOfRoute | undefined): string | undefined {
    if (listing === undefined) return undefined;
    const { definitions, duplicates } = listing;
    const names = [...definitions.keys()].filter((name) => !duplicates.has(name));
    const verdict = findNativeName(this.#parts.options.namespaces, exposedName, names);
    return verdict.kind === "found" ? verdict.nativeName : undefined;
  }
}

/** A definition under another name; every other byte is its server's. */
function renamed(definition: Uint8Array, name: string): string {
  return Buffer.from(changeMembers(definition, { name: JSON.stringify(name) })).toString("utf8");
}

function unknownPrompt(prompt: string): RemoteConnectorError<"unknown_prompt"> {
  return new RemoteConnectorError("unknown_prompt", {
    message: "No prompt in reach has this name.",
    details: { prompt },
  });
}

function notPermitted(connectorKey: string): RemoteConnectorError<"not_permitted"> {
  return new RemoteConnectorError("not_permitted", {
    message: `The prompt is switched off for agents by the host: ${connectorKey}.`,
    details: { connectorKey },
  });
}
