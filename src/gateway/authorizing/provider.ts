import type * as OAuth from "oauth4webapi";
import { RemoteConnectorError } from "../../errors.js";
import { isLoopback } from "../../transport/index.js";
import type { OAuthAuthorizing } from "../options.js";
import type { Credential } from "./credential.js";
import { providerFailure } from "./provider-failure.js";
import { createProviderFetch, type ProviderFetchOptions } from "./provider-fetch.js";
import { parseProviderUrl } from "./provider-url.js";
import type { RedirectAttempt } from "./session-book.js";

export interface ProviderOptions extends ProviderFetchOptions {
  readonly connectorId: string;
  /** Whether the connector's server can be given it. */
  readonly canCarry: (secret: Buffer) => boolean;
  readonly random: (size: number) => Uint8Array;
}

/** A browser's way to the authorization server, and what has to be known when it comes back. */
export interface Departure {
  readonly url: string;
  readonly attempt: RedirectAttempt;
}

/** The library, and the server's metadata as it was found. */
interface Ready {
  readonly oauth: typeof OAuth;
  readonly server: OAuth.AuthorizationServer;
}

/** A token is replaced so long before it expires, or a tenth of its life if that is less. */
const RENEW_BEFORE_MS = 60_000;

/**
 * The authorization server of one connector, as its OAuth client. Everything rejects as {@link providerFailure} says when the
 * server can't be reached, is not what its metadata says, or refuses.
 */
export class Provider {
  readonly #settings: OAuthAuthorizing;
  readonly #options: ProviderOptions;
  readonly #fetch: ReturnType<typeof createProviderFetch>;
  #ready: Promise<Ready> | undefined;

  constructor(settings: OAuthAuthorizing, options: ProviderOptions) {
    this.#settings = settings;
    this.#options = options;
    this.#fetch = createProviderFetch(options);
  }

  /** Prepares a visit: the code flow, PKCE by S256, and a state. */
  depart(redirectUri: string): Promise<Departure> {
    return this.#ask(async ({ oauth, server }) => {
      const { clientId, scopes } = this.#settings;
      const [state, codeVerifier] = [this.#secret(), this.#secret()];
      const url = new URL(server.authorization_endpoint ?? "");
      const parameters = {
        response_type: "code",
        client_id: clientId,
        redirect_uri: redirectUri,
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: "S256",
        ...(scopes === undefined || scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return { url: url.href, attempt: { state, codeVerifier } };
    });
  }

  /** Makes a credential of the answer that a browser brought back. `state` is the one that was found to be ours. */
  arrive(answer: URLSearchParams, state: string, codeVerifier: string, redirectUri: string): Promise<Credential> {
    return this.#ask(async ({ oauth, server }) => {
      const client = { client_id: this.#settings.clientId };
      const checked = oauth.validateAuthResponse(server, client, answer, state);
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        this.#authentication(oauth),
        checked,
        redirectUri,
        codeVerifier,
        this.#requestOptions(oauth),
      );
      return this.#credentialOf(await oauth.processAuthorizationCodeResponse(server, client, response), undefined);
    });
  }

  /** A new credential in place of one that has a refresh token. */
  renew(refreshToken: Buffer): Promise<Credential> {
    // Read before anything is awaited: it may be wiped meanwhile.
    const token = refreshToken.toString("utf8");
    return this.#ask(async ({ oauth, server }) => {
      const client = { client_id: this.#settings.clientId };
      const authentication = this.#authentication(oauth);
      const options = this.#requestOptions(oauth);
      const response = await oauth.refreshTokenGrantRequest(server, client, authentication, token, options);
      return this.#credentialOf(await oauth.processRefreshTokenResponse(server, client, response), token);
    });
  }

  /** Gives a credential back, where the server takes it. */
  revoke({ refreshToken, secret }: Credential): Promise<void> {
    // Read before anything is awaited: whoever asked wipes it.
    const token = (refreshToken ?? secret).toString("utf8");
    return this.#ask(async ({ oauth, server }) => {
      if (server.revocation_endpoint === undefined) return;
      const client = { client_id: this.#settings.clientId };
      const authentication = this.#authentication(oauth);
      const options = this.#requestOptions(oauth);
      const response = await oauth.revocationRequest(server, client, authentication, token, options);
      await oauth.processRevocationResponse(response);
    });
  }

  async #ask<T>(work: (ready: Ready) => Promise<T>): Promise<T> {
    try {
      return await work(await this.#prepare());
    } catch (error) {
      throw providerFailure(this.#options.connectorId, error);
    }
  }

  #prepare(): Promise<Ready> {
    this.#ready ??= this.#look().catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  async #look(): Promise<Ready> {
    const oauth = await import("oauth4webapi");
    const { endpoints, issuer } = this.#settings;
    if (endpoints !== undefined) {
      const { authorization, token } = endpoints;
      return { oauth, server: { issuer, authorization_endpoint: authorization, token_endpoint: token } };
    }
    const identifier = new URL(issuer);
    const options = { ...this.#requestOptions(oauth), algorithm: "oauth2" } as const;
    const server = await oauth.processDiscoveryResponse(identifier, await oauth.discoveryRequest(identifier, options));
    const { authorization_endpoint: authorization, revocation_endpoint: revocation, token_endpoint: token } = server;
    if (authorization === undefined || token === undefined) {
      throw invalidAnswer("The authorization server's metadata lack an endpoint");
    }
    // A server that does not know PKCE takes the code of whoever brings it. Source: RFC 9700, Authorization Code Grant.
    if (server.code_challenge_methods_supported?.includes("S256") !== true) {
      throw invalidAnswer("The authorization server's metadata do not announce PKCE by S256");
    }
    for (const url of [authorization, token, revocation]) {
      if (url !== undefined) parseProviderUrl(url, issuer);
    }
    return { oauth, server };
  }

  /** A server that gives no new refresh token leaves the one before as it is. */
  #credentialOf(answer: OAuth.TokenEndpointResponse, before: string | undefined): Credential {
    const {
      access_token: accessToken,
      expires_in: expiresIn,
      refresh_token: refreshToken = before,
      token_type: tokenType,
    } = answer;
    if (tokenType !== "bearer") throw invalidAnswer("The access token is no bearer token");
    const secret = Buffer.from(accessToken, "utf8");
    if (!this.#options.canCarry(secret)) throw invalidAnswer("The access token holds characters that can't be sent");
    const lifetimeMs = expiresIn === undefined ? Infinity : expiresIn * 1_000;
    const earlyMs = refreshToken === undefined ? 0 : Math.min(RENEW_BEFORE_MS, lifetimeMs / 10);
    return {
      secret,
      refreshToken: refreshToken === undefined ? undefined : Buffer.from(refreshToken, "utf8"),
      renewAtMs: expiresIn === undefined ? undefined : this.#options.clock.now() + lifetimeMs - earlyMs,
    };
  }

  #authentication(oauth: typeof OAuth): OAuth.ClientAuth {
    const { clientAuthentication, clientSecret } = this.#settings;
    if (clientSecret === undefined) return oauth.None();
    return clientAuthentication === "client_secret_post"
      ? oauth.ClientSecretPost(clientSecret)
      : oauth.ClientSecretBasic(clientSecret);
  }

  /** Plain http is for loopback alone, as everywhere: the options and the metadata were checked. */
  #requestOptions(oauth: typeof OAuth) {
    return {
      [oauth.customFetch]: this.#fetch,
      [oauth.allowInsecureRequests]: isLoopback(new URL(this.#settings.issuer).hostname),
    };
  }

  #secret(): string {
    return Buffer.from(this.#options.random(32)).toString("base64url");
  }
}

function invalidAnswer(reason: string): RemoteConnectorError<"invalid_answer"> {
  return new RemoteConnectorError("invalid_answer", {
    message: `${reason}.`,
    details: { reason },
    delivery: "answered",
  });
}
