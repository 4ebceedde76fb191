import { effectiveRow, type LoginGuard } from "../../auth-projection/index.js";
import { RemoteConnectorError } from "../../errors.js";
import type { FaultClass, Outcome, Reconciler, RunContext } from "../../reconcile/index.js";
import {
  activateRemote,
  type ActivationMemory,
  classifyActivationFault,
  type RemoteActivation,
  type ToolListDiagnostic,
} from "../activation/index.js";
import type { SchemaCheck } from "../../protocol/json-schema/index.js";
import type { RemoteMcpClient, RemoteMcpClientFactory } from "../factories/index.js";
import { Route, type RouteTable } from "../routes/index.js";
import { accountOf } from "./account-scope.js";
import { type ConnectorCatalog, findRelease } from "../catalog/index.js";
import type { HostStore } from "./host-store.js";
import type { UsedConnection } from "./observe-demand.js";
import type { SkillSource } from "../skills/index.js";
import { type PlannedConnection, readConnection } from "./plan-connector.js";

export interface RemoteReconcilerOptions {
  readonly catalog: ConnectorCatalog;
  readonly logins: LoginGuard;
  readonly store: HostStore;
  readonly routes: RouteTable<RemoteMcpClient>;
  readonly factory: RemoteMcpClientFactory;
  readonly memory: ActivationMemory;
  readonly hostVersion: string;
  /** Tools whose schema it finds fault with are left out. */
  readonly checkSchema: SchemaCheck | undefined;
  /** Left out: no connector has skills. */
  readonly readSkills: SkillSource | undefined;
  /** Wall time in epoch milliseconds. */
  readonly now: () => number;
  /** What was left out of a connector's tools, or tolerated. */
  readonly onDiagnostics: (connectorKey: string, diagnostics: readonly ToolListDiagnostic[]) => void;
  /** Whether the connection is known not to be granted any more, although the rows don't say so. */
  readonly isDenied: (scopeEpoch: string, used: UsedConnection) => boolean;
  /** Whether a fault was reported of a published route: it is made anew, and replaced. */
  readonly isDoubtful: (route: Route<RemoteMcpClient>) => boolean;
  /**
   * Told of every failed activation, with its scope's epoch and the connection that it was for. Resolves when what it says
   * of the account's authorization was written and planned. Does not reject.
   */
  readonly onFailure: (scopeEpoch: string, used: UsedConnection, error: unknown) => Promise<void>;
}

const DONE: Outcome = { kind: "done", readiness: "ready" };
/** Whoever opens the gate has the key looked at again. */
const STAGED: Outcome = { kind: "starting" };

/** Publishes the route of an account's connector, or takes it away. */
export class RemoteReconciler implements Reconciler {
  readonly #options: RemoteReconcilerOptions;

  constructor(options: RemoteReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(context: RunContext): Promise<Outcome> {
    const { routes, isDoubtful } = this.#options;
    const { scope, key, generation } = context;
    if (!context.enabled) {
      await routes.remove(scope, key, generation);
      return DONE;
    }
    if (routes.isStaged(scope, key, generation)) return STAGED;
    const current = routes.holds(scope, key, generation) ? routes.current(key) : undefined;
    if (current !== undefined && !isDoubtful(current)) return DONE;
    const connection = readConnection(context.identity);
    if (connection === undefined) throw refused(key, "it is not what was planned");
    const used = {
      releaseDigest: connection.digest,
      connectionId: connection.connectionId ?? undefined,
      connectionVersion: connection.connectionVersion,
    };
    const activation = await this.#activate(context, connection, { connectorKey: key, ...used });
    const route = new Route({
      connectorKey: key,
      scope,
      scopeEpoch: context.epoch,
      generation,
      ...used,
      client: activation.client,
      tools: activation.tools,
      discovered: activation.discovered,
      skills: activation.skills,
    });
    // What was learnt while it was activated, and could not be planned, ended no run.
    if (this.#options.isDenied(context.epoch, route)) route.revoke("its connection is not granted any more");
    const committed = await routes.commit(route);
    if (!committed.published && committed.refusal !== "staged") throw refused(key, committed.refusal);
    if (activation.diagnostics.length > 0) this.#options.onDiagnostics(key, activation.diagnostics);
    return committed.published ? DONE : STAGED;
  }

  /**
   * A demand for an authorization comes here only when it could not be written down, or when the account's rows have moved on
   * meanwhile: then the run is superseded, and this verdict with it.
   */
  classifyFault(error: unknown): FaultClass {
    const { counts, retryAfterMs } = classifyActivationFault(error, this.#options.now());
    return { counts, retryAfterMs };
  }

  async #activate(context: RunContext, connection: PlannedConnection, used: UsedConnection): Promise<RemoteActivation> {
    const { onFailure, ...ports } = this.#options;
    const request = await this.#request(context, connection);
    const { checkSchema, factory, memory, hostVersion, readSkills } = ports;
    const { signal } = context;
    const activating = activateRemote(request, { factory, memory, hostVersion, checkSchema, readSkills, signal });
    try {
      return await context.waiting(activating);
    } catch (error) {
      // The wait can end while the activation succeeds; then nobody else would close its client.
      activating.then(({ client }) => client.close(), ignore).catch(ignore);
      await onFailure(context.epoch, used, error);
      throw error;
    }
  }

  async #request({ scope, key, generation, epoch }: RunContext, connection: PlannedConnection) {
    const { catalog, logins, store } = this.#options;
    const entry = catalog.get(key);
    const installed = entry?.kind === "release" ? findRelease(entry, connection.digest) : undefined;
    const login = logins.current;
    const isOurs = login !== undefined && accountOf(scope) === login.accountId;
    if (installed === undefined || !isOurs) throw refused(key, "it is not what was planned");
    const { row, serverRevision } = await store.read(async ({ projections, overlays }) => {
      const synchronized = await projections.get(login.accountId, key);
      const account = await projections.account(login.accountId);
      return {
        row: synchronized && effectiveRow(synchronized, await overlays.get(login.accountId, key)),
        serverRevision: account?.applied?.revision ?? 0n,
      };
    });
    return {
      operationId: `runtime/${epoch}/${key}/${String(generation)}`,
      accountId: login.accountId,
      loginGeneration: login.generation,
      generation,
      release: installed.release,
      authorizationState: row?.state ?? "disconnected",
      connectionVersion: connection.connectionVersion,
      serverRevision,
    } as const;
  }
}

function refused(key: string, reason: string): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: `The route of ${key} was not published: ${reason}.`,
    details: { reason },
  });
}

function ignore(): void {}
