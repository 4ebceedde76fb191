import type { AuthorizationStart, AuthorizeOptions, DisconnectResult, FlowRow } from "../../auth-projection/index.js";
import { RemoteConnectorError } from "../../errors.js";
import { type ConnectorCatalog, newestRelease } from "../catalog/index.js";
import type { AccountSession } from "./account-session.js";
import { unknownConnector } from "./host-errors.js";

/** How a connector is authorized. The release is the installed one; while it is updated, the one that it is updated to. */
export type AuthorizeConnectorOptions = Omit<AuthorizeOptions, "connectorVersion">;

/** What people do about the authorizations of the account that is signed in. */
export class AccountAuthorizations {
  readonly #catalog: ConnectorCatalog;
  readonly #session: () => AccountSession | undefined;

  /** `session`: that of the account that is signed in. */
  constructor(catalog: ConnectorCatalog, session: () => AccountSession | undefined) {
    this.#catalog = catalog;
    this.#session = session;
  }

  async authorize(connectorKey: string, options: AuthorizeConnectorOptions): Promise<AuthorizationStart> {
    try {
      const entry = this.#catalog.get(connectorKey);
      if (entry === undefined) throw unknownConnector(connectorKey);
      const installed = entry.kind === "release" ? newestRelease(entry) : undefined;
      if (installed === undefined || installed.release.authorization.kind === "none") throw needsNone(connectorKey);
      const { version } = installed.release;
      // From here on the flows see to the secret.
      return this.#flows.start(connectorKey, { ...options, connectorVersion: version });
    } catch (error) {
      overwrite(options.secret);
      throw error;
    }
  }

  async submitSecret(connectorKey: string, secret: Uint8Array | string): Promise<void> {
    try {
      return this.#flows.submitSecret(connectorKey, secret);
    } catch (error) {
      overwrite(secret);
      throw error;
    }
  }

  async cancel(connectorKey: string): Promise<void> {
    return this.#flows.cancel(connectorKey);
  }

  async disconnect(connectorKey: string): Promise<DisconnectResult> {
    return this.#flows.disconnect(connectorKey);
  }

  async list(): Promise<readonly FlowRow[]> {
    return this.#flows.list();
  }

  get #flows() {
    const session = this.#session();
    if (session === undefined) throw signedOut();
    return session.flows;
  }
}

/** A secret that is not taken is overwritten like one that is; a text can't be. */
function overwrite(secret: Uint8Array | string | undefined): void {
  if (secret instanceof Uint8Array) secret.fill(0);
}

function needsNone(connectorKey: string): RemoteConnectorError<"invalid_argument"> {
  return new RemoteConnectorError("invalid_argument", {
    message: `The connector ${connectorKey} needs no authorization.`,
    details: { argument: "connectorKey", reason: "needs no authorization" },
  });
}

function signedOut(): RemoteConnectorError<"account_not_ready"> {
  return new RemoteConnectorError("account_not_ready", { message: "No account is signed in.", details: {} });
}
