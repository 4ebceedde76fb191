import type * as OAuth from "oauth4webapi";
import { type Clock, isLoopback, parseEndpoint } from "../../transport/index.js";
import type { OAuthAuthorizing } from "../options.js";
import type { Credential } from "./credential.js";
import { createProviderFetch, type ProviderFetchOptions } from "./provider-fetch.js";
import type { RedirectAttempt } from "./session-book.js";

export interface ProviderOptions extends ProviderFetchOptions {
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

/** Answers to say that a grant is over, whatever is done. Source: RFC 6749, Error Response. */
const LASTING_ERRORS: ReadonlySet<string> = new Set(["invalid_grant", "unauthorized_client"]);

/**
 * The authorization server of one connector, as its OAuth client. Everything rejects when the server can't be reached, is not
 * what its metadata says, or refuses; what it says of a person's own refusal is told apart by {@link isDenial}.
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
  async depart(redirectUri: string): Promise<Departure> {
    const { oauth, server } = await this.#prepare();
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
  }

  /** Makes a credential of the answer that a browser brought back. `state` is the one that was found to be ours. */
  async arrive(answer: URLSearchParams, state: string, codeVerifier: string, redirectUri: string): Promise<Credential> {
    const { oauth, server } = await this.#prepare();
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
  }

  /** A new credential in place of one that has a refresh token. */
  async renew(refreshToken: Buffer): Promise<Credential> {
    // Read before anything is awaited: it may be wiped meanwhile.
    const token = refreshToken.toString("utf8");
    const { oauth, server } = await this.#prepare();
    const client = { client_id: this.#settings.clientId };
    const response = await oauth.refreshTokenGrantRequest(
      server,
      client,
      this.#authentication(oauth),
      token,
      this.#requestOptions(oauth),
    );
    return this.#credentialOf(await oauth.processRefreshTokenResponse(server, client, response), token);
  }

  /** Gives a credential back, where the server takes it. */
  async revoke({ refreshToken, secret }: Credential): Promise<void> {
    // Read before anything is awaited: whoever asked wipes it.
    const token = (refreshToken ?? secret).toString("utf8");
    const { oauth, server } = await this.#prepare();
    if (server.revocation_endpoint === undefined) return;
    const client = { client_id: this.#settings.clientId };
    const authentication = this.#authentication(oauth);
    const options = this.#requestOptions(oauth);
    const response = await oauth.revocationRequest(server, client, authentication, token, options);
    await oauth.processRevocationResponse(response);
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
      throw new Error("The authorization server's metadata lack an endpoint.");
    }
    for (const url of [authorization, token, revocation]) {
      if (url !== undefined) parseEndpoint(url, { allowInsecureHttp: false });
    }
    return { oauth, server };
  }

  /** A server that gives no new refresh token leaves the one before as it is. */
  #credentialOf(answer: OAuth.TokenEndpointResponse, before: string | undefined): Credential {
    const { access_token: accessToken, expires_in: expiresIn, refresh_token: refreshToken = before } = answer;
    return {
      secret: Buffer.from(accessToken, "utf8"),
      refreshToken: refreshToken === undefined ? undefined : Buffer.from(refreshToken, "utf8"),
      renewAtMs: expiresIn === undefined ? undefined : renewAt(this.#options.clock, expiresIn * 1_000),
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

function renewAt(clock: Clock, lifetimeMs: number): number {
  return clock.now() + lifetimeMs - Math.min(RENEW_BEFORE_MS, lifetimeMs / 10);
}

/** The person, or the server on their behalf, refused to authorize. */
export function isDenial(error: unknown): boolean {
  return oauthErrorOf(error) === "access_denied";
}

/** The grant is over: only a new authorization helps. */
export function isLasting(error: unknown): boolean {
  return LASTING_ERRORS.has(oauthErrorOf(error) ?? "");
}

/** The error code of OAuth that a server gave, at either endpoint. */
function oauthErrorOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, "error") : undefined;
  return typeof code === "string" ? code : undefined;
}
