import { randomUUID } from "node:crypto";
import { InvalidGrantError, InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import type { AuthorizationParams, OAuthServerProvider } from "@modelcontextprotocol/sdk/server/auth/provider.js";
import type { AuthInfo } from "@modelcontextprotocol/sdk/server/auth/types.js";
import type {
  OAuthClientInformationFull,
  OAuthTokenRevocationRequest,
  OAuthTokens,
} from "@modelcontextprotocol/sdk/shared/auth.js";

type Consented = Pick<AuthorizationParams, "redirectUri" | "resource" | "scopes"> & { readonly clientId: string };

/** A token request that the official handlers found good so far. */
export interface TokenRequest {
  readonly grant: "code" | "refresh";
  readonly resource: string | undefined;
  readonly redirectUri: string | undefined;
}

/**
 * What the official authorization server's handlers leave to whoever uses them: storing. Everybody consents; codes and refresh tokens work
 * once; a refresh token that comes again is refused.
 */
export class OfficialProvider implements OAuthServerProvider {
  readonly clients = new Map<string, OAuthClientInformationFull>();
  readonly asked: TokenRequest[] = [];
  /** What was asked for, visit by visit. */
  readonly visits: AuthorizationParams[] = [];
  readonly revoked: string[] = [];
  readonly #codes = new Map<string, Consented & { readonly codeChallenge: string }>();
  readonly #access = new Map<string, Consented>();
  readonly #refresh = new Map<string, Consented>();

  readonly clientsStore = {
    getClient: (clientId: string) => this.clients.get(clientId),
    registerClient: (client: Omit<OAuthClientInformationFull, "client_id">) => {
      const known = { client_id: "", ...client };
      this.clients.set(known.client_id, known);
      return known;
    },
  };

  async authorize(
    client: OAuthClientInformationFull,
    params: AuthorizationParams,
    response: { redirect(url: string): void },
  ): Promise<void> {
    this.visits.push(params);
    const code = randomUUID();
    this.#codes.set(code, { clientId: client.client_id, ...params });
    const url = new URL(params.redirectUri);
    url.searchParams.set("code", code);
    if (params.state !== undefined) url.searchParams.set("state", params.state);
    response.redirect(url.href);
  }

  async challengeForAuthorizationCode(_client: OAuthClientInformationFull, code: string): Promise<string> {
    return this.#codes.get(code)?.codeChallenge ?? "";
  }

  async exchangeAuthorizationCode(
    client: OAuthClientInformationFull,
    code: string,
    _verifier?: string,
    redirectUri?: string,
    resource?: URL,
  ): Promise<OAuthTokens> {
    this.asked.push({ grant: "code", resource: resource?.href, redirectUri });
    const consented = this.#codes.get(code);
    this.#codes.delete(code);
    if (consented?.clientId !== client.client_id) throw new InvalidGrantError("unknown code");
    if (consented.redirectUri !== redirectUri) throw new InvalidGrantError("another redirect_uri");
    if (consented.resource?.href !== resource?.href) throw new InvalidGrantError("another resource");
    return this.#issue(consented);
  }

  async exchangeRefreshToken(
    client: OAuthClientInformationFull,
    refreshToken: string,
    _scopes?: string[],
    resource?: URL,
  ): Promise<OAuthTokens> {
    this.asked.push({ grant: "refresh", resource: resource?.href, redirectUri: undefined });
    const consented = this.#refresh.get(refreshToken);
    this.#refresh.delete(refreshToken);
    if (consented?.clientId !== client.client_id) throw new InvalidGrantError("unknown refresh token");
    if (consented.resource?.href !== resource?.href) throw new InvalidGrantError("another resource");
    return this.#issue(consented);
  }

  async verifyAccessToken(token: string): Promise<AuthInfo> {
    const consented = this.#access.get(token);
    if (consented === undefined) throw new InvalidTokenError("no such token");
    const { clientId, resource, scopes = [] } = consented;
    const expiresAt = Math.floor(Date.now() / 1_000) + 60;
    return { token, clientId, scopes, expiresAt, ...(resource === undefined ? {} : { resource }) };
  }

  async revokeToken(_client: OAuthClientInformationFull, { token }: OAuthTokenRevocationRequest): Promise<void> {
    this.revoked.push(token);
    this.#access.delete(token);
    this.#refresh.delete(token);
  }

  /** No access token is good any more. */
  endAccessTokens(): void {
    this.#access.clear();
  }

  #issue(consented: Consented): OAuthTokens {
    const [accessToken, refreshToken] = [randomUUID(), randomUUID()];
    this.#access.set(accessToken, consented);
    this.#refresh.set(refreshToken, consented);
    const scope = consented.scopes?.join(" ");
    return {
      access_token: accessToken,
      token_type: "bearer",
      expires_in: 3_600,
      refresh_token: refreshToken,
      ...(scope === undefined || scope === "" ? {} : { scope }),
    };
  }
}
