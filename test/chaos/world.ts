import { INSTALLED_KEY, REGISTERED_KEY, Wishes } from "./wishes.js";

/** Connectors that an account has to authorize, and one that needs no authorization. */
export const AUTHORIZED_KEYS = ["alpha", "beta", "gamma", "delta"] as const;
export const OPEN_KEY = "open";
export const ACCOUNTS = ["ada", "bob"] as const;

export type Account = (typeof ACCOUNTS)[number];
export type Key = (typeof AUTHORIZED_KEYS)[number];

/** An entry of a snapshot, as the wire has it. */
export interface Connection {
  readonly state: "connected" | "reauth_required" | "disconnected";
  readonly connectionId: string;
  readonly connectionVersion: number;
}

/** How a connector's gateway answers. */
export type Behaviour =
  | "working"
  | "slow"
  /** Its connections break. */
  | "broken"
  | "busy"
  /** It demands an authorization that the snapshot says it has. */
  | "demanding"
  | "demanding_again"
  /** It answers what is no MCP. */
  | "senseless";

/** A status, the snapshot before the present one, or the present one after a while. */
export type Trouble = number | "previous" | "late";

/** What a control plane said once: connections by key, those of `filler` too. */
export type Said = ReadonlyMap<string, Connection>;

interface AccountFacts {
  epoch: number;
  revision: number;
  readonly connections: Map<string, Connection>;
  /** By epoch and revision. */
  readonly said: Map<string, Said>;
  /** The snapshot before the present one. */
  previous: string | undefined;
  present: string;
}

/**
 * Everything that a control plane and a gateway know, and what the user wants. It changes by method calls only, so that the same
 * calls lead to the same world.
 */
export class World {
  readonly #accounts = new Map<Account, AccountFacts>();
  readonly #behaviours = new Map<string, Behaviour>();
  #ids = 0;
  /** Who is to be signed in. */
  wanted: Account | undefined = "ada";
  readonly wishes = new Wishes();
  /** Answers of the control plane that are still to be given in place of snapshots. */
  readonly troubles: Trouble[] = [];

  constructor() {
    for (const account of ACCOUNTS) {
      const said = new Map<string, Said>();
      this.#accounts.set(account, {
        epoch: 1,
        revision: 0,
        connections: new Map(),
        said,
        previous: undefined,
        present: "",
      });
      this.#change(account, () => undefined);
    }
  }

  /** Grants a connection where there is none, or another one: a new id. */
  grant(account: Account, key: string): void {
    this.#ids += 1;
    const connectionId = `c${String(this.#ids)}`;
    this.#change(account, (connections) =>
      connections.set(key, { state: "connected", connectionId, connectionVersion: 1 }),
    );
  }

  revoke(account: Account, key: string): void {
    this.#change(account, (connections) => connections.delete(key));
  }

  /** Revokes the connection of this key or, if it has none, of the first that has one. */
  revokeSome(account: Account, key: Key): void {
    const isOn = (one: Key): boolean => this.isConnected(account, one);
    this.revoke(account, isOn(key) ? key : (AUTHORIZED_KEYS.find(isOn) ?? key));
  }

  /** The connection has to be made anew. */
  expire(account: Account, key: string): void {
    this.#change(account, (connections) => {
      const connection = connections.get(key);
      if (connection !== undefined) connections.set(key, { ...connection, state: "reauth_required" });
    });
  }

  /** Another token or scope. */
  renew(account: Account, key: string): void {
    this.#change(account, (connections) => {
      const connection = connections.get(key);
      if (connection === undefined) return;
      const connectionVersion = connection.connectionVersion + 1;
      connections.set(key, { ...connection, state: "connected", connectionVersion });
    });
  }

  /** The control plane was set up anew: another epoch, and numbers from the beginning. */
  beginEpoch(account: Account): void {
    const facts = this.#factsOf(account);
    facts.epoch += 1;
    facts.revision = 0;
    this.#change(account, () => undefined);
  }

  /** Connections that belong to no connector of this device, and take room. */
  fill(account: Account, count: number): void {
    this.#change(account, (connections) => {
      for (let i = 0; i < count; i += 1) {
        const connection = { state: "connected", connectionId: `f${String(i)}`, connectionVersion: 1 } as const;
        connections.set(`filler-${String(i)}-${"x".repeat(80)}`, connection);
      }
    });
  }

  /** Takes those away. */
  clear(account: Account): void {
    const keys = [...this.#factsOf(account).connections.keys()].filter((key) => key.startsWith("filler-"));
    if (keys.length > 0) this.#change(account, (connections) => keys.forEach((key) => connections.delete(key)));
  }

  behave(key: string, behaviour: Behaviour): void {
    this.#behaviours.set(key, behaviour);
  }

  behaviourOf(key: string): Behaviour {
    return this.#behaviours.get(key) ?? "working";
  }

  /** Everything works again. */
  calm(): void {
    this.#behaviours.clear();
    this.troubles.length = 0;
    for (const account of ACCOUNTS) this.clear(account);
  }

  /** The next snapshot of an account, as a body. */
  snapshot(account: Account): string {
    return this.#factsOf(account).present;
  }

  previousSnapshot(account: Account): string {
    const { previous, present } = this.#factsOf(account);
    return previous ?? present;
  }

  /** What was said under an epoch and a revision, if it ever was. */
  said(account: string, epoch: string, revision: string): Said | undefined {
    return isAccount(account) ? this.#factsOf(account).said.get(saidName(epoch, revision)) : undefined;
  }

  isConnected(account: string, key: string): boolean {
    return this.connectionOf(account, key) !== undefined;
  }

  /** The id of a connection that is there. */
  connectionOf(account: string, key: string): string | undefined {
    const connection = isAccount(account) ? this.#factsOf(account).connections.get(key) : undefined;
    return connection?.state === "connected" ? connection.connectionId : undefined;
  }

  /** The connectors that should be published by now, sorted. */
  get expected(): readonly string[] {
    const { wanted, wishes } = this;
    const ofDevice = wishes.wanted(REGISTERED_KEY) === "active" ? [REGISTERED_KEY] : [];
    if (wanted === undefined) return ofDevice;
    const authorized = AUTHORIZED_KEYS.filter((key) => this.isConnected(wanted, key) && wishes.wanted(key) === "on");
    const installed = wishes.wanted(INSTALLED_KEY) === "none" ? [] : [INSTALLED_KEY];
    return [...authorized, ...installed, ...ofDevice, OPEN_KEY].sort();
  }

  /** Those whose tools agents see: people have not permitted any of the server that is registered. */
  get listed(): readonly string[] {
    return this.expected.filter((key) => key !== REGISTERED_KEY);
  }

  #change(account: Account, change: (connections: Map<string, Connection>) => void): void {
    const facts = this.#factsOf(account);
    change(facts.connections);
    facts.revision += 1;
    const epoch = `e${String(facts.epoch)}`;
    facts.said.set(saidName(epoch, String(facts.revision)), new Map(facts.connections));
    facts.previous = facts.present;
    facts.present = JSON.stringify({
      epoch,
      revision: facts.revision,
      connectors: Array.from(facts.connections, ([connectorId, connection]) => ({
        connectorId,
        connectorVersion: "1.0.0",
        ...connection,
      })),
    });
  }

  #factsOf(account: Account): AccountFacts {
    const facts = this.#accounts.get(account);
    if (facts === undefined) throw new Error(`There is no account ${account}.`);
    return facts;
  }
}

export function isAccount(name: string): name is Account {
  return ACCOUNTS.some((account) => account === name);
}

function saidName(epoch: string, revision: string): string {
  return `${epoch} ${revision}`;
}
