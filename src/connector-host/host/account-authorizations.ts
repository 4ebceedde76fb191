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
    const connector = this.#installed.get(connectorKey);
    if (connector === undefined) throw unknownConnector(connectorKey);
    const { version, authorization } = connector.release;
    if (authorization.kind === "none") throw needsNone(connectorKey);
    return this.#flows.start(connectorKey, { ...options, connectorVersion: version });
  }

  async submitSecret(connectorKey: string, secret: Uint8Array | string): Promise<void> {
    return this.#flows.submitSecret(connectorKey, secret);
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
