import type { RemoteConnectorError } from "../../errors.js";
import type { RouteToken } from "../../reconcile/index.js";
import type { Clock } from "../../transport/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Route, RouteTable } from "../routes/index.js";
import { explainDeviceFault } from "./classify-device-fault.js";
import type { DeviceConnector } from "./device-connector.js";
import type { DeviceControl, DeviceIncident } from "./device-ports.js";
import { isUnauthorized, listServer } from "./list-server.js";
import { Relist } from "./relist.js";
import { type HolderPorts, ServerHolder } from "./server-holder.js";
import { classifySilence, STRIKES } from "./silence.js";

/** How long a server that left requests unanswered has for one that any server answers. */
const PING_TIMEOUT_MS = 10_000;
/** How long the end of a server is waited for before the next one of its connector begins. */
const CLOSE_TIMEOUT_MS = 10_000;

export interface HeldServersPorts extends HolderPorts {
  readonly routes: RouteTable<RemoteMcpClient>;
  readonly controller: DeviceControl;
  readonly clock: Clock;
  readonly onIncident: (incident: DeviceIncident) => void;
  readonly onRelisted: (connectorKey: string) => void;
}

/** A holder, and what is known of its server beyond that it is there. */
interface Held {
  readonly holder: ServerHolder;
  /** How it does, as it was last listed. */
  readiness: "ready" | "degraded";
  /** Requests in a row that were not answered. */
  strikes: number;
  isPinging: boolean;
  relist: Relist | undefined;
}

/** A server with the route that it gets. */
interface Publication {
  readonly holder: ServerHolder;
  readonly route: Route<RemoteMcpClient>;
  readonly readiness: "ready" | "degraded";
}

/**
 * The servers of the device, at most one for each connector, and what follows when one of them opens, ends, changes, or falls
 * silent: convergence is told, and does the rest.
 */
export class HeldServers {
  readonly #ports: HeldServersPorts;
  readonly #held = new Map<string, Held>();
  /** Ends of servers that are under way, by connector. */
  readonly #leaving = new Map<string, Promise<unknown>>();

  constructor(ports: HeldServersPorts) {
    this.#ports = ports;
  }

  /** The server that is held for exactly this. */
  find({ key, scope, generation, epoch }: RouteToken): ServerHolder | undefined {
    const holder = this.#held.get(key)?.holder;
    const token = holder?.token;
    return token?.scope === scope && token.generation === generation && token.epoch === epoch ? holder : undefined;
  }

  /** Begins to open a connector's server, in the place of the one that is held. Programs follow each other, and never overlap. */
  begin(connector: DeviceConnector, token: RouteToken): void {
    const { key } = token;
    const before = this.#held.get(key);
    before?.relist?.end();
    // A published server over HTTP serves until the next one takes its place, and is closed by the table.
    if (before?.holder.route === undefined || connector.kind === "stdio") void this.end(key);
    const holder = new ServerHolder(connector, token, this.#ports, this);
    this.#held.set(key, { holder, readiness: "ready", strikes: 0, isPinging: false, relist: undefined });
    holder.start(this.#leaving.get(key) ?? Promise.resolve());
  }

  /** Ends a connector's server. Resolves when nothing of it is left, or after a while. Never rejects. */
  async end(key: string): Promise<void> {
    const held = this.#held.get(key);
    if (held !== undefined) {
      this.#held.delete(key);
      held.relist?.end();
      this.#leave(key, held.holder);
    }
    await this.#leaving.get(key);
  }

  async endAll(): Promise<void> {
    await Promise.all([...this.#held.keys(), ...this.#leaving.keys()].map((key) => this.end(key)));
  }

  /** How the server of a published route does; `undefined` for another route. */
  readinessOf(route: Route<RemoteMcpClient> | undefined): "ready" | "degraded" | undefined {
    const held = route && this.#held.get(route.connectorKey);
    return held?.holder.route === route ? held?.readiness : undefined;
  }

  /** The server is about to be published. One that is degraded is asked for its tools again. */
  publish({ holder, route, readiness }: Publication): void {
    const held = this.#heldBy(holder);
    holder.route = route;
    if (held === undefined) return;
    held.readiness = readiness;
    if (readiness === "degraded") held.relist = new Relist(this.#ports.clock, () => this.#listAgain(held));
  }

  /** A list or a call over a route failed. What says nothing of the server's life changes nothing. */
  onRequest(route: Route<RemoteMcpClient>, error: unknown): void {
    const held = this.#held.get(route.connectorKey);
    if (held === undefined || held.holder.route !== route) return;
    if (isUnauthorized(error)) {
      this.#giveUp(held, explainDeviceFault(route.connectorKey, error, true));
      return;
    }
    const sign = classifySilence(error);
    if (sign === "life") held.strikes = 0;
    if (sign !== "silence") return;
    held.strikes += 1;
    if (held.strikes >= STRIKES && !held.isPinging) void this.#ping(held, error);
  }

  onReady({ token }: ServerHolder): void {
    // By a report, which is not lost while the run that began this is still writing down that it did.
    this.#ports.controller.report(token, { kind: "requeue", afterMs: 0 });
  }

  onEnded(holder: ServerHolder, error: RemoteConnectorError): void {
    const held = this.#heldBy(holder);
    if (held === undefined) return;
    const { controller, routes } = this.#ports;
    const { token, route } = holder;
    void this.end(token.key);
    const fault = explainDeviceFault(token.key, error, false);
    // What waits for its scope's gate was never observed; what was taken away is nobody's loss.
    const isExpected = route === undefined || routes.isStaged(token.scope, token.key, token.generation);
    if (route !== undefined && routes.retireExact(route).wasPublished) controller.exited(token, fault);
    else if (isExpected) controller.report(token, { kind: "fault", error: fault });
  }

  onChanged(holder: ServerHolder): void {
    this.#heldBy(holder)?.relist?.soon();
  }

  async #listAgain(held: Held): Promise<void> {
    const { holder } = held;
    const { ready, connector, signal, token } = holder;
    if (ready === undefined) return;
    try {
      const { readiness } = await listServer(ready.client, connector, signal, this.#ports.checkSchema);
      if (readiness !== "ready" || this.#held.get(token.key) !== held) return;
      held.relist?.end();
      held.relist = undefined;
      held.readiness = readiness;
      this.#ports.controller.report(token, { kind: "done", readiness });
      this.#ports.onRelisted(token.key);
    } catch (error) {
      // An end is told by itself; whatever else it is, it is asked again.
      if (!signal.aborted && holder.route !== undefined) this.onRequest(holder.route, error);
    }
  }

  /** Whether a server that is silent answers at all. */
  async #ping(held: Held, silence: unknown): Promise<void> {
    const { holder } = held;
    const { ready, signal, token } = holder;
    if (ready === undefined) return;
    const { client } = ready;
    held.isPinging = true;
    const options = { signal, totalTimeoutMs: PING_TIMEOUT_MS };
    const asked = client.era === "modern" ? client.discover(options) : client.request("ping", undefined, options);
    const isAlive = await asked.then(
      () => true,
      (error: unknown) => classifySilence(error) === "life",
    );
    held.isPinging = false;
    held.strikes = 0;
    if (isAlive || this.#held.get(token.key) !== held) return;
    const message = "The server left requests unanswered, and then a question: it is reached anew.";
    this.#ports.onIncident({ kind: "given_up", connectorKey: token.key, message, error: silence });
    this.#giveUp(held, silence);
  }

  /** The server is no good to anybody: its route goes, and convergence makes another one after a pause. */
  #giveUp({ holder }: Held, error: unknown): void {
    const { controller, routes } = this.#ports;
    const { route, token } = holder;
    void this.end(token.key);
    if (route !== undefined && routes.retireExact(route).wasPublished) controller.exited(token, error);
  }

  #heldBy(holder: ServerHolder): Held | undefined {
    const held = this.#held.get(holder.token.key);
    return held?.holder === holder ? held : undefined;
  }

  #leave(key: string, holder: ServerHolder): void {
    const { clock, onIncident } = this.#ports;
    const failed = (message: string, error?: unknown): void =>
      onIncident({ kind: "close_failed", connectorKey: key, message, error });
    const left = new Promise<void>((resolve) => {
      const cancel = clock.schedule(CLOSE_TIMEOUT_MS, () => {
        failed("The end of a server takes too long; it is waited for no more.");
        resolve();
      });
      void holder
        .close()
        .catch((error: unknown) => failed("A server could not be closed.", error))
        .then(() => {
          cancel();
          resolve();
        });
    });
    // After those that are leaving already.
    const all = Promise.all([this.#leaving.get(key), left]).then(() => {
      if (this.#leaving.get(key) === all) this.#leaving.delete(key);
    });
    this.#leaving.set(key, all);
  }
}
