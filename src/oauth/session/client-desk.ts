import { isRemoteConnectorError } from "../../errors.js";
import { chooseAuthMethod } from "../auth-method.js";
import type { ServerMetadata } from "../authorization-server.js";
import { ClientBook, type KeptClient, planIdentity, registerClient } from "../identity/index.js";
import type { OAuthClient } from "../oauth-client.js";
import type { OAuthConfig } from "../oauth-config.js";
import type { ServiceGrant } from "../oauth-options.js";
import type { OAuthRequester } from "../requester.js";

/**
 * Where it is kept what clients belong to that were registered by hand without an issuer: at one place for all MCP servers of a store, so
 * that no server leads such a client to an authorization server of its own. It is no endpoint of anybody.
 */
const BINDINGS = "oauth:clients";

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
    let boundIssuer = await this.#boundIssuer();
    const stored = (await this.#kept(server.issuer))?.client;
    for (;;) {
      const { redirectUris } = callback;
      const facts = { server, identity, boundIssuer, stored, redirectUris, redirectUri, wallNow: wallNow() };
      const plan = planIdentity(facts);
      if (plan.kind === "register") return undefined;
      if (!plan.binds || boundIssuer !== undefined) return plan.client;
      boundIssuer = await this.#book.bind(BINDINGS, plan.client.clientId, server.issuer);
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
    // One that registered itself stands for a program that people use, and for no service.
    const isByHandAlone = kind !== "enterprise_managed";
    if (isByHandAlone && this.#config.identity.preRegistered.length === 0) return undefined;
    return this.known(server);
  }

  /** The authorization servers that clients were registered at by hand, or belong to by now. Rejects as the store does. */
  async registeredAt(): Promise<readonly string[]> {
    const named = this.#config.identity.preRegistered.flatMap(({ issuer }) => issuer ?? []);
    const bound = await this.#boundIssuer();
    return bound === undefined ? named : [...named, bound];
  }

  async #boundIssuer(): Promise<string | undefined> {
    const loose = this.#config.identity.preRegistered.find(({ issuer }) => issuer === undefined);
    return loose && (await this.#book.boundIssuer(BINDINGS, loose.clientId));
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
    if (own === undefined) return undefined;
    const { clientSecret, signingKey } = own;
    const facts = { supported: undefined, hasSecret: clientSecret !== undefined, hasKey: signingKey !== undefined };
    // What the options can do by now, which may have had another secret, or a key, when the tokens were issued.
    const authMethod = chooseAuthMethod({ registered: own.authMethod ?? client.authMethod, ...facts });
    return { ...client, clientSecret, signingKey, authMethod };
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
