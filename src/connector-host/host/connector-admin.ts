import type { PermissionRules, ReleaseCapability, ToolPermission } from "../registration/index.js";
import { refuseUnknownOptions } from "../../options.js";
import { RemoteConnectorError } from "../../errors.js";
import {
  type CatalogEntry,
  type ConnectorCatalog,
  type InstalledRelease,
  installedRelease,
  type ReleaseEntry,
  releaseEntry,
  writeRelease,
  writeSwitch,
} from "../catalog/index.js";
import type { CatalogAdmin, CatalogOptions, CatalogView } from "./catalog-admin.js";
import type { CatalogChanges } from "./catalog-changes.js";
import { describeEntry, type ListedConnector } from "./describe-entry.js";
import { unknownConnector } from "./host-errors.js";
import type { PermissionAdmin } from "./permission-admin.js";
import type { RegistrationAdmin } from "./registration-admin.js";
import type { ServerAccounts } from "./server-accounts.js";

export interface InstallOptions {
  /** What the connector is opened for. `["tools"]` when left out. */
  readonly capabilities?: readonly ReleaseCapability[] | undefined;
}

export interface ConnectorAdminOptions {
  readonly catalog: ConnectorCatalog;
  readonly changes: CatalogChanges;
  readonly registrations: RegistrationAdmin;
  readonly accounts: ServerAccounts;
  readonly permissions: PermissionAdmin;
  readonly catalogs: CatalogAdmin;
  /** Resolves when it was observed that nothing of a connector of an account runs any more. */
  readonly observeWithdrawn: (key: string) => Promise<void>;
}

/**
 * What people do about connectors: what is installed, registered and switched on. Every change is kept and planned in one step; what
 * follows from it for routes is told by the host's status and events.
 *
 * Each method rejects with what the store rejects with too; nothing was changed then.
 */
export class ConnectorAdmin {
  /** The servers over HTTP that people register. */
  readonly registrations: RegistrationAdmin;
  /** Who is signed in to them by OAuth. */
  readonly accounts: ServerAccounts;
  readonly #options: ConnectorAdminOptions;

  constructor(options: ConnectorAdminOptions) {
    this.#options = options;
    this.registrations = options.registrations;
    this.accounts = options.accounts;
  }

  /** Every connector, by key. */
  list(): readonly ListedConnector[] {
    const { catalog } = this.#options;
    return catalog.keys.flatMap((key) => {
      const entry = catalog.get(key);
      return entry === undefined ? [] : describeEntry(entry);
    });
  }

  /**
   * Installs a release, which is untrusted. Rejects with `invalid_release`, with `invalid_options`, and with `duplicate_connector` when
   * its key is taken; a newer release of an installed connector is for `update`.
   */
  async install(release: unknown, options: InstallOptions = {}): Promise<void> {
    refuseUnknownOptions(options, ["capabilities"]);
    const { catalog, changes, permissions } = this.#options;
    const entry = releaseEntry(installedRelease(release), "an installation", options.capabilities);
    await changes.apply(entry.key, {
      decide: () => {
        catalog.assertFree(entry);
        return entry;
      },
      keep: async (tx, next, now) => {
        await writeRelease(tx, next.key, next, now);
        // What was decided about an earlier connector of this key says nothing of it.
        await writeSwitch(tx, next.key, true, now);
        await permissions.forgetInTx(tx, next.key);
      },
    });
  }

  /**
   * Gives an installed connector another release, which is untrusted. The present one stays until a route of the other was published;
   * until then the account's snapshot says which of the two runs. The present release itself ends such an update.
   *
   * Rejects with `unknown_connector`, and with `invalid_release`: also for another release of the present version.
   */
  async update(release: unknown): Promise<void> {
    const candidate = installedRelease(release);
    await this.#change(candidate.release.connectorId, (entry) => withCandidate(entry, candidate));
  }

  /**
   * Takes a connector of a release away: it is deactivated, that is observed, and then it is removed. What the account has authorized
   * stays. One that the configuration declares is back when the host is started again.
   *
   * Rejects with `unknown_connector`, and with `cancelled` when the host is closed meanwhile; it is gone after the next start then.
   */
  async uninstall(key: string): Promise<void> {
    const { changes, observeWithdrawn, permissions } = this.#options;
    await this.#change(key, (entry) => ({ ...entry, isLeaving: true }), true);
    await observeWithdrawn(key);
    await changes.apply(key, {
      decide: (before) => (before?.kind === "release" && before.isLeaving ? undefined : before),
      keep: async (tx, _next, now) => {
        await writeRelease(tx, key, undefined, now);
        await writeSwitch(tx, key, true, now);
        await permissions.forgetInTx(tx, key);
      },
    });
  }

  /**
   * Turns a connector's switch, whatever its kind. Off needs nothing of the connector to be in order, and takes effect at once, before
   * this returns: what is published of it is gone, its calls are aborted. When it rejects all the same, that was not kept.
   *
   * Rejects with `unknown_connector`.
   */
  setEnabled(key: string, enabled: boolean): Promise<void> {
    return this.#options.changes.setSwitch(key, enabled);
  }

  /** What may be done with the tools of a connector, whatever its kind. Throws `unknown_connector`. */
  permissions(key: string): PermissionRules {
    return this.#options.permissions.of(key);
  }

  /**
   * Decides what may be done with one tool, by the name that its server has for it; `undefined`: what its definition says, else what
   * holds for new tools. What permits less is in effect before this returns, and stays so in this process when it can't be kept; what
   * permits more is in effect once it is kept. No route is touched: calls that were sent finish, those that were not are refused
   * (`not_admitted`), whatever tool of the connector they are for.
   *
   * Rejects with `unknown_connector`, and with `invalid_argument`: also when 2,048 tools have a permission of their own.
   */
  setPermission(key: string, nativeName: string, permission: ToolPermission | undefined): Promise<void> {
    return this.#options.permissions.change(key, { kind: "tool", nativeName, permission });
  }

  /** As {@link setPermission}, for all tools that have no permission of their own. */
  setNewTools(key: string, permission: ToolPermission): Promise<void> {
    return this.#options.permissions.change(key, { kind: "new_tools", permission });
  }

  /**
   * What a registered server, or a program, has of tools: as it is in memory, as it was kept, or, where neither is, as {@link refresh}.
   *
   * Rejects with `unknown_connector`, with `invalid_argument` for a connector of a release, with `route_unavailable` (`disabled`) for one
   * that is paused or switched off, with the signal's reason, and as {@link refresh} does.
   */
  catalog(key: string, options: CatalogOptions = {}): Promise<CatalogView> {
    return this.#options.catalogs.read(key, options);
  }

  /**
   * Has a registered server, or a program, list its tools now. When this rejects, the old catalog stays.
   *
   * Rejects as {@link catalog} does, with `route_unavailable` when it could not be reached within `wakeBudgetMs`, with what its client
   * rejects with, and with `cancelled` when its settings were changed meanwhile.
   */
  refresh(key: string, options: CatalogOptions = {}): Promise<CatalogView> {
    return this.#options.catalogs.refresh(key, options);
  }

  /** Drops the catalogs that are in memory: what is kept of them is read again. For who changed the store behind the host's back. */
  invalidateCatalogs(): void {
    this.#options.catalogs.invalidate();
  }

  /** A route of this release was published: an update to it has come to its end. */
  async settle(key: string, releaseDigest: string): Promise<void> {
    const entry = this.#options.catalog.get(key);
    if (entry?.kind !== "release" || entry.candidate?.digest !== releaseDigest) return;
    await this.#change(key, (present) => {
      const { candidate } = present;
      return candidate?.digest === releaseDigest ? { ...present, current: candidate, candidate: undefined } : present;
    });
  }

  async #change(key: string, decide: (entry: ReleaseEntry) => ReleaseEntry, isLeaving = false): Promise<void> {
    await this.#options.changes.apply(key, {
      decide: (before) => decide(assertInstalled(key, before, isLeaving)),
      keep: (tx, next, now) => writeRelease(tx, key, next, now),
    });
  }
}

function assertInstalled(key: string, entry: CatalogEntry | undefined, isLeaving: boolean): ReleaseEntry {
  if (entry?.kind !== "release" || (entry.isLeaving && !isLeaving)) throw unknownConnector(key);
  return entry;
}

function withCandidate(entry: ReleaseEntry, candidate: InstalledRelease): ReleaseEntry {
  const { current } = entry;
  if (current === undefined) return { ...entry, current: candidate };
  if (current.digest === candidate.digest) return { ...entry, candidate: undefined };
  if (current.release.version !== candidate.release.version) return { ...entry, candidate };
  throw new RemoteConnectorError("invalid_release", {
    message: `Another release ${current.release.version} of ${entry.key} is installed.`,
    details: { member: "version", reason: "that of the installed release, which is another one" },
  });
}
