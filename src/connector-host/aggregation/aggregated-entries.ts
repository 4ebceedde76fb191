import {
  type Prompt,
  PROMPTS,
  type Resource,
  RESOURCES,
  type ResourceTemplate,
  TEMPLATES,
} from "../../protocol/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding, CompletionRequest, UpstreamAnswer } from "../local-server/index.js";
import type { PublicationChange, Route } from "../routes/index.js";
import { AggregatedCompletion } from "./aggregated-completion.js";
import { AggregatedPrompts } from "./aggregated-prompts.js";
import { AggregatedResources } from "./aggregated-resources.js";
import { EntryLister } from "./entry-lister.js";
import { EntryNews } from "./entry-news.js";
import type { ListeningAgents } from "./list-news.js";
import { isOpenFor, type OptInCapability } from "./open-connectors.js";
import type { AggregatedDirectoryOptions } from "./ports.js";
import { ResourceOwners } from "./resource-owners.js";
import type { AskingCaller } from "./asking-caller.js";
import type { RouteAnswer } from "./route-caller.js";
import type { RouteFinder } from "./route-finder.js";

/** News of one list, whatever its entries are. */
type News = Pick<EntryNews<never>, "close" | "listenFor" | "note" | "onPublication">;

/** Everything that connectors have beside tools, and the news of it. */
export class AggregatedEntries {
  readonly prompts: AggregatedPrompts;
  readonly resources: AggregatedResources;
  readonly #options: AggregatedDirectoryOptions;
  readonly #owners: ResourceOwners;
  readonly #completion: AggregatedCompletion;
  readonly #news: Readonly<Record<OptInCapability, readonly News[]>>;

  constructor(options: AggregatedDirectoryOptions, finder: RouteFinder, caller: AskingCaller) {
    this.#options = options;
    const prompts: EntryLister<Prompt> = new EntryLister(options, { list: PROMPTS, capability: "prompts" }, (route) =>
      promptNews.hasListed(route),
    );
    const resources: EntryLister<Resource> = new EntryLister(
      options,
      { list: RESOURCES, capability: "resources" },
      (route) => resourceNews.hasListed(route),
    );
    const templates: EntryLister<ResourceTemplate> = new EntryLister(
      options,
      { list: TEMPLATES, capability: "resources" },
      (route) => templateNews.hasListed(route),
    );
    const promptNews = new EntryNews({ options, capability: "prompts", lister: prompts, tellsAll: true });
    const resourceNews = new EntryNews({ options, capability: "resources", lister: resources, tellsAll: true });
    // One notification says that either list changed: of templates only those hear who were given them.
    const templateNews = new EntryNews({ options, capability: "resources", lister: templates, tellsAll: false });
    this.#news = { prompts: [promptNews], resources: [resourceNews, templateNews] };
    const owners = new ResourceOwners({ options, finder, resources, templates });
    this.#owners = owners;
    this.prompts = new AggregatedPrompts({
      options,
      finder,
      caller,
      lister: prompts,
      giving: (binding) => promptNews.giving(binding),
      onResult: (binding, answer) => owners.noteResult(binding, answer),
    });
    this.resources = new AggregatedResources({
      options,
      finder,
      caller,
      owners,
      giving: (binding) => resourceNews.giving(binding),
      givingTemplates: (binding) => templateNews.giving(binding),
    });
    this.#completion = new AggregatedCompletion({ finder, caller, prompts: this.prompts, owners });
  }

  complete(binding: Binding, request: CompletionRequest): Promise<UpstreamAnswer> {
    return this.#completion.complete(binding, request);
  }

  /** Remembers whose the resources are that a tool's result shows. Hands the answer on. */
  noting(binding: Binding, answering: Promise<RouteAnswer>, connectorKey: string): Promise<RouteAnswer> {
    if (!isOpenFor(this.#options.reach, connectorKey, "resources")) return answering;
    return answering.then((answer) => {
      this.#owners.noteResult(binding, answer);
      return answer;
    });
  }

  /** The route's server says that a list of its changed. */
  hasChanged(route: Route<RemoteMcpClient>, capability: OptInCapability): void {
    for (const news of this.#news[capability]) news.note(route, true);
  }

  /** All lists of the route's server may have changed. */
  mayHaveChanged(route: Route<RemoteMcpClient>): void {
    for (const news of this.#all) news.note(route, false);
  }

  onPublication(changes: readonly PublicationChange<RemoteMcpClient>[]): void {
    for (const news of this.#all) news.onPublication(changes);
  }

  /** From now on these agents are told of changes of what they see. */
  listenFor(agents: ListeningAgents): void {
    for (const news of this.#all) news.listenFor(agents);
  }

  /** Ends all subscriptions, and tells nobody any more. */
  close(): void {
    for (const news of this.#all) news.close();
    this.resources.close();
  }

  get #all(): readonly News[] {
    return [...this.#news.prompts, ...this.#news.resources];
  }
}
