import { RemoteConnectorError } from "../../errors.js";
import { type CatalogEntry, type ConnectorCatalog, deviceEntry } from "../catalog/index.js";
import { registeredConnector, type RegistrationStore } from "../device/index.js";
import {
  changePermissions,
  createRegistration,
  type DescriptionOverride,
  describeTool,
  type Registration,
  type RegistrationPolicy,
  replaceSettings,
  type RuleChange,
  type SettingsReplacement,
  type StorageIssue,
} from "../registration/index.js";
import type { CatalogChanges } from "./catalog-changes.js";
import { unknownConnector } from "./host-errors.js";

export interface RegistrationAdminOptions {
  readonly catalog: ConnectorCatalog;
  readonly changes: CatalogChanges;
  /** Where registrations are kept. */
  readonly kept: RegistrationStore;
  /** What of them could not be read when the host was started. */
  readonly issues: readonly StorageIssue[];
  readonly policy: RegistrationPolicy;
  /** Registrations that there may be, those of the configuration included. */
  readonly maxRegistrations: number;
  /** A new UUID. */
  readonly mintId: () => string;
  /** Ends what is published of a connector, at once. */
  readonly withdraw: (key: string) => void;
  /** Resolves when it was observed that nothing of a connector of the device runs any more. */
  readonly observeWithdrawn: (key: string) => Promise<void>;
  /** A plan could not be written. It is made again by convergence. */
  readonly onUnplanned: (key: string, error: unknown) => void;
}

/**
 * What people do about servers over HTTP that they register. A registration is named by its slug, its connector key. Those that the
 * host's configuration declares are the configuration's: here they are refused with `invalid_argument`.
 *
 * Each method rejects with what the place where registrations are kept rejects with. Changes of one registration are made one after
 * the other.
 */
export class RegistrationAdmin {
  readonly #options: RegistrationAdminOptions;
  /** The end of the last change of each registration that is being changed; never rejects. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(options: RegistrationAdminOptions) {
    this.#options = options;
  }

  /** The registrations, by slug; those that the configuration declares are among them. */
  list(): readonly Registration[] {
    return this.#options.catalog.keysIn("device").flatMap((key) => this.#find(key) ?? []);
  }

  /** What could not be read when the host was started. */
  get issues(): readonly StorageIssue[] {
    return this.#options.issues;
  }

  /**
   * Registers a server: paused, with every tool off. `request` is untrusted. Rejects with `invalid_registration`, with
   * `duplicate_connector` when its slug is taken, with `limit_exceeded` when there are `maxRegistrations`, and with what the store
   * rejects with; nothing was registered then.
   */
  async create(request: unknown): Promise<Registration> {
    const { catalog, changes, kept, policy, mintId, maxRegistrations } = this.#options;
    const registration = createRegistration(request, mintId(), policy);
    const { slug } = registration;
    return this.#inTurn(slug, async () => {
      catalog.assertFree(entryOf(registration));
      if (this.list().length >= maxRegistrations) throw tooMany(maxRegistrations);
      // The key is taken from here on: nobody else gets it while this is being kept.
      this.#set(registration);
      try {
        await changes.forgetSwitch(slug);
        await kept.put(registration);
      } catch (error) {
        catalog.set(slug, undefined);
        throw error;
      }
      await this.#publish(registration);
      return registration;
    });
  }

  /**
   * Replaces a registration's connection settings as a whole: the server of the old ones is left at once. At another origin what was
   * allowed asks. Rejects with `unknown_connector` and `invalid_registration`.
   */
  replaceSettings(slug: string, settings: unknown): Promise<SettingsReplacement> {
    return this.#inTurn(slug, async () => {
      const { kept, policy, withdraw } = this.#options;
      const replacement = replaceSettings(this.#own(slug), settings, policy);
      if (replacement.changed === "nothing") return replacement;
      await kept.put(replacement.registration);
      this.#set(replacement.registration);
      withdraw(slug);
      await this.#publish(replacement.registration);
      return replacement;
    });
  }

  /**
   * Pauses a registration, or lets it run. Pausing takes effect before anything is kept: when it rejects, it is paused in this process.
   * Rejects with `unknown_connector`.
   */
  setState(slug: string, state: Registration["state"]): Promise<void> {
    return this.#inTurn(slug, async () => {
      const { kept, withdraw } = this.#options;
      const registration = Object.freeze({ ...this.#own(slug), state });
      if (state === "paused") {
        this.#set(registration);
        withdraw(slug);
      }
      await kept.put(registration);
      await this.#publish(registration);
    });
  }

  /**
   * Decides about the tools of a registration. Its route stays. Rejects with `unknown_connector`, with `invalid_argument` and
   * `invalid_registration` for more decisions than are kept.
   */
  changePermissions(slug: string, change: RuleChange): Promise<void> {
    return this.#inTurn(slug, async () => {
      const next = changePermissions(this.#own(slug), change);
      await this.#options.kept.put(next);
      this.#set(next);
    });
  }

  /**
   * Says something else of a tool than its server does, of itself and of properties of its arguments; `override`, which is untrusted,
   * `undefined`: nothing any more. Agents whose lists differ are told. It changes no call.
   *
   * Rejects with `unknown_connector`, with `invalid_argument`, and with `invalid_registration` for more than is kept.
   */
  setDescriptions(slug: string, nativeName: string, override: DescriptionOverride | undefined): Promise<void> {
    return this.#inTurn(slug, async () => {
      const next = describeTool(this.#own(slug), nativeName, override);
      await this.#options.kept.put(next);
      this.#set(next);
    });
  }

  /**
   * Removes a registration, its switch, and what was permitted with it: it is deactivated, that is observed, and then it is gone.
   * Rejects with `unknown_connector`, with what the store rejects with, and with `cancelled` when the host is closed meanwhile; it is
   * still there then, and paused.
   */
  remove(slug: string): Promise<void> {
    return this.#inTurn(slug, async () => {
      const { catalog, changes, kept, withdraw, observeWithdrawn } = this.#options;
      const paused: Registration = Object.freeze({ ...this.#own(slug), state: "paused" });
      this.#set(paused);
      withdraw(slug);
      await kept.put(paused);
      await this.#publish(paused);
      await observeWithdrawn(slug);
      await changes.forgetSwitch(slug);
      await kept.remove(paused);
      const entry = catalog.get(slug);
      catalog.set(slug, undefined);
      if (entry !== undefined) await this.#plan(slug, entry);
    });
  }

  /** The registration is kept. Readers see it, and convergence does the rest, also when it can't be planned now. */
  async #publish(registration: Registration): Promise<void> {
    await this.#plan(registration.slug, this.#set(registration));
  }

  async #plan(key: string, entry: CatalogEntry): Promise<void> {
    const { changes, onUnplanned } = this.#options;
    await changes.plan(entry).catch((error: unknown) => onUnplanned(key, error));
  }

  #set(registration: Registration) {
    const { catalog } = this.#options;
    const { slug } = registration;
    const next = { ...entryOf(registration), isOn: catalog.get(slug)?.isOn ?? true };
    catalog.set(slug, next);
    return next;
  }

  #find(key: string): Registration | undefined {
    const entry = this.#options.catalog.get(key);
    return entry?.kind !== "release" && entry?.connector.kind === "registration"
      ? entry.connector.registration
      : undefined;
  }

  #own(slug: string): Registration {
    const registration = this.#find(slug);
    if (registration === undefined) throw unknownConnector(slug);
    if (this.#options.catalog.get(slug)?.place === REGISTERED) return registration;
    throw new RemoteConnectorError("invalid_argument", {
      message: `The server ${slug} is declared by the configuration, and changed there.`,
      details: { argument: "slug", reason: "declared by the configuration" },
    });
  }

  async #inTurn<T>(slug: string, change: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(slug) ?? Promise.resolve()).then(change);
    const last = turn.catch(ignore);
    this.#last.set(slug, last);
    try {
      return await turn;
    } finally {
      if (this.#last.get(slug) === last) this.#last.delete(slug);
    }
  }
}

/** Where people's own registrations are defined. */
export const REGISTERED = "a registration";

function entryOf(registration: Registration) {
  return deviceEntry(registeredConnector(registration), REGISTERED);
}

function tooMany(limit: number): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message: `${String(limit)} servers are registered; remove one, or raise maxRegistrations.`,
    details: { option: "maxRegistrations", limit },
  });
}

function ignore(): void {}
