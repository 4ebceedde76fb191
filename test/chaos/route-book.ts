import type { Rows } from "./committed-rows.js";
import type { Find } from "./finding.js";
import type { JournalLine } from "./journal.js";
import { effectiveConnection, readIdentity } from "./rows.js";
import { REGISTERED_KEY } from "./wishes.js";
import type { Said } from "./world.js";

type RouteLine = Extract<JournalLine, { t: "route" }>;
type WishLine = Extract<JournalLine, { t: "wish" }>;

const DIGEST = /^[0-9a-f]{64}$/;

interface PublishedRoute {
  readonly generation: number;
  /** What was planned under the generation. */
  readonly identity: string | null;
}

/** A sign-in, as routes see it. */
export interface RouteLogin {
  readonly account: string;
  readonly epoch: string;
  /** A snapshot was taken in since. */
  isReady: boolean;
}

/** Which routes are published now and which ever were, and whether they may be. */
export class RouteBook {
  readonly #find: Find;
  #routes = new Map<string, PublishedRoute>();
  /** The last publication of each account and key. */
  readonly #last = new Map<string, PublishedRoute & { readonly epoch: string }>();
  /** Every publication there ever was, as epoch, key and generation. */
  readonly #ever = new Set<string>();

  /** Keys that were switched off, uninstalled or paused, and not asked for since. */
  readonly #off = new Set<string>();
  #device: RouteLogin | undefined;

  constructor(find: Find) {
    this.#find = find;
  }

  /** Another process: nothing is published. */
  forget(): void {
    this.#routes = new Map();
  }

  wasPublished(epoch: string, key: string, generation: number): boolean {
    return this.#ever.has(JSON.stringify([epoch, key, generation]));
  }

  /** Another process: its scope of the device. */
  beginDevice(epoch: string): void {
    this.#device = { account: "", epoch, isReady: true };
  }

  /** What is off is not published when that was done, nor before it is asked for again, whatever process it is by then. */
  wish({ key, isOff, isDone }: WishLine): void {
    if (!isOff) this.#off.delete(key);
    else if (isDone) {
      this.#off.add(key);
      if (this.#routes.has(key)) this.#find("switches", `${key} is off, and is published`);
    }
  }

  signOut(): void {
    const ofAccount = Array.from(this.#routes.keys()).filter((key) => key !== REGISTERED_KEY);
    for (const key of ofAccount) this.#find("logout", `${key} is published after its account signed out`);
  }

  /** `rows`: what is committed at this moment. */
  change({ kind, key, generation, identity }: RouteLine, signedIn: RouteLogin | undefined, rows: Rows): void {
    const isOfDevice = key === REGISTERED_KEY;
    const login = isOfDevice ? this.#device : signedIn;
    if (kind === "withdrawn") {
      this.#routes.delete(key);
      return;
    }
    const route = { generation, identity };
    this.#routes.set(key, route);
    if (this.#off.has(key)) this.#find("switches", `${describe(key, route)} was published, and is off`);
    if (login === undefined) {
      this.#find("publications", `${describe(key, route)} was published with nobody signed in`);
      return;
    }
    this.#ever.add(JSON.stringify([login.epoch, key, generation]));
    this.#judgeOrder(key, route, login);
    if (!isOfDevice) this.#judgeConnection(key, route, login, rows);
    else if (!DIGEST.test(identity ?? "")) this.#find("publications", `${describe(key, route)} has no settings`);
  }

  /** No route is for a connection that is not the account's any more. */
  judgeRevoked(account: string, rows: Rows): void {
    for (const [key, route, connectionId] of this.#connected()) {
      const connection = effectiveConnection(rows, account, key);
      if (connection?.connectionId === connectionId) continue;
      this.#find("revocations", `${describe(key, route)} is published for ${connectionId}, not ${say(connection)}`);
    }
  }

  /** No route is for a connection that this snapshot does not grant, whether it could be written or not. */
  judgeUnwritten(said: Said): void {
    for (const [key, route, connectionId] of this.#connected()) {
      const entry = said.get(key);
      if (entry?.state === "connected" && entry.connectionId === connectionId) continue;
      this.#find("revocations", `${describe(key, route)} is published, and a snapshot that found no room revoked it`);
    }
  }

  /** The same generation comes again only in another epoch, for the same thing; an older one never. */
  #judgeOrder(key: string, route: PublishedRoute, { account, epoch }: RouteLogin): void {
    const lane = JSON.stringify([account, key]);
    const last = this.#last.get(lane);
    this.#last.set(lane, { ...route, epoch });
    if (last === undefined || last.generation < route.generation) return;
    if (last.generation > route.generation) {
      this.#find("generations", `${describe(key, route)} was published after ${String(last.generation)}`);
    } else if (last.identity !== route.identity || last.epoch === epoch) {
      this.#find("generations", `${describe(key, route)} was published again`);
    }
  }

  /** It is for the connection that the rows have, and a snapshot of this login said so. */
  #judgeConnection(key: string, route: PublishedRoute, { account, isReady }: RouteLogin, rows: Rows): void {
    const planned = readIdentity(route.identity);
    if (planned === undefined) {
      this.#find("publications", `${describe(key, route)} was published, and planned as ${String(route.identity)}`);
      return;
    }
    if (planned.connectionId === null) return;
    if (!isReady) this.#find("publications", `${describe(key, route)} was published before a snapshot was taken in`);
    const connection = effectiveConnection(rows, account, key);
    const isSame =
      connection?.connectionId === planned.connectionId && connection.connectionVersion === planned.connectionVersion;
    if (isSame) return;
    const wanted = `${planned.connectionId} ${planned.connectionVersion}`;
    this.#find("publications", `${describe(key, route)} was published for ${wanted}, not ${say(connection)}`);
  }

  /** The routes that are for a connection, with its id. */
  #connected(): readonly (readonly [key: string, route: PublishedRoute, connectionId: string])[] {
    return Array.from(this.#routes).flatMap(([key, route]) => {
      const connectionId = readIdentity(route.identity)?.connectionId ?? null;
      return connectionId === null ? [] : [[key, route, connectionId] as const];
    });
  }
}

function describe(key: string, { generation }: PublishedRoute): string {
  return `generation ${String(generation)} of ${key}`;
}

function say(connection: { readonly connectionId: string; readonly connectionVersion: string } | undefined): string {
  return connection === undefined ? "none" : `${connection.connectionId} ${connection.connectionVersion}`;
}
