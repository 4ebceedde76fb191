import { RemoteConnectorError } from "../../errors.js";
import type { SchemaCheck } from "../../protocol/json-schema/index.js";
import type { FaultClass, Outcome, Reconciler, RunContext } from "../../reconcile/index.js";
import { type Clock, systemClock } from "../../transport/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import { Route, type RouteTable } from "../routes/index.js";
import type { SkillSource } from "../skills/index.js";
import { classifyDeviceFault } from "./classify-device-fault.js";
import type { DeviceConnector } from "./device-connector.js";
import type { DeviceControl, DeviceIncident } from "./device-ports.js";
import { HeldServers } from "./held-servers.js";
import type { ServerListing } from "./list-server.js";
import type { ReadyServer, ServerFactory, ServerHolder } from "./server-holder.js";

export interface DeviceReconcilerOptions {
  /** The connector of a key as it is defined now. An enabled plan has its digest as its identity. */
  readonly find: (key: string) => DeviceConnector | undefined;
  readonly routes: RouteTable<RemoteMcpClient>;
  /** Opens the servers: a `RegistrationFactory`. */
  readonly factory: ServerFactory;
  /** Told of what happens between runs. */
  readonly controller: DeviceControl;
  readonly onIncident: (incident: DeviceIncident) => void;
  /** Told when a server that had no tools has some: what was kept of its list is out of date. */
  readonly onRelisted?: ((connectorKey: string) => void) | undefined;
  /** Wall time in epoch milliseconds. */
  readonly now: () => number;
  readonly clock?: Clock | undefined;
  /** Tools whose schema it finds fault with are left out. Left out: none is. */
  readonly checkSchema?: SchemaCheck | undefined;
  /** Left out: no connector has skills. */
  readonly readSkills?: SkillSource | undefined;
}

const STARTING: Outcome = { kind: "starting" };
const DONE: Outcome = { kind: "done", readiness: "ready" };

/**
 * Publishes the routes of the device's connectors, or takes them away.
 *
 * A run only has a server opened and asked for its tools, and ends; once that is done, another one publishes it. In between, and as
 * long as the server is there, it is held outside the lanes, with its own deadlines: what becomes of it is reported, and a server that
 * ended is started again by convergence, with its pauses. A program that is switched off, or that is to become another one, is ended with its whole
 * process group before anything else begins.
 */
export class DeviceReconciler implements Reconciler {
  readonly #options: DeviceReconcilerOptions;
  readonly #servers: HeldServers;
  #isClosed = false;

  constructor(options: DeviceReconcilerOptions) {
    const { onRelisted = ignore, clock = systemClock, ...ports } = options;
    this.#options = options;
    this.#servers = new HeldServers({ ...ports, onRelisted, clock });
  }

  async reconcile(context: RunContext): Promise<Outcome> {
    const { routes } = this.#options;
    const { scope, key, generation } = context;
    if (!context.enabled) {
      // Its end is waited for, so that whoever switched it off knows that nothing of it runs.
      await context.waiting(Promise.all([routes.remove(scope, key, generation), this.#servers.end(key)]));
      return DONE;
    }
    if (this.#isClosed) throw refused(key, "the host is closed");
    const connector = this.#options.find(key);
    if (connector?.digest !== context.identity) throw refused(key, "it is not what was planned");
    const holder = this.#servers.find(context);
    const readiness = routes.holds(scope, key, generation) ? this.#servers.readinessOf(routes.current(key)) : undefined;
    if (readiness !== undefined) return { kind: "done", readiness };
    // Whoever opens the gate of the scope has the key looked at again.
    if (routes.isStaged(scope, key, generation)) return STARTING;
    // A route that was taken away has taken its client with it.
    if (holder === undefined || holder.route !== undefined) {
      // A program of an earlier definition may hold what the next one needs.
      if (connector.kind === "stdio") await context.waiting(routes.remove(scope, key, generation - 1));
      context.signal.throwIfAborted();
      this.#servers.begin(connector, tokenOf(context));
      return STARTING;
    }
    return holder.ready === undefined ? STARTING : this.#publish(context, holder, holder.ready);
  }

  /** Pure, but for the wall clock. */
  classifyFault(error: unknown): FaultClass {
    return classifyDeviceFault(error, this.#options.now());
  }

  /** A list or a call over a route of the device failed. Routes of others are not looked at. */
  onRequest(route: Route<RemoteMcpClient>, error: unknown): void {
    this.#servers.onRequest(route, error);
  }

  /** Ends every server, for good. Resolves when nothing of them is left, or after a while. Never rejects. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#servers.endAll();
  }

  async #publish(
    context: RunContext,
    holder: ServerHolder,
    { published: client, discovered, listing, skills }: ReadyServer,
  ): Promise<Outcome> {
    const { routes } = this.#options;
    const { scope, key, generation, epoch } = context;
    const { readiness, tools, ttlMs: toolsTtlMs } = listing;
    const route = new Route<RemoteMcpClient>({
      connectorKey: key,
      scope,
      scopeEpoch: epoch,
      generation,
      releaseDigest: holder.connector.digest,
      connectionVersion: 0n,
      client,
      tools,
      toolsTtlMs,
      discovered,
      skills: skills !== undefined && "root" in skills ? skills.root : undefined,
    });
    // In one step with the commit: its server may end at any moment.
    this.#servers.publish({ holder, route, readiness });
    const committed = await routes.commit(route);
    if (!committed.published && committed.refusal !== "staged") {
      void this.#servers.end(key);
      throw refused(key, committed.refusal);
    }
    this.#tell(key, listing);
    if (skills !== undefined && "error" in skills) {
      const message = "The skills of a connector are left out.";
      this.#options.onIncident({ kind: "skills_left_out", connectorKey: key, message, error: skills.error });
    }
    return committed.published ? { kind: "done", readiness } : STARTING;
  }

  #tell(connectorKey: string, { readiness, error, diagnostics }: ServerListing): void {
    const { onIncident } = this.#options;
    if (diagnostics.length > 0) {
      const message = "Tools of a connector were left out or mended.";
      onIncident({ kind: "tools_left_out", connectorKey, message, diagnostics });
    }
    if (readiness === "degraded") {
      const message = "A server that runs has no list of tools, or an empty one.";
      onIncident({ kind: "list_failed", connectorKey, message, error });
    }
  }
}

function tokenOf({ scope, key, generation, epoch }: RunContext) {
  return { scope, key, generation, epoch };
}

function refused(key: string, reason: string): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: `The route of ${key} was not published: ${reason}.`,
    details: { reason },
  });
}

function ignore(): void {
  // Nobody keeps lists.
}
