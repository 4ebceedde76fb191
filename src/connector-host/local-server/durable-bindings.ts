import { RemoteConnectorError } from "../../errors.js";
import { createBearer, type HeaderFields, matchBearer } from "../../serving/index.js";
import type { Binding } from "./ports.js";

/** A binding that has a name, and lasts until it is revoked. */
export interface DurableBindingRequest {
  /** 1 to 64 characters of `a-z0-9._-` that begin and end with a letter or digit. It is the binding's identity. */
  readonly name: string;
  /** Whose connectors are in reach while the account is signed in. Left out: only those of the device are. */
  readonly accountId?: string | undefined;
  /** As of a session: `agent` vouches that every agent of this name asks a person. Anything else vouches for nothing. */
  readonly approvals?: "agent" | undefined;
  /** What its agents are shown otherwise: one of the host's `profiles`. Left out: nothing. */
  readonly profile?: string | undefined;
}

/** What is known of a durable binding. */
export interface DurableBinding {
  readonly name: string;
  readonly accountId: string | undefined;
  /** `agent`: its agents may be asked for approvals. */
  readonly approvals?: "agent" | undefined;
  readonly profile?: string | undefined;
}

/** What is kept of a durable binding: its bearer is not. */
export interface DurableBindingRow extends DurableBinding {
  /** SHA-256 of the bearer, in hexadecimal. */
  readonly bearerHash: string;
}

/** Where durable bindings are kept. The host implements it. */
export interface DurableBindingRows {
  list(): Promise<readonly DurableBindingRow[]>;
  /** Inserts or replaces, by name. */
  put(row: DurableBindingRow): Promise<void>;
  /** Removes the row if it is there. */
  remove(name: string): Promise<void>;
}

export interface DurableBindingsOptions {
  readonly rows: DurableBindingRows;
  readonly maxDurableBindings: number;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Told, synchronously and once, that a binding's bearer is no longer valid. */
  readonly onEnd: (binding: Binding) => void;
}

interface Entry extends DurableBinding {
  readonly hash: Uint8Array;
  readonly value: Binding;
}

const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;

/**
 * The bindings that outlive logins, agents and the process. Each has a name, a bearer and perhaps an account; none ends by
 * itself. What changes is written first and counts from then on, but for an end, which counts at once.
 */
export class DurableBindings {
  readonly #options: DurableBindingsOptions;
  readonly #entries = new Map<string, Entry>();
  /** Settles when all changes that were asked for so far are written or refused; never rejects. */
  #tail: Promise<void> = Promise.resolve();

  private constructor(options: DurableBindingsOptions) {
    this.#options = options;
  }

  /** Reads what is kept. Rejects as the rows do. */
  static async load(options: DurableBindingsOptions): Promise<DurableBindings> {
    const bindings = new DurableBindings(options);
    for (const row of await options.rows.list()) {
      bindings.#entries.set(row.name, entryOf(row, Buffer.from(row.bearerHash, "hex")));
    }
    return bindings;
  }

  /**
   * A new bearer for a name, which ends the one that the name had. It is shown here and never again.
   *
   * Rejects with `invalid_argument` for an unusable name or account, with `limit_exceeded` when `maxDurableBindings` other names
   * are bound, and as the rows do; the old bearer stays good then.
   */
  bind(request: DurableBindingRequest): Promise<{ readonly binding: Binding; readonly token: string }> {
    return this.#inTurn(async () => {
      const { name, accountId } = request;
      checkName(name);
      if (accountId === "") throw invalid("accountId", "must not be empty");
      this.#checkRoom(name);
      const { token, hash } = createBearer(this.#options.randomBytes);
      const durable: DurableBinding = { name, accountId, ...granted(request) };
      await this.#options.rows.put({ ...durable, bearerHash: Buffer.from(hash).toString("hex") });
      this.#end(name);
      const entry = entryOf(durable, hash);
      this.#entries.set(name, entry);
      return { binding: entry.value, token };
    });
  }

  /** Ends the bearer of a name; whether there was one. Rejects as the rows do: the binding is back after a restart then. */
  revoke(name: string): Promise<boolean> {
    return this.#inTurn(async () => {
      const wasBound = this.#end(name);
      await this.#options.rows.remove(name);
      return wasBound;
    });
  }

  /** Whom the bearer in a request's headers stands for; `undefined` when it stands for nobody here. */
  match(headers: HeaderFields): Binding | undefined {
    return matchBearer(headers, this.#entries.values());
  }

  named(name: string): Binding | undefined {
    return this.#entries.get(name)?.value;
  }

  /** By name. */
  get size(): number {
    return this.#entries.size;
  }

  list(): readonly DurableBinding[] {
    const all = Array.from(this.#entries.values(), (entry) => {
      const { name, accountId } = entry;
      return { name, accountId, ...granted(entry) };
    });
    return all.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #checkRoom(name: string): void {
    const { maxDurableBindings: limit } = this.#options;
    if (this.#entries.has(name) || this.#entries.size < limit) return;
    throw new RemoteConnectorError("limit_exceeded", {
      message: `${String(limit)} durable bindings exist; revoke one, or raise maxDurableBindings.`,
      details: { option: "maxDurableBindings", limit },
    });
  }

  #end(name: string): boolean {
    const entry = this.#entries.get(name);
    if (entry === undefined) return false;
    this.#entries.delete(name);
    this.#options.onEnd(entry.value);
    return true;
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(run);
    this.#tail = turn.then(ignore, ignore);
    return turn;
  }
}

/** Rows that are gone with the process. */
export function createMemoryBindingRows(): DurableBindingRows {
  const rows = new Map<string, DurableBindingRow>();
  return {
    list: async () => [...rows.values()],
    put: async (row) => void rows.set(row.name, row),
    remove: async (name) => void rows.delete(name),
  };
}

function entryOf(known: DurableBinding, hash: Uint8Array): Entry {
  const { name, accountId } = known;
  const durable = Object.freeze({ name, accountId });
  const value: Binding = Object.freeze({
    workspaceId: WORKSPACE,
    agentSessionId: name,
    invocation: undefined,
    login: undefined,
    durable,
    ...granted(known),
  });
  return { name, accountId, ...granted(known), hash, value };
}

/** What a binding has beyond a name and an account. Only the very word vouches. */
function granted({ approvals, profile }: Pick<DurableBinding, "approvals" | "profile">): Granted {
  return { ...(approvals === "agent" && { approvals }), ...(profile !== undefined && { profile }) };
}

interface Granted {
  readonly approvals?: "agent";
  readonly profile?: string;
}

/** Where agents of durable bindings work, since nobody says. */
const WORKSPACE = "durable";

function checkName(name: string): void {
  if (typeof name !== "string" || !NAME.test(name)) {
    throw invalid("name", "must have 1 to 64 characters of a-z0-9._- and begin and end with a letter or digit");
  }
}

function invalid(argument: string, reason: string): RemoteConnectorError<"invalid_argument"> {
  return new RemoteConnectorError("invalid_argument", {
    message: `${argument} ${reason}.`,
    details: { argument, reason },
  });
}

function ignore(): void {}
