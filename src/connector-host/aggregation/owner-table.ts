import { matchesUriTemplate, type UriTemplate } from "./uri-template.js";

/** A connector that showed a resource. The same connector of another account is another owner. */
export interface ResourceOwner {
  readonly scope: string;
  readonly connectorKey: string;
}

/** Whether an owner still counts. */
export type OwnerTest = (owner: ResourceOwner) => boolean;

interface Shown<T> {
  readonly owner: ResourceOwner;
  readonly all: T;
}

const MAX_OWNERS = 64;

/**
 * Which connectors showed which resources to one binding. A URI that connectors showed, in a list or in a result, is theirs,
 * whatever the templates of others say; templates speak for URIs that nobody showed.
 *
 * It remembers at most `limit` URIs of results, as many of lists, and as many templates. What was shown longest ago goes
 * first: of results a URI, of lists all that a connector listed. Of a URI of results it remembers 64 owners.
 */
export class OwnerTable {
  readonly #limit: number;
  /** The owners of each URI by their ids; of both, the one that was shown longest ago first. */
  readonly #seen = new Map<string, Map<string, ResourceOwner>>();
  /** By the owner's id; the one listed longest ago first. */
  readonly #listed = new Map<string, Shown<ReadonlySet<string>>>();
  readonly #templates = new Map<string, Shown<ReadonlyMap<string, UriTemplate>>>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Remembers a resource that a connector showed in a result. */
  see(owner: ResourceOwner, uri: string): void {
    const owners = this.#seen.get(uri) ?? new Map<string, ResourceOwner>();
    const id = ownerId(owner);
    owners.delete(id);
    owners.set(id, owner);
    for (const first of owners.keys()) {
      if (owners.size <= MAX_OWNERS) break;
      owners.delete(first);
    }
    this.#seen.delete(uri);
    this.#seen.set(uri, owners);
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= this.#limit) break;
      this.#seen.delete(oldest);
    }
  }

  /** The connector says that it has no such resource: neither what it showed nor what it listed before counts for that. */
  forget(owner: ResourceOwner, uri: string): void {
    const id = ownerId(owner);
    const owners = this.#seen.get(uri);
    owners?.delete(id);
    if (owners?.size === 0) this.#seen.delete(uri);
    // The set is shared with others, and an old one: the next question reads the list anew.
    if (this.#listed.get(id)?.all.has(uri) === true) this.#listed.delete(id);
  }

  /** Remembers all resources that a connector lists, in the place of those that it listed before. The set is not copied. */
  list(owner: ResourceOwner, uris: ReadonlySet<string>): void {
    replace(this.#listed, this.#limit, { owner, all: uris });
  }

  /** Remembers all templates that a connector lists, by their text, in the place of those that it listed before. */
  listTemplates(owner: ResourceOwner, templates: ReadonlyMap<string, UriTemplate>): void {
    replace(this.#templates, this.#limit, { owner, all: templates });
  }

  /** The connectors that a URI belongs to, of those that still count; sorted by key. */
  ownersOf(uri: string, counts: OwnerTest = always): readonly ResourceOwner[] {
    const shown = new Map<string, ResourceOwner>();
    for (const [id, owner] of this.#seen.get(uri) ?? []) if (counts(owner)) shown.set(id, owner);
    for (const [id, { owner, all }] of this.#listed) if (all.has(uri) && counts(owner)) shown.set(id, owner);
    if (shown.size > 0) return sorted(shown);
    return this.#byTemplate(counts, (templates) => {
      for (const template of templates.values()) if (matchesUriTemplate(template, uri)) return true;
      return false;
    });
  }

  /** The connectors that list exactly this template, of those that still count; sorted by key. */
  ownersOfTemplate(text: string, counts: OwnerTest = always): readonly ResourceOwner[] {
    return this.#byTemplate(counts, (templates) => templates.has(text));
  }

  #byTemplate(
    counts: OwnerTest,
    fits: (templates: ReadonlyMap<string, UriTemplate>) => boolean,
  ): readonly ResourceOwner[] {
    const owners = new Map<string, ResourceOwner>();
    for (const [id, { owner, all }] of this.#templates) if (counts(owner) && fits(all)) owners.set(id, owner);
    return sorted(owners);
  }
}

function ownerId({ scope, connectorKey }: ResourceOwner): string {
  return JSON.stringify([connectorKey, scope]);
}

function sorted(owners: ReadonlyMap<string, ResourceOwner>): readonly ResourceOwner[] {
  return [...owners].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, owner]) => owner);
}

function replace<T extends { readonly size: number }>(map: Map<string, Shown<T>>, limit: number, next: Shown<T>): void {
  const id = ownerId(next.owner);
  map.delete(id);
  if (next.all.size === 0) return;
  map.set(id, next);
  let size = 0;
  for (const { all } of map.values()) size += all.size;
  for (const [oldest, { all }] of map) {
    if (size <= limit) break;
    map.delete(oldest);
    size -= all.size;
  }
}

function always(): boolean {
  return true;
}
