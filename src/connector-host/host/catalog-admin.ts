import { RemoteConnectorError } from "../../errors.js";
import { refuseUnknownOptions } from "../../options.js";
import { isJsonObject, parseJson } from "../../protocol/index.js";
import type { CatalogReading } from "../aggregation/index.js";
import type { ConnectorCatalog } from "../catalog/index.js";
import type { PermissionRules, ToolPermission } from "../registration/index.js";
import { DEVICE_SCOPE } from "./account-scope.js";
import { hostClosed, unknownConnector } from "./host-errors.js";

/** A tool as its connector's catalog has it. */
export interface CatalogTool {
  /** The name that its server has for it. */
  readonly nativeName: string;
  /** The name that agents know it by. */
  readonly exposedName: string;
  readonly title: string | undefined;
  /** What its server says of it. */
  readonly description: string | undefined;
  /** What agents may do with it now. */
  readonly permission: ToolPermission;
}

/** A permission of a tool that the catalog does not have. */
export interface StalePermission {
  readonly nativeName: string;
  readonly permission: ToolPermission;
}

/** What a registered server, or a program, has of tools by its last full list. */
export interface CatalogView {
  readonly connectorKey: string;
  /** By exposed name, those that are off included. */
  readonly tools: readonly CatalogTool[];
  /** Permissions that are kept for tools that are not there, by native name. */
  readonly stalePermissions: readonly StalePermission[];
  /** When it was read from its server, in epoch milliseconds. Of one that was kept it can be an hour less. */
  readonly fetchedAt: number;
  /** How long its server said that it holds, in milliseconds; `undefined` when it said nothing of it. */
  readonly ttlMs: number | undefined;
  /** The same for lists whose tools the server wrote alike; `""` for an empty one. */
  readonly digest: string;
  /** Where this came from. */
  readonly source: "memory" | "disk" | "network";
  /** The server can't be asked now. */
  readonly isStale: boolean;
}

/** Where catalogs are. The directory of the local server is. */
export interface CatalogSource {
  readCatalog(scopes: readonly string[], connectorKey: string, signal: AbortSignal): Promise<CatalogReading>;
  refreshCatalog(scopes: readonly string[], connectorKey: string, signal: AbortSignal): Promise<CatalogReading>;
  invalidate(connectorKey?: string): void;
}

export interface CatalogAdminOptions {
  readonly catalog: ConnectorCatalog;
  /** `undefined` while the host starts. */
  readonly source: () => CatalogSource | undefined;
  readonly rulesOf: (connectorKey: string) => PermissionRules | undefined;
  readonly permissionOf: (connectorKey: string, nativeName: string) => ToolPermission;
  /** Fires when the host closes. */
  readonly signal: AbortSignal;
}

/** What ends the reading of a catalog. */
export interface CatalogOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Shows people what their servers have of tools. */
export class CatalogAdmin {
  readonly #options: CatalogAdminOptions;

  constructor(options: CatalogAdminOptions) {
    this.#options = options;
  }

  async read(key: string, options: CatalogOptions): Promise<CatalogView> {
    const signal = this.#signalOf(options);
    const source = this.#sourceOf(key);
    return this.#view(key, await source.readCatalog(DEVICE, key, signal));
  }

  async refresh(key: string, options: CatalogOptions): Promise<CatalogView> {
    const signal = this.#signalOf(options);
    const source = this.#sourceOf(key);
    return this.#view(key, await source.refreshCatalog(DEVICE, key, signal));
  }

  invalidate(): void {
    this.#options.source()?.invalidate();
  }

  #signalOf(options: CatalogOptions): AbortSignal {
    refuseUnknownOptions(options, ["signal"]);
    const { signal } = this.#options;
    return options.signal === undefined ? signal : AbortSignal.any([options.signal, signal]);
  }

  #sourceOf(key: string): CatalogSource {
    const { catalog, source } = this.#options;
    const entry = catalog.get(key);
    if (entry === undefined) throw unknownConnector(key);
    if (entry.kind === "release") throw noCatalogs(key);
    const found = source();
    if (found === undefined) throw hostClosed();
    return found;
  }

  #view(key: string, { catalog, source, isStale }: CatalogReading): CatalogView {
    const { permissionOf, rulesOf } = this.#options;
    const { digest, fetchedAt, listing, ttlMs } = catalog;
    const tools: CatalogTool[] = [];
    const present = new Set<string>();
    for (const [exposedName, { nativeName, definition }] of listing.tools) {
      present.add(nativeName);
      tools.push({ nativeName, exposedName, ...textsOf(definition), permission: permissionOf(key, nativeName) });
    }
    const stalePermissions = Object.entries(rulesOf(key)?.permissions ?? {}).flatMap(([nativeName, permission]) =>
      present.has(nativeName) ? [] : { nativeName, permission },
    );
    return { connectorKey: key, tools, stalePermissions, fetchedAt, ttlMs, digest, source, isStale };
  }
}

const DEVICE = [DEVICE_SCOPE];

/** What a definition says for people. */
function textsOf(definition: string): Pick<CatalogTool, "title" | "description"> {
  const value = parseJson(definition);
  const { title, description } = isJsonObject(value) ? value : {};
  return {
    title: typeof title === "string" ? title : undefined,
    description: typeof description === "string" ? description : undefined,
  };
}

function noCatalogs(key: string): RemoteConnectorError<"invalid_argument"> {
  return new RemoteConnectorError("invalid_argument", {
    message: `The connector ${key} is one of a release: its tools are listed live, and it has no catalog.`,
    details: { argument: "key", reason: "a connector of a release" },
  });
}
