import { RemoteConnectorError } from "../../errors.js";
import { type Resource, type ResourceTemplate, RpcCode, shownUri } from "../../protocol/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding } from "../local-server/index.js";
import type { Route } from "../routes/index.js";
import type { EntryLister, ListedByAll } from "./entry-lister.js";
import { isAdmitted, isOpenFor } from "./open-connectors.js";
import { OwnerTable, type OwnerTest, type ResourceOwner } from "./owner-table.js";
import type { AggregatedDirectoryOptions } from "./ports.js";
import type { RouteAnswer } from "./route-caller.js";
import type { RouteFinder } from "./route-finder.js";
import { seenResources } from "./seen-resources.js";
import { parseUriTemplate, type UriTemplate } from "./uri-template.js";

export interface ResourceOwnersParts {
  readonly options: AggregatedDirectoryOptions;
  readonly finder: RouteFinder;
  readonly resources: EntryLister<Resource>;
  readonly templates: EntryLister<ResourceTemplate>;
}

/** Who asks for an owner. */
export interface OwnerQuestion {
  readonly signal: AbortSignal;
  /** The owner that the agent chose among several. */
  readonly connectorKey?: string | undefined;
}

/** What a walk through the lists of all connectors found. */
interface Walked {
  readonly table: OwnerTable;
  /** Connectors that could not be asked. */
  readonly unasked: readonly string[];
}

/** How an owner is looked for in a table. */
type Look = (table: OwnerTable, counts: OwnerTest) => readonly ResourceOwner[];

/** Of one connector. */
const MAX_TEMPLATES = 256;

/** Knows whose a resource is, for each binding by what that binding was shown. */
export class ResourceOwners {
  readonly #parts: ResourceOwnersParts;
  readonly #tables = new WeakMap<Binding, OwnerTable>();
  /** Lists that many bindings are shown are read once. */
  readonly #uris = new WeakMap<object, ReadonlySet<string>>();
  readonly #parsed = new WeakMap<object, ReadonlyMap<string, UriTemplate>>();

  constructor(parts: ResourceOwnersParts) {
    this.#parts = parts;
  }

  /** The resources of all connectors, which own them from now on. Rejects as `EntryLister.listAll`. */
  async listResources(binding: Binding, signal: AbortSignal): Promise<ListedByAll> {
    const all = await this.#parts.resources.listAll(binding, signal);
    this.#noteResources(this.#tableOf(binding), all);
    return all;
  }

  /** As {@link listResources}, for templates. */
  async listTemplates(binding: Binding, signal: AbortSignal): Promise<ListedByAll> {
    const all = await this.#parts.templates.listAll(binding, signal);
    this.#noteTemplates(this.#tableOf(binding), all);
    return all;
  }

  /** Remembers what a result shows, if its connector is opened for resources. */
  noteResult(binding: Binding, { route, result }: RouteAnswer): void {
    if (!isOpenFor(this.#parts.options.reach, route.connectorKey, "resources")) return;
    for (const uri of seenResources(result)) this.#tableOf(binding).see(ownerOf(route), uri);
  }

  /** The route's connector was asked for a resource and does not have it: who does is to be found out anew. */
  noteMissing(binding: Binding, route: Route<RemoteMcpClient>, uri: string): void {
    this.#tableOf(binding).forget(ownerOf(route), uri);
  }

  /**
   * The connector that a URI belongs to: one that showed it to this binding or, if none did, that lists it now.
   *
   * Rejects (`not_sent`) with `ambiguous_resource` when there are several and none of them was chosen, with `not_permitted`, with
   * `resource_not_found` when there is none, with the first failure when no connector could be asked, and with the
   * signal's reason.
   */
  find(binding: Binding, uri: string, question: OwnerQuestion): Promise<ResourceOwner> {
    return this.#find(binding, uri, question, (table, counts) => table.ownersOf(uri, counts));
  }

  /** The connector that lists this very template, or else that this text belongs to as a URI. Rejects as {@link find}. */
  findTemplate(binding: Binding, text: string, question: OwnerQuestion): Promise<ResourceOwner> {
    return this.#find(binding, text, question, (table, counts) => {
      const owners = table.ownersOfTemplate(text, counts);
      return owners.length > 0 ? owners : table.ownersOf(text, counts);
    });
  }

  async #find(binding: Binding, uri: string, question: OwnerQuestion, look: Look): Promise<ResourceOwner> {
    const scopes = this.#parts.options.reach.scopesOf(binding);
    const known = await this.#inReach(scopes, look(this.#tableOf(binding), this.#countsIn(scopes)));
    const owner = this.#choose(known, uri, question);
    if (owner !== undefined) return owner;
    const { table, unasked } = await this.#walk(binding, question.signal);
    const listed = await this.#inReach(scopes, look(table, this.#countsIn(scopes)));
    const found = this.#choose(listed, uri, question);
    if (found === undefined) throw notFound(uri, unasked);
    return found;
  }

  /** Every owner, sorted, or the chosen one. */
  #choose(
    owners: readonly ResourceOwner[],
    uri: string,
    { connectorKey: chosen }: OwnerQuestion,
  ): ResourceOwner | undefined {
    const { reach } = this.#parts.options;
    const candidates = chosen === undefined ? owners : owners.filter(({ connectorKey }) => connectorKey === chosen);
    const admitted = candidates.filter(({ connectorKey }) =>
      isAdmitted(reach, { capability: "resources", connectorKey, name: uri }),
    );
    const [owner, ...others] = admitted;
    if (others.length > 0) throw ambiguous(uri, admitted);
    const [refused] = candidates;
    if (owner === undefined && refused !== undefined) throw notPermitted(refused.connectorKey);
    return owner;
  }

  #countsIn(scopes: readonly string[]): OwnerTest {
    const { reach } = this.#parts.options;
    return ({ scope, connectorKey }) => scopes.includes(scope) && isOpenFor(reach, connectorKey, "resources");
  }

  /** Those that have a route, or should have one. */
  async #inReach(scopes: readonly string[], owners: readonly ResourceOwner[]): Promise<readonly ResourceOwner[]> {
    const { finder, options } = this.#parts;
    const isPublished = ({ scope, connectorKey }: ResourceOwner): boolean =>
      finder.current([scope], connectorKey) !== undefined;
    if (owners.every(isPublished)) return owners;
    const missing = new Set((await options.reach.missing(scopes)).map(({ connectorKey }) => connectorKey));
    return owners.filter((owner) => isPublished(owner) || missing.has(owner.connectorKey));
  }

  /** Reads the lists of all connectors, each of them once for all who ask at that time. */
  async #walk(binding: Binding, signal: AbortSignal): Promise<Walked> {
    const [resources, templates] = await Promise.allSettled([
      this.listResources(binding, signal),
      this.listTemplates(binding, signal),
    ]);
    signal.throwIfAborted();
    // One kind of list says something without the other.
    if (resources.status === "rejected" && templates.status === "rejected") throw resources.reason;
    // What the binding's own table has no room for counts all the same.
    const table = new OwnerTable(Infinity);
    if (resources.status === "fulfilled") this.#noteResources(table, resources.value);
    if (templates.status === "fulfilled") this.#noteTemplates(table, templates.value);
    const unasked = [...this.#unasked(binding, resources), ...this.#unasked(binding, templates)];
    return { table, unasked: [...new Set(unasked)].sort() };
  }

  /** The connectors that a list leaves out; all of them, when it failed. */
  #unasked(binding: Binding, outcome: PromiseSettledResult<ListedByAll>): readonly string[] {
    if (outcome.status === "fulfilled") return outcome.value.omitted.map(({ connectorKey }) => connectorKey);
    const { reach, routes } = this.#parts.options;
    const counts = this.#countsIn(reach.scopesOf(binding));
    return routes
      .list()
      .filter(counts)
      .map(({ connectorKey }) => connectorKey);
  }

  #noteResources(table: OwnerTable, { parts, leftOut }: ListedByAll): void {
    for (const { route, listing } of [...parts, ...leftOut]) {
      const { definitions } = listing;
      const uris = this.#uris.get(definitions) ?? new Set(definitions.keys());
      this.#uris.set(definitions, uris);
      table.list(ownerOf(route), uris);
    }
  }

  #noteTemplates(table: OwnerTable, { parts, leftOut }: ListedByAll): void {
    for (const { route, listing } of [...parts, ...leftOut]) {
      const { definitions } = listing;
      const templates = this.#parsed.get(definitions) ?? parseTemplates(definitions.keys());
      this.#parsed.set(definitions, templates);
      table.listTemplates(ownerOf(route), templates);
    }
  }

  #tableOf(binding: Binding): OwnerTable {
    let table = this.#tables.get(binding);
    if (table === undefined) {
      table = new OwnerTable(this.#parts.options.maxRememberedResources);
      this.#tables.set(binding, table);
    }
    return table;
  }
}

function ownerOf({ scope, connectorKey }: ResourceOwner): ResourceOwner {
  return { scope, connectorKey };
}

/** Of a malformed template nobody can say what belongs to it, and of those after the first 256 nobody asks. */
function parseTemplates(texts: Iterable<string>): ReadonlyMap<string, UriTemplate> {
  const templates = new Map<string, UriTemplate>();
  for (const text of texts) {
    if (templates.size === MAX_TEMPLATES) break;
    const template = parseUriTemplate(text);
    if (template !== undefined) templates.set(text, template);
  }
  return templates;
}

/** The error for a URI that no connector in reach owns. */
export function notFound(uri: string, unasked: readonly string[] = []): RemoteConnectorError<"resource_not_found"> {
  const rest =
    unasked.length === 0 ? "" : `; not asked, because they did not answer: ${unasked.slice(0, 8).join(", ")}`;
  return new RemoteConnectorError("resource_not_found", {
    message: `No connector in reach has a resource of this URI${rest}.`,
    details: { uri: shownUri(uri), rpcCode: RpcCode.invalidParams, rpcData: undefined },
  });
}

function ambiguous(uri: string, owners: readonly ResourceOwner[]): RemoteConnectorError<"ambiguous_resource"> {
  const connectorKeys = owners.map(({ connectorKey }) => connectorKey);
  return new RemoteConnectorError("ambiguous_resource", {
    message: `Several connectors have a resource of this URI: ${connectorKeys.join(", ")}.`,
    details: { uri: shownUri(uri), connectorKeys },
  });
}

function notPermitted(connectorKey: string): RemoteConnectorError<"not_permitted"> {
  return new RemoteConnectorError("not_permitted", {
    message: `The resource of ${connectorKey} is switched off for agents.`,
    details: { connectorKey },
  });
}
