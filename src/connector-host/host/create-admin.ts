import type { RouteToken } from "../../reconcile/index.js";
import type { StorageIssue } from "../registration/index.js";
import { DEVICE_SCOPE } from "./account-scope.js";
import { CatalogAdmin } from "./catalog-admin.js";
import { CatalogChanges } from "./catalog-changes.js";
import { ConnectorAdmin } from "./connector-admin.js";
import type { HostParts } from "./host-parts.js";
import { observeWithdrawn } from "./observe-withdrawn.js";
import { PermissionAdmin } from "./permission-admin.js";
import { RegistrationAdmin } from "./registration-admin.js";
import { ServerAccounts } from "./server-accounts.js";

/** What an administration needs beside the parts of its host. */
export interface AdminContext {
  readonly issues: readonly StorageIssue[];
  /** Fires when the host closes. */
  readonly signal: AbortSignal;
}

/** The administration of a host's connectors. */
export function createAdmin(parts: HostParts, { issues, signal }: AdminContext): ConnectorAdmin {
  const { catalog, config, controller, routes, rules: book, store } = parts;
  const accountScope = (): string | undefined => parts.session?.scope;
  const withdraw = (key: string): void => {
    const route = routes.current(key);
    if (route === undefined) return;
    const { scope, generation, scopeEpoch: epoch } = route;
    const token: RouteToken = { scope, key, generation, epoch };
    controller.revoke(token);
  };
  const changes = new CatalogChanges({
    catalog,
    store,
    clock: config.wallClock,
    accountScope,
    refetch: () => parts.session?.sync.wake(),
    planInTx: (tx, scope, keys) => controller.planInTx(tx, scope, keys),
    withdraw,
  });
  const registrations = new RegistrationAdmin({
    catalog,
    changes,
    kept: config.registrationStore,
    issues,
    policy: config.registrationPolicy,
    maxRegistrations: config.maxRegistrations,
    mintId: config.mintId,
    withdraw,
    observeWithdrawn: (key) => observeWithdrawn(parts, DEVICE_SCOPE, key, signal),
    onUnplanned(connectorKey, error) {
      config.logger.warn("A change of a registration could not be planned yet.", { connectorKey, error });
      controller.wake(DEVICE_SCOPE, [connectorKey]);
    },
  });
  const admin = new ConnectorAdmin({
    catalog,
    changes,
    registrations,
    accounts: new ServerAccounts({
      catalog,
      authorizers: config.authorizers,
      probe: (keys) => controller.probe(DEVICE_SCOPE, keys),
      withdraw,
      async discard(key) {
        const [row] = await controller.status(DEVICE_SCOPE, [key]);
        const epoch = controller.epochOf(DEVICE_SCOPE);
        if (row?.enabled !== true || epoch === undefined) return;
        controller.revoke({ scope: DEVICE_SCOPE, key, generation: row.generation, epoch });
      },
      signal,
    }),
    catalogs: new CatalogAdmin({
      catalog,
      source: () => parts.catalogs,
      rulesOf: (key) => book.rulesOf(key),
      permissionOf: (key, nativeName) => parts.permissions.ofTool(key, nativeName),
      signal,
    }),
    permissions: new PermissionAdmin({ catalog, book, registrations, store, clock: config.wallClock }),
    async observeWithdrawn(key) {
      const scope = accountScope();
      if (scope !== undefined) await observeWithdrawn(parts, scope, key, signal);
    },
  });
  routes.onPublication((published) => {
    for (const { connectorKey, current } of published) {
      if (current === undefined) continue;
      // What is not kept now is settled with the next route.
      admin.settle(connectorKey, current.releaseDigest).catch((error: unknown) => {
        config.logger.warn("The end of an update could not be kept yet.", { connectorKey, error });
      });
    }
  });
  return admin;
}
