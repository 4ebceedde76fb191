import type { AuthorizationStart, AuthorizeOptions, DisconnectResult, FlowRow } from "../../auth-projection/index.js";
import { RemoteConnectorError } from "../../errors.js";
import type { AccountSession } from "./account-session.js";
import type { InstalledConnectors } from "./installed-connectors.js";

/** How a connector is authorized. The release is the installed one. */
export type AuthorizeConnectorOptions = Omit<AuthorizeOptions, "connectorVersion">;

/** What people do about the authorizations of the account that is signed in. */
export class AccountAuthorizations {
  readonly #installed: InstalledConnectors;
  readonly #session: () => AccountSession | undefined;

  /** `session`: that of the account that is signed in. */
  constructor(installed: InstalledConnectors, session: () => AccountSession | undefined) {
    this.#installed = installed;
    this.#session = session;
  }

  async authorize(connectorKey: string, options: AuthorizeConnectorOptions): Promise<AuthorizationStart> {
    try {
      const connector = this.#installed.get(connectorKey);
      if (connector === undefined) throw unknownConnector(connectorKey);
      const { version, authorization } = connector.release;
      if (authorization.kind === "none") throw needsNone(connectorKey);
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

function unknownConnector(connectorKey: string): RemoteConnectorError<"unknown_connector"> {
  return new RemoteConnectorError("unknown_connector", {
    message: `No connector with the key ${connectorKey} is installed.`,
    details: { connectorKey },
  });
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
