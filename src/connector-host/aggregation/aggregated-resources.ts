import { isRemoteConnectorError } from "../../errors.js";
import type {
  Binding,
  EntryListing,
  ResourceDirectory,
  ResourceRequest,
  ResourceWatch,
  UnmadeRequest,
} from "../local-server/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Route } from "../routes/index.js";
import type { ListedByAll } from "./entry-lister.js";
import { isAdmitted } from "./open-connectors.js";
import type { AggregatedDirectoryOptions, Reach } from "./ports.js";
import { ResourceFeeds } from "./resource-feeds.js";
import { notFound, type OwnerQuestion, type ResourceOwners } from "./resource-owners.js";
import type { AskingCaller } from "./asking-caller.js";
import type { RouteAnswer } from "./route-caller.js";
import type { RouteFinder } from "./route-finder.js";
import { sentAfter } from "./sent-after.js";

export interface AggregatedResourcesParts {
  readonly options: AggregatedDirectoryOptions;
  readonly finder: RouteFinder;
  readonly caller: AskingCaller;
  readonly owners: ResourceOwners;
  /** A binding asks for its list of resources, or templates. The returned function is told what it is given. */
  readonly giving: (binding: Binding) => (listed: ListedByAll) => void;
  readonly givingTemplates: (binding: Binding) => (listed: ListedByAll) => void;
}

/** The resources of all published routes that are opened for them, each with the connector that showed it. */
export class AggregatedResources implements ResourceDirectory {
  readonly #parts: AggregatedResourcesParts;
  readonly #feeds: ResourceFeeds;

  constructor(parts: AggregatedResourcesParts) {
    this.#parts = parts;
    this.#feeds = new ResourceFeeds(parts.options, parts.finder);
  }

  /** Sorted by connector, and in its server's order. A URI of several connectors is there several times. */
  async list(binding: Binding, signal: AbortSignal): Promise<EntryListing> {
    const { options, owners } = this.#parts;
    const give = this.#parts.giving(binding);
    const listed = await owners.listResources(binding, signal);
    give(listed);
    return entryListing(listed, options.reach);
  }

  async listTemplates(binding: Binding, signal: AbortSignal): Promise<EntryListing> {
    const { options, owners } = this.#parts;
    const give = this.#parts.givingTemplates(binding);
    const listed = await owners.listTemplates(binding, signal);
    give(listed);
    return entryListing(listed, options.reach);
  }

  read(binding: Binding, uri: string, request: ResourceRequest): Promise<RouteAnswer> {
    const { caller, owners } = this.#parts;
    const unmade = (error: unknown): UnmadeRequest => caller.unmade(request, error);
    const send = async (route: Route<RemoteMcpClient>): Promise<RouteAnswer> => {
      try {
        const answer = await caller.call({
          route,
          request,
          subject: { kind: "resource", nativeName: uri, exposedName: uri, argumentsText: undefined, binding },
          make: (client, options) => client.readResource({ uri }, options),
        });
        owners.noteResult(binding, answer);
        return answer;
      } catch (error) {
        if (isRemoteConnectorError(error, "resource_not_found")) owners.noteMissing(binding, route, uri);
        throw error;
      }
    };
    return sentAfter(this.#routeOf(binding, uri, request), send, unmade);
  }

  subscribe(binding: Binding, uri: string, watch: ResourceWatch): Promise<void> {
    return sentAfter(this.#routeOf(binding, uri, watch), (route) => this.#feeds.watch(route, uri, watch));
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#feeds.close();
  }

  async #routeOf(binding: Binding, uri: string, question: OwnerQuestion) {
    const { finder, owners } = this.#parts;
    const { scope, connectorKey } = await owners.find(binding, uri, question);
    const route = await finder.find([scope], connectorKey, question.signal);
    if (route === undefined) throw notFound(uri, [connectorKey]);
    return route;
  }
}

function entryListing({ parts, omitted }: ListedByAll, reach: Reach): EntryListing {
  const entries: string[] = [];
  for (const { connectorKey, listing } of parts) {
    for (const [name, definition] of listing.definitions) {
      const isShown = isAdmitted(reach, { capability: "resources", connectorKey, name });
      if (isShown) entries.push(Buffer.from(definition).toString("utf8"));
    }
  }
  return { entries, omitted };
}
