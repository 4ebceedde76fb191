import { isRemoteConnectorError } from "../../errors.js";
import type { ServerMetadata } from "../authorization-server.js";
import { ClientBook, type KeptClient, planIdentity, registerClient } from "../identity/index.js";
import type { OAuthClient } from "../oauth-client.js";
import type { OAuthConfig } from "../oauth-config.js";
import type { ServiceGrant } from "../oauth-options.js";
import type { OAuthRequester } from "../requester.js";

/** Who the client is at the authorization servers of one MCP endpoint. */
export class ClientDesk {
  readonly #endpoint: string;
  readonly #config: OAuthConfig;
  readonly #requester: () => Promise<OAuthRequester>;
  readonly #book: ClientBook;

  constructor(endpoint: string, config: OAuthConfig, requester: () => Promise<OAuthRequester>) {
    this.#endpoint = endpoint;
    this.#config = config;
    this.#requester = requester;
    this.#book = new ClientBook(config.store.credentials, config.wallNow);
  }

  /**
   * The client that there is; `undefined`: it would have to be registered. With `redirectUri` a registration for it alone counts. A client
   * that was registered by hand without an issuer belongs to this one from now on. Rejects with `client_identity_required`.
   */
  async known(server: ServerMetadata, redirectUri?: string): Promise<OAuthClient | undefined> {
    const { callback, identity, wallNow } = this.#config;
    const loose = identity.preRegistered.find(({ issuer }) => issuer === undefined);
    let boundIssuer = loose && (await this.#book.boundIssuer(this.#endpoint, loose.clientId));
    const stored = (await this.#kept(server.issuer))?.client;
    for (;;) {
      const { redirectUris } = callback;
      const facts = { server, identity, boundIssuer, stored, redirectUris, redirectUri, wallNow: wallNow() };
      const plan = planIdentity(facts);
      if (plan.kind === "register") return undefined;
      if (!plan.binds || boundIssuer !== undefined) return plan.client;
      boundIssuer = await this.#book.bind(this.#endpoint, plan.client.clientId, server.issuer);
      if (boundIssuer === server.issuer) return plan.client;
    }
  }

  /** A new registration, or the one that another process made meanwhile. Rejects as `registerClient` does. */
  async register(
    server: ServerMetadata,
    redirectUri: string,
    scopes: readonly string[],
    signal: AbortSignal,
  ): Promise<OAuthClient> {
    const { clientName, clientUri, wallNow } = this.#config;
    const replaced = await this.#kept(server.issuer);
    const registration = { clientName, clientUri, redirectUris: [redirectUri], scopes };
    const client = await registerClient(await this.#requester(), server, registration, wallNow, signal);
    return (await this.#book.keep(this.#endpoint, client, replaced?.generation)).client;
  }

  /** The client for a grant without a person; `undefined`: there is none. Nothing is registered. Rejects with `client_identity_required`. */
  async forService(server: ServerMetadata, { kind }: ServiceGrant): Promise<OAuthClient | undefined> {
    const { identity } = this.#config;
    if (kind === "workload_identity" && identity.preRegistered.length === 0) return undefined;
    return this.known(server);
  }

  /**
   * The client of stored tokens, with what is never stored taken from the options; `undefined` when those don't have it any more, so that it
   * can't be used. Pure but for the options.
   */
  rejoin(client: OAuthClient): OAuthClient | undefined {
    if (client.kind !== "pre_registered") return client;
    const { preRegistered } = this.#config.identity;
    const own = preRegistered.find(
      ({ clientId, issuer }) => clientId === client.clientId && (issuer === undefined || issuer === client.issuer),
    );
    return own && { ...client, clientSecret: own.clientSecret, signingKey: own.signingKey };
  }

  /** Forgets a dynamic registration, if it is still this one. False for any other client: those stay. */
  async forget(client: OAuthClient): Promise<boolean> {
    if (client.kind !== "dynamic") return false;
    const kept = await this.#kept(client.issuer);
    if (kept?.client.clientId === client.clientId) {
      await this.#book.forget(this.#endpoint, client.issuer, kept.generation);
    }
    return true;
  }

  /** A row that is damaged is one that is not there: a registration can be made again. */
  async #kept(issuer: string): Promise<KeptClient | undefined> {
    try {
      return await this.#book.registration(this.#endpoint, issuer);
    } catch (error) {
      if (isRemoteConnectorError(error, "oauth_invalid")) return undefined;
      throw error;
    }
  }
}
